//! `overrideBootstrapCommand` on Amazon Linux 2023: a NodeConfig that is laid over eksctl's own.

use bringup_diag::{Position, Span};
use bringup_yaml::{Content, Entry, Limits, Node, Style};

use super::group::{Given, Parts};
use super::{kubelet, marks, record};
use crate::codes;
use crate::fields::Record;
use crate::nodeadm::{settings, tables};
use crate::tell::Teller;
use crate::tree::{field, list, plain, text};

/// Lays the NodeConfig over the group. It is the last of eksctl's parts, so that it wins.
pub(super) fn lay_over(own: &Entry, given: &Given<'_>, parts: &mut Parts, tell: &mut Teller<'_>) {
    let Some(tree) = parsed(own, tell) else { return };
    let top = tell.record(&tree, "a NodeConfig", tables::TOP);
    let spec = record(top.get("spec"), "`spec` of a NodeConfig", tables::SPEC, tell);
    cluster(&spec, parts, tell);
    let said = settings::of(&spec, own.value.span, tell);
    for label in said.labels.into_node().entries().unwrap_or_default() {
        parts.labels.put_field(&label.key, label);
    }
    if !said.taints.is_empty() {
        tell_of_replaced(given, parts, &said.taints, tell);
        parts.taints = said.taints;
    }
    let over = &mut parts.settings;
    if said.named_by_id {
        over.node_name = Some(text(own.value.span, "instance-id"));
    }
    let flags = said.flags.into_node();
    let by_flag = flags.get("max-pods").filter(|_| said.max_pods.is_none());
    if let Some(pods) = by_flag {
        over.max_pods = Some(plain(pods.span, pods.text().unwrap_or_default()));
    }
    // Of eksctl's NodeConfigs, the one with the number says it of kubelet; memory is kept by the expression.
    if let Some(expression) = said.max_pods
        && let Some(pods) = over.max_pods.replace(expression)
    {
        kubelet::lay_field(&mut over.config, "maxPods", pods);
    }
    kubelet::lay_over(&mut over.config, &said.config);
    for (branch, more) in [
        (&mut over.flags, &flags),
        (&mut over.environment, &said.environment),
        (&mut over.runtime, &said.runtime),
    ] {
        let said_elsewhere = |key: &str| key == "max-pods" && by_flag.is_some();
        for entry in more.entries().unwrap_or_default().iter().filter(|entry| !said_elsewhere(&entry.key)) {
            branch.put_field(&entry.key, entry);
        }
    }
    over.files.extend(said.files);
    over.units.extend(said.units);
    let first = parts.steps.first().and_then(|step| step.get("name")).cloned();
    let resolution = said.name_resolution.map(|mut step| {
        if let (Some(first), Some(before)) = (first, field(&mut step, "before")) {
            *before = list(before.span, vec![first]);
        }
        step
    });
    parts.steps.splice(0..0, resolution);
    parts.steps.extend(said.disks.into_iter().chain(said.import));
}

/// kubelet takes the last of two lists of taints alone.
fn tell_of_replaced(given: &Given<'_>, parts: &Parts, taints: &[Node], tell: &mut Teller<'_>) {
    let Some(entry) = given.fields.entry("taints") else { return };
    if !marks::all_among(&parts.taints, taints) {
        let message = "the node does not get these `taints`: `--register-with-taints` of `overrideBootstrapCommand` stands in their place, with eksctl as here";
        let hint = "write all taints in one of the two places";
        tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
    }
}

/// The tree of the text.
fn parsed(own: &Entry, tell: &mut Teller<'_>) -> Option<Node> {
    let tree =
        own.value.text().and_then(|text| bringup_yaml::parse_one(text, Limits::default()).ok().flatten());
    let tree = tree.filter(|tree| tree.get("kind").and_then(Node::text) == Some("NodeConfig"));
    if tree.is_none() {
        let message = "on Amazon Linux 2023, `overrideBootstrapCommand` must be a NodeConfig";
        let hint = "write `apiVersion: node.eks.aws/v1alpha1`, `kind: NodeConfig` and `spec`; commands go to `preBootstrapCommands`";
        tell.error(codes::FIELD_REFUSED, own.key_span, message, hint);
    }
    Some(within(tree?, &own.value))
}

/// A tree that was read from a text, with its places in the document around it.
///
/// In a `|` block each line is one of the document's, further in; elsewhere all of it is where the text is.
pub(super) fn within(tree: Node, outer: &Node) -> Node {
    placed(tree, &|span| place(outer, span))
}

/// A place in a text, in the document around it.
pub(super) fn place(outer: &Node, span: Span) -> Span {
    let start = outer.span.start;
    let moved = |point: Position| Position {
        line: point.line.saturating_add(start.line).saturating_sub(1),
        column: point.column.saturating_add(start.column).saturating_sub(1),
    };
    let block = outer.scalar().is_some_and(|scalar| scalar.style == Style::Block);
    if block { Span { start: moved(span.start), end: moved(span.end) } } else { outer.span }
}

/// The same of a line of a text.
pub(super) fn line(outer: &Node, number: u32) -> Span {
    place(outer, Span::point(number, 1))
}

fn placed(node: Node, place: &dyn Fn(Span) -> Span) -> Node {
    let content = match node.content {
        Content::Scalar(scalar) => Content::Scalar(scalar),
        Content::List(items) => Content::List(items.into_iter().map(|item| placed(item, place)).collect()),
        Content::Map(entries) => Content::Map(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key_span: place(entry.key_span),
                    value: placed(entry.value, place),
                    ..entry
                })
                .collect(),
        ),
    };
    Node { content, span: place(node.span), tag: node.tag }
}

fn cluster(spec: &Record<'_>, parts: &mut Parts, tell: &mut Teller<'_>) {
    let what = "`cluster` of a NodeConfig";
    let cluster = record(spec.get("cluster"), what, tables::CLUSTER, tell);
    let get = |field: &str| cluster.get(field).filter(|value| value.text() != Some("")).cloned();
    parts.learnt.endpoint = get("apiServerEndpoint");
    parts.learnt.certificate_authority = get("certificateAuthority");
    parts.learnt.service_range = get("cidr");
    parts.learnt.id = get("id");
}
