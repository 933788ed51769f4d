//! Documents of which a part, or nothing at all, can be brought up.

use std::path::Path;

use serde_json::Value;

use crate::program::{error, out, run, tree};

const LINUX: &str = "apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: demo, region: eu-west-1, version: \"1.34\"}
nodeGroups:
- {name: linux, instanceType: m5.large}
";
const WINDOWS: &str = "- {name: windows, amiFamily: WindowsServer2022CoreContainer}\n";

fn with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("cluster.yaml"), text).expect("the document");
    folder
}

fn code(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(folder, arguments);
    (output.status.code(), error(&output))
}

/// What can be built is built; the answer to the whole is no.
#[test]
fn a_refused_group_is_left_out_and_told() {
    let folder = with(&format!("{LINUX}{WINDOWS}"));
    let output = run(folder.path(), &["build", "cluster.yaml", "--output", "json"]);
    let told: Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!((output.status.code(), told["verdict"].as_str()), (Some(1), Some("no")), "{told:#}");
    let findings = told["findings"].as_array().expect("findings");
    let errors: Vec<&Value> = findings.iter().filter(|finding| finding["severity"] == "error").collect();
    assert!(
        matches!(errors.as_slice(), [only] if only["code"] == "ancestor/field-refused" && only["line"] == 6)
    );
    let built = tree(&folder.path().join("bringup-out"));
    assert!(built.contains_key("demo/linux/plan.json"), "{:?}", built.keys());
    assert!(!built.keys().any(|path| path.contains("windows")));
    let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
    assert!(status == Some(1) && said.contains("the node groups that are refused were left out"), "{said}");
    let (status, _) = code(folder.path(), &["explain", "cluster.yaml"]);
    assert_eq!(status, Some(1));
    // Which group is meant has to be said, though one is left.
    let (status, said) = code(folder.path(), &["render", "cluster.yaml", "--as", "plan"]);
    assert!(status == Some(2) && said.contains("--group linux"), "{said}");
}

/// A cluster of kops and a group of each name, with more lines of its `spec`.
fn kops(groups: &[(&str, &str)]) -> String {
    let cluster = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: quarry}\nspec:\n  cloudProvider: aws\n  kubernetesVersion: v1.33.4\n  subnets:\n  - {name: a, zone: eu-central-1a}\n";
    groups.iter().fold(cluster.to_owned(), |text, (name, more)| {
        format!(
            "{text}---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: {{name: {name}}}\nspec:\n  role: Node\n  image: ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610\n  machineType: m5.large\n{more}"
        )
    })
}

/// A cluster of tkestack and two workers, which are two groups, with more lines of the `spec` of each.
fn tkestack(workers: [&str; 2]) -> String {
    let cluster = "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {name: cls-a}\nspec:\n  type: Baremetal\n  version: 1.20.15\n  machines:\n  - {ip: 10.0.0.9, port: 22, username: root, password: eA==}\n  features: {skipConditions: [EnsureGalaxy]}\n";
    workers.iter().enumerate().fold(cluster.to_owned(), |text, (index, more)| {
        format!(
            "{text}---\napiVersion: platform.tkestack.io/v1\nkind: Machine\nmetadata: {{name: m-{index}}}\nspec:\n  clusterName: cls-a\n  type: Baremetal\n  ip: 10.0.1.{index}\n  username: root\n  password: eA==\n  labels: {{kind: \"{index}\"}}\n{more}"
        )
    })
}

/// The places of errors, as `LINE:COLUMN`.
fn errors(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = run(folder, &[arguments, &["--output", "json"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    let told: Value = serde_json::from_str(&out(&output)).expect("JSON");
    let findings = told["findings"].as_array().expect("findings").iter();
    findings
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| format!("{}:{}", finding["line"], finding["column"]))
        .collect()
}

/// Whoever finds mistakes in groups (the translation, the reader of documents, the compiler): all are told, each once, and
/// what was built before stays as it is.
#[test]
fn a_mistake_within_a_group_is_one_of_the_document() {
    let eksctl = |bad: &str, other: &str| format!("{LINUX}- {{name: bad{bad}}}\n- {{name: other{other}}}\n");
    let kops = |bad: &str, other: &str| kops(&[("bad", bad), ("other", other)]);
    let cases = [
        (eksctl("", ""), eksctl(", volumeSize: big", ""), vec!["6:27"]),
        (eksctl("", ""), eksctl(", instanceType: 17, labls: {a: b}", ""), vec!["6:29", "6:33"]),
        (
            eksctl("", ""),
            eksctl(", labels: {\"a b\": c}, volumeSize: big", ", instanceType: 17"),
            vec!["6:24", "6:47", "7:31"],
        ),
        (eksctl("", ""), eksctl(", amiFamily: Bottlerocket, volumeSize: big", ""), vec!["6:26", "6:52"]),
        (eksctl("", ""), eksctl(", clusterDNS: [a]", ", amiFamily: [a]"), vec!["6:27", "7:28"]),
        (kops("", ""), kops("  minSize: two\n", ""), vec!["17:12"]),
        (
            kops("", ""),
            kops("  kubelet: {maxPods: many}\n", "  nodeLabels: {\"a b\": c}\n  nodeLabls: {}\n"),
            vec!["17:22", "26:16", "27:3"],
        ),
        (tkestack(["", ""]), tkestack(["  prot: 22\n", ""]), vec!["21:3"]),
        (
            tkestack(["", ""]),
            tkestack(["  port: ssh\n", "  taints: [{key: a, effect: Never}]\n"]),
            vec!["21:9", "33:29"],
        ),
    ];
    for (good, bad, places) in cases {
        let folder = with(&good);
        let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
        assert_eq!(status, Some(0), "{said}\n{good}");
        let before = tree(&folder.path().join("bringup-out"));
        std::fs::write(folder.path().join("cluster.yaml"), &bad).expect("the document");
        assert_eq!(errors(folder.path(), &["build", "cluster.yaml"]), places, "{bad}");
        assert_eq!(errors(folder.path(), &["explain", "cluster.yaml"]), places, "{bad}");
        assert!(tree(&folder.path().join("bringup-out")) == before, "{bad}");
        run(folder.path(), &["build", "cluster.yaml", "-o", "new"]);
        assert!(!folder.path().join("new").exists(), "{bad}");
    }
}

/// What an earlier build made of a group that is refused now would be published with the others.
#[test]
fn nothing_is_left_of_a_group_that_is_refused_now() {
    let taint = "  taints: [\"a=b:c\"]\n";
    for (good, bad, gone) in [
        (
            format!("{LINUX}- {{name: x}}\n"),
            format!("{LINUX}- {{name: x, amiFamily: Bottlerocket}}\n"),
            "demo/x",
        ),
        (kops(&[("linux", ""), ("x", "")]), kops(&[("linux", ""), ("x", taint)]), "quarry/x"),
        // All of one cluster.
        (
            format!("{LINUX}---\n{}", kops(&[("x", ""), ("y", "")])),
            format!("{LINUX}---\n{}", kops(&[("x", taint), ("y", taint)])),
            "quarry",
        ),
    ] {
        let folder = with(&good);
        let output = folder.path().join("bringup-out");
        let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
        assert_eq!(status, Some(0), "{said}");
        let before = tree(&output);
        assert!(before.keys().any(|path| path.starts_with(gone)));
        std::fs::write(folder.path().join("cluster.yaml"), &bad).expect("the document");
        // Whoever wants this group alone has called for nothing that can be done.
        let cluster = gone.split('/').next().expect("a name");
        let (status, _) =
            code(folder.path(), &["build", "cluster.yaml", "--cluster", cluster, "--group", "x"]);
        assert!(status == Some(2) && tree(&output) == before, "{status:?} {bad}");
        let (status, said) = code(folder.path(), &["build", "cluster.yaml", "--group", "linux"]);
        assert!(status == Some(0) && tree(&output).keys().eq(before.keys()), "{said}");
        let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
        assert_eq!(status, Some(1), "{said}");
        let after = tree(&output);
        assert!(!after.keys().any(|path| path.starts_with(gone)), "{:?}", after.keys());
        assert!(after.keys().any(|path| path.ends_with("/linux/plan.json")), "{:?}", after.keys());
        let (status, said) = code(folder.path(), &["publish", "bringup-out"]);
        assert_eq!(status, Some(0), "{said}");
    }
}

/// With `--group`, only groups of that name go.
#[test]
fn the_groups_that_are_not_meant_stay() {
    let text = |more: &str| format!("{LINUX}- {{name: x}}\n---\n{}", kops(&[("x", more), ("y", "")]));
    let folder = with(&text(""));
    let output = folder.path().join("bringup-out");
    let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(status, Some(0), "{said}");
    let before = tree(&output);
    std::fs::write(folder.path().join("cluster.yaml"), text("  taints: [\"a=b:c\"]\n"))
        .expect("the document");
    let (status, said) = code(folder.path(), &["build", "cluster.yaml", "--group", "x"]);
    assert_eq!(status, Some(1), "{said}");
    let after = tree(&output);
    let expected = before.keys().filter(|path| !path.starts_with("quarry/x/"));
    assert!(after.keys().eq(expected), "{:?}", after.keys());
}

/// Those who want another group are not concerned, and those who want this one get nothing.
#[test]
fn a_refused_group_is_a_note_to_those_who_want_another() {
    let folder = with(&format!("{LINUX}{WINDOWS}"));
    for command in [["build", "cluster.yaml"].as_slice(), &["render", "cluster.yaml", "--as", "plan"]] {
        let (status, said) = code(folder.path(), &[command, &["--group", "linux"]].concat());
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("note[ancestor/field-refused]") && !said.contains("error"), "{said}");
        let (status, said) = code(folder.path(), &[command, &["--group", "windows"]].concat());
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("`windows` is refused: nodes of Windows cannot be brought up"), "{said}");
    }
    let alone = with(&LINUX.replace("linux, instanceType: m5.large", "w, amiFamily: Bottlerocket"));
    for command in [["build", "cluster.yaml"], ["convert", "cluster.yaml"], ["explain", "cluster.yaml"]] {
        let (status, said) = code(alone.path(), &command);
        assert!(status == Some(2) && said.contains("Bottlerocket"), "{command:?}: {said}");
    }
    assert!(!alone.path().join("bringup-out").exists());
}

/// The converted document is that of the other groups, with the same plans.
#[test]
fn conversion_leaves_a_refused_group_out() {
    let folder = with(&format!("{LINUX}{WINDOWS}"));
    let convert = ["convert", "cluster.yaml", "--to", "bringup", "-o", "ours.yaml"];
    let (status, said) = code(folder.path(), &convert);
    assert!(status == Some(1) && said.contains("error[ancestor/field-refused]"), "{said}");
    let (status, said) = code(folder.path(), &["build", "ours.yaml", "-o", "ours"]);
    assert_eq!(status, Some(0), "{said}");
    code(folder.path(), &["build", "cluster.yaml", "-o", "theirs"]);
    let plan = |of: &str| std::fs::read(folder.path().join(of).join("demo/linux/plan.json")).expect("a plan");
    assert_eq!(plan("ours"), plan("theirs"));
}

/// Clusters whose nodes AWS brings up are nothing to complain of.
#[test]
fn a_cluster_without_node_groups_is_an_empty_build() {
    let text =
        LINUX.split_once("nodeGroups").expect("groups").0.to_owned() + "autoModeConfig: {enabled: true}\n";
    let folder = with(&text);
    let (status, said) = code(folder.path(), &["build", "cluster.yaml", "--strict"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("has no node groups"), "{said}");
    let built = tree(&folder.path().join("bringup-out"));
    assert!(built.keys().all(|path| path == "report.html" || path.starts_with('.')), "{:?}", built.keys());
    let (status, said) = code(folder.path(), &["build", "cluster.yaml", "--group", "any"]);
    assert!(status == Some(2) && said.contains("there is no node group `any`"), "{said}");
    let (status, said) = code(folder.path(), &["convert", "cluster.yaml", "-o", "ours.yaml"]);
    assert!(status == Some(0) && said.contains("nothing to convert"), "{said}");
}

/// What another system's document has no field for is added beside it.
#[test]
fn hints_of_what_is_missing_name_additions() {
    let folder = with(&LINUX.replace("region: eu-west-1, ", ""));
    let (status, said) = code(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(status, Some(2), "{said}");
    let missing =
        said.split("\n\n").find(|part| part.contains("`aws` has no `region`")).expect("the finding");
    assert!(missing.contains("--with additions.yaml"), "{missing}");
    let own = with("apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {name: a}\nspec: {}\n");
    let (status, said) = code(own.path(), &["build", "cluster.yaml"]);
    assert!(status == Some(2) && !said.contains("additions"), "{said}");
}
