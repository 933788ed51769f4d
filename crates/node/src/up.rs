//! Drives a course: does what it says, records it, tells it how that went.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bringup_facts::Facts;
use bringup_plan::{Action, Plan, Step};
use bringup_progress::{
    Adopted, Course, Effect, Entry, Failure, FailureKind, Happened, Happening, Made, Order, Range,
    Surroundings,
};
use bringup_spec::Phase;

use crate::actions::{self, Checks, Doing, Stopped};
use crate::ended::Ended;
use crate::gate;
use crate::journal::{Journal, JournalTrouble, Opened};
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::Network;
use crate::originals;
use crate::program;
use crate::results;
use crate::teller::Teller;

/// How a run is asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) range: Range,
    pub(crate) again: bool,
    /// Facts that are given, instead of what the platform says.
    pub(crate) given: Option<Facts>,
    /// Checks that may fail.
    pub(crate) ignored: BTreeSet<String>,
}

/// Why a run could not go on at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpFault {
    #[error(transparent)]
    Journal(#[from] JournalTrouble),
    #[error("cannot write a result: {0}")]
    Result(#[from] bringup_disk::FileFault),
    #[error("this is a fault of the agent: {0}")]
    Course(#[from] bringup_progress::Refusal),
    #[error("`{step}` must be done before `{phase}`: run `bringup-node up` from the beginning")]
    TooEarly { step: String, phase: String },
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(crate) ended: Ended,
    /// Whether the gate was found open: nothing that follows it was queued by this run.
    pub(crate) found_open: bool,
    /// The unit that is to be started now, without anybody waiting for it: it goes on where this run has ended.
    pub(crate) goes_on: Option<String>,
}

/// Follows a plan.
pub(crate) fn follow(
    machine: &Machine,
    plan: &Plan,
    asked: &Asked,
    identity: &str,
) -> Result<Followed, UpFault> {
    let teller = Teller::of(machine);
    let Opened { journal, state, damage, retired, lost } = Journal::open(machine.files())?;
    // An agent may have died before it could.
    forget_originals(machine, &retired);
    if let Some(damage) = damage {
        Teller::note(&damage.to_string());
    }
    let own = state.identity() == Some(identity);
    let remembered = if own { actions::identify::remembered(&state, plan) } else { None };
    let checked = own && actions::identify::is_checked(&state, plan);
    let knowledge =
        Knowledge::new(machine, plan, asked.given.clone().or(remembered.clone()).unwrap_or_default());
    let mut course = Course::new(plan, asked.range, state, identity, &Machine::boot());
    if machine.is_itself() {
        course = course.handing_over();
    }
    if let Some(phase) = asked.range.from {
        let missing = course.missing_before();
        let early = missing.or_else(|| course.missing_at_gate());
        if machine.is_itself() && (course.is_of_another_plan() || early.is_some()) {
            let what = early.map_or_else(|| "a changed plan".to_owned(), |step| format!("`{step}`"));
            Teller::note(&format!("{what} comes before `{phase}`: `{}` sees to it first", gate::BEFORE));
            return Ok(Followed {
                ended: Ended::Well,
                found_open: false,
                goes_on: Some(gate::BEFORE.to_owned()),
            });
        }
        if let Some(step) = missing {
            return Err(UpFault::TooEarly { step: step.to_owned(), phase: phase.to_string() });
        }
    }
    let network = Network::of_plan(plan);
    let begun = BTreeSet::new();
    let mut run = Run {
        machine,
        plan,
        asked,
        knowledge,
        remembered,
        checked,
        teller,
        journal,
        lost,
        course,
        network,
        begun,
        handed_to: None,
        ended_well: RefCell::default(),
    };
    let ended = run.through()?;
    let opens = |step: &&bringup_plan::Step| matches!(step.action, Action::OpenGate { .. });
    let opens = plan.steps.iter().find(opens).map(|step| step.name.as_str());
    let found_open = ended == Ended::Well
        && asked.range.until == Some(Phase::Gate)
        && opens.is_some_and(|opens| !run.begun.contains(opens));
    let mut goes_on = run.handed_to.take();
    if ended == Ended::Well && goes_on.is_none() && machine.is_itself() && is_a_stages(plan, asked.range) {
        goes_on = Some(gate::AFTER.to_owned());
    }
    Ok(Followed { ended, found_open, goes_on })
}

/// Forgets what stood where nothing of ours is any more. One that stays is told of, and in nobody's way.
fn forget_originals(machine: &Machine, gone: &BTreeSet<Made>) {
    for made in gone {
        if let Err(fault) = originals::forget(machine.files(), Path::new(&made.path())) {
            Teller::note(&fault.to_string());
        }
    }
}

/// Whether a run is that of the units that a stage was handed to.
fn is_a_stages(plan: &Plan, range: Range) -> bool {
    let own = |step: &Step| step.handed_to.is_some() && range.from == Some(step.phase);
    range.from == range.until && plan.steps.iter().any(own)
}

struct Run<'p> {
    machine: &'p Machine,
    plan: &'p Plan,
    asked: &'p Asked,
    knowledge: Knowledge<'p>,
    remembered: Option<Facts>,
    /// Whether the checks before the start have passed for this plan.
    checked: bool,
    teller: Teller,
    journal: Journal<'p>,
    /// Whether the journal has forgotten what was done: what stands where a step writes may be ours.
    lost: bool,
    course: Course<'p>,
    network: Network,
    /// Steps that this run has begun.
    begun: BTreeSet<String>,
    /// The unit that the next step was handed to.
    handed_to: Option<String>,
    /// Steps whose programs have ended well; the manager knows it until the journal does.
    ended_well: RefCell<Vec<String>>,
}

/// What an effect leads to.
enum Led {
    /// The next effect.
    On,
    /// Something that the course must hear.
    Heard(Happening),
    /// The end.
    End(Ended),
}

impl Run<'_> {
    fn through(&mut self) -> Result<Ended, UpFault> {
        let mut happening = Happening::Begun { again: self.asked.again };
        loop {
            let around = Surroundings {
                at_ms: Machine::now_ms(),
                up_ms: Machine::up_ms(),
                random: Machine::random(),
                known: &self.knowledge,
            };
            let effects = self.course.advance(happening, &around)?;
            let mut next = None;
            for effect in effects {
                match self.carry_out(effect)? {
                    Led::On => {}
                    Led::Heard(heard) => next = Some(heard),
                    Led::End(ended) => {
                        self.flush()?;
                        return Ok(ended);
                    }
                }
            }
            // A course that asks for nothing that takes time has ended, or is at fault; it is not asked again.
            let Some(heard) = next else { return Ok(Ended::NotYet) };
            happening = heard;
        }
    }

    fn carry_out(&mut self, effect: Effect) -> Result<Led, UpFault> {
        let files = self.machine.files();
        Ok(match effect {
            Effect::Record { record, sync } => {
                self.record(&record, sync)?;
                if let Entry::Retired { made } = &record.entry {
                    forget_originals(self.machine, made);
                }
                Led::On
            }
            Effect::Tell(event) => {
                self.teller.event(&event);
                // Kubelet waits for this word: whoever hears of its start has heard of the gate.
                if event.event == Happened::Opened.word() && self.machine.is_itself() {
                    self.teller.ready();
                }
                Led::On
            }
            Effect::Publish(status) => {
                // A status that cannot be shown must not stop the work: the journal has the truth.
                if let Err(fault) = results::status(&files, &status) {
                    Teller::note(&fault.to_string());
                }
                self.teller.status(&status);
                Led::On
            }
            Effect::Keep(made) => {
                for made in made.iter().filter(|_| !self.lost) {
                    self.keep(Path::new(&made.path()))?;
                }
                Led::On
            }
            Effect::Do(order) => {
                if self.must_be_known(&order) {
                    self.flush()?;
                }
                self.begun.insert(order.step.clone());
                Led::Heard(self.perform(&order))
            }
            Effect::Adopt(order) => Led::Heard(Happening::Adopted(self.adopt(&order))),
            Effect::Retire(made) => Led::Heard(match actions::retire::remove(self.machine, &made) {
                Ok(success) => Happening::Succeeded(success),
                Err(failure) => Happening::Failed(failure),
            }),
            Effect::Wait { ms } => {
                self.flush()?;
                std::thread::sleep(Duration::from_millis(ms));
                Led::Heard(Happening::TimePassed)
            }
            Effect::Reboot => {
                self.flush()?;
                match actions::reboot::now(self.machine) {
                    Ok(()) => Led::End(Ended::NotYet),
                    Err(failure) => Led::Heard(Happening::Failed(failure)),
                }
            }
            Effect::HandOver { index } => {
                self.flush()?;
                match self.hand_over(index) {
                    Ok(unit) => {
                        self.handed_to = unit;
                        self.teller.ready();
                        Led::End(Ended::Well)
                    }
                    Err(failure) => Led::Heard(Happening::Failed(failure)),
                }
            }
            Effect::Fail { failed, known } => {
                // A disk that is full must not keep others from hearing of it.
                if let Err(fault) = results::failed(&files, &failed, known) {
                    Teller::note(&fault.to_string());
                }
                Led::On
            }
            Effect::GiveUp { failed, record } => {
                if let Some(record) = record {
                    let Self { machine, plan, knowledge, network, .. } = self;
                    actions::signal::failure(machine, plan, knowledge, network, &failed);
                    self.record(&record, true)?;
                    // The disk may have been mended since; what else is wrong with it was told.
                    let _ = results::failed(&files, &failed, true);
                }
                Led::End(Ended::No)
            }
            Effect::Report(done) => {
                results::done(&files, &done)?;
                Led::On
            }
            Effect::Done => {
                // Another agent of this boot may have opened the gate; the manager waits to hear it from this one.
                self.teller.ready();
                Led::End(Ended::Well)
            }
        })
    }

    /// A journal that cannot be written (a full disk) is waited for: going on without it would be doing things unknown
    /// to it.
    fn record(&mut self, record: &bringup_progress::Record, sync: bool) -> Result<(), UpFault> {
        let mut wait = Wait::default();
        let mut result = self.journal.add(record, sync);
        while let Err(JournalTrouble::File(fault)) = &result
            && fault.is_for_the_operator()
        {
            wait.once(fault);
            result = self.journal.flush();
        }
        Ok(result?)
    }

    /// So is what stands in the way: it is not written over before it is kept.
    fn keep(&self, path: &Path) -> Result<(), UpFault> {
        let mut wait = Wait::default();
        loop {
            match originals::keep(self.machine.files(), path) {
                Err(fault) if fault.is_for_the_operator() => wait.once(&fault),
                result => return Ok(result?),
            }
        }
    }

    /// Whether all records so far have to be on the disk before a step is done. What may wait does: a later boot opens the
    /// gate without waiting for a disk.
    fn must_be_known(&self, order: &Order) -> bool {
        let quick = |step: &Step| {
            matches!(
                step.action,
                Action::LearnFacts
                    | Action::LoadModules { .. }
                    | Action::SetSysctls { .. }
                    | Action::StartUnit { .. }
                    | Action::OpenGate { .. }
            )
        };
        !self.ended_well.borrow().is_empty() || !self.plan.steps.get(order.index).is_some_and(quick)
    }

    /// Brings all records to the disk; what they tell needs no other witness then.
    fn flush(&mut self) -> Result<(), UpFault> {
        self.journal.flush()?;
        for step in self.ended_well.take() {
            program::forget(&step);
        }
        Ok(())
    }

    /// The unit that begins a step that is not ours. A mark that the journal knows nothing of holds it back, and is not
    /// ours to judge: a cluster must not be started twice because a journal was lost.
    fn hand_over(&self, index: usize) -> Result<Option<String>, Failure> {
        let Some(to) = self.plan.steps.get(index).and_then(|step| step.handed_to.as_ref()) else {
            return Ok(None);
        };
        if matches!(self.machine.files().disk().look(Path::new(&to.done)), Ok(None)) {
            return Ok(Some(to.path.clone()));
        }
        Err(Failure::new(
            FailureKind::Operator,
            format!(
                "`{}` says that it is done, and the journal of this machine does not know of it",
                to.done
            ),
            "remove that file if the cluster is to be started from this machine, or take `bootstrap` out of the \
             document if it has been; the agent goes on by itself",
        ))
    }

    fn perform(&self, order: &Order) -> Happening {
        let Some(step) = self.plan.steps.get(order.index) else {
            return Happening::Failed(Failure::new(FailureKind::Permanent, "the plan has no such step", ""));
        };
        let doing = Doing {
            machine: self.machine,
            plan: self.plan,
            step,
            order,
            knowledge: &self.knowledge,
            remembered: self.remembered.as_ref(),
            given: self.asked.given.as_ref(),
            checks: if self.checked || self.asked.range.from.is_some() {
                Checks::Passed
            } else {
                Checks::Due(&self.asked.ignored)
            },
            network: &self.network,
            state: self.course.state(),
        };
        match actions::perform(&doing) {
            Ok(success) => {
                self.witness(step);
                Happening::Succeeded(success)
            }
            Err(Stopped::Failed(failure)) => Happening::Failed(failure),
            Err(Stopped::TimedOut { tail }) => Happening::TimedOut { tail },
            Err(Stopped::Reboot { why }) => Happening::RebootAsked { why },
        }
    }

    fn adopt(&self, order: &Order) -> Adopted {
        match self.plan.steps.get(order.index) {
            Some(step) => {
                let adopted = actions::run::adopt(self.machine, step, order);
                if matches!(adopted, Adopted::Succeeded(_)) {
                    self.witness(step);
                }
                adopted
            }
            None => Adopted::Nothing,
        }
    }

    /// Keeps in mind whose success the manager still knows.
    fn witness(&self, step: &Step) {
        if self.machine.is_itself() && matches!(step.action, Action::Run { .. }) {
            self.ended_well.borrow_mut().push(step.name.clone());
        }
    }
}

/// Waits that grow, for what only the operator can mend and nothing can be recorded about.
#[derive(Debug, Default)]
struct Wait {
    times: u32,
}

impl Wait {
    fn once(&mut self, fault: &bringup_disk::FileFault) {
        Teller::note(&format!("{fault}: waiting until it can be written"));
        let time = Duration::from_millis(500).saturating_mul(1 << self.times.min(6));
        std::thread::sleep(time.min(Duration::from_secs(30)));
        self.times = self.times.saturating_add(1);
    }
}

/// The identity that the journal is bound to.
pub(crate) fn identity(machine: &Machine) -> bringup_facts::identity::Identity {
    let files = machine.files();
    let read = |path: &str| {
        let bytes = files.read(Path::new(path)).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let firmware = |name: &str| {
        if machine.is_itself() {
            std::fs::read_to_string(Path::new("/sys/class/dmi/id").join(name))
                .unwrap_or_default()
                .trim()
                .to_owned()
        } else {
            String::new()
        }
    };
    bringup_facts::identity::identify(&bringup_facts::identity::Firmware {
        vendor: firmware("sys_vendor"),
        product: firmware("product_name"),
        uuid: firmware("product_uuid"),
        asset_tag: firmware("board_asset_tag"),
        machine_id: read("/etc/machine-id"),
    })
}
