//! Labels and taints of a group's nodes.

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::Span;
use bringup_kubelet::label_refusal;
use bringup_yaml::{Entry, Node};

use super::kubelet::{Settings, laid_over, literal, value};
use super::role::Role;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// Whether kubelet may set a label on its own node. With kops, its controller sets the others from outside.
fn is_kubelets(label: &str) -> bool {
    label_refusal(label).is_none()
}

/// Labels that kops' controller gives the nodes of a role by itself.
fn of_role(role: Role) -> &'static [&'static str] {
    match role {
        Role::Node => &["node-role.kubernetes.io/node"],
        Role::ControlPlane => &[
            "node-role.kubernetes.io/control-plane",
            "kops.k8s.io/kops-controller-pki",
            "node.kubernetes.io/exclude-from-external-load-balancers",
        ],
        Role::ApiServer => &["node-role.kubernetes.io/api-server"],
        Role::Bastion | Role::Part => &[],
    }
}

/// The labels of kubelet's settings with the group's own laid over them; those that kubelet may not set are told.
pub(super) fn labels(
    kubelet: &[Entry],
    group: Option<&Node>,
    role: Role,
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let entries_of =
        |node: Option<&Node>| -> Settings { node.and_then(Node::entries).unwrap_or_default().to_vec() };
    let all = laid_over(&entries_of(value(kubelet, "nodeLabels")), &entries_of(group));
    let (own, others): (Settings, Settings) = all.into_iter().partition(|entry| is_kubelets(&entry.key));
    let mut names: Vec<&str> = others.iter().map(|entry| entry.key.as_str()).collect();
    let outside: Vec<&str> =
        of_role(role).iter().copied().filter(|label| !is_kubelets(label) && !names.contains(label)).collect();
    names.extend(outside);
    if !names.is_empty() {
        let place = others.first().map_or(span, |entry| entry.key_span);
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "kubelet may not give its own node {}: with kops, its controller does it from outside",
            names.join(", ")
        );
        let hint = "give nodes these labels with `kubectl label`; where kops' controller runs, it does so by the tags of the machine; your own can have names outside of `kubernetes.io` and `k8s.io`";
        tell.warning(codes::FIELD_DIFFERS, place, message, hint);
    }
    let mut labels = Branch::new(span);
    for label in of_role(role).iter().filter(|label| is_kubelets(label)) {
        labels.put(label, text(span, ""));
    }
    for entry in &own {
        labels.put_field(&entry.key, &Entry { value: as_text(&entry.value), ..entry.clone() });
    }
    labels.into_node()
}

/// Tags by which kops' controller, where it runs, knows the labels of a node.
pub(super) fn tags(kubelet: &[Entry], group: Option<&Node>, role: Role, span: Span) -> Vec<(String, Node)> {
    let entries = |node: Option<&Node>| node.and_then(Node::entries).unwrap_or_default().to_vec();
    let mut all: BTreeMap<String, Node> = entries(value(kubelet, "nodeLabels"))
        .into_iter()
        .map(|entry| (entry.key, entry.value))
        .chain(of_role(role).iter().map(|label| ((*label).to_owned(), text(span, ""))))
        .collect();
    all.extend(entries(group).into_iter().map(|entry| (entry.key, entry.value)));
    let tag = |label: String| format!("k8s.io/cluster-autoscaler/node-template/label/{label}");
    all.into_iter().map(|(label, value)| (tag(label), value)).collect()
}

/// A label's value is text, whatever it looks like; kops would stumble over a bare number.
fn as_text(node: &Node) -> Node {
    match node.text() {
        Some(value) => literal(&text(node.span, value)),
        None => node.clone(),
    }
}

/// All taints: those of the cluster's kubelet, of the group and of its kubelet, and those that the role brings.
pub(super) fn taints(
    sources: &[&[Node]],
    role: Role,
    is_karpenters: bool,
    minor: Option<u16>,
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let mut all: Vec<(String, Span)> = sources
        .iter()
        .flat_map(|nodes| nodes.iter())
        .filter_map(|node| Some((node.text()?.to_owned(), node.span)))
        .collect();
    let roles = match role {
        Role::ControlPlane if minor.is_some_and(|minor| minor < 24) => {
            "node-role.kubernetes.io/master=:NoSchedule"
        }
        Role::ControlPlane => "node-role.kubernetes.io/control-plane=:NoSchedule",
        Role::ApiServer => "node-role.kubernetes.io/api-server=:NoSchedule",
        _ => "",
    };
    if !roles.is_empty() {
        all.push((roles.to_owned(), span));
    }
    if is_karpenters {
        all.push(("karpenter.sh/unregistered=:NoExecute".to_owned(), span));
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let mut seen = BTreeSet::new();
    let taints = all
        .into_iter()
        .filter_map(|(taint, span)| taint_of(&taint, span, tell).filter(|(key, ..)| seen.insert(key.clone())))
        .map(|(_, node)| node)
        .collect();
    list(span, taints)
}

/// What a taint may do.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// `key=value:Effect`, where the value may be left out; with it, what makes it the same as another.
fn taint_of(taint: &str, span: Span, tell: &mut Teller<'_>) -> Option<((String, String), Node)> {
    let parts = taint.rsplit_once(':').filter(|(key, effect)| !key.contains(':') && !effect.is_empty());
    let Some((pair, effect)) = parts else {
        let message = format!("`{taint}` is no taint");
        tell.error(codes::WRONG_TYPE, span, message, "write `key=value:NoSchedule`");
        return None;
    };
    if !EFFECTS.contains(&effect) {
        let message =
            format!("`{effect}` of the taint `{taint}` is no effect: kubelet does not start with it");
        tell.error(codes::FIELD_REFUSED, span, message, format!("write one of `{}`", EFFECTS.join("`, `")));
        return None;
    }
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let mut branch = Branch::new(span);
    branch.put("key", text(span, key));
    if !value.is_empty() {
        branch.put("value", text(span, value));
    }
    branch.put("effect", text(span, effect));
    Some(((key.to_owned(), effect.to_owned()), branch.into_node()))
}
