//! Which labels kubelet may give its own node.

/// Labels under `kubernetes.io` and `k8s.io` that it may set.
const LISTED: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];

/// Namespaces, and those ending in a dot and one of these, that it may use freely.
const FREE: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Why kubelet may not give its own node a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelRefusal {
    /// It is there to be out of a node's own reach: the API server does not take it from kubelet.
    Restricted,
    /// Kubelet does not start with one of Kubernetes' own namespaces that is not on its list.
    NotListed,
}

/// Why kubelet may not give its own node a label, if it may not.
pub fn label_refusal(label: &str) -> Option<LabelRefusal> {
    let (namespace, _) = label.split_once('/')?;
    let within = |parent: &str| {
        namespace == parent || namespace.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
    };
    if within("node-restriction.kubernetes.io") {
        return Some(LabelRefusal::Restricted);
    }
    if !(within("kubernetes.io") || within("k8s.io")) {
        return None;
    }
    let allowed = LISTED.contains(&label) || FREE.iter().any(|parent| within(parent));
    (!allowed).then_some(LabelRefusal::NotListed)
}

#[cfg(test)]
mod tests {
    use super::{LISTED, LabelRefusal, label_refusal};

    #[test]
    fn kubelet_refuses_what_its_list_does_not_have() {
        let free = [
            "role",
            "example.com/role",
            "node.kubernetes.io/anything",
            "sub.node.kubernetes.io/anything",
            "kubelet.kubernetes.io/x",
            "notkubernetes.io/x",
        ];
        for label in LISTED.into_iter().chain(free) {
            assert_eq!(label_refusal(label), None, "{label}");
        }
        for label in [
            "node-role.kubernetes.io/worker",
            "kubernetes.io/role",
            "k8s.io/x",
            "k8s.amazonaws.com.k8s.io/x",
            "topology.kubernetes.io/rack",
        ] {
            assert_eq!(label_refusal(label), Some(LabelRefusal::NotListed), "{label}");
        }
        for label in ["node-restriction.kubernetes.io/x", "a.node-restriction.kubernetes.io/x"] {
            assert_eq!(label_refusal(label), Some(LabelRefusal::Restricted), "{label}");
        }
    }
}
