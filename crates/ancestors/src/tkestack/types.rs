//! Values of another type than tkestack takes: its API would refuse them, and here they would be lost.

use crate::fields::Record;
use crate::shapes::Shape::{self, Flag, Text};
use crate::shapes::{LIST, TEXT_MAP, TEXTS};
use crate::tell::Teller;

/// Fields whose values are looked at by more than one reader.
pub(super) const CLUSTER: &[(&str, Shape)] = &[
    ("hostnameAsNodename", Flag),
    ("machines", LIST),
    ("publicAlternativeNames", TEXTS),
    ("displayName", Text),
    ("clusterCIDR", Text),
    ("serviceCIDR", Text),
    ("version", Text),
];
pub(super) const FEATURES: &[(&str, Shape)] = &[
    ("ipvs", Flag),
    ("enableMasterSchedule", Flag),
    ("ipv6DualStack", Flag),
    ("enableCilium", Flag),
    ("skipConditions", TEXTS),
    ("files", LIST),
    ("containerRuntime", Text),
];
pub(super) const METADATA: &[(&str, Shape)] =
    &[("name", Text), ("generateName", Text), ("labels", TEXT_MAP), ("annotations", TEXT_MAP)];
pub(super) const MACHINE: &[(&str, Shape)] = &[
    ("ip", Text),
    ("username", Text),
    ("password", Text),
    ("privateKey", Text),
    ("labels", TEXT_MAP),
    ("taints", LIST),
];
pub(super) const LOCAL_ETCD: &[(&str, Shape)] =
    &[("dataDir", Text), ("serverCertSANs", TEXTS), ("peerCertSANs", TEXTS)];

pub(super) const EXTERNAL_ETCD: &[(&str, Shape)] =
    &[("endpoints", TEXTS), ("caFile", Text), ("certFile", Text), ("keyFile", Text)];

/// Tells of values of other types.
pub(super) fn check(record: Record<'_>, types: &[(&str, Shape)], tell: &mut Teller<'_>) {
    for (name, shape) in types {
        if let Some(node) = record.get(name) {
            tell.shape(node, &format!("`{name}`"), *shape);
        }
    }
}
