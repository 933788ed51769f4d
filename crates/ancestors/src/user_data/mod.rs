//! User-data that calls `/etc/eks/bootstrap.sh`: a script, or the scripts of a message.
//!
//! The call is read and not run: its flags become fields, and what the script does before and after it becomes steps. A script
//! without such a call is a step of the group that stands beside it, such as that of a NodeConfig in the same message.

mod call;
mod signal;

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::{Position, Span};
use bringup_yaml::{Content, Node};

use crate::codes;
use crate::eksctl::script::{self, Script};
use crate::eksctl::shell;
use crate::eksctl::steps::escaped;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// How such a script is marked on its way to the translation.
pub(crate) const GROUP: &str = "user-data/";
const SCRIPT: &str = "/etc/eks/bootstrap.sh";

/// The tree that stands for a script; none if the text is something else, or the script has nothing to do with a node's
/// set-up and stands alone.
pub(crate) fn tree(script: &str, alone: bool) -> Option<Node> {
    if !script.starts_with("#!") {
        return None;
    }
    let at = |line: u32, length: usize| Span {
        start: Position { line, column: 1 },
        end: Position { line, column: u32::try_from(length).unwrap_or(u32::MAX).saturating_add(1) },
    };
    let first = script.lines().next().unwrap_or_default();
    let head = at(1, first.chars().count());
    let called = script.lines().zip(1_u32..).find(|(line, _)| {
        let line = line.trim();
        line.contains(SCRIPT) && !line.starts_with('#')
    });
    if alone && called.is_none() {
        return None;
    }
    let mut tree = Branch::new(head);
    tree.put("apiVersion", text(head, format!("{GROUP}script")));
    tree.put("script", text(head, script));
    if let Some((line, number)) = called {
        tree.put("call", text(at(number, line.chars().count()), line));
    }
    Some(tree.into_node())
}

/// Translates scripts; those without a call are steps of the others, or of `beside`.
pub(crate) fn translate(documents: &[Node], beside: &mut [Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let mut trees = Vec::new();
    let mut steps = Vec::new();
    for document in documents {
        let Some(script) = document.get("script") else { continue };
        let Some(at) = document.get("call") else {
            steps.push(script);
            continue;
        };
        trees.extend(translated(script, at, tell));
    }
    let whole = if trees.is_empty() { beside } else { trees.as_mut_slice() };
    for (number, script) in steps.into_iter().enumerate() {
        for tree in whole.iter_mut() {
            let name = format!("script-{}", number.saturating_add(1));
            let step = step(script, &name, script.text().unwrap_or_default(), ("before", "runtime"));
            add_step(tree, &step);
        }
    }
    trees
}

fn translated(script: &Node, at: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let whole = script.text().unwrap_or_default();
    match Script::of(whole, &BTreeMap::new()) {
        Script::Calls { words, before, after, lost, .. } => {
            script::tell_of_lost(&lost, at.span, tell);
            let signal = after.as_deref().and_then(signal::taken_out);
            let (after, signal) = match signal {
                Some((rest, signal)) => (rest, Some(signal)),
                None => (after, None),
            };
            let mut steps = Vec::new();
            if let Some(before) = before {
                steps.push(step(script, "before-bootstrap", &before, ("before", "runtime")));
            }
            if let Some(after) = after {
                steps.push(step(script, "after-bootstrap", &after, ("after", "kubelet")));
            }
            call::document(&words, at, steps, signal, tell)
        }
        Script::Opaque | Script::CallsNothing => {
            let message = match unknown(whole, at.text().unwrap_or_default()).as_slice() {
                [] => "this call of `/etc/eks/bootstrap.sh` cannot be read beforehand: only a shell could follow it".to_owned(),
                names => format!(
                    "this call of `/etc/eks/bootstrap.sh` depends on what is known only on the node or to the stack: `{}`",
                    names.join("`, `")
                ),
            };
            let hint = "call it once, by itself on a line, with words that are known; give a template its parameters with `--parameter NAME=VALUE`";
            tell.error(codes::FIELD_REFUSED, at.span, message, hint);
            None
        }
    }
}

/// Variables of the call that the script does not set.
fn unknown(script: &str, line: &str) -> Vec<String> {
    let lines = shell::lines(script);
    let set: BTreeSet<&str> =
        lines.iter().filter_map(|line| shell::assignment(line)).map(|(name, _)| name).collect();
    let call = lines.iter().find(|all| all.contains(line.trim_end_matches('\\').trim()));
    let mut found = Vec::new();
    for part in call.map_or(line, String::as_str).split('$').skip(1) {
        let part = part.strip_prefix('{').unwrap_or(part);
        let name: String = part
            .chars()
            .take_while(|letter| letter.is_ascii_alphanumeric() || "_:".contains(*letter))
            .collect();
        if !name.is_empty() && !set.contains(name.as_str()) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn step(at: &Node, name: &str, script: &str, (side, phase): (&str, &str)) -> Node {
    let span = at.span;
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("script", text(span, escaped(script)));
    if side == "before" {
        step.put("after", list(span, vec![text(span, "pre-install")]));
    }
    step.put(side, list(span, vec![text(span, phase)]));
    step.put("timeout", plain(span, "30m"));
    step.into_node()
}

/// Adds a step to every group of a document.
fn add_step(tree: &mut Node, step: &Node) {
    let Some(groups) = field(tree, "spec").and_then(|spec| field(spec, "nodeGroups")) else { return };
    let Content::List(groups) = &mut groups.content else { return };
    for group in groups {
        if let Some(Node { content: Content::List(steps), .. }) = field(group, "steps") {
            steps.push(step.clone());
        } else if let Content::Map(entries) = &mut group.content {
            let mut more = Branch::new(step.span);
            more.put("steps", list(step.span, vec![step.clone()]));
            if let Content::Map(more) = more.into_node().content {
                entries.extend(more);
            }
        }
    }
}

fn field<'a>(tree: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Content::Map(entries) = &mut tree.content else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
}
