//! What others may see of a course.

use super::{Course, Stage, Surroundings, Task};
use crate::record::Failure;
use crate::status::{Done, Failed, Standing, Status, StepProgress, StepStatus};

impl Course<'_> {
    /// How it stands now.
    pub fn status(&self, around: &Surroundings<'_>) -> Status {
        let task = self.task();
        let now = task.map(|task| (task, task.failure.as_ref()));
        self.written(now.map(|(task, _)| task), now.and_then(|(_, failure)| failure), around)
    }

    /// What `done.json` says if it is written now.
    pub fn done_report(&self, at_ms: u64) -> Done {
        Done {
            at_ms,
            boot: self.boot.clone(),
            identity: self.identity.clone(),
            cluster: self.plan.cluster.clone(),
            group: self.plan.group.clone(),
            kubernetes: self.plan.kubernetes.clone(),
            plan: self.plan_digest.clone(),
            steps: self.steps(),
        }
    }

    pub(super) fn failed_report(&self, task: &Task, failure: &Failure, around: &Surroundings<'_>) -> Failed {
        Failed {
            at_ms: around.at_ms,
            boot: self.boot.clone(),
            identity: self.identity.clone(),
            cluster: self.plan.cluster.clone(),
            group: self.plan.group.clone(),
            plan: self.plan_digest.clone(),
            step: self.name(task),
            phase: self.step().map(|step| step.phase),
            attempts: task.attempt,
            why: failure.why.clone(),
            fix: failure.fix.clone(),
            tail: failure.tail.clone(),
        }
    }

    pub(super) fn status_of_end(&self, task: &Task, failure: &Failure, around: &Surroundings<'_>) -> Status {
        self.written(Some(task), Some(failure), around)
    }

    fn written(&self, task: Option<&Task>, failure: Option<&Failure>, around: &Surroundings<'_>) -> Status {
        Status {
            standing: self.standing(),
            at_ms: around.at_ms,
            boot: self.boot.clone(),
            identity: self.identity.clone(),
            cluster: self.plan.cluster.clone(),
            group: self.plan.group.clone(),
            plan: self.plan_digest.clone(),
            until: self.range.until,
            phase: task.and_then(|_| self.step()).map(|step| step.phase),
            step: task.map(|task| self.name(task)),
            attempt: task.map(|task| task.attempt),
            why: failure.map(|failure| failure.why.clone()).unwrap_or_default(),
            fix: failure.map(|failure| failure.fix.clone()).unwrap_or_default(),
            tail: failure.map(|failure| failure.tail.clone()).unwrap_or_default(),
            next_try_at_ms: task.and_then(|task| task.next_try_at_ms),
            steps: self.steps(),
        }
    }

    fn standing(&self) -> Standing {
        match &self.stage {
            // A paused step that looks again is still paused until it has succeeded.
            Stage::Waiting(Task { probes: Some(_), .. }) | Stage::Doing(Task { probes: Some(_), .. }) => {
                Standing::Paused
            }
            Stage::Fresh | Stage::Doing(_) | Stage::Adopting(_) => Standing::Running,
            Stage::Waiting(_) => Standing::Waiting,
            Stage::HandedOver(_) => Standing::HandedOver,
            Stage::Rebooting(_) => Standing::Rebooting,
            Stage::GivenUp => Standing::GaveUp,
            Stage::Done => Standing::Done,
        }
    }

    fn task(&self) -> Option<&Task> {
        match &self.stage {
            Stage::Doing(task)
            | Stage::Adopting(task)
            | Stage::Waiting(task)
            | Stage::Rebooting(task)
            | Stage::HandedOver(task) => Some(task),
            Stage::Fresh | Stage::GivenUp | Stage::Done => None,
        }
    }

    fn steps(&self) -> Vec<StepStatus> {
        let steps = self.plan.steps.iter().zip(&self.progress).enumerate();
        steps
            .map(|(index, (step, progress))| StepStatus {
                step: step.name.clone(),
                phase: step.phase,
                progress: match progress {
                    StepProgress::Pending if index == self.next && self.task().is_some() => {
                        StepProgress::Doing
                    }
                    progress => *progress,
                },
                why: self.continued.get(&index).map(|failure| failure.why.clone()).unwrap_or_default(),
            })
            .collect()
    }
}
