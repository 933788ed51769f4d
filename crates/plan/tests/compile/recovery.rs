//! A value that cannot be read hides nothing else, and is told once.

use bringup_diag::Findings;

use crate::support::{AUTHORITY, findings, indented};

/// The codes of everything that there is to say of a document, in the order of its lines.
fn all(spec: &str, groups: &str) -> Vec<&'static str> {
    let text = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo}}\nspec:\n{}  nodeGroups:\n{}",
        indented(spec, 2),
        indented(groups, 4),
    );
    let read = bringup_spec::read("cluster.yaml", &text);
    let mut told = Findings::new();
    told.append(read.findings);
    for document in &read.documents {
        told.append(findings(document));
    }
    told.sorted().iter().map(|finding| finding.code.name).collect()
}

fn spec(version: &str) -> String {
    format!(
        "kubernetes: {{version: {version}}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: eks-token}}\naws: {{region: eu-central-1}}\nnetwork: {{serviceRanges: [10.100.0.0/16]}}\n"
    )
}

const GROUP: &str = "- name: g\n  platform: aws\n  os: amazon-linux-2023\n";

#[test]
fn a_wrong_word_is_left_out_and_the_rest_is_checked() {
    let group =
        format!("{GROUP}  nodeName: foo\n  kubelet: {{config: {{maxPod: 3}}}}\n  labels: {{\"a b\": c}}\n");
    let found = all(&spec("\"1.33\""), &group);
    assert_eq!(found, ["document/wrong-value", "kubelet/field-unknown", "label/name"]);
}

#[test]
fn what_is_meant_is_taken_where_there_is_no_doubt() {
    let bad = "  kubelet: {config: {maxPod: 3}}\n";
    assert_eq!(
        all(&spec("1.33"), &format!("{GROUP}{bad}")),
        ["document/wrong-type", "kubelet/field-unknown"]
    );
    let name = GROUP.replace("name: g", "name: My_Group");
    assert_eq!(
        all(&spec("\"1.33\""), &format!("{name}{bad}")),
        ["document/wrong-value", "kubelet/field-unknown"]
    );
    let os = GROUP.replace("amazon-linux-2023", "amazon-linux-2033");
    assert_eq!(
        all(&spec("\"1.33\""), &format!("{os}{bad}")),
        ["document/wrong-value", "kubelet/field-unknown"]
    );
    let method = spec("\"1.33\"").replace("eks-token", "eks_token");
    assert_eq!(all(&method, &format!("{GROUP}{bad}")), ["document/wrong-value", "kubelet/field-unknown"]);
}

#[test]
fn a_wrong_path_does_not_hide_that_others_are_the_same() {
    let files = "  files:\n    - {path: etc/a, content: x}\n    - {path: /etc/b, content: x}\n    - {path: /etc/b, content: y}\n    - {path: /etc/c}\n";
    let found = all(&spec("\"1.33\""), &format!("{GROUP}{files}"));
    assert_eq!(found, ["document/wrong-value", "file/duplicate-path", "file/source"]);
}

#[test]
fn nothing_is_said_of_what_a_lost_value_leaves_behind() {
    let authority = spec("\"1.33\"").replace(AUTHORITY, "nonsense");
    assert_eq!(all(&authority, GROUP), ["document/wrong-value"]);
    let mode = "  files: [{path: /etc/a, content: [x]}]\n";
    assert_eq!(all(&spec("\"1.33\""), &format!("{GROUP}{mode}")), ["document/wrong-type"]);
    let download =
        "  software: {kubelet: {from: url, downloads: {x86_64: {urls: [https://x/y], sha256: short}}}}\n";
    assert_eq!(all(&spec("\"1.33\""), &format!("{GROUP}{download}")), ["document/wrong-value"]);
    // A group that has no name is told; the other one is checked.
    let two =
        format!("- {{platform: aws, os: amazon-linux-2023}}\n{GROUP}  kubelet: {{config: {{maxPod: 3}}}}\n");
    assert_eq!(all(&spec("\"1.33\""), &two), ["document/missing-key", "kubelet/field-unknown"]);
    assert_eq!(
        all(&spec("\"1.33\""), "- {platform: aws, os: amazon-linux-2023}\n"),
        ["document/missing-key"]
    );
}
