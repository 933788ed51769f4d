//! A container shares the kernel of this machine: what would change it is stood in for.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bringup_plan::{Action, Plan};

/// Settings that a network namespace has for itself; all others are the machine's.
const OWN: &str = "net.";

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
                Action::SetSysctls { settings } => touched.settings.extend(settings.keys().cloned()),
                _ => {}
            }
        }
        touched
    }

    /// A script that lays files over them before anything else runs.
    pub(crate) fn script(&self) -> String {
        let mut script = String::from(
            "#!/bin/sh\n# What the lab lays over the kernel.\nmkdir -p /lab/module /lab/sysctl\n",
        );
        for module in &self.modules {
            let _ = writeln!(script, "mkdir -p /lab/module/{}", module.replace('-', "_"));
        }
        script.push_str(
            "mount -o remount,rw /sys\nmkdir -p /sys/module\nmount --bind /lab/module /sys/module\nmount -o remount,ro /sys\n",
        );
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
