//! `features.files` and `features.hooks`.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node};

use super::arguments::literal;
use super::conditions::{Skipped, of_hook};
use super::tables;
use crate::codes;
use crate::fields::Use::Taken;
use crate::fields::{Field, Record};
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The points of tkestack, and ours. The last two are ours alone: tkestack has no hooks of a node's end. Those of the
/// installation of a node are its steps, and those of the cluster's are steps of its first master; a node alone cannot
/// know when the others are due.
pub(super) const POINTS: [(&str, &str); 12] = [
    ("PreInstall", "pre-install"),
    ("PostInstall", "post-install"),
    ("PreUpgrade", "pre-upgrade"),
    ("PostUpgrade", "post-upgrade"),
    ("PreClusterInstall", "pre-cluster-install"),
    ("PostClusterInstall", "post-cluster-install"),
    ("PreClusterUpgrade", "pre-cluster-upgrade"),
    ("PostClusterUpgrade", "post-cluster-upgrade"),
    ("PreClusterDelete", "pre-cluster-delete"),
    ("PostClusterDelete", "post-cluster-delete"),
    ("PreDelete", "pre-delete"),
    ("PostDelete", "post-delete"),
];

/// Points at which tkestack itself runs nothing, whatever its documents say.
const SILENT: [&str; 5] =
    ["PreClusterUpgrade", "PreClusterDelete", "PostClusterDelete", "PreDelete", "PostDelete"];

/// tkestack sets no limit.
const TIMEOUT: &str = "1h";

/// What a shell would do more with than split words.
const SHELL: &[char] = &[
    '\'', '"', '\\', '$', '`', '|', '&', ';', '<', '>', '(', ')', '*', '?', '[', ']', '#', '~', '{', '}',
    '!', '\n',
];

/// Hooks in the order of their points, for a cluster with so many masters.
pub(super) fn hooks(
    features: Record<'_>,
    skipped: &Skipped<'_>,
    masters: usize,
    tell: &mut Teller<'_>,
) -> Vec<Node> {
    let Some(node) = features.get("hooks") else { return Vec::new() };
    let table: Vec<Field> = POINTS.iter().map(|(theirs, _)| (*theirs, Taken)).collect();
    let record = tell.record(node, "`hooks` of tkestack", &table);
    let mut hooks = Vec::new();
    for (theirs, ours) in POINTS {
        let Some(entry) = record.entry(theirs) else { continue };
        let Some(command) = entry.value.text() else {
            let message = format!("the hook `{theirs}` must be a text");
            let hint = "write the path of a program that one of `files` brings";
            tell.error(codes::WRONG_TYPE, entry.value.span, message, hint);
            continue;
        };
        // An empty command is none, as in tkestack.
        if command.trim().is_empty() || skipped.has(&of_hook(theirs)) {
            continue;
        }
        tell_of(theirs, entry, masters, tell);
        hooks.push(hook(entry, ours, command));
    }
    hooks
}

/// Tells of a hook that no node runs by itself, and of one that runs at another moment than in tkestack.
fn tell_of(point: &str, entry: &Entry, masters: usize, tell: &mut Teller<'_>) {
    let span = entry.key_span;
    let event = match point.trim_start_matches("Pre").trim_start_matches("Post") {
        "ClusterUpgrade" => "upgrade of the cluster",
        "ClusterDelete" => "deletion of the cluster",
        "Upgrade" => "upgrade of nodes",
        "Delete" => "deletion of nodes",
        "ClusterInstall" if masters > 1 => return tell_when(point, entry, tell),
        // Steps of every node, or of the first master.
        _ => return,
    };
    let kept = format!("is kept in the plan for whoever drives the {event}, and no node runs it by itself");
    if SILENT.contains(&point) {
        let message = format!("tkestack never runs a hook `{point}`; here the hook `{point}` {kept}");
        tell.note(codes::DIFFERENCE, span, message, "remove it if it must not run");
    } else {
        let message = format!("the hook `{point}` {kept}");
        tell.note(codes::DIFFERENCE, span, message, "the node comes up the same without it");
    }
}

/// The first of several masters does not know how the others are.
fn tell_when(point: &str, entry: &Entry, tell: &mut Teller<'_>) {
    let (message, hint) = if point.starts_with("Pre") {
        (
            "tkestack runs the hook `PreClusterInstall` before any hook `PreInstall`; here it is the first master's first, and the other machines do not wait for it",
            "let no `PreInstall` of another machine count on it: they join behind it, and begin when they boot",
        )
    } else {
        (
            "tkestack runs the hook `PostClusterInstall` when all masters are ready; here it runs when the first is, and the others may still be joining",
            "where it needs the others, let it wait for them",
        )
    };
    tell.note(codes::DIFFERENCE, entry.key_span, message, hint);
}

fn hook(entry: &Entry, point: &str, command: &str) -> Node {
    let span = entry.value.span;
    let mut hook = Branch::new(span);
    hook.put("name", text(entry.key_span, point));
    hook.put("on", text(entry.key_span, point));
    let words: Vec<Node> = if command.contains(SHELL) {
        // What a shell has to read, a shell reads; parameters follow as they are.
        ["/bin/sh", "-c", &format!("{command} \"$@\""), "sh"].iter().map(|word| literal(span, word)).collect()
    } else {
        command.split_whitespace().map(|word| literal(span, word)).collect()
    };
    hook.put("run", list(span, words));
    hook.put("timeout", text(span, TIMEOUT));
    // A hook that fails is tried again, and nothing goes on meanwhile.
    hook.put("onFailure", text(span, "retry"));
    hook.into_node()
}

/// The program of each hook: the first word.
fn programs(features: Record<'_>) -> Vec<(&Node, &str)> {
    let entries = features.get("hooks").and_then(Node::entries).unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| Some((&entry.value, entry.value.text()?.split_whitespace().next()?)))
        .collect()
}

/// Files in their order, for every node.
pub(super) fn files(features: Record<'_>, skipped: &Skipped<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let programs = programs(features);
    let mut files = Vec::new();
    let mut targets: Vec<&str> = Vec::new();
    for node in features.items("files") {
        let record = tell.record(node, "a file of tkestack", tables::FILE);
        let (Some(source), Some(target)) = (record.entry("src"), record.entry("dst")) else {
            let missing = if record.get("src").is_none() { "src" } else { "dst" };
            let hint = "write `src`, beside this document, and `dst`, on every node";
            tell.error(codes::MISSING, node.span, format!("this file has no `{missing}`"), hint);
            continue;
        };
        let path = target.value.text().unwrap_or_default();
        targets.push(path);
        let is_program = programs.iter().any(|(_, program)| is_beneath(program, path));
        files.push(file(node.span, source, target, is_program));
    }
    if skipped.has("EnsureCopyFiles") {
        return Vec::new();
    }
    for (node, program) in programs {
        if !targets.iter().any(|target| is_beneath(program, target)) {
            let message = format!("none of `files` brings `{program}`, and tkestack would refuse the hook");
            let hint = "add the program to `files`, or see that every machine has it";
            tell.warning(codes::MISSING, node.span, message, hint);
        }
    }
    files
}

fn file(span: Span, source: &Entry, target: &Entry, is_program: bool) -> Node {
    let mut file = Branch::new(span);
    file.put_field("path", target);
    file.put_field("src", source);
    if is_program {
        // tkestack makes every hook executable, whatever its source is.
        file.put("mode", text(span, "0755"));
    }
    file.into_node()
}

/// Whether a program is the file at `path`, or lies directly in that directory.
fn is_beneath(program: &str, path: &str) -> bool {
    program == path || program.rsplit_once('/').is_some_and(|(folder, _)| folder == path)
}
