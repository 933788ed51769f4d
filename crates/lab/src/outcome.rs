//! What a trial came to.

use bringup_progress::Event;
use serde::Serialize;

use crate::passed_over::{self, Kind, PassedOver};

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
    /// Those without a token, as version 1 of the service had them.
    pub without_token: usize,
    /// Those without a token that somebody else made, such as cloud-init.
    pub without_token_by_others: usize,
}

/// What kept a machine from coming up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// The step or the unit.
    pub what: String,
    /// Why it is not done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to mend.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// The last lines of what it wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

impl Failing {
    /// The step that the agent is at, by its own word; none once it is done.
    pub(crate) fn of_agent(status: &serde_json::Value) -> Option<Self> {
        let word = |name: &str| status.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let [what, why, fix, tail] = ["step", "why", "fix", "tail"].map(|name| word(name).to_owned());
        (!what.is_empty()).then_some(Self { what, why, fix, tail })
    }

    /// A unit that has failed, and the end of its log.
    pub(crate) fn of_unit(unit: &str, tail: String) -> Self {
        Self { what: unit.to_owned(), why: "the unit has failed".to_owned(), tail, ..Self::default() }
    }
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
    /// What was asked for, such as `--power-cut STEP`, and has not been done.
    pub left_undone: Vec<String>,
    /// What was waited for, such as `--until STEP=finished`, and was not seen when the time was over.
    pub unseen: Vec<String>,
    /// What kept the machine from coming up.
    pub failing: Vec<Failing>,
    /// What failed, in whichever boot, and did not keep the machine from coming up.
    pub passed_over: Vec<PassedOver>,
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

impl Outcome {
    /// What it came to, in one clause for people.
    pub fn told(&self) -> String {
        let unseen: Vec<String> = self.unseen.iter().map(|asked| format!("`{asked}`")).collect();
        let unseen = (!unseen.is_empty()).then(|| format!("{} was not seen", unseen.join(", ")));
        match self.verdict {
            Verdict::CameUp => {
                let waited = unseen.map(|unseen| format!("{unseen} until the time was over"));
                let but: Vec<String> =
                    waited.into_iter().chain(passed_over::in_one(&self.passed_over)).collect();
                if but.is_empty() {
                    "the node came up".to_owned()
                } else {
                    format!("the node came up, but {}", but.join(", and "))
                }
            }
            Verdict::Failed => "the node did not come up".to_owned(),
            Verdict::NotYet => {
                let unseen = unseen.map(|unseen| format!(": {unseen}")).unwrap_or_default();
                format!("the node was not up when the time was over{unseen}")
            }
        }
    }

    /// What failed and was passed over, for people: where and why.
    pub fn passed(&self) -> impl Iterator<Item = (String, &PassedOver)> {
        // Nobody counts one boot.
        let several = self.metadata_requests.len() > 1;
        self.passed_over.iter().map(move |one| {
            let boot = if several { format!(" in boot {}", one.boot) } else { String::new() };
            let how = if one.kind == Kind::Step { "failed and was passed over" } else { "failed" };
            let why = if one.why.is_empty() { String::new() } else { format!(": {}", one.why) };
            (format!("{how}{boot}{why}"), one)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_agent_that_is_stuck_says_at_what_and_shows_the_end_of_its_output() {
        let status = json!({"standing": "paused", "step": "drivers", "why": "it ended with code 1", "tail": "no kernel headers"});
        let failing = Failing::of_agent(&status).unwrap();
        assert_eq!(
            [failing.what, failing.why, failing.tail],
            ["drivers", "it ended with code 1", "no kernel headers"]
        );
        assert_eq!(Failing::of_agent(&json!({"standing": "done"})), None);
    }
}
