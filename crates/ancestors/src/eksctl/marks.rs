//! What a node registers with: labels and taints.

use bringup_yaml::Node;

use super::cluster::Cluster;
use super::family::Family;
use super::group::Given;
use super::tables;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Labels: the person's, and those that eksctl and EKS add.
pub(super) fn labels(given: &Given<'_>, cluster: &Cluster<'_>) -> Branch {
    let span = given.span;
    let mut labels = Branch::new(given.fields.get("labels").map_or(span, |labels| labels.span));
    for entry in given.fields.get("labels").and_then(Node::entries).unwrap_or_default() {
        labels.put_field(&entry.key, entry);
    }
    labels.put("alpha.eksctl.io/cluster-name", text(span, cluster.name));
    labels.put("alpha.eksctl.io/nodegroup-name", text(span, given.name.as_str()));
    if given.managed {
        let spot = given.fields.flag("spot") == Some(true);
        labels.put("eks.amazonaws.com/nodegroup", text(span, given.name.as_str()));
        labels.put("eks.amazonaws.com/capacityType", text(span, if spot { "SPOT" } else { "ON_DEMAND" }));
    }
    labels
}

/// Labels that only the node can fill in: eksctl's own script adds them, on systems where it has one.
pub(super) fn add_facts(labels: &mut Branch, given: &Given<'_>) {
    let scripted = match given.family {
        Family::AmazonLinux2 => !given.managed,
        Family::Ubuntu { .. } => true,
        Family::AmazonLinux2023 => false,
    };
    if scripted {
        labels.put("node-lifecycle", text(given.span, "@{lifecycle}"));
        labels.put("alpha.eksctl.io/instance-id", text(given.span, "@{instanceId}"));
    }
}

/// Taints, from a list of them or from `key: value:Effect`.
pub(super) fn taints(given: &Given<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let Some(taints) = given.fields.get("taints") else { return Vec::new() };
    if let Some(items) = taints.items() {
        for item in items {
            tell.record(item, "a taint", tables::TAINT);
        }
        return items.to_vec();
    }
    let Some(entries) = taints.entries() else {
        let message = "`taints` must be a list or a mapping";
        tell.error(
            codes::WRONG_TYPE,
            taints.span,
            message,
            "write `- {key: KEY, value: VALUE, effect: NoSchedule}`",
        );
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|entry| {
            let span = entry.value.span;
            let Some((value, effect)) = entry.value.text().and_then(value_and_effect) else {
                let message = format!("this says no value and effect of the taint `{}`", entry.key);
                tell.error(codes::WRONG_TYPE, span, message, "write `VALUE:NoSchedule`, or `:NoSchedule`");
                return None;
            };
            let mut taint = Branch::new(span);
            taint.put("key", text(entry.key_span, entry.key.as_str()));
            taint.put("value", text(span, value));
            taint.put("effect", text(span, effect));
            Some(taint.into_node())
        })
        .collect()
}

/// Whether all of some taints are among others.
pub(super) fn all_among(taints: &[Node], others: &[Node]) -> bool {
    let parts = |taint: &Node| {
        ["key", "value", "effect"]
            .map(|part| taint.get(part).and_then(Node::text).unwrap_or_default().to_owned())
    };
    taints.iter().all(|taint| others.iter().any(|other| parts(other) == parts(taint)))
}

/// `value:Effect` taken apart; with no colon it is the effect alone.
fn value_and_effect(text: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [effect] => Some(("", effect)),
        [value, effect] => Some((value, effect)),
        _ => None,
    }
}
