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

/// What a trial came to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Whether kubelet was active and healthy for ten seconds; with a cluster, whether its node is registered and ready.
    pub came_up: bool,
    /// Whether what was seen agrees with what the plan says: kubelet never before the gate, and once a boot.
    pub agrees: bool,
    /// The system that it ran on, and what that stands for.
    pub os: String,
    /// Which kubelet ran.
    pub kubelet: KubeletKind,
    /// What stood in for something else.
    pub stand_ins: Vec<String>,
    /// Requests of the agent to the metadata service, per boot.
    pub metadata_requests: Vec<usize>,
    /// What went against the plan.
    pub disagreements: Vec<String>,
    /// The machine's node as the API server has it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<serde_json::Value>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// How it ended.
    #[serde(skip)]
    pub verdict: Verdict,
}

/// What a list of events says against the order that was promised: kubelet starts after the gate has opened, and once in
/// a boot unless it ended in between.
pub(crate) fn disagreements(events: &[Event]) -> Vec<String> {
    let mut against = Vec::new();
    let mut boot = "";
    let (mut open, mut runs) = (false, false);
    for event in events {
        if event.boot != boot {
            boot = &event.boot;
            (open, runs) = (false, false);
        }
        match (event.actor.as_str(), event.event.as_str()) {
            ("agent", "opened") => open = true,
            ("kubelet.service", "started") => {
                if !open {
                    against.push(format!("boot {boot}: kubelet started before the gate opened"));
                }
                if runs {
                    against.push(format!("boot {boot}: kubelet was started twice"));
                }
                runs = true;
            }
            ("kubelet.service", "stopped" | "failed" | "exited") => runs = false,
            _ => {}
        }
    }
    against
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(boot: &str, actor: &str, event: &str) -> Event {
        let text = |text: &str| text.to_owned();
        Event {
            at_ms: 0,
            boot: text(boot),
            actor: text(actor),
            step: text(""),
            event: text(event),
            why: text(""),
        }
    }

    #[test]
    fn kubelet_after_the_gate_is_right_in_each_boot() {
        let events = [
            event("1", "agent", "opened"),
            event("1", "kubelet.service", "started"),
            event("2", "agent", "opened"),
            event("2", "kubelet.service", "started"),
        ];
        assert!(disagreements(&events).is_empty());
    }

    #[test]
    fn kubelet_before_the_gate_is_told() {
        let events = [
            event("1", "agent", "opened"),
            event("2", "kubelet.service", "started"),
            event("2", "agent", "opened"),
        ];
        assert_eq!(disagreements(&events), ["boot 2: kubelet started before the gate opened"]);
    }

    #[test]
    fn two_starts_of_one_kubelet_are_told() {
        let mut events = vec![
            event("1", "agent", "opened"),
            event("1", "kubelet.service", "started"),
            event("1", "kubelet.service", "started"),
        ];
        assert_eq!(disagreements(&events), ["boot 1: kubelet was started twice"]);
        events.insert(2, event("1", "kubelet.service", "exited"));
        assert!(disagreements(&events).is_empty());
    }
}
