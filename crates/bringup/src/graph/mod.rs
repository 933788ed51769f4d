//! Who runs what at boot, and who waits for whom, as a graph: units, phases, the gate.
//!
//! It is made from the plan and the operator's own parts of user-data, and drawn as text, Mermaid, SVG or DOT. Steps of the operator stand by their names;
//! what follows from the document is counted.

mod dot;
mod mermaid;
mod own_scripts;
mod svg;
mod text;
mod without_agent;

use bringup_plan::{Action, Plan, Step};
use bringup_spec::{Carrier, NodeGroup, Phase};

use crate::arguments::GraphForm;
use crate::view::{GroupView, Operator};

/// How it ends where something is for one node of several.
const ELECTED: &str = ", the elected node";

/// Boxes, and arrows between them.
#[derive(Debug)]
pub(crate) struct Graph {
    title: String,
    boxes: Vec<Item>,
    arrows: Vec<Arrow>,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What brings the plan to the machine.
    Carrier,
    /// A unit of systemd.
    Unit,
    /// A phase of the agent's.
    Phase,
    /// The gate.
    Gate,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    title: String,
    /// What it does, line by line.
    lines: Vec<String>,
    /// On which boots and on which nodes.
    when: &'static str,
    /// Whether it runs beside the way down.
    beside: bool,
}

/// From one box to another; to itself where it is tried again.
#[derive(Debug)]
struct Arrow {
    from: usize,
    to: usize,
    label: &'static str,
}

impl Graph {
    /// The graph of a group.
    pub(crate) fn of(view: &GroupView, group: &NodeGroup, carriers: &[Carrier]) -> Self {
        let mut graph = Self::of_all(view, group, carriers.first().copied());
        // Where no node is another than the rest, nobody asks on which of them.
        if !graph.boxes.iter().any(|item| item.when.ends_with(ELECTED)) {
            for item in &mut graph.boxes {
                item.when = item.when.strip_suffix(", all nodes").unwrap_or(item.when);
            }
        }
        graph
    }

    fn of_all(view: &GroupView, group: &NodeGroup, carrier: Option<Carrier>) -> Self {
        let (plan, operator) = (&view.plan, &view.operator);
        let title = format!("{}/{}: what runs at boot, and what waits for what", plan.cluster, plan.group);
        let mut graph = Self { title, boxes: Vec::new(), arrows: Vec::new() };
        if !plan.units.iter().any(|unit| unit.name == "bringup.service") {
            without_agent::draw(&mut graph, plan, operator, carrier);
            return graph;
        }
        let lines = vec!["places plan and units".to_owned()];
        let brought = carrier.map_or("the carrier", brought_by);
        let first = graph.add(Kind::Carrier, brought, lines, brought_on(carrier));
        let awaited = own_scripts::draw(&mut graph, first, &view.own, group, carrier);
        let alias = |unit: &str| plan.units.iter().find(|known| known.name == unit)?.aliases.first().cloned();
        let named = |unit: &str| match alias(unit) {
            Some(alias) => format!("{alias} ({unit})"),
            None => unit.to_owned(),
        };
        let agent = graph.add(Kind::Unit, &named("bringup.service"), Vec::new(), "each boot, all nodes");
        graph.arrow(first, agent, "enables");
        graph.arrow(agent, agent, "again until it succeeds");
        let last = graph.phases(agent, "runs", &steps_before_gate(plan), operator);
        if let Some(reboot) = graph.boxes.iter().position(|item| item.title == Phase::Reboot.word()) {
            graph.arrow(reboot, agent, "and goes on");
        }
        let gate_word = vec!["opened by one rename, last of all".to_owned()];
        let gate = graph.add(Kind::Gate, "bringup-gate.target", gate_word, "each boot, all nodes");
        graph.arrow(last, gate, "opens");
        let kubelet = graph.add(Kind::Unit, &plan.kubelet_unit(), Vec::new(), "each boot, all nodes");
        graph.arrow(gate, kubelet, "only now starts");
        graph.arrow(kubelet, kubelet, "restarted by systemd");
        let after = graph.add(
            Kind::Unit,
            "bringup-after.service",
            vec!["nothing waits for it".to_owned()],
            "each boot, all nodes",
        );
        graph.arrow(gate, after, "starts");
        graph.phases_after_gate(after, plan, operator);
        if let Some(health) = graph.boxes.iter().position(|item| item.title == Phase::Kubelet.word()) {
            graph.arrow(kubelet, health, "is healthy");
        }
        if let Some(awaited) = awaited {
            awaited.arrow(&mut graph);
        }
        graph
    }

    /// Draws it.
    pub(crate) fn drawn(&self, form: GraphForm) -> String {
        match form {
            GraphForm::Text => text::drawn(self),
            GraphForm::Mermaid => mermaid::drawn(self),
            GraphForm::Svg => svg::drawn(self),
            GraphForm::Dot => dot::drawn(self),
        }
    }

    /// A box for each phase of the agent behind the gate. A stage that is left to units of its own stands behind them.
    fn phases_after_gate(&mut self, after: usize, plan: &Plan, operator: &Operator) {
        let mut last = after;
        let mut label = "runs";
        let mut before = None;
        for steps in steps_after_gate(plan).chunk_by(|one, other| one.phase == other.phase) {
            let Some(phase) = steps.first().map(|step| step.phase) else { continue };
            let mut next_label = "then";
            if let Some(to) = steps.iter().find_map(|step| step.handed_to.as_ref()) {
                let path = self.add(Kind::Unit, &to.path, awaited(plan, &to.path), when(steps));
                self.arrow(last, path, "hands over to");
                let lines = vec![format!("until {} is there", to.done)];
                let service = self.add(Kind::Unit, &to.service, lines, when(steps));
                self.arrow(path, service, "triggers");
                self.arrow(service, service, "again until it succeeds");
                if let Some(before) = before.replace(service) {
                    self.arrow(before, service, "before");
                }
                (last, label, next_label) = (service, "runs", "bringup-after.service goes on");
            }
            let next = self.add(Kind::Phase, phase.word(), lines_of(steps, operator), when(steps));
            self.arrow(last, next, label);
            (last, label) = (next, next_label);
        }
    }

    /// A box for each phase, in the order of the steps; the last of them.
    fn phases(&mut self, from: usize, label: &'static str, steps: &[&Step], operator: &Operator) -> usize {
        let mut last = from;
        let mut label = label;
        for steps in steps.chunk_by(|one, other| one.phase == other.phase) {
            let Some(phase) = steps.first().map(|step| step.phase) else { continue };
            let next = self.add(Kind::Phase, phase.word(), lines_of(steps, operator), when(steps));
            self.arrow(last, next, label);
            label = "then";
            last = next;
        }
        last
    }

    fn add(&mut self, kind: Kind, title: &str, lines: Vec<String>, when: &'static str) -> usize {
        self.boxes.push(Item { kind, title: title.to_owned(), lines, when, beside: false });
        self.boxes.len() - 1
    }

    /// Has a box stand beside the way down.
    fn beside(&mut self, index: usize) {
        if let Some(item) = self.boxes.get_mut(index) {
            item.beside = true;
        }
    }

    fn arrow(&mut self, from: usize, to: usize, label: &'static str) {
        self.arrows.push(Arrow { from, to, label });
    }

    /// Arrows from a box, those back and to itself excluded.
    fn onward(&self, from: usize) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(move |arrow| arrow.from == from && arrow.to > from)
    }

    /// Arrows from a box to itself or back.
    fn backward(&self, from: usize) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(move |arrow| arrow.from == from && arrow.to <= from)
    }
}

/// What a path unit waits for.
fn awaited(plan: &Plan, name: &str) -> Vec<String> {
    let unit = plan.units.iter().find(|unit| unit.name == name);
    let content = unit.and_then(|unit| unit.content.as_deref()).unwrap_or_default();
    let paths = content.lines().filter_map(|line| line.strip_prefix("PathExists="));
    paths.map(|path| format!("waits for {}", path.replace("%%", "%"))).collect()
}

fn gate_at(plan: &Plan) -> usize {
    let gate = plan.steps.iter().position(|step| matches!(step.action, Action::OpenGate { .. }));
    gate.map_or(plan.steps.len(), |index| index + 1)
}

fn steps_before_gate(plan: &Plan) -> Vec<&Step> {
    plan.steps.iter().take(gate_at(plan)).collect()
}

fn steps_after_gate(plan: &Plan) -> Vec<&Step> {
    plan.steps.iter().skip(gate_at(plan)).collect()
}

/// The operator's steps by name, and how many there are beside them.
fn lines_of(steps: &[&Step], operator: &Operator) -> Vec<String> {
    let (theirs, ours): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| operator.wrote(step));
    let mut lines: Vec<String> = theirs.iter().map(|step| format!("◆ {}", step.name)).collect();
    match ours.as_slice() {
        [] => {}
        [one] if one.name == one.phase.word() => {}
        [one] => lines.push(one.name.clone()),
        several if theirs.is_empty() => {
            lines.push(several.iter().take(2).map(|step| step.name.as_str()).collect::<Vec<_>>().join(", "));
            if several.len() > 2 {
                lines.push(format!("and {} more", several.len() - 2));
            }
        }
        several => lines.push(format!("and {} of its own", several.len())),
    }
    lines
}

fn when(steps: &[&Step]) -> &'static str {
    let elected = steps.iter().all(|step| step.elected_only);
    let each = steps.iter().any(|step| step.every_boot || !is_kept(&step.action));
    // What is set aside for a reboot is looked for at each boot; the machine is rebooted where something asks for it.
    if each && steps.iter().all(|step| step.phase == Phase::Reboot) {
        return "first boot or a change, all nodes";
    }
    match (each, elected) {
        (true, false) => "each boot, all nodes",
        (false, false) => "once for the same input, all nodes",
        (true, true) => "each boot, the elected node",
        (false, true) => "once for the same input, the elected node",
    }
}

/// Whether it is done only once for the same input.
fn is_kept(action: &Action) -> bool {
    !matches!(
        action,
        Action::LearnFacts | Action::OpenGate { .. } | Action::StartKubelet { .. } | Action::StartUnit { .. }
    )
}

/// On which boots a carrier does its work.
fn brought_on(carrier: Option<Carrier>) -> &'static str {
    match carrier {
        Some(Carrier::Ignition) => "first boot",
        Some(Carrier::Bundle) => "once, before the first boot with it",
        // cloud-init runs our boothook on every boot.
        _ => "each boot",
    }
}

fn brought_by(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::CloudInit | Carrier::Multipart => "cloud-init",
        Carrier::Ignition => "Ignition",
        Carrier::CloudFormation | Carrier::CloudFormationJson => "CloudFormation, cloud-init",
        Carrier::Bundle => "the bundle, over SSH or in the image",
        Carrier::NodeConfig => "nodeadm",
    }
}
