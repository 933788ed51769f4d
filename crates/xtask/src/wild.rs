//! Other people's documents, held against the front ends: none crashes, and a field that nobody knows is always named.
//!
//! The documents stay where they are: the directory is given, and nothing of it is kept.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bringup_ancestors::{Input, is_foreign, read};
use bringup_plan::{LocalFiles, compile};
use bringup_yaml::{Content, Entry, Limits, Node, Style, to_yaml};

/// A field that no system has.
const PROBE: &str = "zqxProbeOfBringup";

/// What was seen.
#[derive(Default)]
struct Seen {
    files: usize,
    documents: BTreeMap<String, usize>,
    translated: usize,
    refused: usize,
    groups: usize,
    compiled: usize,
    codes: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    probes: usize,
    /// Mappings that take any key, by their paths.
    free: BTreeMap<String, usize>,
    crashed: Vec<String>,
}

/// Reads every document of another system beneath a directory, and says what became of it.
pub(crate) fn counted(directory: &Path, probe: bool) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    find(directory, &mut paths)?;
    paths.sort();
    let mut seen = Seen::default();
    for path in &paths {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        if catch_unwind(AssertUnwindSafe(|| is_foreign(&text))).unwrap_or(true) {
            look(path, &text, probe, &mut seen);
        }
    }
    print(&seen);
    if seen.files == 0 {
        seen.crashed
            .push(format!("there is no document of another system beneath `{}`", directory.display()));
    }
    Ok(seen.crashed)
}

fn find(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        std::fs::read_dir(directory).with_context(|| format!("cannot read `{}`", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            find(&path, paths)?;
        } else if path
            .extension()
            .is_some_and(|kind| ["yaml", "yml", "json"].iter().any(|known| kind == *known))
        {
            paths.push(path);
        }
    }
    Ok(())
}

fn look(path: &Path, text: &str, probe: bool, seen: &mut Seen) {
    let name = path.display().to_string();
    seen.files += 1;
    let outcome = catch_unwind(AssertUnwindSafe(|| translated(&name, text)));
    let Ok((codes, unknown, documents, groups, compiled)) = outcome else {
        seen.crashed.push(format!("`{name}` crashes the reader"));
        return;
    };
    for tree in trees(text) {
        let word = |key: &str| tree.get(key).and_then(Node::text).unwrap_or("?").to_owned();
        *seen.documents.entry(format!("{} {}", word("apiVersion"), word("kind"))).or_default() += 1;
    }
    seen.translated += usize::from(documents > 0);
    seen.refused += usize::from(documents == 0);
    seen.groups += groups;
    seen.compiled += compiled;
    for code in codes {
        *seen.codes.entry(code).or_default() += 1;
    }
    for message in unknown {
        *seen.unknown.entry(message).or_default() += 1;
    }
    if probe {
        probed(&name, text, seen);
    }
}

type Outcome = (Vec<String>, Vec<String>, usize, usize, usize);

fn translated(name: &str, text: &str) -> Outcome {
    let found = read(&[Input { name, text }]);
    let mut codes = Vec::new();
    let mut unknown = Vec::new();
    let refused = found.refused.iter().flat_map(|refused| &refused.findings);
    for finding in found.findings.iter().chain(refused) {
        codes.push(format!("{} {}", finding.severity.word(), finding.code.name));
        if finding.code == bringup_ancestors::codes::UNKNOWN_FIELD {
            unknown.push(finding.message.clone());
        }
    }
    let mut groups = 0;
    let mut compiled = 0;
    for document in &found.documents {
        for index in 0..document.cluster.spec.node_groups.len() {
            groups += 1;
            compiled += usize::from(compile(document, index, &LocalFiles::default()).plan.is_some());
        }
    }
    (codes, unknown, found.documents.len(), groups, compiled)
}

fn trees(text: &str) -> Vec<Node> {
    bringup_yaml::parse(text, Limits::default()).unwrap_or_default()
}

/// Puts a field that nobody has into each mapping in turn: it must be named, or the mapping be one that takes any key.
fn probed(name: &str, text: &str, seen: &mut Seen) {
    let trees = trees(text);
    let places: Vec<Vec<String>> =
        trees.iter().enumerate().flat_map(|(index, tree)| mappings(tree, &[index.to_string()])).collect();
    for place in places {
        let mut changed = trees.clone();
        let Some((first, rest)) = place.split_first() else { continue };
        let Some(tree) = first.parse().ok().and_then(|index: usize| changed.get_mut(index)) else { continue };
        put_probe(tree, rest);
        let texts: Vec<String> = changed.iter().map(|tree| to_yaml(&tree.to_value())).collect();
        let text = texts.join("---\n");
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&[Input { name, text: &text }])));
        seen.probes += 1;
        match outcome {
            Err(_) => {
                seen.crashed.push(format!("`{name}` crashes the reader with a field more at {place:?}"));
            }
            Ok(found) if found.findings.iter().any(|finding| finding.message.contains(PROBE)) => {}
            Ok(_) => {
                let steps: Vec<&str> =
                    rest.iter().map(|step| if step.parse::<usize>().is_ok() { "*" } else { step }).collect();
                let kind = tree_kind(trees.get(first.parse::<usize>().unwrap_or_default()));
                *seen.free.entry(format!("{kind}: {}", steps.join("."))).or_default() += 1;
            }
        }
    }
}

fn tree_kind(tree: Option<&Node>) -> String {
    tree.and_then(|tree| tree.get("kind")?.text()).unwrap_or("?").to_owned()
}

fn mappings(node: &Node, path: &[String]) -> Vec<Vec<String>> {
    let with = |step: String| [path, &[step]].concat();
    match &node.content {
        Content::Scalar(_) => Vec::new(),
        Content::List(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| mappings(item, &with(index.to_string())))
            .collect(),
        Content::Map(entries) => {
            let inner = entries.iter().flat_map(|entry| mappings(&entry.value, &with(entry.key.clone())));
            std::iter::once(path.to_vec()).chain(inner).collect()
        }
    }
}

fn put_probe(node: &mut Node, path: &[String]) {
    let span = node.span;
    match (path.split_first(), &mut node.content) {
        (None, Content::Map(entries)) => {
            let value = Node { span, ..Node::default() };
            entries.push(Entry {
                key: PROBE.to_owned(),
                key_style: Style::Plain,
                key_span: span,
                value: text(value),
            });
        }
        (Some((step, rest)), Content::Map(entries)) => {
            if let Some(entry) = entries.iter_mut().rev().find(|entry| entry.key == *step) {
                put_probe(&mut entry.value, rest);
            }
        }
        (Some((step, rest)), Content::List(items)) => {
            if let Some(item) = step.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                put_probe(item, rest);
            }
        }
        _ => {}
    }
}

/// A value that is not empty: what is empty says nothing.
fn text(node: Node) -> Node {
    let content = Content::Scalar(bringup_yaml::Scalar { text: "x".to_owned(), style: Style::Quoted });
    Node { content, ..node }
}

fn print(seen: &Seen) {
    println!("{} files, {} translated, {} refused", seen.files, seen.translated, seen.refused);
    println!("{} node groups, of which {} compile as they stand", seen.groups, seen.compiled);
    list("documents", &seen.documents);
    list("findings", &seen.codes);
    list("fields that are not known", &seen.unknown);
    if seen.probes > 0 {
        println!(
            "{} fields put in, {} of them where any key may stand or nothing is read",
            seen.probes,
            seen.free.values().sum::<usize>()
        );
        list("there", &seen.free);
    }
    println!("{} crashes", seen.crashed.len());
}

fn list(title: &str, counts: &BTreeMap<String, usize>) {
    println!("{title}:");
    for (name, count) in counts {
        println!("  {count:>6}  {name}");
    }
}
