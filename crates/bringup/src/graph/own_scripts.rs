//! What cloud-init runs of the operator's own while the agent is at work, and where one waits for the other.

use bringup_ancestors::Meeting;
use bringup_spec::{Carrier, NodeGroup};

use super::{Graph, Kind};
use crate::own_parts::{Act, OwnParts};

/// Who lets a step of the agent's go on: the box, the step and what has come about.
pub(super) struct Awaited {
    from: usize,
    step: String,
    label: &'static str,
}

/// Draws the scripts that cloud-init runs beside the agent.
pub(super) fn draw(
    graph: &mut Graph,
    cloud_init: usize,
    own: &OwnParts,
    group: &NodeGroup,
    carrier: Option<Carrier>,
) -> Option<Awaited> {
    // These carry no parts.
    if matches!(carrier, Some(Carrier::Ignition | Carrier::Bundle)) {
        return None;
    }
    let step = |wanted: Meeting| {
        let mut steps = group.steps.iter();
        let found = steps.find(|step| {
            let script = step.script.as_ref().and_then(|script| script.as_literal());
            script.and_then(Meeting::of) == Some(wanted)
        });
        found.map(|step| step.name.to_string())
    };
    let (awaits, releases) = (step(Meeting::Awaits), step(Meeting::Releases));
    let part = |name: &str| group.parts.iter().find(|part| part.name == name)?.content.as_deref();
    let scripts: Vec<&Act> = own.acts.iter().filter(|act| act.stage == "final" && act.is_program).collect();
    let mut lines = Vec::new();
    let mut gathers = false;
    for act in &scripts {
        let meeting = part(&act.title).and_then(Meeting::of);
        let (Some(Meeting::Gathers | Meeting::GathersAndWaits), Some(awaits)) = (meeting, &awaits) else {
            lines.push(format!("◆ {}", act.title));
            continue;
        };
        gathers = true;
        lines.push(format!("lets {awaits} end"));
        if let (Some(Meeting::GathersAndWaits), Some(releases)) = (meeting, &releases) {
            lines.push(format!("waits for {releases}"));
        }
    }
    let mut from = cloud_init;
    if !scripts.is_empty() {
        let each = scripts.iter().filter(|act| act.every_boot).count();
        let when = match each {
            0 => "first boot",
            each if each == scripts.len() => "each boot",
            _ => "first boot, some on each boot",
        };
        from = graph.add(Kind::Unit, "cloud-final.service", lines, when);
        graph.beside(from);
        graph.arrow(cloud_init, from, "runs scripts late");
    }
    let label = if gathers { "is at its scripts" } else { "has ended" };
    awaits.map(|step| Awaited { from, step, label })
}

impl Awaited {
    /// Draws the arrow to the phase that has the step.
    pub(super) fn arrow(self, graph: &mut Graph) {
        let line = format!("◆ {}", self.step);
        let to = graph.boxes.iter().position(|item| item.kind == Kind::Phase && item.lines.contains(&line));
        if let Some(to) = to {
            graph.arrow(self.from, to, self.label);
        }
    }
}
