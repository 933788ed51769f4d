//! How Tectonic's files are known: Ignition configs by their version, the forms that people write them in by their keys,
//! units by their names.

use bringup_diag::{Position, Span};
use bringup_yaml::{Content, Entry, Node, Style};

use super::unit_text::Lines;
use crate::tree::{Branch, list, text};

/// How a unit file is marked on its way to the translation.
const FILE_GROUP: &str = "systemd/";
const SUFFIXES: [&str; 9] =
    [".service", ".path", ".target", ".socket", ".timer", ".mount", ".automount", ".slice", ".swap"];
/// Sections of unit files, one of which each has.
const SECTIONS: [&str; 8] = ["Unit", "Service", "Path", "Install", "Socket", "Timer", "Mount", "Swap"];
/// Words of Butane for the systems that it writes configs for.
const VARIANTS: [&str; 5] = ["fcos", "flatcar", "r4e", "openshift", "fiot"];
/// What makes a machine a node.
const OF_NODE: [&str; 2] = ["kubelet.service", "k8s-node-bootstrap.service"];

/// The tree that stands for a unit file, a drop-in `UNIT.d/NAME.conf` or `kubelet.env`; none if it is something else.
pub(crate) fn tree(name: &str, content: &str) -> Option<Node> {
    let mut parts = name.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let folder = parts.next().unwrap_or_default();
    let is_text = file.strip_suffix(".conf").is_some();
    let drop_in = folder.strip_suffix(".d").filter(|unit| is_unit_name(unit) && is_text);
    let is_environment = file == "kubelet.env";
    if !is_environment && !(has_section(content) && (is_unit_name(file) || drop_in.is_some())) {
        return None;
    }
    let first = content.lines().next().unwrap_or_default();
    let head = Span {
        start: Position { line: 1, column: 1 },
        end: Position {
            line: 1,
            column: u32::try_from(first.chars().count()).unwrap_or(u32::MAX).saturating_add(1),
        },
    };
    let mut tree = Branch::new(head);
    let kind = if is_environment { "file" } else { "unit" };
    tree.put("apiVersion", text(head, format!("{FILE_GROUP}{kind}")));
    tree.put("name", text(head, drop_in.unwrap_or(file)));
    if drop_in.is_some() {
        tree.put("dropIn", text(head, file));
    }
    tree.put("contents", text(head, content));
    Some(tree.into_node())
}

/// Whether a file of this name belongs to a set of units.
pub(crate) fn is_unit_file(name: &str) -> bool {
    is_unit_name(name) || matches!(name, "kubelet.env" | "runtime-mappings.yaml")
}

fn is_unit_name(name: &str) -> bool {
    SUFFIXES.iter().any(|suffix| name.len() > suffix.len() && name.ends_with(suffix))
}

fn has_section(content: &str) -> bool {
    let section = |line: &str| line.trim().strip_prefix('[')?.strip_suffix(']').map(str::to_owned);
    content.lines().filter_map(section).any(|name| SECTIONS.contains(&name.as_str()))
}

/// Whether a tree is one of Tectonic's: a config, in whichever form, or the mapping of runtimes.
pub(crate) fn is_theirs(tree: &Node) -> bool {
    let version = tree.get("apiVersion").and_then(Node::text);
    if let Some(version) = version {
        return version.starts_with(FILE_GROUP);
    }
    let variant = tree.get("variant").and_then(Node::text);
    is_carrier(tree)
        || variant.is_some_and(|variant| VARIANTS.contains(&variant) && tree.get("version").is_some())
        || unit_names(tree).any(|name| OF_NODE.contains(&name))
        || is_manifest(tree)
}

/// Whether a machine takes it as it is.
pub(crate) fn is_carrier(tree: &Node) -> bool {
    tree.get("ignition").and_then(|ignition| ignition.get("version")).and_then(Node::text).is_some()
}

/// Whether it is what `bringup build` wrote.
pub(crate) fn is_ours(tree: &Node) -> bool {
    unit_names(tree).any(|name| name == "bringup.service" || name == "bringup-gate.target")
}

fn unit_names(tree: &Node) -> impl Iterator<Item = &str> {
    let units = tree.get("systemd").and_then(|systemd| systemd.get("units")).and_then(Node::items);
    units.unwrap_or_default().iter().filter_map(|unit| unit.get("name").and_then(Node::text))
}

/// tectonic-torcx's mapping of Kubernetes to runtimes.
pub(super) fn is_manifest(tree: &Node) -> bool {
    tree.get("kind").and_then(Node::text) == Some("VersionManifestV1")
}

/// The configs among the documents; unit files together are one.
pub(super) fn configs(documents: &[Node]) -> Vec<(Node, Lines)> {
    let is_file = |tree: &Node| {
        tree.get("apiVersion").and_then(Node::text).is_some_and(|version| version.starts_with(FILE_GROUP))
    };
    let mut configs: Vec<(Node, Lines)> = documents
        .iter()
        .filter(|document| !is_file(document) && !is_manifest(document))
        .map(|document| (without_empty(document.clone()), Lines::OfValue))
        .collect();
    let files: Vec<&Node> = documents.iter().filter(|document| is_file(document)).collect();
    if let Some(first) = files.first() {
        configs.push((config_of(&files, first.span), Lines::OfFile));
    }
    configs
}

/// A config without the empty mappings and lists that tools write where nothing is said.
fn without_empty(mut node: Node) -> Node {
    let is_empty = |node: &Node| match &node.content {
        Content::Map(entries) => entries.is_empty(),
        Content::List(items) => items.is_empty(),
        Content::Scalar(_) => false,
    };
    match &mut node.content {
        Content::Map(entries) => {
            for entry in entries.iter_mut() {
                entry.value = without_empty(std::mem::take(&mut entry.value));
            }
            entries.retain(|entry| !is_empty(&entry.value));
        }
        Content::List(items) => {
            for item in items.iter_mut() {
                *item = without_empty(std::mem::take(item));
            }
        }
        Content::Scalar(_) => {}
    }
    node
}

/// Unit files as the config that would hold them.
fn config_of(files: &[&Node], span: Span) -> Node {
    let said = |file: &Node, key: &str| file.get(key).and_then(Node::text).map(str::to_owned);
    let mut units: Vec<Node> = Vec::new();
    let mut stored = Vec::new();
    for file in files {
        let (Some(name), Some(contents)) = (file.get("name"), file.get("contents")) else { continue };
        if said(file, "apiVersion").as_deref() == Some("systemd/file") {
            let mut source = Branch::new(file.span);
            source.put("inline", contents.clone());
            let mut made = Branch::new(file.span);
            made.put("path", text(file.span, "/etc/kubernetes/installer/kubelet.env"));
            made.put("contents", source.into_node());
            stored.push(made.into_node());
            continue;
        }
        let known = units.iter().position(|unit| unit.get("name").and_then(Node::text) == name.text());
        let mut unit = known.map_or_else(
            || {
                let mut unit = Branch::new(file.span);
                unit.put("name", name.clone());
                unit.into_node()
            },
            |at| units.remove(at),
        );
        let Content::Map(entries) = &mut unit.content else { continue };
        let entry = |key: &str, value: Node| Entry {
            key: key.to_owned(),
            key_style: Style::Plain,
            key_span: value.span,
            value,
        };
        if let Some(drop_in) = file.get("dropIn") {
            let mut one = Branch::new(file.span);
            one.put("name", drop_in.clone());
            one.put("contents", contents.clone());
            match entries
                .iter_mut()
                .find(|entry| entry.key == "dropins")
                .map(|entry| &mut entry.value.content)
            {
                Some(Content::List(items)) => items.push(one.into_node()),
                _ => entries.push(entry("dropins", list(file.span, vec![one.into_node()]))),
            }
        } else {
            // A unit that says who wants it is meant to be enabled.
            let wanted = contents.text().unwrap_or_default().lines().any(|line| line.trim() == "[Install]");
            entries.push(entry("contents", contents.clone()));
            if wanted {
                entries.push(entry("enabled", crate::tree::plain(file.span, true)));
            }
        }
        units.push(unit);
    }
    let mut systemd = Branch::new(span);
    systemd.put("units", list(span, units));
    let mut storage = Branch::new(span);
    storage.put("files", list(span, stored));
    let mut config = Branch::new(span);
    config.put("storage", storage.into_node());
    config.put("systemd", systemd.into_node());
    config.into_node()
}
