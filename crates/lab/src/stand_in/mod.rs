//! What stands in for programs that are not given: kubelet and the container runtime.

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

impl Misbehaviour {
    /// What the stand-in reads.
    pub(crate) fn wishes(self) -> String {
        let dies = if let Self::DiesAfter(seconds) = self { Some(seconds) } else { None };
        let health = match self {
            Self::NeverAnswers => "never",
            Self::Answers500 => "500",
            Self::None | Self::DiesAfter(_) | Self::StartsEarly => "ok",
        };
        json!({"dies_after_s": dies, "health": health}).to_string()
    }
}
