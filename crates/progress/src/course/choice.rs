//! Whether a step is to be done.

use bringup_plan::{Action, Step};

use super::Course;
use crate::made::read_by;
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
    /// It is to be done.
    Do,
    /// An agent died while its program ran.
    Adopt,
    /// The reboot that it asked for has happened.
    Rebooted,
    /// The reboot that it asked for has not happened.
    NeverRebooted,
}

impl Course<'_> {
    pub(super) fn choice(&self, step: &Step, digest: &str) -> Choice {
        let Some(known) = self.state.step(&step.name) else { return Choice::Do };
        // Facts live in the memory of the agent that learned them.
        if matches!(step.action, Action::LearnFacts) || known.digest != digest {
            return Choice::Do;
        }
        let now = known.boot == self.boot;
        if matches!(step.action, Action::Reboot { .. }) && known.rebooted_by(&self.boot) {
            return Choice::Rebooted;
        }
        match known.last {
            Last::Rebooting if now => Choice::NeverRebooted,
            Last::GaveUp if now && !self.again => {
                Choice::End { why: known.why.clone(), attempts: known.attempts }
            }
            Last::Continued if now => Choice::Pass { why: known.why.clone() },
            Last::Started | Last::Paused if now && may_outlive(&step.action) => Choice::Adopt,
            Last::Succeeded if self.is_done(step, known, digest) => Choice::Skip,
            _ => Choice::Do,
        }
    }

    fn is_done(&self, step: &Step, known: &StepState, digest: &str) -> bool {
        known.done_for(digest)
            && (!step.every_boot || known.done_in(&self.boot))
            && self.changed_for(step).is_empty()
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
        let opened = gate
            .and_then(|gate| self.state.step(&gate.name))
            .and_then(|gate| gate.first_success_in(&self.boot));
        let healthy = known.filter(|known| known.done_in(&self.boot)).and_then(StepState::last_success);
        match opened.max(healthy) {
            Some(record) => self.state.changed_since(Some(record), &paths),
            None => std::collections::BTreeSet::new(),
        }
    }
}

/// Whether a step runs programs in units of their own, which go on when the agent dies.
fn may_outlive(action: &Action) -> bool {
    matches!(action, Action::Run { .. } | Action::UpdateOs { .. } | Action::Install { .. })
}
