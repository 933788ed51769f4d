//! Documents of the kind `Additions`, laid over what another system's document says.

mod support;

use bringup_diag::Severity;
use serde_json::json;

use support::{read, told, value};

/// Two masters, of which the second has a label, so that there are two groups.
fn cluster(name: &str) -> String {
    format!(
        "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {{name: {name}}}\nspec:\n  type: Baremetal\n  version: 1.33.1\n  machines:\n  - {{ip: 10.0.0.1, password: eA==}}\n  - {{ip: 10.0.0.2, password: eA==, labels: {{a: b}}}}\n"
    )
}

fn additions(body: &str) -> String {
    format!("apiVersion: bringup.dev/v1alpha1\nkind: Additions\n{body}")
}

fn with(body: &str) -> bringup_ancestors::Read {
    read(&[("theirs.yaml", &cluster("cls-a")), ("more.yaml", &additions(body))])
}

#[test]
fn mappings_are_laid_key_by_key_and_anything_else_as_a_whole() {
    let read = with(
        "spec:\n  api: {endpoint: \"https://api.example:6443\"}\n  join:\n    token: {file: /etc/token}\n    kubeadm: {initConfiguration: {certificateKey: none}}\n",
    );
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(value(&read, "spec/api/endpoint"), json!("https://api.example:6443"));
    assert_eq!(value(&read, "spec/join/token"), json!({"file": "/etc/token"}));
    assert_eq!(value(&read, "spec/join/method"), json!("kubeadm"), "what the other document says stays");
    assert_eq!(
        value(&read, "spec/join/kubeadm/initConfiguration"),
        json!({"localAPIEndpoint": {"advertiseAddress": "10.0.0.1"}, "certificateKey": "none"})
    );
}

#[test]
fn groups_are_found_by_name_and_a_nameless_one_is_for_all() {
    let read = with(
        "spec:\n  nodeGroups:\n  - os: {family: debian, version: \"12\"}\n  - name: masters-2\n    labels: {c: d}\n    swap: keep\n",
    );
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    for group in ["spec/nodeGroups/0", "spec/nodeGroups/1"] {
        assert_eq!(value(&read, &format!("{group}/os/family")), json!("debian"));
    }
    assert_eq!(value(&read, "spec/nodeGroups/0/swap"), json!("off"));
    assert_eq!(value(&read, "spec/nodeGroups/1/swap"), json!("keep"));
    let labels = value(&read, "spec/nodeGroups/1/labels");
    assert_eq!([&labels["a"], &labels["c"]], [&json!("b"), &json!("d")], "labels are a mapping");
}

#[test]
fn null_takes_away_what_a_group_has() {
    let read = with(
        "spec:\n  nodeGroups:\n  - name: masters-2\n    labels: null\n    imageCredentialProvider: null\n",
    );
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let labels = value(&read, "spec/nodeGroups/1/labels");
    assert_eq!(labels, json!(null));
}

#[test]
fn additions_are_for_the_cluster_that_they_name() {
    let (one, two) = (cluster("cls-a"), cluster("cls-b"));
    let more = additions("metadata: {name: cls-b}\nspec: {proxy: {http: \"http://proxy.example:3128\"}}\n");
    let read = read(&[("one.yaml", &one), ("two.yaml", &two), ("more.yaml", &more)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let proxies: Vec<bool> =
        read.documents.iter().map(|document| document.cluster.spec.proxy.is_some()).collect();
    assert_eq!(proxies, [false, true]);
}

#[test]
fn additions_may_stand_in_the_same_file() {
    let both =
        format!("{}---\n{}", cluster("cls-a"), additions("spec: {api: {endpoint: \"https://x.example\"}}\n"));
    let read = read(&[("both.yaml", &both)]);
    assert_eq!(value(&read, "spec/api/endpoint"), json!("https://x.example"));
}

#[test]
fn what_would_be_lost_is_told_at_its_place() {
    let cases = [
        (
            "spec:\n  nodeGroups:\n  - name: workers\n    swap: keep\n",
            "more.yaml:5:5 ancestor/additions there is no node group `workers` to add to",
        ),
        (
            "metadata: {name: cls-z}\nspec: {}\n",
            "more.yaml:3:18 ancestor/additions there is no cluster `cls-z` to add to",
        ),
        (
            "nodeGroups: []\nspec: {}\n",
            "more.yaml:3:1 ancestor/additions unknown key `nodeGroups` in additions",
        ),
        (
            "metadata: {labels: {a: b}}\nspec: {}\n",
            "more.yaml:3:12 ancestor/additions `labels` in `metadata` of additions is added to nothing",
        ),
        (
            "spec:\n  nodeGroups: {swap: keep}\n",
            "more.yaml:4:15 ancestor/additions `nodeGroups` of additions must be a list of mappings",
        ),
        ("spec: [a]\n", "more.yaml:3:7 ancestor/additions these additions have no `spec`"),
        ("", "more.yaml:1:1 ancestor/additions these additions have no `spec`"),
    ];
    for (body, expected) in cases {
        assert_eq!(told(&with(body), Severity::Error), [expected], "{body}");
    }
    let alone = read(&[("more.yaml", &additions("spec: {}\n"))]);
    assert_eq!(
        told(&alone, Severity::Error),
        ["more.yaml:1:1 ancestor/additions there is no document of another system to add to"]
    );
}

#[test]
fn a_wrong_value_of_additions_points_into_them() {
    let read = with("spec:\n  nodeGroups:\n  - name: masters\n    swop: keep\n    os: ubunto\n");
    let errors = told(&read, Severity::Error);
    assert_eq!(
        errors,
        [
            "more.yaml:6:5 document/unknown-key unknown key `swop` in a node group",
            "more.yaml:7:9 document/wrong-value `ubunto` is no family of operating systems",
        ]
    );
    assert_eq!(read.documents.first().expect("a document").file, "theirs.yaml");
}

#[test]
fn an_id_of_an_outposts_cluster_is_asked_for_until_it_is_given() {
    let theirs = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: us-west-2, version: \"1.30\"}\noutpost: {controlPlaneOutpostARN: \"arn:aws:outposts:us-west-2:1234:outpost/op-1\"}\nnodeGroups:\n- {name: n, amiFamily: AmazonLinux2023}\n";
    let asked = |more: &str| {
        let read = read(&[("theirs.yaml", theirs), ("more.yaml", &additions(more))]);
        told(&read, Severity::Warning).iter().any(|told| told.contains("must know its id"))
    };
    assert!(asked("spec: {api: {endpoint: https://x, certificateAuthority: dGVzdA==}}\n"));
    assert!(!asked("spec: {api: {endpoint: https://x, certificateAuthority: dGVzdA==, clusterId: abc}}\n"));
}
