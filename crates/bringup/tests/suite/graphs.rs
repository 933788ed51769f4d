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
            "hands over to",
            "[bootkube.path]",
            "the elected node",
            "waits for /opt/tectonic/SHA256SUMS",
            "triggers",
            "[bootkube.service]",
            "the elected node",
            "until /opt/tectonic/init_bootkube.done is there",
            "before: tectonic.service",
            "\n  control-plane",
            "◆ bootkube",
            "bringup-after.service goes on",
            "\n  registered",
            "hands over to",
            "[tectonic.path]",
            "waits for /opt/tectonic/platform/tectonic.sh",
            "triggers",
            "[tectonic.service]",
            "\n  platform",
            "the elected node",
            "◆ tectonic",
        ],
    );
}

/// Which nodes is said where they differ; and a bundle is put in its place once, while cloud-init comes at every boot.
#[test]
fn boxes_say_no_more_than_they_must() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = |arguments: &[&str]| {
        let output = run(&root, &[&["explain"], arguments, &["--graph", "text"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        out(&output)
    };
    let eksctl = text(&["eksctl/cluster.yaml", "--with", "eksctl/additions.yaml", "--group", "gpu"]);
    in_order(&eksctl, &["cloud-init", "each boot", "[bringup.service]", "each boot"]);
    let tkestack = text(&["tkestack/cluster.json"]);
    in_order(&tkestack, &["[the bundle", "once, before the first boot with it", "[bringup.service]"]);
    assert!(!eksctl.contains("all nodes") && !tkestack.contains("all nodes"), "{eksctl}{tkestack}");
}

/// Scripts of user-data run beside the set-up; where a step waits for cloud-init, an arrow leads to it.
#[test]
fn what_cloud_init_runs_beside_the_agent_is_drawn() {
    let kops = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kops");
    let drawn = |group: &str, form: &str| {
        let input = ["explain", "cluster.yaml", "--with", "additions.yaml"];
        let output = run(&kops, &[&input[..], &["--group", group, "--graph", form]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        out(&output)
    };
    let text = drawn("nodes", "text");
    in_order(
        &text,
        &[
            "[cloud-init]",
            "runs scripts late: cloud-final.service",
            "enables: kops-configuration.service",
            "[cloud-final.service]",
            "first boot",
            "lets await-cloud-init end",
            "waits for release-cloud-init",
            "◆ zz-status.sh",
            "is at its scripts: runtime",
            "[kops-configuration.service",
            "\n  runtime",
            "◆ await-cloud-init",
            "◆ certificates-sh",
            "◆ release-cloud-init",
        ],
    );
    for form in ["mermaid", "dot", "svg"] {
        let picture = drawn("nodes", form);
        assert!(picture.contains("zz-status.sh") && picture.contains("is at its scripts"), "{picture}");
    }
    // This group has no parts of its own.
    assert!(!drawn("gpu", "text").contains("cloud-final"));
}

/// The seed's arrows between its units, in every form: path to service, kubelet before bootkube, bootkube before tectonic.
#[test]
fn the_path_units_of_a_tectonic_master_are_drawn_in_every_form() {
    for form in ["mermaid", "dot", "svg"] {
        let picture = drawn(form);
        for unit in ["bootkube.path", "bootkube.service", "tectonic.path", "tectonic.service"] {
            assert!(picture.contains(unit), "{unit} is not in the {form}:\n{picture}");
        }
        assert_eq!(picture.matches("triggers").count(), 2, "{form}");
    }
    // By name, whatever the boxes are numbered.
    let dot = drawn("dot");
    let number = |unit: &str| {
        let line = dot.lines().find(|line| line.contains(" [label=") && line.contains(unit)).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    for (from, to, label) in [
        ("bootkube.path", "bootkube.service", "triggers"),
        ("tectonic.path", "tectonic.service", "triggers"),
        ("bootkube.service", "tectonic.service", "before"),
    ] {
        let arrow = format!("{} -> {} ", number(from), number(to));
        let drawn = dot.lines().any(|line| line.contains(&arrow) && line.contains(label));
        assert!(drawn, "{from} to {to}: {label}\n{dot}");
    }
    // A worker starts no cluster.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let arguments =
        ["explain", "examples/control-plane/cluster.yaml", "--group", "workers", "--graph", "text"];
    assert!(!out(&run(&root, &arguments)).contains("bootkube"));
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

/// Files come first, then the steps' unit, then kubelet; nobody opens a gate or does anything behind kubelet.
#[test]
fn a_node_without_the_agent_is_drawn_as_it_boots() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let example = include_str!("../../../../examples/without-agent/cluster.yaml");
    let text = |document: &str| {
        std::fs::write(folder.path().join("cluster.yaml"), document).expect("the document");
        let output = run(folder.path(), &["explain", "cluster.yaml", "--graph", "text"]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let text = out(&output);
        for nobodys in ["gate", "registered", "report", "identify", "places plan"] {
            assert!(!text.contains(nobodys), "{nobodys}: {text}");
        }
        text
    };
    let steps = [
        "[cloud-init]",
        "places files and units",
        "enables",
        "[bringup-steps.service]",
        "◆ scratch",
        "then starts",
        "[kubelet.service]",
    ];
    in_order(&text(example), &steps);
    let (before, after) = example.split_once("      # Runs before kubelet").expect("the step");
    let (_, after) = after.split_once("before: [kubelet]\n").expect("its end");
    let without_steps = text(&format!("{before}{after}"));
    in_order(&without_steps, &["[cloud-init]", "enables", "[kubelet.service]"]);
    assert!(!without_steps.contains("bringup-steps"), "{without_steps}");
    // The image's nodeadm makes its own files, and starts containerd and kubelet.
    let nodeadm = example
        .replace("os: amazon-linux-2\n", "os: amazon-linux-2023\n")
        .replace("  flavour: eksctl\n", "")
        .replace("      agent: none", "      files: [{path: /etc/a, content: a}, {path: /etc/b, content: b, owner: \"nobody:nobody\"}]\n      agent: none");
    let nodeadm = text(&nodeadm);
    let order = [
        "[cloud-init]",
        "◆ file:/etc/a",
        "[cloud-final.service]",
        "first boot",
        "◆ scratch",
        "[nodeadm-run.service]",
        "[kubelet.service]",
    ];
    in_order(&nodeadm, &order);
    for others in ["/etc/b", "start-runtime", "sysctls", "bringup-steps"] {
        assert!(!nodeadm.contains(others), "{others}: {nodeadm}");
    }
}
