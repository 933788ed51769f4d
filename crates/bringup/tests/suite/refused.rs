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

/// Whoever finds what is wrong within a group: the translation, the reader of documents, the compiler.
#[test]
fn what_is_wrong_within_a_group_leaves_the_others() {
    for bad in ["volumeSize: big", "instanceType: 17", "labels: {\"a b\": c}"] {
        let folder = with(&format!("{LINUX}- {{name: bad, {bad}}}\n"));
        for command in ["build", "explain"] {
            let (status, said) = code(folder.path(), &[command, "cluster.yaml"]);
            assert_eq!(status, Some(1), "{command} {bad}: {said}");
            assert_eq!(said.matches("error[").count(), 1, "{command} {bad}: {said}");
        }
        let built = tree(&folder.path().join("bringup-out"));
        assert!(built.contains_key("demo/linux/plan.json"), "{:?}", built.keys());
        assert!(!built.keys().any(|path| path.contains("bad")), "{:?}", built.keys());
        let (status, said) = code(folder.path(), &["convert", "cluster.yaml", "-o", "ours.yaml"]);
        assert!(status == Some(1) && said.matches("error[").count() == 1, "convert {bad}: {said}");
        let (status, said) = code(folder.path(), &["build", "ours.yaml", "-o", "ours"]);
        assert_eq!(status, Some(0), "{bad}: {said}");
        let plan =
            |of: &str| std::fs::read(folder.path().join(of).join("demo/linux/plan.json")).expect("a plan");
        assert_eq!(plan("ours"), plan("bringup-out"));
    }
    let alone = with(&LINUX.replace("m5.large", "m5.large, labels: {\"a b\": c}"));
    let (status, said) = code(alone.path(), &["build", "cluster.yaml"]);
    assert!(status == Some(2) && said.contains("nothing was written"), "{said}");
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
