//! Every field that eksctl's own types have, and what becomes of it.

mod cluster;
mod group;
mod node_config;

pub(super) use cluster::{CLUSTER, METADATA, NETWORK, OUTPOST, STATUS, SUBNET, SUBNETS, VPC};
pub(super) use group::{
    ADDON_POLICIES, BASE, DISTRIBUTION, IAM, INSTANCE_SELECTOR, MANAGED, PLACEMENT, SECURITY_GROUPS,
    SELF_MANAGED, SSH, TAINT, UPDATE, VOLUME,
};
pub(super) use node_config::{
    CLUSTER as NODE_CONFIG_CLUSTER, CONTAINERD, FEATURE_GATES, INSTANCE, KUBELET, NODE_CONFIG, SPEC,
};
