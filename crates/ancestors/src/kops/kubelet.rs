//! kops' settings of kubelet: the cluster's with the group's laid over them, as kubelet's own configuration and flags.

use bringup_diag::Span;
use bringup_spec::Text;
use bringup_yaml::{Content, Entry, Node, Resolved, Scalar, Style};

use super::circumstances::Circumstances;
use super::kubelet_fields::{Becomes, KUBELET, shape};
use crate::codes;
use crate::fields::Use::{Aside, Is};
use crate::fields::{Field, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// A directory that kops makes on every node, and that kubelet reads pods from.
pub(super) const MANIFESTS: &str = "/etc/kubernetes/manifests";

/// Mappings of which kubelet gets what is written and nothing else, with the keys that are filled in for documents of ours.
const EXACT: &[(&str, &[&str])] = &[
    ("kubeReserved", &["cpu", "ephemeral-storage", "memory"]),
    ("evictionHard", &["memory.available", "nodefs.available", "nodefs.inodesFree"]),
];

/// Fields that documents of ours fill in, and that kops leaves to kubelet.
const KUBELETS: &[&str] = &["hairpinMode", "serializeImagePulls", "tlsCipherSuites"];

/// Fields of a mapping of kops that say something.
pub(super) type Settings = Vec<Entry>;

/// The settings of one mapping, every field accounted for.
pub(super) fn settings(node: Option<&Node>, what: &str, tell: &mut Teller<'_>) -> Settings {
    let Some(node) = node else { return Vec::new() };
    let table: Vec<Field> = KUBELET
        .iter()
        .map(|(name, becomes)| match becomes {
            Becomes::Gone => (*name, Aside("a flag that kubelet has not had for years")),
            _ => (*name, Is(shape(name))),
        })
        .collect();
    tell.record(node, what, &table);
    let mut settings = Vec::new();
    for entry in node.entries().unwrap_or_default().iter().filter(|entry| !says_nothing(entry)) {
        match becomes(&entry.key) {
            Some(Becomes::Overridden(why)) => {
                let message = format!("`{}` of {what} is not taken over: {why}", entry.key);
                tell.note(codes::DIFFERENCE, entry.key_span, message, "nothing has to be done");
            }
            Some(Becomes::Gone) | None => {}
            Some(_) => settings.push(entry.clone()),
        }
    }
    settings
}

fn becomes(name: &str) -> Option<Becomes> {
    KUBELET.iter().find(|(known, _)| *known == name).map(|(_, becomes)| *becomes)
}

/// Of Go's empty values kops sees nothing; an empty path of resolv.conf is a value.
fn says_nothing(entry: &Entry) -> bool {
    is_nothing(&entry.value) || (entry.value.text() == Some("") && entry.key != "resolvConf")
}

/// Settings with others laid over them: mappings key by key, anything else as a whole.
pub(super) fn laid_over(base: &[Entry], more: &[Entry]) -> Settings {
    let mut merged = base.to_vec();
    for entry in more {
        match merged.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => match (&known.value.content, entry.value.entries()) {
                (Content::Map(mine), Some(theirs)) => {
                    known.value.content = Content::Map(laid_over(mine, theirs));
                }
                _ => *known = entry.clone(),
            },
            None => merged.push(entry.clone()),
        }
    }
    merged
}

/// The value of a setting.
pub(super) fn value<'a>(settings: &'a [Entry], name: &str) -> Option<&'a Node> {
    settings.iter().find(|entry| entry.key == name).map(|entry| &entry.value)
}

/// `kubelet` of a node group: `config` and `flags`.
pub(super) fn branch(
    settings: &[Entry],
    circumstances: Circumstances<'_>,
    span: Span,
    tell: &mut Teller<'_>,
) -> Branch {
    let minor = circumstances.minor;
    let mut fields: Vec<(&[&str], Node)> = Vec::new();
    let mut flags = Branch::new(span);
    for (flag, value) in circumstances.flags() {
        flags.put(flag, text(span, value));
    }
    // In the order of the table, so that of two names for one field the later wins.
    for (name, becomes) in KUBELET {
        let Some(node) = value(settings, name) else { continue };
        match becomes {
            Becomes::Config(path) => fields.push((path, literal(node))),
            Becomes::Pairs(field, separator) => {
                if let Some(pairs) = pairs(node, name, *separator, tell) {
                    fields.push((std::slice::from_ref(field), pairs));
                }
            }
            Becomes::Commas(field) => {
                let items = node.text().unwrap_or_default().split(',').map(str::trim);
                let items = items.filter(|item| !item.is_empty()).map(|item| text(node.span, item)).collect();
                fields.push((std::slice::from_ref(field), list(node.span, items)));
            }
            Becomes::Flag(flag) => flags.put(flag, text(node.span, flag_text(node))),
            Becomes::Gates => fields.push((&["featureGates"], gates(node))),
            Becomes::Verbosity if minor.is_some_and(|minor| minor < 23) => {
                flags.put("v", text(node.span, flag_text(node)));
            }
            Becomes::Verbosity => fields.push((&["logging", "verbosity"], node.clone())),
            Becomes::Elsewhere | Becomes::Overridden(_) | Becomes::Gone => {}
        }
    }
    // What nobody says here is filled in for documents of ours, and not by kops: null takes it away.
    for (field, keys) in EXACT {
        match fields.iter_mut().find(|(path, _)| *path == [*field]) {
            Some((_, given)) => *given = exactly(given, keys),
            None => fields.push((std::slice::from_ref(field), plain(span, "null"))),
        }
    }
    for field in KUBELETS {
        if !fields.iter().any(|(path, _)| *path == [*field]) {
            fields.push((std::slice::from_ref(field), plain(span, "null")));
        }
    }
    let mut kubelet = Branch::new(span);
    kubelet.put_full("config", nested(span, &fields));
    kubelet.put_full("flags", flags.into_node());
    kubelet
}

/// The mapping with null for each of these keys that it does not have.
fn exactly(given: &Node, keys: &[&str]) -> Node {
    let mut all = Branch::new(given.span);
    for entry in given.entries().unwrap_or_default() {
        all.put_field(&entry.key, entry);
    }
    for key in keys.iter().filter(|key| given.get(key).is_none()) {
        all.put(key, plain(given.span, "null"));
    }
    all.into_node()
}

/// Fields by their paths, as a tree.
fn nested(span: Span, fields: &[(&[&str], Node)]) -> Node {
    let mut branch = Branch::new(span);
    let mut seen: Vec<&str> = Vec::new();
    for (path, node) in fields {
        let Some((head, rest)) = path.split_first() else { continue };
        if rest.is_empty() {
            branch.put(head, node.clone());
        } else if !seen.contains(head) {
            seen.push(head);
            let inner: Vec<(&[&str], Node)> = fields
                .iter()
                .filter_map(|(path, node)| {
                    let (other, rest) = path.split_first()?;
                    (other == head && !rest.is_empty()).then(|| (rest, node.clone()))
                })
                .collect();
            branch.put(head, nested(node.span, &inner));
        }
    }
    branch.into_node()
}

/// A mapping that kops writes as one text.
fn pairs(node: &Node, name: &str, separator: char, tell: &mut Teller<'_>) -> Option<Node> {
    let mut branch = Branch::new(node.span);
    for pair in node.text()?.split(',').filter(|pair| !pair.trim().is_empty()) {
        let Some((key, value)) = pair.split_once(separator) else {
            let message = format!("`{name}` is written as `signal{separator}value,signal{separator}value`");
            tell.error(
                codes::WRONG_TYPE,
                node.span,
                message,
                format!("add `{separator}` and a value to each"),
            );
            return None;
        };
        branch.put(key.trim(), text(node.span, value.trim()));
    }
    Some(branch.into_node())
}

fn gates(node: &Node) -> Node {
    let mut gates = Branch::new(node.span);
    for entry in node.entries().unwrap_or_default() {
        // Go reads more words for a truth value than YAML.
        let value = match entry.value.text().unwrap_or_default() {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => plain(entry.value.span, true),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => plain(entry.value.span, false),
            _ => entry.value.clone(),
        };
        gates.put_field(&entry.key, &Entry { value, ..entry.clone() });
    }
    gates.into_node()
}

fn flag_text(node: &Node) -> String {
    Text::literal(node.text().unwrap_or_default()).to_string()
}

/// The same tree; texts that look like facts of ours are none.
pub(super) fn literal(node: &Node) -> Node {
    let content = match &node.content {
        Content::Scalar(scalar) if scalar.text.contains("@{") => Content::Scalar(Scalar {
            text: Text::literal(scalar.text.as_str()).to_string(),
            style: if matches!(scalar.core(), Resolved::String(_)) { Style::Quoted } else { scalar.style },
        }),
        Content::Scalar(scalar) => Content::Scalar(scalar.clone()),
        Content::List(items) => Content::List(items.iter().map(literal).collect()),
        Content::Map(entries) => Content::Map(
            entries.iter().map(|entry| Entry { value: literal(&entry.value), ..entry.clone() }).collect(),
        ),
    };
    Node { content, span: node.span, tag: node.tag.clone() }
}
