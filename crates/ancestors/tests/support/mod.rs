//! Documents read, compiled and written again.
#![allow(dead_code, reason = "not every suite uses every part")]
#![allow(clippy::expect_used, reason = "a test that cannot look at what it tests ends there")]

use std::collections::BTreeMap;

use bringup_ancestors::{Input, Read};
use bringup_diag::{Finding, Severity};
use bringup_plan::{LocalEntry, LocalFile, LocalFiles, Plan};

/// Reads files, by name and text.
pub(crate) fn read(files: &[(&str, &str)]) -> Read {
    let inputs: Vec<Input<'_>> = files.iter().map(|(name, text)| Input { name, text }).collect();
    bringup_ancestors::read(&inputs)
}

/// Reads a file that must be without errors.
pub(crate) fn good(text: &str) -> Read {
    let read = read(&[("theirs.yaml", text)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    read
}

/// `FILE:LINE:COLUMN CODE MESSAGE` of each finding of a severity, those of refused groups included.
pub(crate) fn told(read: &Read, severity: Severity) -> Vec<String> {
    let of_groups = read.refused.iter().flat_map(|refused| &refused.findings);
    let all = read.findings.iter().chain(of_groups);
    all.filter(|finding| finding.severity == severity).map(shown).collect()
}

fn shown(finding: &Finding) -> String {
    let place = finding.place.as_ref().map_or_else(String::new, |place| {
        format!("{}:{}:{} ", place.file, place.span.start.line, place.span.start.column)
    });
    format!("{place}{} {}", finding.code.name, finding.message)
}

/// The value of the first document at a path of keys and indices.
pub(crate) fn value(read: &Read, path: &str) -> serde_json::Value {
    let document = read.documents.first().expect("a document");
    let mut node = document.tree();
    for key in path.split('/') {
        let next = match key.parse::<usize>() {
            Ok(index) => node.items().and_then(|items| items.get(index)),
            Err(_) => node.get(key),
        };
        let Some(next) = next else { return serde_json::Value::Null };
        node = next;
    }
    as_json(&node.to_value())
}

fn as_json(value: &bringup_yaml::Value) -> serde_json::Value {
    serde_json::from_str(&json_text(value)).expect("JSON")
}

fn json_text(value: &bringup_yaml::Value) -> String {
    use bringup_yaml::Value;
    match value {
        Value::List(items) => format!("[{}]", items.iter().map(json_text).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key:?}:{}", json_text(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::String(text) => format!("{text:?}"),
        other => bringup_yaml::to_yaml(other).trim().to_owned(),
    }
}

/// The files that documents refer to, each a small script.
pub(crate) fn local(names: &[&str]) -> LocalFiles {
    let file =
        |name: &str| LocalFile { bytes: format!("#!/bin/sh\necho {name}\n").into_bytes(), executable: false };
    let mut entries = BTreeMap::new();
    for name in names {
        let entry = match name.strip_suffix('/') {
            Some(folder) => {
                let files = ["a", "b"].map(|inner| (inner.to_owned(), file(inner)));
                entries.insert(folder.to_owned(), LocalEntry::Directory(files.into()));
                continue;
            }
            None => LocalEntry::File(file(name)),
        };
        entries.insert((*name).to_owned(), entry);
    }
    LocalFiles { entries }
}

/// The plans of all groups of the first document, by name; compiling them must find no error.
pub(crate) fn plans(read: &Read, local: &LocalFiles) -> BTreeMap<String, Plan> {
    let document = read.documents.first().expect("a document");
    let checked = bringup_plan::check_document(document);
    let errors: Vec<String> =
        checked.iter().filter(|finding| finding.severity == Severity::Error).map(shown).collect();
    assert_eq!(errors, Vec::<String>::new());
    let groups = document.cluster.spec.node_groups.iter().enumerate();
    groups
        .map(|(index, group)| {
            let compiled = bringup_plan::compile(document, index, local);
            let errors: Vec<String> = compiled
                .findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(shown)
                .collect();
            assert_eq!(errors, Vec::<String>::new(), "{}", group.name);
            (group.name.to_string(), compiled.plan.expect("a plan"))
        })
        .collect()
}

/// Checks that the plans of the first document are those of the document that `convert` writes.
pub(crate) fn converts(read: &Read, local: &LocalFiles) {
    let tree = read.documents.first().expect("a document").tree();
    let written = bringup_yaml::to_yaml(&tree.to_value());
    let again = self::read(&[("converted.yaml", &written)]);
    assert_eq!(told(&again, Severity::Error), Vec::<String>::new(), "{written}");
    let digests = |read: &Read| -> BTreeMap<String, String> {
        plans(read, local).into_iter().map(|(name, plan)| (name, plan.digest())).collect()
    };
    assert_eq!(digests(read), digests(&again), "{written}");
}
