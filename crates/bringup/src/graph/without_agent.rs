//! What runs at boot where there is no agent of ours: what is placed comes first, then the steps, then kubelet, and
//! nothing behind it.

use bringup_plan::{Action, Plan, STEPS_UNIT, Step};
use bringup_spec::Carrier;

use super::{Graph, Kind, brought_by, brought_on, lines_of, when};
use crate::view::Operator;

/// Draws the boxes of a plan without an agent.
pub(super) fn draw(graph: &mut Graph, plan: &Plan, operator: &Operator, carrier: Option<Carrier>) {
    let (steps, placed) = (plan.run_without_agent(), plan.placed_without_agent());
    if carrier == Some(Carrier::NodeConfig) {
        by_nodeadm(graph, &steps, &placed, operator);
        return;
    }
    let brought = carrier.map_or("the carrier", brought_by);
    let mut lines = lines_of(&placed, operator);
    lines.insert(0, "places files and units".to_owned());
    let first = graph.add(Kind::Carrier, brought, lines, brought_on(carrier));
    let mut last = first;
    let mut label = "enables";
    if !steps.is_empty() {
        last = graph.add(Kind::Unit, STEPS_UNIT, lines_of(&steps, operator), when(&steps));
        graph.arrow(first, last, label);
        label = "then starts";
    }
    let (starter, kubelet) = (plan.starter_without_agent(), plan.kubelet_unit());
    if starter != kubelet {
        let starter = graph.add(Kind::Unit, &starter, vec!["sets the snap".to_owned()], "each boot");
        graph.arrow(last, starter, label);
        (last, label) = (starter, "then starts");
    }
    let kubelet = graph.add(Kind::Unit, &kubelet, Vec::new(), "each boot");
    graph.arrow(last, kubelet, label);
    graph.arrow(kubelet, kubelet, "restarted by systemd");
}

/// The image's own agent starts kubelet when cloud-init has ended. The plan's own files are not carried: it makes its own.
fn by_nodeadm(graph: &mut Graph, steps: &[&Step], placed: &[&Step], operator: &Operator) {
    let theirs: Vec<&Step> = placed.iter().copied().filter(|step| operator.wrote(step)).collect();
    let steps: Vec<&Step> = steps.iter().copied().filter(|step| is_program(step)).collect();
    let mut lines = lines_of(&theirs, operator);
    lines.push("hands the NodeConfig over".to_owned());
    let mut last = graph.add(Kind::Carrier, "cloud-init", lines, "each boot");
    let mut label = "then starts";
    if !steps.is_empty() {
        // A script of every boot that is behind another runs with that one.
        let on = match (steps.first(), steps.iter().all(|step| step.every_boot)) {
            (_, true) => "each boot",
            (Some(first), _) if first.every_boot => "first boot, some on each boot",
            _ => "first boot",
        };
        let scripts = graph.add(Kind::Unit, "cloud-final.service", lines_of(&steps, operator), on);
        graph.arrow(last, scripts, "runs as scripts");
        last = scripts;
        label = "has ended";
    }
    let lines = vec!["makes the files of containerd and kubelet".to_owned()];
    let nodeadm = graph.add(Kind::Unit, "nodeadm-run.service", lines, "each boot");
    graph.arrow(last, nodeadm, label);
    let kubelet = graph.add(Kind::Unit, "kubelet.service", Vec::new(), "each boot");
    graph.arrow(nodeadm, kubelet, "then starts");
    graph.arrow(kubelet, kubelet, "restarted by systemd");
}

fn is_program(step: &Step) -> bool {
    matches!(step.action, Action::Run { .. })
}
