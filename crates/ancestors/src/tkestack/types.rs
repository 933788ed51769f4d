//! Values of another type than tkestack takes: its API would refuse them, and here they would be lost.

use bringup_yaml::{Node, Resolved, Scalar};

use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;

/// What a field takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type {
    Flag,
    List,
    Mapping,
    Text,
}

/// Fields whose values are looked at by more than one reader.
pub(super) const CLUSTER: &[(&str, Type)] = &[
    ("hostnameAsNodename", Type::Flag),
    ("machines", Type::List),
    ("publicAlternativeNames", Type::List),
    ("clusterCIDR", Type::Text),
    ("serviceCIDR", Type::Text),
    ("version", Type::Text),
];
pub(super) const FEATURES: &[(&str, Type)] = &[
    ("ipvs", Type::Flag),
    ("enableMasterSchedule", Type::Flag),
    ("ipv6DualStack", Type::Flag),
    ("enableCilium", Type::Flag),
    ("skipConditions", Type::List),
    ("files", Type::List),
    ("containerRuntime", Type::Text),
];
pub(super) const METADATA: &[(&str, Type)] =
    &[("name", Type::Text), ("labels", Type::Mapping), ("annotations", Type::Mapping)];
pub(super) const MACHINE: &[(&str, Type)] = &[
    ("ip", Type::Text),
    ("username", Type::Text),
    ("password", Type::Text),
    ("privateKey", Type::Text),
    ("labels", Type::Mapping),
    ("taints", Type::List),
];
pub(super) const LOCAL_ETCD: &[(&str, Type)] =
    &[("dataDir", Type::Text), ("serverCertSANs", Type::List), ("peerCertSANs", Type::List)];

/// Tells of values of other types. Values themselves are not shown: some are secrets.
pub(super) fn check(record: Record<'_>, types: &[(&str, Type)], tell: &mut Teller<'_>) {
    for (name, wanted) in types {
        let Some(node) = record.get(name) else { continue };
        if fits(node, *wanted) {
            continue;
        }
        let (what, hint) = match wanted {
            Type::Flag => ("a truth value", "write `true` or `false`, without quotes"),
            Type::List => ("a list", "write its items between `[` and `]`"),
            Type::Mapping => ("a mapping", "write its keys and values between `{` and `}`"),
            Type::Text => ("a text", "write it in quotes"),
        };
        tell.error(codes::WRONG_TYPE, node.span, format!("`{name}` must be {what}"), hint);
    }
}

fn fits(node: &Node, wanted: Type) -> bool {
    match wanted {
        Type::Flag => matches!(node.scalar().map(Scalar::core), Some(Resolved::Bool(_))),
        Type::List => node.items().is_some(),
        Type::Mapping => node.entries().is_some(),
        Type::Text => node.scalar().is_some(),
    }
}
