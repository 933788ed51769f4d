//! Several NodeConfigs as one tree, by nodeadm's rules: what is written later wins, unless it is empty; flags add up; free
//! documents are merged deeply, and there what is empty wins too.

use bringup_yaml::{Content, Node, Scalar, Style};

use crate::codes;
use crate::fields::is_nothing;
use crate::tell::Teller;

/// Everything beneath these is merged deeply.
const FREE: [&str; 4] = [
    "spec.kubelet.config",
    "spec.containerd.baseRuntimeSpec",
    "spec.instance.environment",
    "spec.featureGates",
];

/// All of them as one; none if there are none.
pub(super) fn merged(documents: &[&Node], tell: &mut Teller<'_>) -> Option<Node> {
    let (first, rest) = documents.split_first()?;
    let mut whole = (*first).clone();
    for document in rest {
        lay_over(&mut whole, document, "", tell);
    }
    Some(whole)
}

fn lay_over(base: &mut Node, over: &Node, path: &str, tell: &mut Teller<'_>) {
    if FREE.iter().any(|free| path.starts_with(free)) {
        lay_deeply(base, over);
        return;
    }
    match (&mut base.content, &over.content) {
        (Content::List(words), Content::List(more)) if path == "spec.kubelet.flags" => {
            words.extend(more.iter().cloned());
        }
        (Content::Scalar(text), Content::Scalar(more)) if path == "spec.containerd.config" => {
            if let Some(whole) = one_text(&text.text, &more.text) {
                *text = Scalar { text: whole, style: Style::Quoted };
            } else {
                let message = "this and what an earlier NodeConfig says of containerd are not both TOML";
                tell.error(codes::WRONG_TYPE, over.span, message, "write TOML in both");
            }
        }
        (Content::Map(entries), Content::Map(more)) => {
            for entry in more.iter().filter(|entry| !is_empty(&entry.value)) {
                let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
                match entries.iter_mut().find(|there| there.key == entry.key) {
                    Some(there) if !is_empty(&there.value) => {
                        lay_over(&mut there.value, &entry.value, &path, tell);
                        there.key_span = entry.key_span;
                    }
                    Some(there) => *there = entry.clone(),
                    None => entries.push(entry.clone()),
                }
            }
        }
        _ => *base = over.clone(),
    }
}

fn lay_deeply(base: &mut Node, over: &Node) {
    match (&mut base.content, &over.content) {
        (Content::Map(entries), Content::Map(more)) => {
            for entry in more {
                match entries.iter_mut().find(|there| there.key == entry.key) {
                    Some(there) => {
                        lay_deeply(&mut there.value, &entry.value);
                        there.key_span = entry.key_span;
                    }
                    None => entries.push(entry.clone()),
                }
            }
        }
        _ => *base = over.clone(),
    }
}

/// What nodeadm takes for nothing said.
fn is_empty(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(scalar) => is_nothing(node) || scalar.text.is_empty() || scalar.text == "false",
        Content::List(items) => items.is_empty(),
        Content::Map(entries) => entries.is_empty(),
    }
}

/// Two texts of TOML, the second laid over the first.
pub(super) fn one_text(base: &str, over: &str) -> Option<String> {
    let (mut base, over) = (base.parse::<toml::Table>().ok()?, over.parse::<toml::Table>().ok()?);
    lay_table(&mut base, over);
    toml::to_string(&base).ok()
}

pub(super) fn lay_table(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(over)) => lay_table(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
