//! What a trial came to.

use bringup_progress::Event;
use serde::Serialize;

/// Which kubelet ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KubeletKind {
    /// The one that was given.
    Real,
    /// A stand-in, which records how it was called and answers health.
    StandIn,
}

/// Whether it came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did.
    CameUp,
    /// It did not.
    Failed,
    /// It waits for the operator, or was still at work when the time was over.
    NotYet,
}

/// Requests of the agent to the metadata service in one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Until the gate opened.
    pub until_gate: usize,
    /// All of them.
    pub all: usize,
}

/// What a trial came to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Whether kubelet was active and healthy for ten seconds; with a cluster, whether its node is registered and ready.
    pub came_up: bool,
    /// Whether what was seen agrees with the order that the plan promises.
    pub agrees: bool,
    /// The system that it ran on, and what that stands for.
    pub os: String,
    /// Which kubelet ran.
    pub kubelet: KubeletKind,
    /// What stood in for something else.
    pub stand_ins: Vec<String>,
    /// Requests of the agent to the metadata service, per boot.
    pub metadata_requests: Vec<Requests>,
    /// What went against the plan.
    pub disagreements: Vec<String>,
    /// The machine's node as the API server has it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<serde_json::Value>,
    /// What the agent said of itself when the last boot was over.
    pub status: Option<serde_json::Value>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// How it ended.
    #[serde(skip)]
    pub verdict: Verdict,
}
