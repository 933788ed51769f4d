//! `overrideBootstrapCommand` on Amazon Linux 2023: a NodeConfig that is laid over eksctl's own.

use bringup_diag::{Position, Span};
use bringup_yaml::{Content, Entry, Limits, Node, Style};

use super::group::Parts;
use super::{flags, kubelet, record, tables};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::text;

/// Lays the NodeConfig over the group. It is the last of eksctl's parts, so that it wins.
pub(super) fn lay_over(own: &Entry, parts: &mut Parts, tell: &mut Teller<'_>) {
    let Some(tree) = parsed(own, tell) else { return };
    let top = tell.record(&tree, "a NodeConfig", tables::NODE_CONFIG);
    let spec = record(top.get("spec"), "`spec` of a NodeConfig", tables::SPEC, tell);
    cluster(&spec, parts, tell);
    let kubelet = record(spec.get("kubelet"), "`kubelet` of a NodeConfig", tables::KUBELET, tell);
    if let Some(config) = kubelet.get("config") {
        kubelet::lay_over(&mut parts.settings.config, config);
    }
    let words: Vec<String> =
        kubelet.items("flags").iter().filter_map(Node::text).map(str::to_owned).collect();
    flags::lay_over(&words, &own.value, parts);
    let containerd = record(spec.get("containerd"), "`containerd` of a NodeConfig", tables::CONTAINERD, tell);
    if let Some(config) = containerd.entry("config") {
        parts.settings.runtime.put_field("config", config);
    }
    instance(&spec, parts, tell);
    let gates =
        record(spec.get("featureGates"), "`featureGates` of a NodeConfig", tables::FEATURE_GATES, tell);
    if gates.flag("InstanceIdNodeName") == Some(true) {
        parts.settings.node_name = Some(text(own.value.span, "instance-id"));
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
    let block = outer.scalar().is_some_and(|scalar| scalar.style == Style::Block);
    let start = outer.span.start;
    let moved = |point: Position| Position {
        line: point.line.saturating_add(start.line).saturating_sub(1),
        column: point.column.saturating_add(start.column).saturating_sub(1),
    };
    placed(tree, &|span| {
        if block { Span { start: moved(span.start), end: moved(span.end) } } else { outer.span }
    })
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
    let cluster = record(spec.get("cluster"), what, tables::NODE_CONFIG_CLUSTER, tell);
    let get = |field: &str| cluster.get(field).filter(|value| value.text() != Some("")).cloned();
    parts.learnt.endpoint = get("apiServerEndpoint");
    parts.learnt.certificate_authority = get("certificateAuthority");
    parts.learnt.service_range = get("cidr");
    parts.learnt.id = get("id");
}

/// Variables of kubelet; those of other services belong to the operator's own units.
fn instance(spec: &Record<'_>, parts: &mut Parts, tell: &mut Teller<'_>) {
    let instance = record(spec.get("instance"), "`instance` of a NodeConfig", tables::INSTANCE, tell);
    for service in instance.get("environment").and_then(Node::entries).unwrap_or_default() {
        if service.key == "kubelet" || service.key == "default" {
            for variable in service.value.entries().unwrap_or_default() {
                parts.settings.environment.put_field(&variable.key, variable);
            }
        }
        if service.key != "kubelet" {
            let message =
                format!("variables of `{}` are not set for other services than kubelet", service.key);
            let hint = "write a drop-in of the service with a command of `preBootstrapCommands`";
            tell.warning(codes::FIELD_DIFFERS, service.key_span, message, hint);
        }
    }
}
