//! Fields of a NodeConfig, and what becomes of each.

use crate::fields::Field;
use crate::fields::Use::{Aside, Is, Refused};
use crate::shapes::Shape::{Flag, MapOf, Text};
use crate::shapes::{MAP, TEXT_MAP, TEXTS};

pub(crate) const TOP: &[Field] = &[
    ("apiVersion", Is(Text)),
    ("kind", Is(Text)),
    ("metadata", Aside("nothing: nodeadm reads it and does nothing with it")),
    ("spec", Is(MAP)),
    ("status", Aside("nothing: nodeadm fills it in by itself")),
];

pub(crate) const SPEC: &[Field] = &[
    ("cluster", Is(MAP)),
    ("containerd", Is(MAP)),
    ("featureGates", Is(MAP)),
    (
        "hybrid",
        Refused(
            "nodes outside of AWS get their credentials from Systems Manager or IAM Roles Anywhere, which is not done here",
            "stay with the nodeadm of EKS Hybrid Nodes for them",
        ),
    ),
    ("instance", Is(MAP)),
    ("kubelet", Is(MAP)),
];

pub(crate) const CLUSTER: &[Field] = &[
    ("name", Is(Text)),
    ("apiServerEndpoint", Is(Text)),
    ("certificateAuthority", Is(Text)),
    ("cidr", Is(Text)),
    ("enableOutpost", Is(Flag)),
    ("region", Is(Text)),
    ("id", Is(Text)),
];

pub(super) const KUBELET: &[Field] =
    &[("config", Is(MAP)), ("flags", Is(TEXTS)), ("maxPodsExpression", Is(Text))];

pub(super) const CONTAINERD: &[Field] = &[("config", Is(Text)), ("baseRuntimeSpec", Is(MAP))];

pub(super) const INSTANCE: &[Field] =
    &[("environment", Is(MapOf(&TEXT_MAP))), ("localStorage", Is(MAP)), ("network", Is(MAP))];

pub(super) const NETWORK: &[Field] = &[("nameservers", Is(TEXTS)), ("domains", Is(TEXTS))];

pub(super) const STORAGE: &[Field] =
    &[("strategy", Is(Text)), ("mountPath", Is(Text)), ("disabledMounts", Is(TEXTS))];

pub(super) const FEATURES: &[Field] = &[("InstanceIdNodeName", Is(Flag)), ("FastImagePull", Is(Flag))];
