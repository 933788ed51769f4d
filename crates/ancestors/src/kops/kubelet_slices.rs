//! Slices that kops makes for the control groups that kubelet and the runtime are told to be in.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node};

use super::kubelet::value;
use super::names::Names;
use super::steps::{step, words};
use crate::tree::{Branch, plain, text};

/// Settings of kubelet that name such a group. Of those that are reserved for, kops makes none either.
const GROUPS: [&str; 3] = ["kubeletCgroups", "runtimeCgroups", "systemCgroups"];

const SLICE: &str =
    "[Unit]\nDocumentation=man:systemd.special(7)\nBefore=slices.target\nDefaultDependencies=no\n";

/// Units, and the steps that start them.
#[derive(Default)]
pub(super) struct Slices {
    pub(super) units: Vec<Node>,
    pub(super) steps: Vec<Node>,
}

/// The slices of a group. A group beneath another is no name of a unit: kubelet makes it by itself.
pub(super) fn slices(kubelet: &[Entry], others: &[Node], names: &mut Names) -> Slices {
    let mut slices = Slices::default();
    let mut known: Vec<String> = others
        .iter()
        .filter_map(|unit| unit.get("name").and_then(Node::text))
        .map(ToOwned::to_owned)
        .collect();
    for node in GROUPS.iter().filter_map(|group| value(kubelet, group)) {
        let name = node.text().unwrap_or_default().trim_matches('/');
        let unit = format!("{}.slice", name.strip_suffix(".slice").unwrap_or(name));
        if name.is_empty() || name.contains('/') || known.contains(&unit) {
            continue;
        }
        slices.units.push(self::unit(&unit, node.span));
        slices.steps.push(start(&unit, node.span, names));
        known.push(unit);
    }
    slices
}

fn unit(name: &str, span: Span) -> Node {
    let mut unit = Branch::new(span);
    unit.put("name", text(span, name));
    unit.put("content", text(span, SLICE));
    unit.into_node()
}

fn start(unit: &str, span: Span, names: &mut Names) -> Node {
    let mut start = step(span, &names.give(&format!("start-{unit}")));
    start.put("after", words(span, &["configure"]));
    start.put("before", words(span, &["gate"]));
    start.put("run", words(span, &["/usr/bin/systemctl", "start", unit]));
    start.put("everyBoot", plain(span, true));
    start.into_node()
}
