//! eksctl's `ClusterConfig`: what becomes of it, by eksctl's own rules.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot look at what it tests ends there"
)]

mod bootstrap;
mod cluster;
mod findings;
mod launch;
mod marks;
mod own_bootstrap;

use bringup_ancestors::{Input, Read, read};
use bringup_diag::{Finding, Severity};
use bringup_plan::{LocalFiles, Plan, compile};
use bringup_spec::{Document, NodeGroup};

/// A document with these groups, on Kubernetes 1.32.
fn config(groups: &str) -> String {
    config_of("1.32", groups)
}

fn config_of(version: &str, groups: &str) -> String {
    format!(
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: demo\n  region: eu-west-1\n  version: \"{version}\"\n{groups}"
    )
}

fn read_text(text: &str) -> Read {
    read(&[Input { name: "cluster.yaml", text }])
}

/// The one document of a text that has no errors.
fn document(text: &str) -> Document {
    let read = read_text(text);
    let errors: Vec<&Finding> =
        read.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty() && read.refused.is_empty(), "{errors:#?}\n{:#?}\n{text}", read.refused);
    let mut documents = read.documents.into_iter();
    let first = documents.next().expect("a document");
    assert!(documents.next().is_none());
    first
}

/// The groups of a text that has no errors; each compiles, and the converted document has the same plans.
fn groups(text: &str) -> Vec<NodeGroup> {
    let document = document(text);
    let converted = bringup_yaml::to_yaml(&document.tree().to_value());
    let again = bringup_spec::read("converted.yaml", &converted);
    let again = again.documents.first().expect("the converted document is read");
    for index in 0..document.cluster.spec.node_groups.len() {
        assert_eq!(plan(&document, index).digest(), plan(again, index).digest(), "{converted}");
    }
    document.cluster.spec.node_groups.clone()
}

/// The only group of a text.
fn group(text: &str) -> NodeGroup {
    let groups = groups(text);
    assert_eq!(groups.len(), 1);
    groups.into_iter().next().expect("a group")
}

fn plan(document: &Document, index: usize) -> Plan {
    let compiled = compile(document, index, &LocalFiles::default());
    compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.findings))
}

/// Findings as `severity code line message`, without the notes that every document draws.
fn told(text: &str) -> Vec<String> {
    let read = read_text(text);
    let refused = read.refused.iter().flat_map(|refused| &refused.findings);
    let usual = [
        "the agent is taken to be in the image",
        "volumes are encrypted unless",
        "with eksctl, nodes also have a security group",
    ];
    read.findings
        .iter()
        .chain(refused)
        .filter(|finding| !usual.iter().any(|usual| finding.message.starts_with(usual)))
        .map(|finding| {
            let line = finding.place.as_ref().map_or(0, |place| place.span.start.line);
            format!("{} {} {line} {}", finding.severity.word(), finding.code.name, finding.message)
        })
        .collect()
}

/// Labels as `key=value`, facts with their placeholders.
fn labels(group: &NodeGroup) -> Vec<String> {
    group.labels.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Taints as kubelet's flag has them.
fn taints(group: &NodeGroup) -> Vec<String> {
    group.taints.iter().map(|taint| format!("{}={}:{}", taint.key, taint.value, taint.effect)).collect()
}
