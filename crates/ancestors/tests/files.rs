//! Documents that are spread over files: each finding points into the right one.
#![expect(clippy::indexing_slicing, reason = "a test that cannot look at what it tests ends there")]

mod support;

use bringup_diag::Severity;
use serde_json::json;

use support::{read, told, value};

const CLUSTER: &str = "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {name: cls-a}\nspec:\n  type: Baremetal\n  version: 1.33.1\n  machines:\n  - {ip: 10.0.0.1, password: eA==}\n";

fn machine(ip: &str, more: &str) -> String {
    format!(
        "apiVersion: platform.tkestack.io/v1\nkind: Machine\nspec:\n  clusterName: cls-a\n  type: Baremetal\n  ip: {ip}\n  password: eA==\n{more}"
    )
}

const OURS: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {name: own}\nspec:\n  kubernetes: {version: \"1.33\"}\n  join: {method: kubeadm}\n  nodeGroups:\n  - {name: workers, os: ubunto}\n";

#[test]
fn places_count_in_the_file_that_they_are_in() {
    // A byte order mark, line ends of Windows, no line end at the end, several documents: lines are counted all the same.
    let one = format!("\u{feff}{}", CLUSTER.replace('\n', "\r\n"));
    let two = format!("{}---\n{}", machine("10.0.0.2", ""), machine("10.0.0.3", "  lables: {a: b}"));
    let three = machine("10.0.0.4", "  usernam: x\n");
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let files = [("one.yaml", one.as_str()), ("two.yaml", two.as_str()), ("three.yaml", three.as_str())];
        let read = read(&order.map(|index| files[index]));
        let mut errors = told(&read, Severity::Error);
        errors.sort();
        assert_eq!(
            errors,
            [
                "three.yaml:8:3 ancestor/unknown-field unknown field `usernam` in `spec` of a machine",
                "two.yaml:16:3 ancestor/unknown-field unknown field `lables` in `spec` of a machine",
            ],
            "{order:?}"
        );
    }
}

#[test]
fn what_the_plan_finds_points_into_the_file_of_the_value() {
    let wrong = machine("10.0.0.2", "  port: 0\n");
    let read = read(&[("one.yaml", CLUSTER), ("two.yaml", &wrong)]);
    let document = read.documents.first().expect("a document");
    let found = bringup_plan::check_document(document);
    let places: Vec<String> = found
        .iter()
        .filter(|finding| finding.message.contains("port 0"))
        .filter_map(|finding| finding.place.as_ref())
        .map(|place| format!("{}:{}:{}", place.file, place.span.start.line, place.span.start.column))
        .collect();
    assert_eq!(places, ["two.yaml:8:9"]);
}

#[test]
fn our_own_documents_stand_beside_others_in_one_file_or_several() {
    let together = format!("{CLUSTER}---\n{OURS}");
    let cases: [&[(&str, &str)]; 2] = [&[("a.yaml", &together)], &[("b.yaml", CLUSTER), ("a.yaml", OURS)]];
    for (files, line) in cases.into_iter().zip([17, 8]) {
        let read = read(files);
        let mut names: Vec<&str> =
            read.documents.iter().map(|document| document.cluster.metadata.name.as_str()).collect();
        names.sort_unstable();
        assert!(names.contains(&"cls-a"), "{names:?}");
        assert_eq!(
            told(&read, Severity::Error),
            [format!("a.yaml:{line}:25 document/wrong-value `ubunto` is no family of operating systems")]
        );
    }
}

#[test]
fn a_file_that_does_not_parse_hides_no_other() {
    let read = read(&[("broken.yaml", "a: [1\n"), ("cluster.yaml", CLUSTER)]);
    assert_eq!(value(&read, "metadata/name"), json!("cls-a"));
    let errors = told(&read, Severity::Error);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors.iter().all(|line| line.starts_with("broken.yaml:")), "{errors:?}");
}

#[test]
fn documents_of_several_systems_may_come_together() {
    let eksctl = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: shop, region: eu-central-1, version: \"1.33\"}\nmanagedNodeGroups:\n- {name: a, instanceType: m5.large}\n";
    let read = read(&[("theirs.yaml", &format!("{CLUSTER}---\n{eksctl}"))]);
    let names: Vec<&str> =
        read.documents.iter().map(|document| document.cluster.metadata.name.as_str()).collect();
    assert_eq!(names, ["shop", "cls-a"]);
}

/// A comment behind a number is no part of it, though a reader of YAML would take it for one.
#[test]
fn comments_in_json_are_none_of_its_values() {
    let json = "{\"apiVersion\": \"platform.tkestack.io/v1\", \"kind\": \"Cluster\", \"metadata\": {\"name\": \"cls-a\"},\n\t\"spec\": {\"type\": \"Baremetal\", \"version\": \"1.33.1\",\n\t\"machines\": [{\"ip\": \"10.0.0.1\", \"password\": \"eA==\", \"port\": 2222 // odd\n}], \"flux\": 1}}\n";
    let read = read(&[("a.json", json)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(value(&read, "spec/machines/0/port"), json!(2222));
    let unknown: Vec<String> =
        told(&read, Severity::Warning).into_iter().filter(|line| line.contains("unknown-field")).collect();
    assert_eq!(unknown, ["a.json:4:5 ancestor/unknown-field unknown field `flux` in `spec` of a cluster"]);
    // What JSON does not have, such as a comma at the end, is no hindrance.
    let trailing = json.replace("}], \"flux\"", ",}], \"flux\"");
    assert_eq!(value(&support::read(&[("a.json", &trailing)]), "spec/machines/0/port"), json!(2222));
}

/// Marks of editors, and comments of both kinds beside each other, are no hindrance; a comment without an end is told.
#[test]
fn json_is_read_with_all_that_people_put_around_it() {
    let json = "{ // a\n \"apiVersion\": \"platform.tkestack.io/v1\", # b\n \"kind\": \"Cluster\", \"metadata\": {\"name\": \"cls-a\"},\n \"spec\": {\"type\": \"Baremetal\", \"version\": \"1.33.1\",\n \"machines\": [{\"ip\": \"10.0.0.1\", \"password\": \"http://x#y\", \"port\": 2222}]}}\n";
    for text in [json.to_owned(), format!("\u{feff}{json}"), format!("\u{feff}{}", json.replace('#', "//"))] {
        let read = read(&[("a.json", &text)]);
        assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
        assert_eq!(value(&read, "spec/machines/0/port"), json!(2222));
    }
    for (before, line) in [("\"apiVersion\"", 2), ("\"spec\"", 4)] {
        let text = json.replace(before, &format!("/* c\n {before}"));
        let read = read(&[("a.json", &text)]);
        let told = told(&read, Severity::Error);
        let expected = format!(
            "a.json:{line}:2 document/syntax nothing ends the comment that begins here: all that follows would be part of it"
        );
        assert_eq!(told, [expected]);
    }
}
