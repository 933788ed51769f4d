//! A small plan and its document, as the compiler would make them.
#![allow(
    dead_code,
    clippy::expect_used,
    reason = "each test file uses its own share, and a sample that is wrong must fail"
)]

use std::collections::{BTreeMap, BTreeSet};

use bringup_carry::{Load, ResolvedPart, resolve_parts};
use bringup_plan::{Action, Content, FORMAT, LocalFiles, PlacedBy, Plan, PodLimit, Step, Unit};
use bringup_spec::{Document, Fact, NodeNamePolicy, Phase, Role, Text};

pub(crate) const AGENT_UNIT: &str = "\
[Unit]
Description=Bringup, up to the gate
DefaultDependencies=no
After=local-fs.target

[Service]
Type=oneshot
ExecStart=/opt/bringup/bin/bringup-node up
Restart=on-failure

[Install]
WantedBy=multi-user.target
";

/// A document with one node group; `extra` are further keys of the group, indented by six spaces.
pub(crate) fn document(platform: &str, os: &str, extra: &str) -> Document {
    let text = text(platform, os, extra);
    let read = bringup_spec::read("cluster.yaml", &text);
    assert!(!read.findings.has_errors(), "{:?}\n{text}", read.findings);
    read.documents.into_iter().next().expect("one document")
}

/// The text of that document.
pub(crate) fn text(platform: &str, os: &str, extra: &str) -> String {
    format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: demo\nspec:\n  kubernetes:\n    version: \"1.33\"\n  \
         api:\n    endpoint: https://api.example:6443\n  join:\n    method: eks-token\n  aws:\n    region: eu-west-1\n  \
         network:\n    serviceRanges: [10.100.0.0/16]\n  nodeGroups:\n    - name: workers\n      platform: {platform}\n      os: {os}\n{}",
        extra.trim_start_matches('\n')
    )
}

pub(crate) fn step(name: &str, phase: Phase, action: Action) -> Step {
    Step {
        name: name.to_owned(),
        phase,
        action,
        policy: None,
        every_boot: false,
        elected_only: false,
        others_only: false,
        handed_to: None,
    }
}

pub(crate) fn file(path: &str, content: &str) -> Step {
    let action = Action::WriteFile {
        path: path.to_owned(),
        mode: "0644".to_owned(),
        owner: "root:root".to_owned(),
        content: Content::Text(Text::literal(content)),
    };
    step(&format!("write {path}"), Phase::Configure, action)
}

pub(crate) fn unit(name: &str, content: Option<&str>, placed_by: PlacedBy) -> Unit {
    Unit {
        name: name.to_owned(),
        content: content.map(str::to_owned),
        enabled: None,
        mask: false,
        drop_ins: BTreeMap::new(),
        aliases: Vec::new(),
        placed_by,
    }
}

/// A plan that has something of everything that carriers treat differently.
pub(crate) fn plan(document: &Document) -> Plan {
    let group = document.cluster.spec.node_groups.first().expect("a node group");
    let kubelet = Unit {
        enabled: Some(false),
        drop_ins: BTreeMap::from([(
            "10-bringup.conf".to_owned(),
            "[Unit]\nRequires=bringup-gate.target\nAfter=bringup-gate.target\n".to_owned(),
        )]),
        ..unit("kubelet.service", None, PlacedBy::Carrier)
    };
    let gate = "[Unit]\nDescription=kubelet may start\nRequires=bringup.service\nAfter=bringup.service\n";
    let drivers = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target";
    let mut zone = Text::literal("zone=");
    zone.push(&Text::fact(Fact::Zone));
    let open_file = Action::WriteFile {
        path: "/etc/example/zone".to_owned(),
        mode: "0640".to_owned(),
        owner: "root:root".to_owned(),
        content: Content::Text(zone),
    };
    Plan {
        format: FORMAT,
        cluster: "demo".to_owned(),
        group: "workers".to_owned(),
        flavour: document.cluster.spec.flavour,
        kubernetes: "1.33".to_owned(),
        platform: group.platform,
        os: group.os.family,
        os_version: None,
        architecture: group.architecture,
        role: Role::Worker,
        bootstrap: None,
        ipv6: false,
        eks: None,
        detect: None,
        cluster_ranges: Vec::new(),
        hooks: Vec::new(),
        node_name: NodeNamePolicy::PrivateDns,
        max_pods: PodLimit::Fixed(110),
        memory_for_pods: None,
        pods_per_core: None,
        facts: BTreeSet::from([Fact::Zone]),
        environment: BTreeMap::new(),
        certificate_authorities: Vec::new(),
        units: vec![
            unit("bringup.service", Some(AGENT_UNIT), PlacedBy::Carrier),
            unit("bringup-gate.target", Some(gate), PlacedBy::Carrier),
            kubelet,
            Unit { enabled: Some(true), ..unit("drivers.service", Some(drivers), PlacedBy::Agent) },
            Unit { mask: true, ..unit("update-engine.service", None, PlacedBy::Agent) },
        ],
        steps: vec![
            step("learn facts", Phase::Identify, Action::LearnFacts),
            file("/etc/example/greeting.conf", "it's a \"quoted\" caf\u{e9}, $HOME `x`\nBRINGUP_END\n"),
            step("write zone", Phase::Configure, open_file),
            step("report", Phase::Report, Action::Report),
        ],
        order: Vec::new(),
    }
}

/// The operator's parts of the only group.
pub(crate) fn parts(document: &Document) -> Vec<ResolvedPart> {
    let (path, group) = document.groups().next().expect("a node group");
    let (parts, findings) = resolve_parts(document, &path, group, &LocalFiles::default());
    assert!(findings.is_empty(), "{findings:?}");
    parts
}

pub(crate) fn load<'input>(
    document: &'input Document,
    plan: &'input Plan,
    parts: &'input [ResolvedPart],
) -> Load<'input> {
    let (path, group) = document.groups().next().expect("a node group");
    Load::new(document, path, group, plan, parts)
}
