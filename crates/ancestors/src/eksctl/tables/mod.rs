//! Every field that eksctl's own types have, and what becomes of it.

mod cluster;
mod group;

pub(super) use cluster::{CLUSTER, METADATA, NETWORK, OUTPOST, STATUS, SUBNET, SUBNETS, VPC};
pub(super) use group::{
    ADDON_POLICIES, BASE, DISTRIBUTION, IAM, INSTANCE_SELECTOR, MANAGED, PLACEMENT, SECURITY_GROUPS,
    SELF_MANAGED, SSH, TAINT, UPDATE, VOLUME,
};
