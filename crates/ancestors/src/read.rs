//! From the texts of files to Bringup documents, whosever they are.

use std::collections::BTreeMap;

use bringup_diag::Findings;
use bringup_spec::nodeconfig::unpack;
use bringup_spec::{Files, Read};
use bringup_yaml::{Content, Limits, Node};

use crate::additions::{is_additions, lay_over};
use crate::comments::without_comments;
use crate::tell::Teller;
use crate::{System, kops, user_data};

/// A file: its name as the person gave it, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Whether a text holds a document of another system. User-data does not, whatever its parts are: it is a carrier.
pub fn is_foreign(text: &str) -> bool {
    trees_of(text).is_some_and(|trees| trees.iter().any(|tree| System::of(tree).is_some()))
}

/// Whether user-data joins a node in a way that can be read: it has a NodeConfig, or a script that calls `bootstrap.sh`.
pub fn joins_a_node(bytes: &[u8]) -> bool {
    let unpacked = unpack("user-data", bytes);
    let called = |text: &str| user_data::tree(text, true).is_some();
    let is_config = |text: &str| {
        text.contains("node.eks.aws/")
            && trees_of(text)
                .is_some_and(|trees| trees.iter().any(|tree| System::of(tree) == Some(System::Nodeadm)))
    };
    unpacked.scripts.iter().any(|(_, text)| called(text))
        || unpacked.texts.iter().any(|(_, text)| called(text) || is_config(text))
}

/// NodeConfigs also come as parts of a message, as user-data has them; anything else is what it is.
fn unpacked(input: Input<'_>) -> Vec<(String, String)> {
    let unpacked = unpack(input.name, input.text.as_bytes());
    // A message may have a script that calls `bootstrap.sh` in the place of a NodeConfig.
    let called = unpacked.scripts.iter().any(|(_, script)| user_data::tree(script, true).is_some());
    if unpacked.findings.has_errors() && !called {
        return vec![(input.name.to_owned(), input.text.to_owned())];
    }
    unpacked.scripts.into_iter().chain(unpacked.texts).collect()
}

/// Reads all documents of several files.
///
/// Documents of another system may be spread over the files: an instance group finds its cluster in any of them.
pub fn read(inputs: &[Input<'_>]) -> Read {
    let mut documents = Vec::new();
    let mut findings = Findings::new();
    let mut theirs: Vec<(Input<'_>, Vec<Node>)> = Vec::new();
    let parts: Vec<(String, String)> = inputs.iter().flat_map(|input| unpacked(*input)).collect();
    for (name, text) in &parts {
        let input = Input { name, text };
        // A part of a message is not alone.
        if let Some(tree) = user_data::tree(text, !name.contains('#')) {
            theirs.push((input, vec![tree]));
            continue;
        }
        match trees_of(input.text) {
            Some(trees) if trees.iter().any(|tree| is_additions(tree) || System::of(tree).is_some()) => {
                theirs.push((input, trees));
            }
            _ => {
                let ours = bringup_spec::read(input.name, input.text);
                documents.extend(ours.documents);
                findings.append(ours.findings);
            }
        }
    }
    if !theirs.is_empty() {
        let translated = translated(theirs);
        documents.extend(translated.documents);
        findings.append(translated.findings);
    }
    Read { documents, findings }
}

/// The documents of a text, those of lists one by one.
fn trees_of(text: &str) -> Option<Vec<Node>> {
    let parsed = |text: &str| bringup_yaml::parse(text, Limits::default()).ok();
    let trees = match without_comments(text) {
        // A comment behind a number is part of it to a reader of YAML: what is JSON without comments is JSON.
        Some(blanked) if serde_json::from_str::<serde_json::Value>(&blanked).is_ok() => parsed(&blanked),
        Some(blanked) => parsed(text).or_else(|| parsed(&blanked)),
        None => parsed(text),
    };
    trees.map(|trees| trees.into_iter().flat_map(listed).collect())
}

/// What `kubectl get` prints for several objects, taken apart.
fn listed(tree: Node) -> Vec<Node> {
    let is_list = tree.get("kind").and_then(Node::text) == Some("List")
        && tree
            .get("items")
            .and_then(Node::items)
            .is_some_and(|items| items.iter().any(|item| System::of(item).is_some()));
    if !is_list {
        return vec![tree];
    }
    let Content::Map(entries) = tree.content else { return Vec::new() };
    entries
        .into_iter()
        .filter(|entry| entry.key == "items")
        .flat_map(|entry| if let Content::List(items) = entry.value.content { items } else { Vec::new() })
        .collect()
}

fn translated(inputs: Vec<(Input<'_>, Vec<Node>)>) -> Read {
    let (files, text) = Files::joined(inputs.iter().map(|(input, _)| (input.name, input.text)));
    let mut tell = Teller::new(&files);
    let mut of_system: BTreeMap<System, Vec<Node>> = BTreeMap::new();
    let mut additions = Vec::new();
    let mut rest = Vec::new();
    for ((_, trees), offset) in inputs.into_iter().zip(files.offsets()) {
        for tree in trees {
            let tree = tree.lower_by(offset);
            if let Some(system) = System::of(&tree) {
                of_system.entry(system).or_default().push(tree.with_merge_keys());
            } else if is_additions(&tree) {
                additions.push(tree);
            } else {
                rest.push(tree);
            }
        }
    }
    tell.has_additions = !additions.is_empty();
    if of_system.contains_key(&System::Kops) {
        kops::leave_objects_aside(&mut rest, &mut tell);
    }
    let mut trees = Vec::new();
    let foreign = !of_system.is_empty();
    for (system, documents) in of_system {
        let more = system.translate(&documents, &mut trees, &mut tell);
        trees.extend(more);
    }
    // What could not be translated has been told, and is no fault of the additions.
    if !(foreign && trees.is_empty()) {
        for more in &additions {
            lay_over(&mut trees, more, &mut tell);
        }
    }
    tell.settle(&trees);
    trees.extend(rest);
    let mut findings = tell.into_findings();
    // Where nothing could be translated, that has been told.
    if trees.is_empty() {
        return Read { documents: Vec::new(), findings: findings.sorted() };
    }
    let read = bringup_spec::read_trees(&files, &text, trees);
    findings.append(read.findings);
    Read { documents: read.documents, findings: findings.sorted() }
}
