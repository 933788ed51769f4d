//! Fields of a NodeConfig, and what becomes of each.

use crate::fields::Field;
use crate::fields::Use::{Aside, Is, Refused};
use crate::shapes::MAP;
use crate::shapes::Shape::{self, Flag, GoText, ListOf, MapOf};

const TEXTS: Shape = ListOf(&GoText);
const TEXT_MAP: Shape = MapOf(&GoText);

pub(crate) const TOP: &[Field] = &[
    ("apiVersion", Is(GoText)),
    ("kind", Is(GoText)),
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
    ("name", Is(GoText)),
    ("apiServerEndpoint", Is(GoText)),
    ("certificateAuthority", Is(GoText)),
    ("cidr", Is(GoText)),
    ("enableOutpost", Is(Flag)),
    ("region", Is(GoText)),
    ("id", Is(GoText)),
];

pub(super) const KUBELET: &[Field] =
    &[("config", Is(MAP)), ("flags", Is(TEXTS)), ("maxPodsExpression", Is(GoText))];

pub(super) const CONTAINERD: &[Field] = &[("config", Is(GoText)), ("baseRuntimeSpec", Is(MAP))];

pub(super) const INSTANCE: &[Field] =
    &[("environment", Is(MapOf(&TEXT_MAP))), ("localStorage", Is(MAP)), ("network", Is(MAP))];

pub(super) const NETWORK: &[Field] = &[("nameservers", Is(TEXTS)), ("domains", Is(TEXTS))];

pub(super) const STORAGE: &[Field] =
    &[("strategy", Is(GoText)), ("mountPath", Is(GoText)), ("disabledMounts", Is(TEXTS))];

pub(super) const FEATURES: &[Field] = &[("InstanceIdNodeName", Is(Flag)), ("FastImagePull", Is(Flag))];
