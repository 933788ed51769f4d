//! A container shares the kernel of this machine: what would change it is stood in for.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bringup_plan::{Action, Plan};

use crate::Instance;

/// Settings that a network namespace has for itself; all others are the machine's.
const OWN: &str = "net.";

/// The table of swap when there is none.
const SWAPS: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority";

/// What a plan would change of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) modules: BTreeSet<String>,
    pub(crate) settings: BTreeSet<String>,
}

impl Touched {
    /// By this plan.
    pub(crate) fn by(plan: &Plan) -> Self {
        let mut touched = Self::default();
        for step in &plan.steps {
            match &step.action {
                Action::LoadModules { modules } => touched.modules.extend(modules.iter().cloned()),
                Action::SetSysctls { settings, .. } => touched.settings.extend(settings.keys().cloned()),
                _ => {}
            }
        }
        touched
    }

    /// A script that lays files over them before anything else runs; for an instance of EC2, also what its firmware says.
    pub(crate) fn script(&self, instance: Option<&Instance>) -> String {
        let mut script = String::from(
            "#!/bin/sh\n# What the lab lays over the kernel.\nmkdir -p /lab/module /lab/sysctl\n",
        );
        // Swap that is on is this machine's, not the container's.
        let _ = write!(script, "echo '{SWAPS}' >/lab/swaps\nmount --bind /lab/swaps /proc/swaps\n");
        for module in &self.modules {
            let _ = writeln!(script, "mkdir -p /lab/module/{}", module.replace('-', "_"));
        }
        script.push_str("mount --bind /lab/module /sys/module\n");
        if let Some(instance) = instance {
            firmware(&mut script, instance);
        }
        script.push_str("mount --bind /proc/sys/net /proc/sys/net\nmount -o remount,rw,bind /proc/sys/net\n");
        for name in &self.settings {
            let path = name.replace('.', "/");
            // A file in the place of the machine's own setting; what the namespace has for itself is set for real.
            if !name.starts_with(OWN) {
                let _ = write!(
                    script,
                    "[ -e /lab/sysctl/{name} ] || cat /proc/sys/{path} >/lab/sysctl/{name}\n\
                     [ ! -e /proc/sys/{path} ] || mount --bind /lab/sysctl/{name} /proc/sys/{path}\n"
                );
            }
        }
        script.push_str(":\n");
        script
    }
}

/// The firmware of an instance on Nitro, by which the agent knows its machine again.
fn firmware(script: &mut String, instance: &Instance) {
    let uuid = "ec2f0000-1111-2222-3333-444455556666";
    script.push_str(
        "mkdir -p /lab/class\n\
         cp -a /sys/class/. /lab/class/\n\
         rm -rf /lab/class/dmi\n\
         mkdir -p /lab/class/dmi/id\n\
         mount --bind /lab/class /sys/class\n",
    );
    for (name, value) in [
        ("sys_vendor", "Amazon EC2"),
        ("product_name", instance.kind.as_str()),
        ("product_uuid", uuid),
        ("board_asset_tag", instance.id.as_str()),
    ] {
        let _ = writeln!(script, "echo {value} >/sys/class/dmi/id/{name}");
    }
}
