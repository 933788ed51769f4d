//! The example, compiled as it is and as the Bringup document that it is converted to.

use bringup_ancestors::{Input, read};
use bringup_plan::{Action, Plan};
use bringup_spec::Phase;

use crate::plans;

const EXAMPLE: &str = include_str!("../../../../examples/kops/cluster.yaml");
const ADDITIONS: &str = include_str!("../../../../examples/kops/additions.yaml");

fn example() -> Vec<Plan> {
    let inputs =
        [Input { name: "cluster.yaml", text: EXAMPLE }, Input { name: "additions.yaml", text: ADDITIONS }];
    plans(&read(&inputs))
}

fn position(plan: &Plan, name: &str) -> usize {
    plan.steps.iter().position(|step| step.name == name).unwrap_or_else(|| panic!("no step {name}"))
}

/// The driver is installed before the gate opens, and kubelet is started once, behind it.
#[test]
fn drivers_are_there_before_kubelet_starts() {
    let plans = example();
    let gpu = plans.iter().find(|plan| plan.group == "gpu").unwrap();
    let gate = gpu.steps.iter().position(|step| matches!(step.action, Action::OpenGate { .. })).unwrap();
    let kubelet =
        gpu.steps.iter().position(|step| matches!(step.action, Action::StartKubelet { .. })).unwrap();
    assert!(position(gpu, "units") < position(gpu, "hook-nvidia-drivers"));
    assert!(position(gpu, "hook-nvidia-drivers") < gate && gate < kubelet);
    let restarts = gpu
        .units
        .iter()
        .filter_map(|unit| unit.content.as_deref())
        .filter(|text| text.contains("restart kubelet"));
    assert_eq!(restarts.count(), 0);
}

/// Before the set-up, behind kubelet: what people of kops ask for.
#[test]
fn programs_run_strictly_before_and_strictly_after() {
    let plans = example();
    let nodes = plans.iter().find(|plan| plan.group == "nodes").unwrap();
    let runtime =
        nodes.steps.iter().position(|step| step.phase == Phase::Runtime && step.name == "kernel-modules");
    assert!(Some(position(nodes, "certificates-sh")) < runtime);
    let kubelet =
        nodes.steps.iter().position(|step| matches!(step.action, Action::StartKubelet { .. })).unwrap();
    assert!(kubelet < position(nodes, "hook-report-status"));
    let ours = nodes.units.iter().find(|unit| unit.name == "bringup.service").unwrap();
    assert_eq!(ours.aliases, ["kops-configuration.service"]);
}
