//! One turn of the machine: what happened in, what is to be done out.

use std::collections::BTreeSet;

use bringup_plan::{Action, Step};
use bringup_spec::{OnFailure, Phase};

use super::choice::Choice;
use super::{
    Adopted, Course, Effect, Happening, MOST_REBOOTS, Order, Refusal, Stage, Surroundings, Task, What,
};
use crate::event::{Event, Happened};
use crate::made::{Made, made_by};
use crate::manner::{Manner, probe_wait};
use crate::record::{Entry, FORMAT, Failure, FailureKind, Outcome, Record, Success, Work};
use crate::status::StepProgress;

/// The name that events about removing have instead of a step's.
const RETIRE: &str = "retire";

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
            (Stage::Doing(task) | Stage::Rebooting(task), Happening::Failed(failure))
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
    fn consider(&mut self, mut waited: Option<Task>, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
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
            let digest = match self.mine(step, around).and_then(|mine| match mine {
                true => around.known.digest(step).map(Some),
                false => Ok(None),
            }) {
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
                return self.attempt(
                    Task { digest, attempt: task.attempt.saturating_add(1), ..task },
                    around,
                    effects,
                );
            }
            let choice = self.choice(step, &digest);
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
                    return self.give_up(&Task { attempt: attempts, ..task }, failure, true, around, effects);
                }
                Choice::Do => {
                    task.attempt = task.attempt.saturating_add(1);
                    return self.attempt(task, around, effects);
                }
                Choice::Adopt => {
                    self.tell(
                        &step.name,
                        Happened::Adopted,
                        "the agent died while its program ran",
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

    /// Whether a step is for this node.
    fn mine(&self, step: &Step, around: &Surroundings<'_>) -> Result<bool, Failure> {
        match (step.elected_only, step.others_only) {
            (false, false) => Ok(true),
            (only_elected, _) => around.known.elected().map(|elected| elected == only_elected),
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
        // A paused step that looks again has begun already: a journal must not grow while nothing happens.
        let begun = task.probes.is_some()
            && self.state.step(&step.name).is_some_and(|known| known.same(&task.digest, &self.boot));
        let order = self.order(step, &task);
        if !begun {
            self.record_work(&task, Outcome::Started { makes: made_by(step, self.plan) }, around, effects);
        }
        if task.probes.is_none() {
            let why = if order.attempt > 1 { format!("attempt {}", order.attempt) } else { String::new() };
            self.tell(&step.name, Happened::Started, &why, around, effects);
        }
        self.stage = Stage::Doing(task);
        self.publish(around, effects);
        effects.push(Effect::Do(order));
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
        self.record_work(task, Outcome::Succeeded(success), around, effects);
        if task.probes.is_some() {
            self.tell(&step.name, Happened::Resumed, "", around, effects);
        }
        let word = match step.action {
            Action::OpenGate { .. } => Happened::Opened,
            _ => Happened::Finished,
        };
        self.tell(&step.name, word, "", around, effects);
        self.pass(StepProgress::Done);
        self.consider(None, around, effects);
    }

    fn failed(
        &mut self,
        mut task: Task,
        failure: Failure,
        word: Happened,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let name = self.name(&task);
        let manner = self.manner(&task);
        if task.probes.is_some() {
            return self.pause(task, failure, around, effects);
        }
        task.failures = task.failures.saturating_add(1);
        let outcome = Outcome::Failed { kind: failure.kind, why: failure.reason() };
        self.record_work(&task, outcome, around, effects);
        self.tell(&name, word, &failure.why, around, effects);
        let late =
            manner.deadline_ms.is_some_and(|limit| around.up_ms.saturating_sub(task.since_ms) >= limit);
        let spent = manner.attempts.is_some_and(|attempts| task.failures >= attempts);
        let hopeless = failure.kind != FailureKind::Transient;
        let again = match manner.then {
            _ if !(late || spent || hopeless) => true,
            OnFailure::Retry => failure.kind != FailureKind::Operator,
            _ => false,
        };
        if again {
            let ms = manner.wait(task.failures, around.random);
            self.tell(&name, Happened::Retrying, &format!("in {ms} ms"), around, effects);
            task.failure = Some(failure);
            return self.wait(task, ms, around, effects);
        }
        match manner.then {
            OnFailure::Retry | OnFailure::Pause => self.pause(task, failure, around, effects),
            OnFailure::Continue => {
                self.record_work(&task, Outcome::Continued { why: failure.reason() }, around, effects);
                self.tell(&name, Happened::Continued, &failure.why, around, effects);
                self.continued.insert(self.next, failure);
                self.pass(StepProgress::Continued);
                self.consider(None, around, effects);
            }
            OnFailure::GiveUp => self.give_up(&task, failure, false, around, effects),
        }
    }

    fn pause(
        &mut self,
        mut task: Task,
        failure: Failure,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let probe = task.probes.map_or(1, |probes| probes.saturating_add(1));
        if task.probes.is_none() {
            let outcome = Outcome::Paused { why: failure.reason(), fix: failure.fix.clone() };
            self.record_work(&task, outcome, around, effects);
            let name = self.name(&task);
            self.tell(&name, Happened::Paused, &failure.why, around, effects);
        }
        task.probes = Some(probe);
        task.failure = Some(failure);
        self.wait(task, probe_wait(probe, around.random), around, effects);
    }

    fn wait(&mut self, mut task: Task, ms: u64, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        task.next_try_at_ms = Some(around.at_ms.saturating_add(ms));
        self.stage = Stage::Waiting(task);
        self.publish(around, effects);
        effects.push(Effect::Wait { ms });
    }

    fn reboot(&mut self, task: Task, why: &str, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        let name = self.name(&task);
        if self.state.reboots() >= MOST_REBOOTS {
            let failure = Failure::new(
                FailureKind::Operator,
                format!(
                    "the machine was rebooted {MOST_REBOOTS} times for this plan and is to reboot again: {why}"
                ),
                "see what asks for a reboot each time; a changed plan starts to count afresh",
            );
            return self.failed(task, failure, Happened::Failed, around, effects);
        }
        self.record_work(&task, Outcome::Rebooting, around, effects);
        self.tell(&name, Happened::Rebooting, why, around, effects);
        self.stage = Stage::Rebooting(task);
        self.publish(around, effects);
        effects.push(Effect::Reboot);
    }

    fn give_up(
        &mut self,
        task: &Task,
        failure: Failure,
        known: bool,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        if !known {
            self.record_work(task, Outcome::GaveUp { why: failure.reason() }, around, effects);
        }
        let name = self.name(task);
        self.tell(&name, Happened::GaveUp, &failure.why, around, effects);
        if let Some(progress) = self.progress.get_mut(self.next) {
            *progress = StepProgress::GaveUp;
        }
        self.stage = Stage::GivenUp;
        let failed = Box::new(self.failed_report(task, &failure, around));
        effects.push(Effect::Publish(Box::new(self.status_of_end(task, &failure, around))));
        effects.push(Effect::GiveUp { failed, known });
    }

    fn arrive(&mut self, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        self.stage = Stage::Done;
        self.tell("", Happened::Arrived, "", around, effects);
        self.publish(around, effects);
        effects.push(Effect::Done(Box::new(self.done_report(around.at_ms))));
    }

    fn pass(&mut self, how: StepProgress) {
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

    fn manner(&self, task: &Task) -> Manner {
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

    fn tell(
        &self,
        step: &str,
        event: Happened,
        why: &str,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Tell(Event::of_agent(around.at_ms, &self.boot, step, event, why)));
    }

    fn publish(&self, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        effects.push(Effect::Publish(Box::new(self.status(around))));
    }

    /// Notes how a step went. What is removed has no records of its own attempts: the last one says it all.
    fn record_work(
        &mut self,
        task: &Task,
        outcome: Outcome,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        if let (What::Step, Some(step)) = (&task.what, self.step()) {
            let work =
                Work { step: step.name.clone(), digest: task.digest.clone(), attempt: task.attempt, outcome };
            self.record(Entry::Step(work), !task.fleeting, around, effects);
        }
    }

    fn record(&mut self, entry: Entry, sync: bool, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
        let record = Record { at_ms: around.at_ms, boot: self.boot.clone(), entry };
        self.state.apply(&record);
        effects.push(Effect::Record { record, sync });
    }
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
        failure: None,
        next_try_at_ms: None,
    }
}

fn overdue(timeout_ms: u64) -> Failure {
    let seconds = timeout_ms / 1000;
    Failure::new(
        FailureKind::Transient,
        format!("it took longer than {seconds} s"),
        "see what it waits for, or give it more time with `timeout`",
    )
}
