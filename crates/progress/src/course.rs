//! What is done next: a state machine. What happened goes in, what is to be done comes out, in order.
//!
//! Whoever drives it carries out the effects one after the other, up to the one that takes time ([`Effect::Do`],
//! [`Effect::Adopt`], [`Effect::Retire`], [`Effect::Wait`], [`Effect::Reboot`], [`Effect::HandOver`]: always the last), and says how that
//! went. A record is on the disk before the next effect is begun; records in a row can share one write.

mod choice;
mod report;
mod setback;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use bringup_plan::{Action, Plan, Step};
use bringup_spec::Phase;

use crate::event::Event;
use crate::made::{Made, made_by};
use crate::record::{Failure, FailureKind, Record, Success};
use crate::state::{Last, State};
use crate::status::{Done, Failed, Status, StepProgress};

/// After so many reboots on behalf of one plan, a further one needs the operator.
pub(crate) const MOST_REBOOTS: u32 = 3;

/// What the node knows, as far as decisions need it. May change while a course is under way: facts are learned on it.
pub trait Known {
    /// The digest of a step with facts filled in ([`crate::digest`]), or why it cannot be had.
    fn digest(&self, step: &Step) -> Result<String, Failure>;
    /// Whether this node is the one that starts the cluster, or why that cannot be said.
    fn elected(&self) -> Result<bool, Failure>;
    /// Whether something, whatever it is, stands where a step made this. Where nobody can tell, it does.
    fn is_there(&self, made: &Made) -> bool {
        let _ = made;
        true
    }
}

/// The world at the moment in which something happened.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The clock, milliseconds since 1970. Only ever shown: it may jump.
    pub at_ms: u64,
    /// Milliseconds since the machine started. Never runs backwards.
    pub up_ms: u64,
    /// Any number, another one each time.
    pub random: u64,
    /// What the node knows.
    pub known: &'a dyn Known,
}

/// Which phases are gone through, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: Option<Phase>,
    /// The last.
    pub until: Option<Phase>,
}

impl Range {
    /// Whether a phase is in it.
    pub fn has(&self, phase: Phase) -> bool {
        self.from.is_none_or(|from| from <= phase) && self.until.is_none_or(|until| phase <= until)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The agent starts.
    Begun {
        /// Whether to try again what was given up in this boot.
        again: bool,
    },
    /// What was to be done is done.
    Succeeded(Success),
    /// It failed.
    Failed(Failure),
    /// It took longer than it may, and was ended; with the tail of what it wrote.
    TimedOut {
        /// The last lines of what the program wrote.
        tail: String,
    },
    /// The wait is over.
    TimePassed,
    /// Somebody says that what is waited for is mended: no further wait.
    Mended,
    /// The step asks for a reboot.
    RebootAsked {
        /// Why.
        why: String,
    },
    /// What became of the program of an agent that died.
    Adopted(Adopted),
}

/// What became of the program of an agent that died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// It has ended well, perhaps after a wait.
    Succeeded(Success),
    /// It has failed.
    Failed(Failure),
    /// There is no trace of it.
    Nothing,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Append this to the journal.
    Record {
        /// The line.
        record: Record,
        /// Whether it must have reached the disk. Not so where a power cut makes it meaningless: of what is done on every
        /// boot anyway.
        sync: bool,
    },
    /// Keep what stands at these paths: a step is about to write there for the first time. The record that says so comes
    /// next, so that nothing of ours can stand there yet.
    Keep(BTreeSet<Made>),
    /// Do a step. What its program left (the unit with its result) must stay until the record of its outcome is on the
    /// disk: an agent that dies in between leaves it to the next one to adopt.
    Do(Order),
    /// See whether the program of this step still runs or has left a result; wait for it if so.
    Adopt(Order),
    /// Remove what no plan has any more; what is gone already is fine.
    Retire(BTreeSet<Made>),
    /// Do nothing for so long, or until somebody says that it is mended.
    Wait {
        /// Milliseconds.
        ms: u64,
    },
    /// Show this.
    Publish(Box<Status>),
    /// Tell this.
    Tell(Event),
    /// Reboot the machine.
    Reboot,
    /// Leave the rest to the units that the step is handed to: they run an agent of their own for it, after which the
    /// course is gone through anew. Nothing is heard of it but a failure.
    HandOver {
        /// The step's place in the plan.
        index: usize,
    },
    /// Write this to `failed.json`, and return when it is on the disk. Nobody hears that it is given up before that.
    Fail {
        /// What it says.
        failed: Box<Failed>,
        /// Whether an earlier run in this boot has come to this end already: what it left on the disk says more.
        known: bool,
    },
    /// Stop for good.
    GiveUp {
        /// What those hear whom success would have been told.
        failed: Box<Failed>,
        /// What to write once they have heard it: whoever dies before leaves it to the next one to tell them. None, if they
        /// have.
        record: Option<Box<Record>>,
    },
    /// Write this to `done.json`, and return when it is on the disk. Nobody hears that all is done before that.
    Report(Box<Done>),
    /// All that was asked for is done.
    Done,
}

/// An attempt at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The step's place in the plan.
    pub index: usize,
    /// Its name.
    pub step: String,
    /// The digest of what it does.
    pub digest: String,
    /// Which attempt this is, from one.
    pub attempt: u32,
    /// How long it may take.
    pub timeout_ms: u64,
    /// Paths that its unit reads and that have changed since it was started: if there are some, it is to be restarted.
    pub changed: BTreeSet<String>,
}

/// What happened cannot have happened now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where the course is.
    pub stage: StageName,
    /// What was said to have happened.
    pub happening: Happening,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stage, happening } = self;
        write!(formatter, "the course is {stage:?}, where this cannot happen: {happening:?}")
    }
}

impl std::error::Error for Refusal {}

/// Where a course is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StageName {
    /// Not begun.
    Fresh,
    /// A step is being done.
    Doing,
    /// A step's program is being looked for.
    Adopting,
    /// What no plan has any more is being removed.
    Retiring,
    /// Waiting for the next attempt.
    Waiting,
    /// Waiting for the operator.
    Paused,
    /// The machine is about to reboot.
    Rebooting,
    /// Other units do the next step.
    HandedOver,
    /// Ended for good.
    GivenUp,
    /// Through.
    Done,
}

#[derive(Clone, Debug)]
enum Stage {
    Fresh,
    Doing(Task),
    Adopting(Task),
    Waiting(Task),
    Rebooting(Task),
    HandedOver(Task),
    GivenUp,
    Done,
}

/// What is being done.
#[derive(Clone, Debug)]
struct Task {
    what: What,
    digest: String,
    attempt: u32,
    failures: u32,
    /// How often a paused step has looked again; none: it is not paused.
    probes: Option<u32>,
    /// When the first attempt began, in milliseconds since the machine started.
    since_ms: u64,
    /// Whether its records need not survive a power cut.
    fleeting: bool,
    /// Why it is done again, though it was done.
    because: String,
    failure: Option<Failure>,
    next_try_at_ms: Option<u64>,
}

#[derive(Clone, Debug)]
enum What {
    Step,
    Retire(BTreeSet<Made>),
}

/// The way of one run of the agent through its plan.
#[derive(Clone, Debug)]
pub struct Course<'p> {
    plan: &'p Plan,
    plan_digest: String,
    range: Range,
    identity: String,
    boot: String,
    state: State,
    stage: Stage,
    /// The step that is next, or being done.
    next: usize,
    again: bool,
    /// Whether steps are left to the units that they are handed to.
    hands_over: bool,
    /// Paths that the steps of the plan are known to make.
    declared: BTreeSet<String>,
    progress: Vec<StepProgress>,
    /// Steps that failed and without which the course went on.
    continued: BTreeMap<usize, Failure>,
}

impl<'p> Course<'p> {
    /// A course that has not begun: on which machine, in which boot, and after what was done before.
    pub fn new(plan: &'p Plan, range: Range, state: State, identity: &str, boot: &str) -> Self {
        let declared =
            plan.steps.iter().flat_map(|step| made_by(step, plan)).map(|made| made.path()).collect();
        let own = state.identity() == Some(identity);
        let mut continued = BTreeMap::new();
        let progress = plan
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| match state.step(&step.name).filter(|_| own && !range.has(step.phase)) {
                Some(known) if known.done_for(&known.digest) => StepProgress::Done,
                // Another run's; each boot tries it again.
                Some(known) if known.last == Last::Continued && known.boot == boot => {
                    let failure = Failure::new(FailureKind::Permanent, known.why.clone(), "");
                    continued.insert(index, failure);
                    StepProgress::Continued
                }
                _ => StepProgress::Pending,
            })
            .collect();
        Self {
            plan,
            plan_digest: plan.digest(),
            range,
            identity: identity.to_owned(),
            boot: boot.to_owned(),
            state,
            stage: Stage::Fresh,
            next: 0,
            again: false,
            hands_over: false,
            declared,
            progress,
            continued,
        }
    }

    /// A course that leaves steps to the units that they are handed to. A run that begins with such a step's phase is
    /// one of theirs, and does it.
    #[must_use]
    pub fn handing_over(self) -> Self {
        Self { hands_over: true, ..self }
    }

    /// What was done so far, this course included.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where it is.
    pub fn stage(&self) -> StageName {
        match &self.stage {
            Stage::Fresh => StageName::Fresh,
            Stage::Doing(Task { what: What::Retire(_), .. }) => StageName::Retiring,
            Stage::Doing(_) => StageName::Doing,
            Stage::Adopting(_) => StageName::Adopting,
            Stage::Waiting(Task { probes: Some(_), .. }) => StageName::Paused,
            Stage::Waiting(_) => StageName::Waiting,
            Stage::Rebooting(_) => StageName::Rebooting,
            Stage::HandedOver(_) => StageName::HandedOver,
            Stage::GivenUp => StageName::GivenUp,
            Stage::Done => StageName::Done,
        }
    }

    /// The first step before this range that is not done: such a course would begin too early.
    pub fn missing_before(&self) -> Option<&'p str> {
        let from = self.range.from?;
        let mut early = self.plan.steps.iter().filter(|step| step.phase < from);
        early.find(|step| self.is_missing(step)).map(|step| step.name.as_str())
    }

    /// The first step up to the gate, and with it, that is not done. Some that come before the gate are of its phase.
    pub fn missing_at_gate(&self) -> Option<&'p str> {
        let gate = self.plan.steps.iter().position(|step| matches!(step.action, Action::OpenGate { .. }))?;
        let mut early = self.plan.steps.iter().take(gate.saturating_add(1));
        early.find(|step| self.is_missing(step)).map(|step| step.name.as_str())
    }

    /// The first thing that a step up to the gate has made and that is gone since.
    pub fn gone_at_gate(&self, around: &dyn Known) -> Option<String> {
        let gate = self.plan.steps.iter().position(|step| matches!(step.action, Action::OpenGate { .. }))?;
        self.plan.steps.iter().take(gate).find_map(|step| self.gone(step, around))
    }

    fn is_missing(&self, step: &Step) -> bool {
        !(matches!(step.action, Action::LearnFacts) || step.elected_only || step.others_only)
            && self.state.step(&step.name).is_none_or(|known| {
                let passed = matches!(known.last, Last::Succeeded | Last::Continued);
                !passed || (step.every_boot && known.boot != self.boot)
            })
    }

    /// Whether this range begins in the midst of a plan that nobody has followed from its beginning: what was done before
    /// the range was done for another one.
    pub fn is_of_another_plan(&self) -> bool {
        self.range.from.is_some() && self.state.plan() != Some(self.plan_digest.as_str())
    }

    fn step(&self) -> Option<&'p Step> {
        self.plan.steps.get(self.next)
    }
}
