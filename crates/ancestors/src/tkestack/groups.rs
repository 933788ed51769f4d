//! Node groups: machines of one kind that get the same plan.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::arguments::literal;
use super::machines::Machine;
use crate::tree::{Branch, list, text};

/// Labels that tkestack gives each node: its own parts look machines up by the first.
const MACHINE: &str = "platform.tkestack.io/machine-ip";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Machines that get the same plan.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) machines: Vec<&'a Machine<'a>>,
}

/// Machines of one kind, apart where their labels or taints are: the first group has the plain name.
pub(super) fn groups<'a>(name: &str, machines: impl Iterator<Item = &'a Machine<'a>>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for machine in machines {
        let like = |group: &&mut Group<'a>| group.machines.first().is_some_and(|first| alike(first, machine));
        if let Some(group) = groups.iter_mut().find(like) {
            group.machines.push(machine);
            continue;
        }
        let name = match groups.len() {
            0 => name.to_owned(),
            others => format!("{name}-{}", others + 1),
        };
        groups.push(Group { name, machines: vec![machine] });
    }
    groups
}

fn alike(one: &Machine<'_>, other: &Machine<'_>) -> bool {
    let labels = |machine: &Machine<'_>| {
        let entries = machine.labels.and_then(Node::entries).unwrap_or_default();
        let mut labels: Vec<(String, Option<String>)> =
            entries.iter().map(|entry| (entry.key.clone(), entry.value.text().map(str::to_owned))).collect();
        labels.sort();
        labels
    };
    let taints = |machine: &Machine<'_>| -> Vec<[Option<String>; 3]> {
        let part = |taint: &Node, key: &str| taint.get(key).and_then(Node::text).map(str::to_owned);
        machine.taints.iter().map(|taint| ["key", "value", "effect"].map(|key| part(taint, key))).collect()
    };
    labels(one) == labels(other) && taints(one) == taints(other)
}

impl Group<'_> {
    /// The span of its first machine.
    pub(super) fn span(&self, otherwise: Span) -> Span {
        self.machines.first().map_or(otherwise, |machine| machine.span)
    }

    /// Labels of its nodes: tkestack's, and the machine's over them.
    pub(super) fn labels(&self, span: Span) -> Node {
        let mut labels = Branch::new(span);
        // An IPv6 address is no value of a label.
        if self.machines.iter().all(|machine| !machine.ip().contains(':')) {
            labels.put(MACHINE, text(span, "@{address}"));
        }
        labels.put(ZONE, text(span, "default"));
        let own = self.machines.first().and_then(|machine| machine.labels).and_then(Node::entries);
        for entry in own.unwrap_or_default() {
            let value = match entry.value.text() {
                Some(value) => literal(entry.value.span, value),
                None => entry.value.clone(),
            };
            labels.put(&entry.key, value);
        }
        labels.into_node()
    }

    /// Taints of its nodes, and the control plane's own beside them, which kubeadm then leaves out.
    pub(super) fn taints(&self, own: Option<&str>, span: Span) -> Node {
        let given = self.machines.first().map(|machine| machine.taints).unwrap_or_default();
        let mut taints: Vec<Node> = given.iter().map(taint).collect();
        let has = |key: &str| given.iter().any(|taint| taint.get("key").and_then(Node::text) == Some(key));
        if let Some(own) = own.filter(|own| !taints.is_empty() && !has(own)) {
            let mut taint = Branch::new(span);
            taint.put("key", text(span, own));
            taint.put("effect", text(span, "NoSchedule"));
            taints.push(taint.into_node());
        }
        list(span, taints)
    }
}

fn taint(node: &Node) -> Node {
    let mut taint = Branch::new(node.span);
    for entry in node.entries().unwrap_or_default() {
        if matches!(entry.key.as_str(), "key" | "value" | "effect") {
            taint.put_field(&entry.key, entry);
        }
    }
    taint.into_node()
}
