//! A cloud-config whose commands call `/etc/eks/bootstrap.sh`: they are the script that cloud-init makes of them, and the rest
//! stays a part of its own.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::{Content, Limits, Node, parse, to_yaml};

use super::GROUP;
use crate::shell::script::Script;
use crate::tree::{Branch, list, plain, text};

const COMMANDS: &str = "runcmd";

/// The trees that stand for a cloud-config; none if it calls nothing that joins a node.
pub(crate) fn trees(name: &str, config: &str) -> Option<Vec<Node>> {
    if config.lines().next()?.trim_end() != "#cloud-config" || !config.contains("bootstrap.sh") {
        return None;
    }
    let documents = parse(config, Limits::default()).ok()?;
    let [document] = documents.as_slice() else { return None };
    let commands = document.get(COMMANDS)?;
    let mut script = String::from("#!/bin/sh\n");
    // Where each line of the script was written.
    let mut places = vec![commands.span];
    for command in commands.items()? {
        for line in line_of(command)?.lines() {
            script.push_str(line);
            script.push('\n');
            places.push(command.span);
        }
    }
    let number = match Script::of(&script, &BTreeMap::new()) {
        Script::Calls(call) => call.number,
        Script::Opaque(opaque) => opaque.number,
        Script::CallsNothing => return None,
    };
    let at = place(&places, number).unwrap_or(commands.span);
    let mut tree = Branch::new(commands.span);
    tree.put("apiVersion", text(commands.span, format!("{GROUP}script")));
    tree.put("script", text(commands.span, script));
    tree.put("call", text(at, ""));
    tree.put("lines", list(commands.span, places.iter().map(|place| plain(*place, "")).collect()));
    let mut trees = vec![tree.into_node()];
    let mut rest = document.clone();
    if let Content::Map(entries) = &mut rest.content {
        entries.retain(|entry| entry.key != COMMANDS);
        if !entries.is_empty() {
            let content = format!("#cloud-config\n{}", to_yaml(&rest.to_value()));
            trees.push(super::parts::tree(name, &content, "text/cloud-config"));
        }
    }
    Some(trees)
}

/// The span of a line by its number.
fn place(places: &[Span], number: u32) -> Option<Span> {
    places.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// A command as cloud-init writes it: a text is for the shell, words are each for themselves.
fn line_of(command: &Node) -> Option<String> {
    let Some(words) = command.items() else { return command.text().map(str::to_owned) };
    if let Some(inside) = of_shell(words) {
        return Some(inside.to_owned());
    }
    let quoted = |word: &Node| word.text().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    words.iter().map(quoted).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// The call in `[sh, -c, "…"]`, if that is all that the shell is for.
fn of_shell(words: &[Node]) -> Option<&str> {
    let [shell, flags, inside] = words else { return None };
    let name = shell.text()?.rsplit('/').next()?;
    let flags = flags.text()?.strip_prefix('-')?;
    let plain = flags.ends_with('c') && flags.chars().all(|letter| "celx".contains(letter));
    let inside = inside.text()?.trim();
    // Of another shell, what it sets and where it ends are its own.
    let alone = !inside.contains('\n') && crate::shell::is_one_call(inside);
    (matches!(name, "sh" | "bash") && plain && alone).then_some(inside)
}
