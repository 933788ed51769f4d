//! What stands in for programs that are not given: kubelet, the container runtime, and what other systems' images have.

use bringup_plan::{Action, Plan};
use serde_json::json;

/// How the stand-in for kubelet misbehaves, if it is asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Not at all.
    #[default]
    None,
    /// It dies after so many seconds, each time.
    DiesAfter(u32),
    /// Its health endpoint never answers.
    NeverAnswers,
    /// Its health endpoint answers with 500.
    Answers500,
    /// The image has it enabled, so that it starts by itself.
    StartsEarly,
}

/// The program.
pub(crate) const KUBELET: &str = include_str!("kubelet.py");

/// Its unit, as packages have it.
pub(crate) const KUBELET_UNIT: &str = "[Unit]\nDescription=kubelet (stand-in)\n\n[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\nRestartSec=10\n\n[Install]\nWantedBy=multi-user.target\n";

/// A runtime that does nothing but run.
pub(crate) const RUNTIME_UNIT: &str = "[Unit]\nDescription=containerd (stand-in)\n\n[Service]\nExecStart=/usr/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n";

/// A runtime that says a version and nothing else.
pub(crate) fn runtime(version: &str) -> String {
    format!("#!/bin/sh\necho containerd github.com/containerd/containerd v{version} lab\n")
}

/// A packet filter that leaves the kernel's alone: units of other systems' images call it before kubelet.
pub(crate) const PACKET_FILTER: (&str, &str) = ("/usr/sbin/iptables", "#!/bin/sh\n");

/// The version that a plan expects of a piece of software, with all three numbers.
pub(crate) fn expected(plan: &Plan, software: &str) -> Option<String> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::Install { software: name, version: Some(version), .. } if name == software => {
            Some(version.split('.').chain(["0", "0"]).take(3).collect::<Vec<_>>().join("."))
        }
        _ => None,
    })
}

impl Misbehaviour {
    /// What the stand-in reads; `version` is what it says that it is.
    pub(crate) fn wishes(self, version: &str) -> String {
        let dies = if let Self::DiesAfter(seconds) = self { Some(seconds) } else { None };
        let health = match self {
            Self::NeverAnswers => "never",
            Self::Answers500 => "500",
            Self::None | Self::DiesAfter(_) | Self::StartsEarly => "ok",
        };
        json!({"dies_after_s": dies, "health": health, "version": version}).to_string()
    }
}
