//! `explain --graph`: Tectonic's diagram, from the plan.

use std::path::Path;

use crate::program::{error, out, run};

fn drawn(form: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arguments = ["explain", "examples/control-plane/cluster.yaml", "--group", "masters", "--graph", form];
    let output = run(&root, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    out(&output)
}

/// Each of the pieces stands behind the one before.
fn in_order(text: &str, pieces: &[&str]) {
    let mut rest = text;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { panic!("`{piece}` is not there, or too early:\n{text}") };
        rest = rest.get(at + piece.len()..).unwrap_or_default();
    }
}

/// The second seed's order: Ignition, the bootstrap service, perhaps a reboot, kubelet, then bootkube, then tectonic, the
/// last two on the elected master alone.
#[test]
fn the_way_of_a_tectonic_master_is_drawn() {
    let text = drawn("text");
    in_order(
        &text,
        &[
            "[Ignition]",
            "first boot",
            "[k8s-node-bootstrap.service (bringup.service)]",
            "each boot, all nodes",
            "again until it succeeds",
            "\n  configure",
            "\n  reboot",
            "back to k8s-node-bootstrap.service",
            "[bringup-gate.target]",
            "[kubelet.service]",
            "[bringup-after.service]",
            "\n  control-plane",
            "the elected node",
            "◆ bootkube",
            "\n  platform",
            "the elected node",
            "◆ tectonic",
        ],
    );
}

#[test]
fn each_form_has_the_same_boxes_and_arrows() {
    let (mermaid, dot, svg) = (drawn("mermaid"), drawn("dot"), drawn("svg"));
    assert!(mermaid.contains("\nflowchart TD\n") && dot.starts_with("digraph ") && svg.starts_with("<svg "));
    let arrows = mermaid.lines().filter(|line| line.contains(" -->|")).count();
    assert!(arrows > 10, "{mermaid}");
    assert_eq!(dot.lines().filter(|line| line.contains(" -> ")).count(), arrows, "{dot}");
    assert_eq!(svg.matches("class=\"arrow\"").count(), arrows, "{svg}");
    let boxes = dot.lines().filter(|line| line.contains(" [label=") && !line.contains(" -> ")).count();
    assert_eq!(svg.matches("<text class=\"name\"").count(), boxes);
}

#[test]
fn a_picture_is_of_one_group() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = run(&root, &["explain", "examples/control-plane/cluster.yaml", "--graph", "svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("--group masters"), "{}", error(&output));
}
