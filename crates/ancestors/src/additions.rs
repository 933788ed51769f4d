//! What an ancestor's file cannot say, in a document of its own beside it.
//!
//! ```yaml
//! apiVersion: bringup.dev/v1alpha1
//! kind: Additions
//! spec:
//!   api:
//!     endpoint: https://api.example
//!   nodeGroups:
//!     - name: workers
//!       agent: image
//! ```
//!
//! Its `spec` is laid over that of the translated document: mappings key by key, node groups by their names, anything
//! else as a whole. With `metadata.name` it is for one cluster, or names one that has no name; else it is for all. A group without a name is for every group.
//! A key of a group that is null takes away what the translation has put there.

use bringup_yaml::{Content, Entry, Node};

use crate::codes;
use crate::fields::is_nothing;
use crate::kops::plain_name;
use crate::tell::Teller;
use crate::tree::field;

/// The kind of such documents.
pub const KIND: &str = "Additions";

/// Whether a tree is one of them.
pub(crate) fn is_additions(tree: &Node) -> bool {
    tree.get("kind").and_then(Node::text) == Some(KIND)
        && tree
            .get("apiVersion")
            .and_then(Node::text)
            .is_some_and(|version| version.starts_with("bringup.dev/"))
}

/// Lays additions over the documents that they are for.
pub(crate) fn lay_over(documents: &mut [Node], additions: &Node, tell: &mut Teller<'_>) {
    let name_of = |tree: &Node| tree.get("metadata")?.get("name")?.text().map(str::to_owned);
    let wanted = name_of(additions);
    let known = ["apiVersion", "kind", "metadata", "spec"];
    for entry in additions.entries().unwrap_or_default() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!("unknown key `{}` in additions", entry.key);
            tell.error(codes::ADDITIONS, entry.key_span, message, "write what is to be added under `spec`");
        }
    }
    for entry in additions.get("metadata").and_then(Node::entries).unwrap_or_default() {
        if entry.key != "name" {
            let message = format!("`{}` in `metadata` of additions is added to nothing", entry.key);
            tell.error(codes::ADDITIONS, entry.key_span, message, "write the cluster's `name` alone there");
        }
    }
    let spec = additions.get("spec");
    let Some(spec) = spec.filter(|spec| spec.entries().is_some()) else {
        let span = spec.map_or(additions.span, |spec| spec.span);
        let hint = "add `spec:` with what is to be added to the other document's";
        tell.error(codes::ADDITIONS, span, "these additions have no `spec`", hint);
        return;
    };
    let mut used = false;
    for document in documents.iter_mut() {
        if !is_meant(wanted.as_deref(), name_of(document).as_deref()) {
            continue;
        }
        used = true;
        if name_of(document).is_none()
            && let (Some(metadata), Some(more)) = (field(document, "metadata"), additions.get("metadata"))
        {
            more.entries().unwrap_or_default().iter().for_each(|entry| lay_entry(metadata, entry));
        }
        if let Some(slot) = field(document, "spec") {
            lay_spec(slot, spec, tell);
        }
    }
    if !used {
        let message = match &wanted {
            Some(name) => format!("there is no cluster `{name}` to add to"),
            None => "there is no document of another system to add to".to_owned(),
        };
        let known: Vec<String> = documents.iter().filter_map(name_of).collect();
        let hint = if known.is_empty() {
            "give the file that it adds to in the same call; a Bringup document needs no additions".to_owned()
        } else {
            format!("there is {}; leave `metadata` out to add to each", names(&known))
        };
        let place = additions.get("metadata").and_then(|metadata| metadata.get("name")).unwrap_or(additions);
        tell.error(codes::ADDITIONS, place.span, message, hint);
    }
}

/// Whether what is for this name is for a document or group of that one. Names that a Bringup document cannot have are
/// written in other letters there; both are good.
fn is_meant(wanted: Option<&str>, name: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        name.is_none() || name == Some(wanted) || name == Some(plain_name(wanted).as_str())
    })
}

/// `a`, `b`, for a hint.
fn names(known: &[String]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn lay_spec(spec: &mut Node, more: &Node, tell: &mut Teller<'_>) {
    for entry in more.entries().unwrap_or_default() {
        if entry.key == "nodeGroups" {
            let groups = entry.value.items().unwrap_or_default();
            if groups.is_empty() || groups.iter().any(|group| group.entries().is_none()) {
                let message = "`nodeGroups` of additions must be a list of mappings";
                let hint = "write `- name: GROUP` with what is to be added to that group";
                tell.error(codes::ADDITIONS, entry.value.span, message, hint);
            }
            for group in groups {
                lay_group(spec, group, tell);
            }
        } else {
            lay_entry(spec, entry);
        }
    }
}

fn lay_group(spec: &mut Node, more: &Node, tell: &mut Teller<'_>) {
    let name = more.get("name").and_then(Node::text);
    let mut used = false;
    let mut known: Vec<String> = Vec::new();
    let groups = field(spec, "nodeGroups").map(|groups| &mut groups.content);
    if let Some(Content::List(groups)) = groups {
        for group in groups {
            let own = group.get("name").and_then(Node::text).map(ToOwned::to_owned);
            if is_meant(name, own.as_deref()) {
                used = true;
                let added = more.entries().unwrap_or_default().iter().filter(|entry| entry.key != "name");
                added.for_each(|entry| match &mut group.content {
                    Content::Map(entries) if is_nothing(&entry.value) => {
                        entries.retain(|known| known.key != entry.key);
                    }
                    _ => lay_entry(group, entry),
                });
            } else {
                known.extend(own);
            }
        }
    }
    // What is said of a group that has been refused is for nobody, and why has been told.
    let refused = |name: &str| tell.has_refused(name) || tell.has_refused(&plain_name(name));
    if let (false, Some(name)) = (used, name.filter(|name| !refused(name))) {
        let hint = format!("the groups are {}; leave `name` out to add to each", names(&known));
        tell.error(codes::ADDITIONS, more.span, format!("there is no node group `{name}` to add to"), hint);
    }
}

/// Lays one key over a mapping: into a mapping key by key, else in the place of what was there.
fn lay_entry(node: &mut Node, entry: &Entry) {
    let Content::Map(entries) = &mut node.content else { return };
    match entries.iter_mut().find(|known| known.key == entry.key) {
        Some(known) => match (&known.value.content, entry.value.entries()) {
            (Content::Map(_), Some(more)) if !is_another(&known.value, &entry.value) => {
                for entry in more {
                    lay_entry(&mut known.value, entry);
                }
            }
            _ => *known = entry.clone(),
        },
        None => entries.push(entry.clone()),
    }
}

/// Ways to refer to a secret, of which there can be one.
const REFERENCES: [&str; 5] = ["file", "environment", "s3", "ssmParameter", "secretsManager"];

/// Whether a mapping is not more of what was there but something else: another reference, another way to join, another
/// source of software.
fn is_another(known: &Node, more: &Node) -> bool {
    let refers = |node: &Node| match node.entries() {
        Some([only]) => REFERENCES.contains(&only.key.as_str()),
        _ => false,
    };
    let differs = |key: &str| {
        let word = |node: &Node| node.get(key).and_then(Node::text).map(str::to_owned);
        word(more).is_some_and(|other| word(known) != Some(other))
    };
    (refers(known) && refers(more)) || differs("method") || differs("from")
}
