//! `additionalUserData`: parts of the user-data, in the order in which cloud-init really takes them.
//!
//! kops puts its own script, `nodeup.sh`, into the same message, and cloud-init runs scripts by their sorted names, not
//! by their places. A script that sorts before `nodeup.sh` therefore ends before the node is set up, whatever its place
//! in the list: it becomes a step, so that this holds here as well. One that sorts behind runs beside the set-up.
//!
//! All scripts, kops' own among them, come after what cloud-init makes of the other parts, such as packages. The agent starts
//! long before that, so that they [meet](crate::meeting): it goes on when cloud-init gets to the place of `nodeup.sh`, and cloud-init
//! when the steps of scripts have ended. Scripts are carried under their own names, as cloud-init sorts others among them that are
//! known only to it: `runcmd`, and those of archives.

use bringup_yaml::{Content, Limits, Node, Scalar, Style, parse_one};

use super::group_fields::USER_DATA;
use super::image::System;
use super::kubelet::literal;
use super::names::Names;
use super::steps::{step, words};
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, text};
use crate::{codes, meeting, shell};

/// The name of kops' own script.
const NODEUP: &str = "nodeup.sh";
const SCRIPT: &str = "text/x-shellscript";
const CONFIG: &str = "text/cloud-config";

/// First words by which cloud-init takes a script for something else.
const HEADS: [&str; 4] = ["#cloud-", "#include", "#part-handler", "## template: jinja"];

/// Keys of a cloud-config with which nothing is done before scripts run, or that are for cloud-init itself.
const BEHIND: [&str; 6] = ["final_message", "merge_how", "merge_type", "phone_home", "power_state", "runcmd"];

/// Types of parts that kops lets through.
const TYPES: [&str; 8] = [
    "text/x-include-once-url",
    "text/x-include-url",
    "text/cloud-config-archive",
    "text/upstart-job",
    CONFIG,
    "text/part-handler",
    SCRIPT,
    "text/cloud-boothook",
];

struct Part<'a> {
    node: &'a Node,
    record: Record<'a>,
    name: &'a str,
}

impl Part<'_> {
    fn is_script(&self) -> bool {
        self.record.text("type") == Some(SCRIPT)
    }

    /// Whether it is done before kops sets the node up.
    fn comes_first(&self) -> bool {
        self.is_script()
            && file_name(self.name).as_str() < NODEUP
            && self.record.text("content").is_some_and(|content| content.starts_with("#!"))
    }

    /// Whether cloud-init makes something of it before it runs scripts. What is fetched, or looked at by other programs, may be anything.
    fn is_made_before_scripts(&self) -> bool {
        let content = self.record.text("content").unwrap_or_default();
        let head = content.trim_start().to_lowercase();
        let is_config = head.starts_with("#cloud-config") && !head.starts_with("#cloud-config-");
        match self.record.text("type").unwrap_or_default() {
            CONFIG => has_early_keys(content),
            SCRIPT if is_config => has_early_keys(content),
            SCRIPT => HEADS.iter().any(|word| head.starts_with(word)),
            "text/upstart-job" => false,
            _ => true,
        }
    }
}

/// Whether a cloud-config has keys that cloud-init acts on before it runs scripts.
fn has_early_keys(content: &str) -> bool {
    match parse_one(content, Limits::default()) {
        Ok(Some(tree)) => {
            tree.entries().unwrap_or_default().iter().any(|entry| !BEHIND.contains(&entry.key.as_str()))
        }
        Ok(None) => false,
        // It is told elsewhere what is wrong with it; cloud-init may see more in it.
        Err(_) => true,
    }
}

/// The name of the file that cloud-init makes of a script; these it sorts.
fn file_name(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || "._-()".contains(letter);
    name.replace('/', "_").chars().filter(|letter| keep(*letter)).collect()
}

/// The parts of a group and the steps that stand for scripts, in order.
pub(super) fn parts(
    nodes: &[Node],
    system: System,
    names: &mut Names,
    tell: &mut Teller<'_>,
) -> (Vec<Node>, Vec<Node>) {
    let all = read(nodes, tell);
    let first = all.iter().find(|part| part.comes_first()).map(|part| part.node.span);
    let made = all.iter().find(|part| part.is_made_before_scripts()).map(|part| part.node.span);
    let has_late = all.iter().any(|part| part.is_script() && !part.comes_first());
    // Ignition carries no parts, and nobody would come to the meeting.
    let meeting =
        first.filter(|_| has_late || made.is_some()).or(made).filter(|_| system.family != "flatcar");
    let start = meeting.map(|span| meeting::awaiting(span, &names.give(meeting::AWAITS), None));
    let mut scripts: Vec<&Part<'_>> = all.iter().filter(|part| part.is_script()).collect();
    scripts.sort_by_key(|part| file_name(part.name));
    let early = scripts.iter().filter(|part| part.comes_first());
    let mut steps: Vec<Node> = start.into_iter().collect();
    steps.extend(early.map(|part| self::early(part, names, tell)));
    steps.extend(
        meeting
            .filter(|_| first.is_some())
            .map(|span| meeting::releasing(span, &names.give(meeting::RELEASES), ("before", "runtime"))),
    );
    for part in scripts.iter().filter(|part| !part.comes_first()) {
        let message = format!("the script `{}` runs while the node is set up, as with kops", part.name);
        let hint = "to have it strictly before or after, make it a step with `before: [gate]` or `after: [registered]` in additions";
        tell.note(codes::DIFFERENCE, part.node.span, message, hint);
    }
    // A message keeps its order but for scripts: these take their places by name.
    let mut late = scripts.iter().filter(|part| !part.comes_first());
    let placed = all
        .iter()
        .filter(|part| !part.comes_first())
        .filter_map(|part| if part.is_script() { late.next().copied() } else { Some(part) });
    let placed: Vec<&Part<'_>> = placed.collect();
    // It takes the place of kops' own script: what cannot run, and sorts before it, stands before it.
    let is_before = |part: &&Part<'_>| part.is_script() && file_name(part.name).as_str() < NODEUP;
    let place = placed.iter().rposition(is_before).map_or(0, |last| last.saturating_add(1));
    let mut parts: Vec<Node> = placed.into_iter().map(carried).collect();
    if let Some(span) = meeting {
        parts.insert(place, meeting::gathering(span, NODEUP, first.is_some()));
    }
    (parts, steps)
}

fn read<'a>(nodes: &'a [Node], tell: &mut Teller<'_>) -> Vec<Part<'a>> {
    let mut all: Vec<Part<'a>> = Vec::new();
    for node in nodes {
        let record = tell.record(node, "a part of kops' additionalUserData", USER_DATA);
        let (name, content) = (record.text("name"), record.text("content"));
        let (Some(name), Some(_)) =
            (name.filter(|name| !name.is_empty()), content.filter(|text| !text.is_empty()))
        else {
            let message = "a part of additionalUserData needs a name and a content";
            tell.error(codes::MISSING, node.span, message, "add `name` and `content`");
            continue;
        };
        let kind = record.text("type").unwrap_or_default();
        if !TYPES.contains(&kind) {
            let place = record.get("type").unwrap_or(node).span;
            let near = bringup_diag::closest(kind, TYPES);
            let hint = near.map_or_else(
                || format!("write one such as `{SCRIPT}` or `text/cloud-config`"),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("kops knows no part of the type `{kind}`");
            tell.error(codes::WRONG_TYPE, place, message, hint);
            continue;
        }
        if name == NODEUP && kind == SCRIPT {
            let message = "a script of this name takes the place of kops' own, and no node would come up";
            tell.error(codes::FIELD_REFUSED, node.span, message, "give it another name");
            continue;
        }
        // Scripts are files by these names; of other parts cloud-init takes all.
        let is_lost =
            |part: &Part<'_>| part.is_script() && kind == SCRIPT && file_name(part.name) == file_name(name);
        if let Some(earlier) = all.iter().position(is_lost) {
            let message = format!("there are two scripts `{name}`: cloud-init keeps the last");
            tell.warning(codes::FIELD_DIFFERS, node.span, message, "give one of them another name");
            all.remove(earlier);
        }
        all.push(Part { node, record, name });
    }
    all
}

fn carried(part: &Part<'_>) -> Node {
    let mut branch = Branch::new(part.node.span);
    for key in ["name", "type", "content"] {
        if let Some(entry) = part.record.entry(key) {
            branch.put_field(key, entry);
        }
    }
    branch.into_node()
}

/// A script that ends before the node is set up.
fn early(part: &Part<'_>, names: &mut Names, tell: &mut Teller<'_>) -> Node {
    let span = part.node.span;
    let name = names.give(part.name);
    let message = format!(
        "the script `{}` sorts before kops' `{NODEUP}` and ends before the node is set up: it is the step `{name}` here",
        part.name
    );
    let hint = "like kops it goes on if the script fails; write `onFailure: pause` in a document of your own to hold kubelet back";
    tell.note(codes::DIFFERENCE, span, message, hint);
    let mut step = step(span, &name);
    if let Some(content) = part.record.get("content") {
        step.put("script", without_reboots(script(content), tell));
    }
    step.put("before", words(span, &["runtime"]));
    step.into_node()
}

/// The same where it asks for the reboots that it does itself.
fn without_reboots(node: Node, tell: &mut Teller<'_>) -> Node {
    let Some(script) = node.text() else { return node };
    let mut mended = script.to_owned();
    shell::reboots::mend(script, [&mut mended], &|_| node.span, tell);
    if mended == script { node } else { text(node.span, mended) }
}

/// The text of a script, with the line ends that cloud-init gives it.
fn script(content: &Node) -> Node {
    let node = literal(content);
    match &node.content {
        Content::Scalar(Scalar { text: script, .. }) if script.contains('\r') => {
            text(node.span, script.replace("\r\n", "\n"))
        }
        // Two styles of text say the same; this one has a line of its own for each.
        Content::Scalar(scalar) if scalar.style == Style::Plain => text(node.span, scalar.text.as_str()),
        _ => node,
    }
}
