//! One turn of the machine: what happened in, what is to be done out.

use std::collections::BTreeSet;

use bringup_plan::{Action, InstallSource, Step};
use bringup_spec::{OnFailure, Phase};

use super::choice::Choice;
use super::setback::{End, overdue};
use super::{Adopted, Course, Effect, Happening, Order, Refusal, Stage, Surroundings, Task, What};
use crate::event::{Event, Happened};
use crate::made::{Made, made_by};
use crate::manner::Manner;
use crate::record::{Entry, FORMAT, Failure, FailureKind, Outcome, Record, Success, Work};
use crate::status::StepProgress;

/// The name that events about removing have instead of a step's.
const RETIRE: &str = "retire";

/// Why the machine reboots where a program asks for it.
const ASKED: &str = "its program asks for it";

impl Course<'_> {
    /// Takes in what happened and says what is to be done. A refusal changes nothing.
    pub fn advance(
        &mut self,
        happening: Happening,
        around: &Surroundings<'_>,
    ) -> Result<Vec<Effect>, Refusal> {
        let mut effects = Vec::new();
        let stage = self.stage();
        match (&self.stage, happening) {
            (Stage::Fresh, Happening::Begun { again }) => self.begin(again, around, &mut effects),
            (Stage::Doing(task), Happening::Succeeded(success))
            | (Stage::Adopting(task), Happening::Adopted(Adopted::Succeeded(success))) => {
                let task = task.clone();
                self.succeeded(&task, success, around, &mut effects);
            }
            (
                Stage::Doing(task) | Stage::Rebooting(task) | Stage::HandedOver(task),
                Happening::Failed(failure),
            )
            | (Stage::Adopting(task), Happening::Adopted(Adopted::Failed(failure))) => {
                let task = task.clone();
                self.failed(task, failure, Happened::Failed, around, &mut effects);
            }
            (Stage::Doing(task) | Stage::Adopting(task), Happening::TimedOut { tail }) => {
                let task = task.clone();
                let failure = overdue(self.manner(&task).timeout_ms).with_tail(tail);
                self.failed(task, failure, Happened::TimedOut, around, &mut effects);
            }
            (Stage::Doing(task @ Task { what: What::Step, .. }), Happening::RebootAsked { why }) => {
                let task = task.clone();
                self.reboot(task, &why, around, &mut effects);
            }
            (Stage::Adopting(task), Happening::Adopted(Adopted::Nothing)) => {
                let task = task.clone();
                self.attempt(Task { attempt: task.attempt.saturating_add(1), ..task }, around, &mut effects);
            }
            (Stage::Waiting(task), Happening::TimePassed | Happening::Mended) => {
                let task = task.clone();
                self.consider(Some(task), around, &mut effects);
            }
            (_, happening) => return Err(Refusal { stage, happening }),
        }
        Ok(effects)
    }

    fn begin(&mut self, again: bool, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        self.again = again;
        self.tell("", Happened::Began, "", around, effects);
        if self.state.identity() != Some(self.identity.as_str()) {
            let entry = Entry::Machine { format: FORMAT, identity: self.identity.clone() };
            self.record(entry, true, around, effects);
        }
        if self.state.plan() != Some(self.plan_digest.as_str()) {
            self.record(Entry::Plan { digest: self.plan_digest.clone() }, true, around, effects);
        }
        self.consider(None, around, effects);
    }

    /// Goes on with the step that is next. `waited` is the task that has waited for it.
    pub(super) fn consider(
        &mut self,
        mut waited: Option<Task>,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        loop {
            let Some(step) = self.step() else { return self.arrive(around, effects) };
            if !self.range.has(step.phase) && !matches!(step.action, Action::LearnFacts) {
                self.next += 1;
                continue;
            }
            if step.phase >= Phase::Runtime {
                let orphans = self.orphans();
                if !orphans.is_empty() {
                    let waited = waited.filter(|task| matches!(task.what, What::Retire(_)));
                    let task = waited.unwrap_or_else(|| fresh(What::Retire(orphans.clone()), around));
                    let task = Task { what: What::Retire(orphans), ..task };
                    return self.attempt(
                        Task { attempt: task.attempt.saturating_add(1), ..task },
                        around,
                        effects,
                    );
                }
            }
            waited = waited.filter(|task| matches!(task.what, What::Step));
            let digest = match digest_if_mine(step, around) {
                Ok(Some(digest)) => digest,
                Ok(None) => {
                    self.pass(StepProgress::NotMine);
                    waited = None;
                    continue;
                }
                Err(failure) => {
                    let task = waited.unwrap_or_else(|| fresh(What::Step, around));
                    let task = Task { digest: String::new(), ..task };
                    return self.failed(task, failure, Happened::Failed, around, effects);
                }
            };
            if let Some(task) = waited {
                let known = self.state.step(&step.name);
                if known.is_some_and(|known| known.owes_reboot(&digest, &self.boot)) {
                    return self.reboot(Task { digest, ..task }, ASKED, around, effects);
                }
                return self.attempt(
                    Task { digest, attempt: task.attempt.saturating_add(1), ..task },
                    around,
                    effects,
                );
            }
            let choice = self.choice(step, &digest, around.known);
            let mut task = Task { digest, ..fresh(What::Step, around) };
            if let Some(known) = self.state.step(&step.name) {
                task.fleeting = step.every_boot && known.done_for(&task.digest);
                if known.same(&task.digest, &self.boot) {
                    task.attempt = known.attempts;
                    task.failures = known.failures;
                }
            }
            match choice {
                Choice::Skip => {
                    self.tell(&step.name, Happened::Skipped, "", around, effects);
                    self.pass(StepProgress::Done);
                }
                Choice::Pass { why } => {
                    self.tell(&step.name, Happened::Skipped, &why, around, effects);
                    self.continued.insert(self.next, Failure::new(FailureKind::Permanent, why, ""));
                    self.pass(StepProgress::Continued);
                }
                Choice::End { why, attempts } => {
                    let failure = Failure::new(FailureKind::Permanent, why, "");
                    return self.give_up(
                        &Task { attempt: attempts, ..task },
                        &failure,
                        End::Known,
                        around,
                        effects,
                    );
                }
                Choice::Spent { why } => {
                    let failure = Failure::new(FailureKind::Permanent, why, "");
                    return match Manner::of(step).then {
                        OnFailure::Continue => self.go_on_without(&task, failure, around, effects),
                        _ => self.give_up(&task, &failure, End::Untold, around, effects),
                    };
                }
                Choice::Do { because } => {
                    task.because = because;
                    task.attempt = task.attempt.saturating_add(1);
                    return self.attempt(task, around, effects);
                }
                Choice::Adopt if self.is_anothers(step) => {
                    return self.hand_over(task, step, around, effects);
                }
                Choice::Adopt => {
                    self.tell(
                        &step.name,
                        Happened::Adopted,
                        "an agent had begun with it and died: its program may run, have ended, or not have been started",
                        around,
                        effects,
                    );
                    let order = self.order(step, &task);
                    self.stage = Stage::Adopting(task);
                    self.publish(around, effects);
                    effects.push(Effect::Adopt(order));
                    return;
                }
                Choice::Rebooted => {
                    self.tell(&step.name, Happened::Rebooted, "", around, effects);
                    return self.succeeded(&task, Success::default(), around, effects);
                }
                Choice::OwesReboot => return self.reboot(task, ASKED, around, effects),
                Choice::NeverRebooted => {
                    let failure = Failure::new(
                        FailureKind::Transient,
                        "the machine was to reboot and never did",
                        "see why it does not reboot, or reboot it",
                    );
                    return self.failed(task, failure, Happened::Failed, around, effects);
                }
            }
        }
    }

    /// Begins an attempt.
    fn attempt(&mut self, task: Task, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        let Some(step) = self.step() else { return self.arrive(around, effects) };
        let task = Task { next_try_at_ms: None, ..task };
        if let What::Retire(made) = &task.what {
            let made = made.clone();
            self.stage = Stage::Doing(task);
            self.publish(around, effects);
            effects.push(Effect::Retire(made));
            return;
        }
        if self.is_anothers(step) {
            return self.hand_over(task, step, around, effects);
        }
        // A paused step that looks again has begun already: a journal must not grow while nothing happens.
        let begun = task.probes.is_some()
            && self.state.step(&step.name).is_some_and(|known| known.same(&task.digest, &self.boot));
        let order = self.order(step, &task);
        if !begun {
            let makes = made_by(step, self.plan);
            let first: BTreeSet<Made> =
                makes.iter().filter(|made| !self.state.knows(made)).cloned().collect();
            if !first.is_empty() {
                effects.push(Effect::Keep(first));
            }
            self.record_work(&task, Outcome::Started { makes }, around, effects);
        }
        if task.probes.is_none() {
            let why = match order.attempt {
                _ if !task.because.is_empty() => task.because.clone(),
                attempt if attempt > 1 => format!("attempt {attempt}"),
                _ => String::new(),
            };
            self.tell(&step.name, Happened::Started, &why, around, effects);
        }
        self.stage = Stage::Doing(task);
        self.publish(around, effects);
        effects.push(Effect::Do(order));
    }

    /// Whether a step is left to other units. A run that begins with its phase is theirs.
    fn is_anothers(&self, step: &Step) -> bool {
        self.hands_over && step.handed_to.is_some() && self.range.from != Some(step.phase)
    }

    fn hand_over(&mut self, task: Task, step: &Step, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        let Some(to) = &step.handed_to else { return };
        let why = format!("`{}` does it, and starts as soon as `{}` sees what it needs", to.service, to.path);
        if task.probes.is_none() {
            self.tell(&step.name, Happened::HandedOver, &why, around, effects);
        }
        let failure = Some(Failure::new(FailureKind::Transient, why, ""));
        self.stage = Stage::HandedOver(Task { failure, next_try_at_ms: None, ..task });
        self.publish(around, effects);
        effects.push(Effect::HandOver { index: self.next });
    }

    fn order(&self, step: &Step, task: &Task) -> Order {
        Order {
            index: self.next,
            step: step.name.clone(),
            digest: task.digest.clone(),
            attempt: task.attempt,
            timeout_ms: Manner::of(step).timeout_ms,
            changed: self.changed_for(step),
        }
    }

    fn succeeded(
        &mut self,
        task: &Task,
        success: Success,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(step) = self.step() else { return self.arrive(around, effects) };
        if let What::Retire(made) = &task.what {
            let paths: Vec<String> = made.iter().map(Made::path).collect();
            self.record(Entry::Retired { made: made.clone() }, true, around, effects);
            self.tell(RETIRE, Happened::Retired, &paths.join(", "), around, effects);
            return self.consider(None, around, effects);
        }
        let asks = success.reboot;
        self.record_work(task, Outcome::Succeeded(success), around, effects);
        if task.probes.is_some() {
            self.tell(&step.name, Happened::Resumed, "", around, effects);
        }
        let word = match step.action {
            Action::OpenGate { .. } => Happened::Opened,
            _ => Happened::Finished,
        };
        self.tell(&step.name, word, "", around, effects);
        if asks {
            let task = Task { failures: 0, probes: None, failure: None, ..task.clone() };
            return self.reboot(task, ASKED, around, effects);
        }
        self.pass(StepProgress::Done);
        self.consider(None, around, effects);
    }

    fn arrive(&mut self, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        self.stage = Stage::Done;
        if self.range.until.is_none() {
            // What is told of the last step says that all is done, too.
            let first = effects.iter().position(|effect| matches!(effect, Effect::Tell(_)));
            let report = Effect::Report(Box::new(self.done_report(around.at_ms)));
            effects.insert(first.unwrap_or(effects.len()), report);
        }
        self.tell("", Happened::Arrived, "", around, effects);
        self.publish(around, effects);
        effects.push(Effect::Done);
    }

    pub(super) fn pass(&mut self, how: StepProgress) {
        if let Some(progress) = self.progress.get_mut(self.next) {
            *progress = how;
        }
        self.next += 1;
    }

    /// What was made and the plan no longer has.
    fn orphans(&self) -> BTreeSet<Made> {
        let steps = self.plan.steps.iter().map(|step| step.name.as_str()).collect();
        self.state.orphans(&self.declared, &steps)
    }

    pub(super) fn manner(&self, task: &Task) -> Manner {
        match (&task.what, self.step()) {
            (What::Step, Some(step)) => Manner::of(step),
            _ => Manner::of_retiring(),
        }
    }

    pub(super) fn name(&self, task: &Task) -> String {
        match (&task.what, self.step()) {
            (What::Step, Some(step)) => step.name.clone(),
            _ => RETIRE.to_owned(),
        }
    }

    pub(super) fn tell(
        &self,
        step: &str,
        event: Happened,
        why: &str,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Tell(Event::of_agent(around.at_ms, &self.boot, step, event, why)));
    }

    pub(super) fn publish(&self, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        effects.push(Effect::Publish(Box::new(self.status(around))));
    }

    /// Notes how a step went. What is removed has no records of its own attempts: the last one says it all.
    pub(super) fn record_work(
        &mut self,
        task: &Task,
        outcome: Outcome,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        // What can be done twice without anybody noticing need not be known to be done: it reaches the disk with the next
        // record.
        let harmless = matches!(outcome, Outcome::Succeeded(_))
            && self.step().is_some_and(|step| is_harmless(&step.action));
        if let Some(record) = self.work_record(task, outcome, around) {
            effects.push(Effect::Record { record, sync: !task.fleeting && !harmless });
        }
    }

    /// The record of how a step went, taken in.
    pub(super) fn work_record(
        &mut self,
        task: &Task,
        outcome: Outcome,
        around: &Surroundings<'_>,
    ) -> Option<Record> {
        let (What::Step, Some(step)) = (&task.what, self.step()) else { return None };
        let work =
            Work { step: step.name.clone(), digest: task.digest.clone(), attempt: task.attempt, outcome };
        Some(self.taken_in(Entry::Step(work), around))
    }

    fn record(&mut self, entry: Entry, sync: bool, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        let record = self.taken_in(entry, around);
        effects.push(Effect::Record { record, sync });
    }

    fn taken_in(&mut self, entry: Entry, around: &Surroundings<'_>) -> Record {
        let record = Record { at_ms: around.at_ms, boot: self.boot.clone(), entry };
        self.state.apply(&record);
        record
    }
}

/// Whether doing it again finds it done.
fn is_harmless(action: &Action) -> bool {
    matches!(
        action,
        Action::LearnFacts
            | Action::WriteFile { .. }
            | Action::MakeDirectory { .. }
            | Action::MakeLink { .. }
            | Action::LoadModules { .. }
            | Action::SetSysctls { .. }
            | Action::TrustAuthorities { .. }
            | Action::KeepAddresses { .. }
            | Action::Install { source: InstallSource::Image, .. }
    )
}

/// The digest of a step, if it is for this node.
fn digest_if_mine(step: &Step, around: &Surroundings<'_>) -> Result<Option<String>, Failure> {
    if (step.elected_only || step.others_only) && around.known.elected()? != step.elected_only {
        return Ok(None);
    }
    around.known.digest(step).map(Some)
}

fn fresh(what: What, around: &Surroundings<'_>) -> Task {
    Task {
        what,
        digest: String::new(),
        attempt: 0,
        failures: 0,
        probes: None,
        since_ms: around.up_ms,
        fleeting: false,
        because: String::new(),
        failure: None,
        next_try_at_ms: None,
    }
}
