//! What a step leaves on the machine.

use std::collections::BTreeSet;

use bringup_plan::{Action, GATE_FILE, PlacedBy, Plan, Step, Unit};
use bringup_spec::{SwapPolicy, Unpack};
use serde::{Deserialize, Serialize};

use crate::unit_name::unit_of;

/// Something that a step makes and that can be removed again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// A file.
    File(String),
    /// A directory; removed only if it is empty.
    Directory(String),
    /// A symbolic link.
    Link(String),
    /// A unit, by its name: stopped, disabled and removed.
    Unit(String),
}

impl Made {
    /// Where it stands.
    pub fn path(&self) -> String {
        match self {
            Self::File(path) | Self::Directory(path) | Self::Link(path) => path.clone(),
            Self::Unit(name) => format!("{UNITS}/{name}"),
        }
    }
}

const UNITS: &str = "/etc/systemd/system";
const MODULES: &str = "/etc/modules-load.d/90-bringup.conf";
const SYSCTLS: &str = "/etc/sysctl.d/90-bringup.conf";

/// What a step of a plan is known to make before it is done. What is in an archive shows only when it is unpacked
/// ([`crate::Outcome::Succeeded`]); what is edited in place, what packages bring and what the operator's programs do
/// is not ours to remove.
pub fn made_by(step: &Step, plan: &Plan) -> BTreeSet<Made> {
    match &step.action {
        Action::WriteFile { path, .. } | Action::Fetch { path, unpack: Unpack::No, .. } => {
            BTreeSet::from([Made::File(path.clone())])
        }
        // Neither goes without the other: the kernel does not let go of a file that it swaps to.
        Action::SetSwap { policy: SwapPolicy::File, path: Some(path), .. } => {
            BTreeSet::from([Made::File(path.clone()), Made::Unit(unit_of(path, "swap"))])
        }
        Action::MakeDirectory { path, .. } => BTreeSet::from([Made::Directory(path.clone())]),
        Action::MakeLink { path, .. } => BTreeSet::from([Made::Link(path.clone())]),
        Action::LoadModules { .. } => BTreeSet::from([Made::File(MODULES.to_owned())]),
        Action::SetSysctls { .. } => BTreeSet::from([Made::File(SYSCTLS.to_owned())]),
        Action::PlaceUnits => {
            plan.units.iter().filter(|unit| unit.placed_by == PlacedBy::Agent).flat_map(made_for).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// What stands among changed paths for a piece of software that was installed, wherever its files are.
pub fn installed(software: &str) -> String {
    format!("software:{software}")
}

/// Which paths a step's unit reads, its own program among them: if one of them changes, it must start anew.
pub(crate) fn read_by(step: &Step, plan: &Plan) -> BTreeSet<String> {
    match &step.action {
        Action::StartUnit { unit, reads } => {
            let own = unit.strip_suffix(".service").map(installed);
            reads.iter().cloned().chain(own).collect()
        }
        // All that the agent itself writes between the runtime and the gate is written for kubelet.
        Action::StartKubelet { .. } => plan
            .steps
            .iter()
            .filter(|step| step.phase == bringup_spec::Phase::Configure || is_of_kubelets_unit(&step.action))
            .flat_map(|step| made_by(step, plan))
            .map(|made| made.path())
            .chain([GATE_FILE.to_owned(), installed("kubelet")])
            .collect(),
        _ => BTreeSet::new(),
    }
}

/// Whether it writes what the manager itself reads for kubelet's unit.
fn is_of_kubelets_unit(action: &Action) -> bool {
    let folders = [format!("{UNITS}/kubelet.service.d/"), "/etc/systemd/system.conf.d/".to_owned()];
    matches!(action, Action::WriteFile { path, .. } if folders.iter().any(|folder| path.starts_with(folder)))
}

fn made_for(unit: &Unit) -> Vec<Made> {
    let mut made = Vec::new();
    if unit.content.is_some() {
        made.push(Made::Unit(unit.name.clone()));
    } else if unit.mask {
        made.push(Made::Link(format!("{UNITS}/{}", unit.name)));
    }
    made.extend(unit.drop_ins.keys().map(|name| Made::File(format!("{UNITS}/{}.d/{name}", unit.name))));
    made.extend(unit.aliases.iter().map(|alias| Made::Link(format!("{UNITS}/{alias}"))));
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_all_services_and_of_kubelet_are_read_by_kubelet() {
        let writes = |path: &str| {
            let text = format!(
                r#"{{"do":"writeFile","path":"{path}","mode":"0644","owner":"root:root","content":{{"text":[]}}}}"#
            );
            is_of_kubelets_unit(&serde_json::from_str(&text).unwrap())
        };
        assert!(writes("/etc/systemd/system.conf.d/environment.conf"));
        assert!(writes("/etc/systemd/system/kubelet.service.d/environment.conf"));
        assert!(!writes("/etc/systemd/system/containerd.service.d/environment.conf"));
    }
}
