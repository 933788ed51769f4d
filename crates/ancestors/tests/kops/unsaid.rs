//! What kops does by itself, or says and has no effect: told by what additions say, not by whether there are any.

use bringup_ancestors::{Input, read};
use bringup_diag::Severity;

use crate::{cluster, group, told, translated, warnings};

/// What is told of a cluster with these additions.
fn with(text: &str, spec: &str, severity: Severity) -> Vec<String> {
    let additions = format!("apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {spec}\n");
    let inputs = [Input { name: "kops.yaml", text }, Input { name: "additions.yaml", text: &additions }];
    told(read(&inputs).findings, severity)
}

fn has(told: &[String], words: &str) -> bool {
    told.iter().any(|told| told.contains(words))
}

#[test]
fn additions_that_say_nothing_change_nothing() {
    let text = format!("{}---\n{}", cluster("").replace("v1.33.4", "v1.30.1"), group(""));
    let alone = told(read(&[Input { name: "kops.yaml", text: &text }]).findings, Severity::Warning);
    let (credentials, digest) =
        ("nodes get their credentials from its controller", "kops fetches kubelet 1.30.1");
    assert!(has(&alone, credentials) && has(&alone, digest), "{alone:?}");
    assert_eq!(with(&text, "{}", Severity::Warning), alone);
    let joined = with(&text, "{join: {kubeconfig: {secretsManager: nodes}}}", Severity::Warning);
    assert!(!has(&joined, credentials) && has(&joined, digest), "{joined:?}");
    let elsewhere = with(&text, "{nodeGroups: [{software: {kubelet: {from: image}}}]}", Severity::Warning);
    assert!(has(&elsewhere, credentials) && !has(&elsewhere, digest), "{elsewhere:?}");
}

#[test]
fn a_region_that_additions_say_is_not_missing() {
    let text = format!("{}---\n{}", cluster("").replace(", zone: eu-central-1a", ""), group(""));
    let region = "no subnet says in which zone it is";
    assert!(has(&with(&text, "{}", Severity::Note), region));
    assert!(!has(&with(&text, "{aws: {region: eu-central-1}}", Severity::Note), region));
}

/// kops' table of Cilium has no `zz`; `enableNodePort` is settled in the cluster.
#[test]
fn cilium_is_told_as_other_networks_are() {
    let text =
        format!("{}---\n{}", cluster("networking: {cilium: {enableNodePort: true, zz: 1}}"), group(""));
    let read = translated(&text);
    assert!(has(&told(read.findings.clone(), Severity::Warning), "unknown field `zz` in `cilium` of kops"));
    assert!(has(&told(read.findings, Severity::Note), "`cilium` of kops shapes what runs in the cluster"));
}

/// kops writes its own configuration of containerd, mirrors with it, only where none is given; flags stay.
#[test]
fn settings_beside_others_that_win_are_told() {
    let spec = "containerd: {configOverride: \"version = 2\", registryMirrors: {docker.io: [https://m]}}\ndocker: {logLevel: warn}";
    let read = translated(&format!("{}---\n{}", cluster(spec), group("containerd: {logLevel: debug}")));
    let warned = told(read.findings.clone(), Severity::Warning);
    assert!(has(&warned, "`logLevel` is not carried out beside `configOverride`"), "{warned:?}");
    assert!(has(&warned, "nodes run containerd: `docker` of kops' Cluster has no effect"), "{warned:?}");
    let noted = told(read.findings, Severity::Note);
    assert!(has(&noted, "`registryMirrors` has no effect beside `configOverride`"), "{noted:?}");
}

/// Nodes of kops update themselves unless `updatePolicy` is `external`; addresses of subnets are the cloud's.
#[test]
fn what_is_left_out_and_what_is_the_clouds_is_noted() {
    let text = |spec: &str| {
        let subnets = cluster(spec)
            .replace("zone: eu-central-1a", "zone: eu-central-1a, cidr: 10.0.0.0/24, type: Public");
        format!("{subnets}---\n{}", group(""))
    };
    let notes = |spec: &str| told(translated(&text(spec)).findings, Severity::Note);
    let updates = "kops has nodes of Debian and Ubuntu update their system by themselves";
    assert!(has(&notes(""), updates));
    assert!(!has(&notes("updatePolicy: external"), updates));
    assert!(has(&warnings(&text("updatePolicy: automatic")), updates));
    for field in ["cidr", "type"] {
        assert!(has(&notes(""), &format!("`{field}` of a subnet of kops shapes")), "{field}");
    }
}
