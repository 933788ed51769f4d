//! Whether a step is to be done.

use bringup_plan::{Action, Content, Step};
use bringup_spec::OnFailure;

use super::{Course, Known};
use crate::made::{Made, made_by, read_by};
use crate::manner::Manner;
use crate::state::{Last, StepState};

/// What is to be done about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is done, and nothing that it depends on has changed.
    Skip,
    /// It failed earlier in this boot, and the course goes on without it.
    Pass { why: String },
    /// It failed earlier in this boot, and the course ends.
    End { why: String, attempts: u32 },
    /// It failed earlier in this boot as often as it may, and an agent died before anything came of it.
    Spent { why: String },
    /// It is to be done; again, where something is said.
    Do { because: String },
    /// An agent had begun with it and died: its program may run, have ended, or not have been started.
    Adopt,
    /// The reboot that it asked for has happened.
    Rebooted,
    /// The reboot that it asked for has not happened.
    NeverRebooted,
    /// It is done, and an agent died before the reboot that its program asked for.
    OwesReboot,
}

impl Course<'_> {
    pub(super) fn choice(&self, step: &Step, digest: &str, around: &dyn Known) -> Choice {
        let anew = Choice::Do { because: String::new() };
        let Some(known) = self.state.step(&step.name) else { return anew };
        // Facts live in the memory of the agent that learned them.
        if matches!(step.action, Action::LearnFacts) || known.digest != digest {
            return anew;
        }
        let now = known.boot == self.boot;
        // A program that is to run on every boot runs in this one, too.
        let is_for_the_reboot = matches!(step.action, Action::Reboot { .. });
        let waited_for_it = known.done_for(digest) && !step.every_boot;
        if (is_for_the_reboot || waited_for_it) && known.rebooted_by(&self.boot) {
            return Choice::Rebooted;
        }
        match known.last {
            Last::Rebooting if now => Choice::NeverRebooted,
            Last::GaveUp if now && !self.again => {
                Choice::End { why: known.why.clone(), attempts: known.attempts }
            }
            Last::Failed if now && !self.again && is_spent(step, known) => {
                Choice::Spent { why: known.why.clone() }
            }
            Last::Continued if now => Choice::Pass { why: known.why.clone() },
            _ if known.owes_reboot(digest, &self.boot) => Choice::OwesReboot,
            Last::Started | Last::Paused if now && may_outlive(&step.action) => Choice::Adopt,
            Last::Succeeded if self.is_done(step, known, digest) => match self.gone(step, around) {
                Some(path) => Choice::Do { because: format!("`{path}` is gone") },
                None => Choice::Skip,
            },
            _ => anew,
        }
    }

    fn is_done(&self, step: &Step, known: &StepState, digest: &str) -> bool {
        known.done_for(digest)
            && (!step.every_boot || known.done_in(&self.boot))
            && self.changed_for(step).is_empty()
    }

    /// The first thing that a step has made and that is no longer there, where the plan alone is enough to make it again.
    ///
    /// What was fetched, or took a secret, is not looked for: an operator's program may have used it up, and a boot would
    /// have to wait for whoever has it. What somebody has changed is there: it is theirs.
    pub(super) fn gone(&self, step: &Step, around: &dyn Known) -> Option<String> {
        let is_in_the_plan = match &step.action {
            Action::WriteFile { content, .. } => !matches!(content, Content::Secret(_) | Content::Pieces(_)),
            Action::MakeDirectory { .. } | Action::MakeLink { .. } | Action::PlaceUnits => true,
            _ => false,
        };
        let made = if is_in_the_plan { made_by(step, self.plan) } else { return None };
        made.iter().find(|made| !around.is_there(made)).map(Made::path)
    }

    /// Which of the paths that a step's unit reads have changed since it was started.
    pub(super) fn changed_for(&self, step: &Step) -> std::collections::BTreeSet<String> {
        let paths = read_by(step, self.plan);
        if paths.is_empty() {
            return paths;
        }
        let known = self.state.step(&step.name);
        if !matches!(step.action, Action::StartKubelet { .. }) {
            // It may run since the machine started, and have read what was there then.
            return self.state.changed_since(known.and_then(StepState::last_success), &paths);
        }
        // Kubelet does not start before the gate opens: what was written until then it has read.
        let gate = self.plan.steps.iter().find(|step| matches!(step.action, Action::OpenGate { .. }));
        let Some(gate) = gate else {
            // Without a gate, it starts with the machine and has read what was there then.
            return self.state.changed_since(known.and_then(StepState::last_success), &paths);
        };
        let opened = self.state.step(&gate.name).and_then(|gate| gate.first_success_in(&self.boot));
        let healthy = known.filter(|known| known.done_in(&self.boot)).and_then(StepState::last_success);
        match opened.max(healthy) {
            Some(record) => self.state.changed_since(Some(record), &paths),
            None => std::collections::BTreeSet::new(),
        }
    }
}

/// Whether a step has failed as often as it may, and is not tried again by itself then.
fn is_spent(step: &Step, known: &StepState) -> bool {
    let manner = Manner::of(step);
    let ends = matches!(manner.then, OnFailure::Continue | OnFailure::GiveUp);
    ends && manner.attempts.is_some_and(|attempts| known.failures >= attempts)
}

/// Whether a step runs programs in units of their own, which go on when the agent dies.
fn may_outlive(action: &Action) -> bool {
    matches!(action, Action::Run { .. } | Action::UpdateOs { .. } | Action::Install { .. })
}
