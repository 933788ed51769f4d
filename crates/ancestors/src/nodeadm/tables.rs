//! Fields of a NodeConfig, and what becomes of each.

use crate::fields::Field;
use crate::fields::Use::{Aside, Refused, Taken};

pub(crate) const TOP: &[Field] = &[
    ("apiVersion", Taken),
    ("kind", Taken),
    ("metadata", Aside("nothing: nodeadm reads it and does nothing with it")),
    ("spec", Taken),
    ("status", Aside("nothing: nodeadm fills it in by itself")),
];

pub(crate) const SPEC: &[Field] = &[
    ("cluster", Taken),
    ("containerd", Taken),
    ("featureGates", Taken),
    (
        "hybrid",
        Refused(
            "nodes outside of AWS get their credentials from Systems Manager or IAM Roles Anywhere, which is not done here",
            "stay with the nodeadm of EKS Hybrid Nodes for them",
        ),
    ),
    ("instance", Taken),
    ("kubelet", Taken),
];

pub(crate) const CLUSTER: &[Field] = &[
    ("name", Taken),
    ("apiServerEndpoint", Taken),
    ("certificateAuthority", Taken),
    ("cidr", Taken),
    ("enableOutpost", Taken),
    ("region", Taken),
    ("id", Taken),
];

pub(super) const KUBELET: &[Field] = &[("config", Taken), ("flags", Taken), ("maxPodsExpression", Taken)];

pub(super) const CONTAINERD: &[Field] = &[("config", Taken), ("baseRuntimeSpec", Taken)];

pub(super) const INSTANCE: &[Field] = &[("environment", Taken), ("localStorage", Taken), ("network", Taken)];

pub(super) const NETWORK: &[Field] = &[("nameservers", Taken), ("domains", Taken)];

pub(super) const STORAGE: &[Field] = &[("strategy", Taken), ("mountPath", Taken), ("disabledMounts", Taken)];

pub(super) const FEATURES: &[Field] = &[("InstanceIdNodeName", Taken), ("FastImagePull", Taken)];
