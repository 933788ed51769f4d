//! What follows from a failure: another attempt, a pause, going on without, or the end.

use bringup_spec::OnFailure;

use super::{Course, Effect, MOST_REBOOTS, Stage, Surroundings, Task};
use crate::event::Happened;
use crate::manner::{LONGEST_PROBE_MS, probe_wait};
use crate::record::{Failure, FailureKind, Outcome};
use crate::status::StepProgress;

/// Whose end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// This run's.
    New,
    /// An earlier run's, which may have died before everybody had heard of it.
    Untold,
    /// An earlier run's.
    Known,
}

impl Course<'_> {
    pub(super) fn failed(
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
            OnFailure::Continue => self.go_on_without(&task, failure, around, effects),
            OnFailure::GiveUp => self.give_up(&task, &failure, End::New, around, effects),
        }
    }

    pub(super) fn go_on_without(
        &mut self,
        task: &Task,
        failure: Failure,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        self.record_work(task, Outcome::Continued { why: failure.reason() }, around, effects);
        let name = self.name(task);
        self.tell(&name, Happened::Continued, &failure.why, around, effects);
        self.continued.insert(self.next, failure);
        self.pass(StepProgress::Continued);
        self.consider(None, around, effects);
    }

    fn pause(
        &mut self,
        mut task: Task,
        failure: Failure,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let failure = Failure { fix: with_prospect(&failure), ..failure };
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

    pub(super) fn reboot(
        &mut self,
        task: Task,
        why: &str,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
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

    pub(super) fn give_up(
        &mut self,
        task: &Task,
        failure: &Failure,
        end: End,
        around: &Surroundings<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let failed = Box::new(self.failed_report(task, failure, around));
        effects.push(Effect::Fail { failed: failed.clone(), known: end != End::New });
        let name = self.name(task);
        self.tell(&name, Happened::GaveUp, &failure.why, around, effects);
        if let Some(progress) = self.progress.get_mut(self.next) {
            *progress = StepProgress::GaveUp;
        }
        self.stage = Stage::GivenUp;
        effects.push(Effect::Publish(Box::new(self.status_of_end(task, failure, around))));
        let record = match end {
            End::New | End::Untold => {
                self.work_record(task, Outcome::GaveUp { why: failure.reason() }, around).map(Box::new)
            }
            End::Known => None,
        };
        effects.push(Effect::GiveUp { failed, record });
    }
}

/// What to mend, and that a paused step is tried again without anybody's doing. What only the operator can mend says so
/// itself.
fn with_prospect(failure: &Failure) -> String {
    if failure.kind == FailureKind::Operator {
        return failure.fix.clone();
    }
    let prospect = format!("it is tried again by itself, at the latest every {} s", LONGEST_PROBE_MS / 1000);
    if failure.fix.is_empty() { prospect } else { format!("{}; {prospect}", failure.fix) }
}

pub(super) fn overdue(timeout_ms: u64) -> Failure {
    let seconds = timeout_ms / 1000;
    Failure::new(
        FailureKind::Transient,
        format!("it took longer than {seconds} s"),
        "see what it waits for, or give it more time with `timeout`",
    )
}
