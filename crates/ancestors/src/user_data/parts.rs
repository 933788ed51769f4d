//! Parts of a message that are cloud-init's alone, and what of the node waits for them, or they for it.

use bringup_diag::Span;
use bringup_spec::PartType;
use bringup_yaml::Node;

use super::overtaken::{self, Joins, When};
use super::{BEGIN, GROUP, add_to, drop_ins, put_first};
use crate::tell::Teller;
use crate::tree::{Branch, text};
use crate::{codes, meeting};

/// The tree that stands for a part of a message that is cloud-init's alone.
pub(crate) fn tree(name: &str, content: &str, kind: &str) -> Node {
    let place = Span::point(1, 1);
    // What is no more than a text is known by its beginning.
    let starts = [("#cloud-config", "text/cloud-config"), ("#cloud-boothook", "text/cloud-boothook")];
    let kind = match starts.iter().find(|(start, _)| content.starts_with(start)) {
        Some((_, found)) if matches!(kind, "" | "text/plain") => found,
        _ => kind,
    };
    let mut tree = Branch::new(place);
    tree.put("apiVersion", text(place, format!("{GROUP}part")));
    let name = name.rsplit('#').next().unwrap_or_default();
    let name: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '-' })
        .collect();
    // Names of parts without one are cloud-init's to give.
    let name = if name.starts_with("part-") { format!("message-{name}") } else { name };
    tree.put("name", text(place, name));
    tree.put("type", text(place, kind));
    tree.put("content", text(place, content));
    tree.into_node()
}

/// Adds parts to documents. `calls` is whether one of the message's scripts joins the node; else that comes when all of them have
/// ended.
pub(super) fn lay(trees: &mut [Node], parts: &[(&Node, &Node)], calls: bool, tell: &mut Teller<'_>) {
    let known = PartType::ALL.iter().copied().filter(|kind| *kind != PartType::UpstartJob);
    let kind = |node: &Node| known.clone().find(|kind| node.text() == Some(kind.word()));
    let carried: Vec<_> = parts.iter().filter_map(|(part, node)| Some((*part, kind(node)?))).collect();
    if let Some((part, _)) = carried.iter().find(|(_, kind)| makes_something(*kind)) {
        let last = carried.iter().any(|(part, _)| has_last_words(part));
        meet(trees, part.span, calls.then_some(last));
    }
    for (document, node) in parts {
        if kind(node).is_none() {
            let message = match node.text() {
                None | Some("") => "cloud-init does nothing with a part that has no type".to_owned(),
                Some(kind) => format!("cloud-init does nothing with a part of the type `{kind}`"),
            };
            tell.note(codes::FIELD_ASIDE, document.span, message, "the node comes up the same without it");
        }
    }
    let all: Vec<Node> = parts.iter().map(|(part, _)| (*part).clone()).collect();
    for (document, kind) in carried {
        if let Some(content) = document.get("content").and_then(Node::text).filter(|_| makes_something(kind))
        {
            let at = |number: u32| {
                Span::point(document.span.start.line.saturating_add(number).saturating_sub(1), 1)
            };
            let joins = if calls { Joins::Call } else { Joins::Config };
            let laid = if calls { Vec::new() } else { drop_ins::of_part(&all, document) };
            drop_ins::tell_of(&laid, &at, tell);
            let when =
                |line: &str, _: u32| (!laid.iter().any(|laid| laid.line == line)).then_some(When::Before);
            overtaken::tell_of(content, joins, &when, &at, tell);
        }
        let mut part = Branch::new(document.span);
        for key in ["name", "type", "content"] {
            part.put_some(key, document.get(key).cloned());
        }
        let part = part.into_node();
        for tree in trees.iter_mut() {
            add_to(tree, "parts", &part);
        }
    }
}

/// Whether cloud-init makes something of such a part that scripts find there.
fn makes_something(kind: PartType) -> bool {
    matches!(
        kind,
        PartType::CloudConfig
            | PartType::CloudConfigArchive
            | PartType::CloudConfigJsonp
            | PartType::IncludeUrl
            | PartType::IncludeOnceUrl
            | PartType::Jinja2
    )
}

/// Whether a part asks for something that cloud-init does when all scripts have ended.
fn has_last_words(part: &Node) -> bool {
    let content = part.get("content").and_then(Node::text).unwrap_or_default();
    ["runcmd", "power_state", "phone_home"].iter().any(|module| content.contains(module))
}

/// Has the steps wait for cloud-init: until it is at its scripts, where one of them joins the node, and cloud-init waits in turn for
/// the steps if it has something left to do; else until it has ended.
fn meet(trees: &mut [Node], span: Span, at_scripts: Option<bool>) {
    for tree in trees {
        if let Some(waits) = at_scripts {
            add_to(tree, "parts", &meeting::gathering(span, meeting::GATHERING, waits));
            if waits {
                let release = meeting::releasing(span, meeting::RELEASES, ("after", "kubelet"));
                add_to(tree, "steps", &release);
            }
        }
        put_first(tree, "steps", &meeting::awaiting(span, meeting::AWAITS, Some(BEGIN)));
    }
}
