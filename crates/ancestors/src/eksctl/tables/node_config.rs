//! Fields of the NodeConfig that `overrideBootstrapCommand` holds on Amazon Linux 2023.

use crate::fields::Field;
use crate::fields::Use::{Differs, Taken};

pub(in crate::eksctl) const NODE_CONFIG: &[Field] =
    &[("apiVersion", Taken), ("kind", Taken), ("metadata", Taken), ("spec", Taken), ("status", Taken)];

pub(in crate::eksctl) const SPEC: &[Field] = &[
    ("cluster", Taken),
    ("kubelet", Taken),
    ("containerd", Taken),
    ("instance", Taken),
    ("featureGates", Taken),
];

pub(in crate::eksctl) const CLUSTER: &[Field] = &[
    ("name", Taken),
    ("apiServerEndpoint", Taken),
    ("certificateAuthority", Taken),
    ("cidr", Taken),
    ("id", Taken),
    ("enableOutpost", Taken),
];

pub(in crate::eksctl) const KUBELET: &[Field] = &[
    ("config", Taken),
    ("flags", Taken),
    ("maxPodsExpression", Differs("write the number as `maxPodsPerNode`")),
];

pub(in crate::eksctl) const CONTAINERD: &[Field] = &[
    ("config", Taken),
    ("baseRuntimeSpec", Differs("write the file with a command of `preBootstrapCommands`")),
];

pub(in crate::eksctl) const INSTANCE: &[Field] = &[
    ("environment", Taken),
    ("localStorage", Differs("prepare the disks with a command of `preBootstrapCommands`")),
    ("network", Differs("write a drop-in of systemd-resolved with a command of `preBootstrapCommands`")),
];

pub(in crate::eksctl) const FEATURE_GATES: &[Field] = &[
    ("InstanceIdNodeName", Taken),
    ("FastImagePull", Differs("add a snapshotter to `containerd.config` if pulls are too slow")),
];
