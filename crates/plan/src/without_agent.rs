//! Who does what where there is no agent: a carrier puts things in place, and one unit runs programs in their order and
//! starts kubelet behind them.

use bringup_spec::Phase;

use crate::{Action, Plan, SNAP_STARTER, Step};

/// Whether an owner is known before the first boot has made users: a name that the image lacks would stop what needs it.
pub fn is_certain_owner(owner: &str) -> bool {
    let known =
        |name: &str| name == "root" || (!name.is_empty() && name.bytes().all(|digit| digit.is_ascii_digit()));
    owner.split_once(':').is_some_and(|(user, group)| known(user) && known(group))
}

impl Action {
    /// Whether a carrier's first stage can do it, as far as is known without the rest of the plan.
    pub fn is_placeable(&self) -> bool {
        match self {
            Self::WriteFile { owner, .. } | Self::MakeDirectory { owner, .. } => is_certain_owner(owner),
            action => matches!(
                action,
                Self::MakeLink { .. }
                    | Self::LoadModules { .. }
                    | Self::SetSysctls { .. }
                    | Self::StartUnit { .. }
            ),
        }
    }
}

impl Plan {
    /// The steps that come before the gate, in their order.
    pub fn before_gate(&self) -> impl Iterator<Item = &Step> {
        let early =
            |step: &&Step| step.phase <= Phase::Gate && !matches!(step.action, Action::OpenGate { .. });
        self.steps.iter().take_while(early)
    }

    /// What runs in order without an agent: programs before the gate, and the units that are started among them. Where there
    /// are no programs, there is nothing to wait for, and whatever places things starts units.
    pub fn run_without_agent(&self) -> Vec<&Step> {
        let is_program = |step: &Step| matches!(step.action, Action::Run { .. });
        if !self.before_gate().any(is_program) {
            return Vec::new();
        }
        let runs = |step: &&Step| is_program(step) || matches!(step.action, Action::StartUnit { .. });
        self.before_gate().filter(runs).collect()
    }

    /// What is in place without an agent before the first program runs.
    pub fn placed_without_agent(&self) -> Vec<&Step> {
        let run = self.run_without_agent();
        let runs = |step: &Step| run.iter().any(|ran| ran.name == step.name);
        self.before_gate().filter(|step| step.action.is_placeable() && !runs(step)).collect()
    }

    /// The unit that starts kubelet without an agent: kubelet's own, unless something has to be set first.
    pub fn starter_without_agent(&self) -> String {
        let is_there = self.units.iter().any(|unit| unit.name == SNAP_STARTER);
        if is_there { SNAP_STARTER.to_owned() } else { self.kubelet_unit() }
    }
}
