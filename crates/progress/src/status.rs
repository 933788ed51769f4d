//! What people and programs may see: `status.json`, `done.json`, `failed.json`.

use bringup_spec::Phase;
use serde::{Deserialize, Serialize};

/// How it stands now: `status.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// How it stands, in one word.
    pub standing: Standing,
    /// When this was written: milliseconds since 1970.
    pub at_ms: u64,
    /// The kernel's boot id.
    pub boot: String,
    /// Who the machine is.
    pub identity: String,
    /// The cluster's name.
    pub cluster: String,
    /// The node group's name.
    pub group: String,
    /// The digest of the plan.
    pub plan: String,
    /// The last phase of this run; none: the last of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Phase>,
    /// The phase that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The step that is being done, or waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Which attempt at it, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Why it is not done yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to mend.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// The last lines of what its program wrote.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// When it is tried again: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at_ms: Option<u64>,
    /// Every step of the plan, in order.
    pub steps: Vec<StepStatus>,
}

/// Whether nothing is left of the plan by a run that is done: not so where it was to end early.
pub fn is_whole(status: &Status) -> bool {
    status.until.is_none() || status.steps.iter().all(|step| step.progress != StepProgress::Pending)
}

/// How it stands, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Something is being done.
    Running,
    /// An attempt failed; the next one follows.
    Waiting,
    /// It waits for the operator.
    Paused,
    /// The machine is about to reboot.
    Rebooting,
    /// The node is up; the step is the work of other units, which wait for what they need.
    HandedOver,
    /// It ended for good, without success.
    GaveUp,
    /// All that was asked for is done.
    Done,
}

impl Standing {
    /// As it stands in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Rebooting => "rebooting",
            Self::HandedOver => "handed-over",
            Self::GaveUp => "gave-up",
            Self::Done => "done",
        }
    }
}

/// How far a step has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStatus {
    /// Its name.
    pub step: String,
    /// Its phase.
    pub phase: Phase,
    /// How far it has come.
    pub progress: StepProgress,
    /// Why it failed, if the course went on without it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepProgress {
    /// Not yet.
    Pending,
    /// Now.
    Doing,
    /// Done, now or earlier.
    Done,
    /// For another node.
    NotMine,
    /// It failed, and the course went on without it.
    Continued,
    /// The course ended with it.
    GaveUp,
}

/// That it worked: `done.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// When: milliseconds since 1970.
    pub at_ms: u64,
    /// The kernel's boot id.
    pub boot: String,
    /// Who the machine is.
    pub identity: String,
    /// The cluster's name.
    pub cluster: String,
    /// The node group's name.
    pub group: String,
    /// The version of Kubernetes.
    pub kubernetes: String,
    /// The digest of the plan.
    pub plan: String,
    /// Every step of the plan, in order.
    pub steps: Vec<StepStatus>,
}

/// That it did not work, and why: `failed.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// When: milliseconds since 1970.
    pub at_ms: u64,
    /// The kernel's boot id.
    pub boot: String,
    /// Who the machine is.
    pub identity: String,
    /// The cluster's name.
    pub cluster: String,
    /// The node group's name.
    pub group: String,
    /// The digest of the plan.
    pub plan: String,
    /// The step that failed.
    pub step: String,
    /// Its phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// How many attempts there were.
    pub attempts: u32,
    /// Why.
    pub why: String,
    /// What to mend.
    pub fix: String,
    /// The last lines of what its program wrote.
    pub tail: String,
}
