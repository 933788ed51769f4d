//! User-data that calls `/etc/eks/bootstrap.sh`: a script, the scripts of a message, or the commands of a cloud-config.
//!
//! The call is read and not run: its flags become fields, and what the script does before and after it becomes steps. A script
//! without such a call is a step of the group that stands beside it, such as that of a NodeConfig in the same message.

pub(crate) mod bpf;
pub(crate) mod call;
pub(crate) mod drop_ins;
pub(crate) mod init;
mod launch;
mod launch_fields;
mod launch_values;
pub(crate) mod overtaken;
pub(crate) mod parts;
pub(crate) mod paths;
pub(crate) mod runcmd;
mod scaling;
mod signal;
pub(crate) mod signal_calls;
pub(crate) mod sources;
mod stack_names;
mod status;
pub(crate) mod unknown;
pub(crate) mod unreadable;

use std::collections::BTreeMap;

use bringup_diag::{Position, Span};
use bringup_yaml::{Content, Node};

use self::overtaken::{Joins, When};
use crate::eksctl::steps::escaped;
use crate::shell::script::{Call, Opaque, Script, Why};
use crate::tell::Teller;
use crate::tree::{Branch, field, list, plain, text};
use crate::{codes, shell};

/// How such a script is marked on its way to the translation.
pub(crate) const GROUP: &str = "user-data/";

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
    let called = match Script::of(script, &BTreeMap::new()) {
        Script::Calls(call) => Some(call.number),
        Script::Opaque(opaque) => Some(opaque.number),
        Script::CallsNothing => None,
    };
    if alone && called.is_none() {
        return None;
    }
    let mut tree = Branch::new(head);
    tree.put("apiVersion", text(head, format!("{GROUP}script")));
    tree.put("script", text(head, script));
    if let Some(number) = called {
        let line = usize::try_from(number).ok().and_then(|number| script.lines().nth(number.checked_sub(1)?));
        let line = line.unwrap_or_default();
        tree.put("call", text(at(number, line.chars().count()), line));
    }
    Some(tree.into_node())
}

/// The tree that stands for what is around user-data.
pub(crate) fn around(tree: &Node) -> Node {
    let mut marked = Branch::new(tree.span);
    marked.put("apiVersion", text(tree.span, format!("{GROUP}around")));
    marked.put("around", tree.clone());
    marked.into_node()
}

/// Translates scripts; those without a call are steps of the others, or of `beside`.
///
/// cloud-init runs the scripts of a message one behind the other: those behind the one with the call find kubelet running. nodeadm
/// starts it when all of them have ended.
pub(crate) fn translate(documents: &[Node], beside: &mut [Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let mut trees = Vec::new();
    // How many of the scripts come before the call of each tree.
    let mut earlier = Vec::new();
    let mut scripts = Vec::new();
    let mut parts = Vec::new();
    let in_template = documents.iter().any(|document| document.get("around").is_some());
    for document in documents {
        if let Some(kind) = document.get("type") {
            parts.push((document, kind));
        }
        let Some(script) = document.get("script") else { continue };
        if document.get("init").is_some() {
            lay_init(document, script, beside, tell);
            continue;
        }
        let Some(at) = document.get("call") else {
            scripts.push(script);
            continue;
        };
        if !beside.is_empty() && is_guarded(script) {
            let message = "this call of `/etc/eks/bootstrap.sh` is for images without nodeadm: the NodeConfig beside it is taken, and the script stays a step that ends where nodeadm is there";
            let hint = "give the script alone for Amazon Linux 2";
            tell.note(codes::DIFFERENCE, at.span, message, hint);
            scripts.push(script);
            continue;
        }
        let lines = document.get("lines").and_then(Node::items).unwrap_or_default();
        if let Some(tree) = translated(script, at, (lines, in_template), tell) {
            let name = |tree: &Node| tree.get("metadata")?.get("name")?.text().map(str::to_owned);
            if beside.iter().any(|known| name(known) == name(&tree)) {
                let message = "there are a NodeConfig and a call of `/etc/eks/bootstrap.sh` for the same cluster: a node is joined by one of them";
                let hint = "keep the NodeConfig for Amazon Linux 2023, or the call for Amazon Linux 2";
                tell.error(codes::FIELD_REFUSED, at.span, message, hint);
                continue;
            }
            trees.push(tree);
            earlier.push(scripts.len());
        }
    }
    let whole = if trees.is_empty() { beside } else { trees.as_mut_slice() };
    lay_scripts(whole, &scripts, &earlier, tell);
    parts::lay(whole, &parts, !earlier.is_empty(), tell);
    for around in documents.iter().filter_map(|document| document.get("around")) {
        launch::lay_around(whole, around, tell);
    }
    trees
}

/// Whether a script looks for nodeadm before it calls `bootstrap.sh`.
fn is_guarded(script: &Node) -> bool {
    let lines = script.text().unwrap_or_default().lines().map(str::trim);
    let mut before = lines.take_while(|line| !line.starts_with(shell::script::BOOTSTRAP));
    before.any(|line| {
        let asks =
            ["if ", "elif ", "[", "command ", "which ", "type "].iter().any(|word| line.starts_with(word));
        asks && line.contains("nodeadm")
    })
}

/// Lays what a script does around its call of `nodeadm init` into the documents of the NodeConfigs.
fn lay_init(document: &Node, script: &Node, beside: &mut [Node], tell: &mut Teller<'_>) {
    let Some(around) = init::steps(document, !beside.is_empty(), tell) else { return };
    let init::Around { before, after, strict, signals } = around;
    for tree in beside {
        if let Some(before) = &before {
            let step = step(script, "before-nodeadm", before, ("before", "runtime"));
            add_to(tree, "steps", &if strict { step } else { going_on(step) });
        }
        if let Some(after) = &after {
            let step = step(script, "after-nodeadm", after, ("after", "kubelet"));
            add_to(tree, "steps", &deciding(step, signals.decide));
        }
        for told in &signals.told {
            signal::lay(tree, told, script.span, tell);
        }
    }
}

/// What the signals of a script come to.
struct Signals {
    /// Whom they tell.
    told: Vec<signal::Told>,
    /// Whether the rest of the script says by how it ends what they are told.
    decide: bool,
}

/// Takes signals out of what stands behind a call, and has both parts ask for their reboots.
fn settle(
    whole: &str,
    before: &mut Option<String>,
    after: &mut Option<String>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) -> Signals {
    let (rest, signals) = signal_calls::taken_out(whole, after.take(), at, tell);
    *after = rest;
    shell::reboots::mend(whole, before.iter_mut().chain(after.iter_mut()), at, tell);
    let kept: Vec<&str> = before.iter().chain(after.iter()).map(String::as_str).collect();
    stack_names::tell_of_open(whole, &kept, at, tell);
    signals
}

/// Makes scripts steps of documents. `earlier` is how many come before the call of each; without a call, all do.
fn lay_scripts(trees: &mut [Node], scripts: &[&Node], earlier: &[usize], tell: &mut Teller<'_>) {
    if trees.is_empty() {
        return;
    }
    let mut first: Vec<Vec<Node>> = vec![Vec::new(); trees.len()];
    let mut number = 0_usize;
    for (index, script) in scripts.iter().enumerate() {
        let whole = script.text().unwrap_or_default();
        let place =
            |number: u32| Span::point(script.span.start.line.saturating_add(number).saturating_sub(1), 1);
        let mut rest = Some(whole.to_owned());
        let Signals { told, decide } = settle(whole, &mut None, &mut rest, &place, tell);
        for told in &told {
            for tree in trees.iter_mut() {
                signal::lay(tree, told, script.span, tell);
            }
        }
        let Some(rest) = rest else { continue };
        let (joins, when) = match earlier.first() {
            None => (Joins::Config, When::Before),
            Some(count) if index < *count => (Joins::Call, When::Before),
            Some(_) => (Joins::Call, When::After),
        };
        let laid = if joins == Joins::Config { drop_ins::of_script(whole) } else { Vec::new() };
        drop_ins::tell_of(&laid, &place, tell);
        let when = |line: &str, _: u32| (!laid.iter().any(|laid| laid.line == line)).then_some(when);
        overtaken::tell_of(whole, joins, &when, &place, tell);
        number = number.saturating_add(1);
        let name = format!("script-{number}");
        // cloud-init goes on with what follows, whatever became of a script.
        let step = |place: (&str, &str)| deciding(step(script, &name, &rest, place), decide);
        for (tree_index, (tree, first)) in trees.iter_mut().zip(&mut first).enumerate() {
            match earlier.get(tree_index) {
                Some(count) if index >= *count => add_to(tree, "steps", &step(("after", "kubelet"))),
                Some(_) => first.push(step(("before", "runtime"))),
                None => add_to(tree, "steps", &step(("before", "runtime"))),
            }
        }
    }
    // Those before the call come before the lines of its own script, too.
    for (tree, first) in trees.iter_mut().zip(first) {
        for step in first.iter().rev() {
            put_first(tree, "steps", step);
        }
    }
}

/// `lines` are where the lines of a script stand that was put together; others stand one behind the other.
fn translated(
    script: &Node,
    at: &Node,
    (lines, in_template): (&[Node], bool),
    tell: &mut Teller<'_>,
) -> Option<Node> {
    let whole = script.text().unwrap_or_default();
    let line = |number: u32| {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        if let Some(node) = index.and_then(|index| lines.get(index)) {
            return node.span;
        }
        let line = script.span.start.line.saturating_add(number).saturating_sub(1);
        Span::point(line, 1)
    };
    match Script::of(whole, &BTreeMap::new()) {
        Script::Calls(Call { words, mut before, mut after, dropped, strict, ways, .. }) => {
            shell::tell_of_dropped(&dropped, &line, tell);
            shell::tell_of_ways(&ways, &line, tell);
            let signals = settle(whole, &mut before, &mut after, &line, tell);
            let mut steps = Vec::new();
            let when = |text: &str, _: u32| match (&before, &after) {
                (Some(before), _) if before.contains(text) => Some(When::Before),
                (_, Some(after)) if after.contains(text) => Some(When::After),
                _ => None,
            };
            overtaken::tell_of(whole, Joins::Call, &when, &line, tell);
            if let Some(before) = before {
                // A shell that goes on after a failure comes to the call in any case.
                let step = step(script, "before-bootstrap", &before, ("before", "runtime"));
                steps.push(if strict { step } else { going_on(step) });
            }
            if let Some(after) = after {
                // kubelet runs by then, whatever becomes of the rest.
                let step = step(script, "after-bootstrap", &after, ("after", "kubelet"));
                steps.push(deciding(step, signals.decide));
            }
            let mut document = call::document(&words, at, steps, &signals.told, tell)?;
            for told in &signals.told {
                told.lay_region(&mut document, at.span, tell);
            }
            Some(document)
        }
        Script::CallsNothing => None,
        Script::Opaque(Opaque { why: Why::Unknown(words), .. }) => {
            for (word, number) in words {
                let hint = unknown::hint(&word, whole, number, in_template);
                let place = if lines.is_empty() {
                    unknown::place(whole, number, &word, script.span.start)
                } else {
                    line(number)
                };
                let message = format!(
                    "this call of `/etc/eks/bootstrap.sh` hangs on `{word}`, which is not known beforehand"
                );
                tell.error(codes::FIELD_REFUSED, place, message, hint);
            }
            None
        }
        Script::Opaque(Opaque { number, why }) => {
            let message = match &why {
                Why::Touched(_) => why.to_string(),
                why => format!("the call of `/etc/eks/bootstrap.sh` cannot be read beforehand: {why}"),
            };
            tell.error(codes::FIELD_REFUSED, line(number), message, why.hint());
            None
        }
    }
}

/// What scripts before the node's set-up come after.
const BEGIN: &str = "pre-install";

fn step(at: &Node, name: &str, script: &str, (side, phase): (&str, &str)) -> Node {
    let span = at.span;
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("script", text(span, escaped(script)));
    if side == "before" {
        step.put("after", list(span, vec![text(span, BEGIN)]));
    }
    step.put(side, list(span, vec![text(span, phase)]));
    step.put("timeout", plain(span, "30m"));
    // What a script has done once, it need not bear twice: cloud-init runs it once.
    step.put("attempts", plain(span, 1));
    step.into_node()
}

/// A step after which the node goes on, whatever became of it.
fn going_on(step: Node) -> Node {
    ending(step, "continue")
}

/// A step that whoever waits for the node hears of where it fails, if that is what its script says; else one after which the node goes on.
fn deciding(step: Node, decides: bool) -> Node {
    ending(step, if decides { "give-up" } else { "continue" })
}

fn ending(mut step: Node, policy: &str) -> Node {
    let span = step.span;
    if let Content::Map(entries) = &mut step.content {
        let mut ending = Branch::new(span);
        ending.put("onFailure", text(span, policy));
        if let Content::Map(more) = ending.into_node().content {
            entries.extend(more);
        }
    }
    step
}

/// Adds an item to a list of every group of a document.
fn add_to(tree: &mut Node, key: &str, item: &Node) {
    put(tree, key, item, false);
}

/// The same, before all others.
fn put_first(tree: &mut Node, key: &str, item: &Node) {
    put(tree, key, item, true);
}

fn put(tree: &mut Node, key: &str, item: &Node, first: bool) {
    let Some(groups) = field(tree, "spec").and_then(|spec| field(spec, "nodeGroups")) else { return };
    let Content::List(groups) = &mut groups.content else { return };
    for group in groups {
        if let Some(Node { content: Content::List(items), .. }) = field(group, key) {
            items.insert(if first { 0 } else { items.len() }, item.clone());
        } else if let Content::Map(entries) = &mut group.content {
            let mut more = Branch::new(item.span);
            more.put(key, list(item.span, vec![item.clone()]));
            if let Content::Map(more) = more.into_node().content {
                entries.extend(more);
            }
        }
    }
}
