//! Every value of a document of another system, in another shape: somebody is told where it stands.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot look at what it tests ends there")]

mod support;

use std::collections::BTreeSet;

use bringup_diag::{Finding, Span};
use bringup_plan::LocalFiles;
use bringup_yaml::{Limits, Node, Path, Segment, Value, parse, to_yaml};

use support::read;

/// What is told of a field as a whole, at its name: what is in it is not looked at.
const OF_THE_WHOLE: &[&str] =
    &["ancestor/field-aside", "ancestor/field-differs", "ancestor/field-refused", "ancestor/unknown-field"];

fn written(documents: &[Value]) -> String {
    documents.iter().map(to_yaml).collect::<Vec<String>>().join("---\n")
}

fn nodes(text: &str) -> Vec<Node> {
    parse(text, Limits::default()).expect("YAML")
}

/// What reading finds and, where `enough` does not hold of that, what compiling does.
fn found(text: &str, beside: &str, enough: impl Fn(&[Finding]) -> bool) -> Vec<Finding> {
    let read = read(&[("theirs.yaml", text), ("beside.yaml", beside)]);
    let mut found: Vec<Finding> = read.findings.iter().cloned().collect();
    found.extend(read.refused.iter().flat_map(|refused| refused.findings.iter().cloned()));
    if enough(&found) {
        return found;
    }
    for document in &read.documents {
        found.extend(bringup_plan::check_document(document).iter().cloned());
        for index in 0..document.cluster.spec.node_groups.len() {
            let compiled = bringup_plan::compile(document, index, &LocalFiles::default());
            found.extend(compiled.findings.iter().cloned());
        }
    }
    found
}

fn paths(value: &Value, at: &Path, all: &mut Vec<Path>) {
    let children: Vec<(Path, &Value)> = match value {
        Value::Map(pairs) => pairs.iter().map(|(key, value)| (at.key(key.as_str()), value)).collect(),
        Value::List(items) => items.iter().enumerate().map(|(index, item)| (at.index(index), item)).collect(),
        _ => Vec::new(),
    };
    for (path, child) in children {
        all.push(path.clone());
        paths(child, &path, all);
    }
}

fn at<'a>(value: &'a mut Value, path: &[Segment]) -> &'a mut Value {
    path.iter().fold(value, |value, segment| match (value, segment) {
        (Value::Map(pairs), Segment::Key(key)) => {
            &mut pairs.iter_mut().find(|(name, _)| name == key).expect("a key").1
        }
        (Value::List(items), Segment::Index(index)) => items.get_mut(*index).expect("an item"),
        (other, _) => panic!("{other:?} has no parts"),
    })
}

/// Values of the two other shapes.
fn others(value: &Value) -> [Value; 2] {
    let map = || Value::map([("zz", Value::from("zz"))]);
    let list = || Value::list([Value::from("zz")]);
    match value {
        Value::Map(_) => [Value::from("zzword"), list()],
        Value::List(_) => [Value::from("zzword"), map()],
        _ => [map(), list()],
    }
}

fn lines(span: Span) -> std::ops::RangeInclusive<u32> {
    span.start.line..=span.end.line
}

/// Whether a finding is about the value at a path, or about a field around it as a whole.
fn is_told(
    (text, beside): (&str, &str),
    document: usize,
    path: &Path,
    known: &BTreeSet<(String, String)>,
) -> bool {
    let nodes = nodes(text);
    let root = nodes.get(document).expect("a document");
    let prefixes = (1..=path.segments().len()).map(|length| {
        let mut prefix = Path::root();
        path.segments().iter().take(length).cloned().for_each(|segment| prefix.push(segment));
        root.key_span_at(&prefix)
    });
    let fields: Vec<Span> = prefixes.collect();
    let (key, value) = (root.key_span_at(path), root.span_at(path));
    let about = |finding: &Finding| {
        let Some(place) = &finding.place else { return false };
        let line = place.span.start.line;
        let new = !known.contains(&(finding.code.name.to_owned(), finding.message.clone()));
        let here = lines(key).contains(&line) || lines(value).contains(&line);
        let whole = OF_THE_WHOLE.contains(&finding.code.name) && fields.contains(&place.span);
        place.file == "theirs.yaml" && ((new && here) || whole)
    };
    let any = |found: &[Finding]| found.iter().any(about);
    any(&found(text, beside, any))
}

/// The paths of which nothing is told in another shape, apart from those that begin with one of `free`.
fn silent(text: &str, beside: &str, free: &[&str]) -> Vec<String> {
    let documents: Vec<Value> = nodes(text).iter().map(Node::to_value).collect();
    let base = found(&written(&documents), beside, |_| false);
    let known = base.into_iter().map(|finding| (finding.code.name.to_owned(), finding.message)).collect();
    let mut silent = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let mut all = Vec::new();
        paths(document, &Path::root(), &mut all);
        for path in all {
            let name = path.to_string();
            if free.iter().any(|free| name.starts_with(free)) {
                continue;
            }
            let value = at(&mut document.clone(), path.segments()).clone();
            for other in others(&value) {
                let mut changed = documents.clone();
                *at(changed.get_mut(index).expect("a document"), path.segments()) = other.clone();
                if !is_told((&written(&changed), beside), index, &path, &known) {
                    silent.push(format!("{name} as {other:?}"));
                }
            }
        }
    }
    silent
}

#[test]
fn of_eksctl() {
    assert_eq!(silent(include_str!("shapes/eksctl.yaml"), "", &[]), Vec::<String>::new());
}

/// The settings of Cilium are those of the network add-on, and of no node.
const CILIUM: &str = "spec.networking.cilium.";

#[test]
fn of_kops() {
    assert_eq!(silent(include_str!("shapes/kops.yaml"), "", &[CILIUM]), Vec::<String>::new());
}

#[test]
fn of_kops_in_the_third_version() {
    assert_eq!(silent(include_str!("shapes/kops-v1alpha3.yaml"), "", &[CILIUM]), Vec::<String>::new());
}

#[test]
fn of_nodeadm() {
    // What containers start from is written to a file as it stands: nothing of it is lost. A document of another kind is
    // refused as a whole, at its beginning.
    let free = ["spec.containerd.baseRuntimeSpec.", "kind"];
    let beside = "kind: Additions\napiVersion: bringup.dev/v1alpha1\nspec: {kubernetes: {version: 1.33.1}}\n";
    assert_eq!(silent(include_str!("shapes/nodeadm.yaml"), beside, &free), Vec::<String>::new());
}

#[test]
fn of_tkestack() {
    assert_eq!(silent(include_str!("shapes/tkestack.yaml"), "", &[]), Vec::<String>::new());
}

#[test]
fn truth_values_are_those_of_go() {
    let group = |value: &str| {
        format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: a, region: eu-west-1, version: '1.31'}}\nnodeGroups:\n- {{name: g, amiFamily: AmazonLinux2023, instanceType: m5.large, labels: {{b: c}}, propagateASGTags: {value}}}\n"
        )
    };
    let wrong = |value: &str| {
        found(&group(value), "", |_| true)
            .into_iter()
            .filter(|finding| finding.code.name == "ancestor/wrong-type")
            .count()
    };
    let counts = ["true", "yes", "off", "null", "\"true\"", "1", "[true]"].map(wrong);
    assert_eq!(counts, [0, 0, 0, 0, 1, 1, 1]);
}
