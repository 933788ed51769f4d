//! How many machines a group has, of which types, and what they stand behind.

use bringup_diag::Span;
use bringup_kubelet::duration_nanoseconds;
use bringup_yaml::Node;

use super::group_fields::{LOAD_BALANCER, MIXED_INSTANCES};
use super::role::Role;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// Instance types and `scaling`.
pub(super) fn scaling(
    group: &Record<'_>,
    role: Role,
    span: Span,
    tell: &mut Teller<'_>,
) -> (Vec<Node>, Node) {
    let mut types: Vec<Node> = Vec::new();
    // Several types may be written with commas.
    if let Some(machine) = group.get("machineType") {
        let words = machine.text().unwrap_or_default().split(',').map(str::trim);
        types.extend(words.filter(|word| !word.is_empty()).map(|word| text(machine.span, word)));
    }
    let usual = plain(span, if role == Role::Node { 2 } else { 1 });
    let sizes = group.get("maxSize").or_else(|| group.get("minSize"));
    let mut scaling = Branch::new(sizes.map_or(span, |size| size.span));
    let number = |node: &Node| node.text().and_then(|text| text.trim().parse::<i64>().ok());
    // One of the two alone moves the other: a group cannot shrink below what it may grow to.
    let (min, max) = match (group.get("minSize"), group.get("maxSize")) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) if number(min) > number(&usual) => (min, min),
        (Some(min), None) => (min, &usual),
        (None, Some(max)) if number(max) < number(&usual) => (max, max),
        (None, Some(max)) => (&usual, max),
        (None, None) => (&usual, &usual),
    };
    scaling.put("min", min.clone());
    scaling.put("max", max.clone());
    if let Some(node) = group.get("mixedInstancesPolicy") {
        let policy = tell.record(node, "`mixedInstancesPolicy` of kops", MIXED_INSTANCES);
        let listed = policy.items("instances");
        if !listed.is_empty() {
            types = listed.to_vec();
        }
        for (theirs, ours) in [
            ("onDemandAboveBase", "onDemandPercentage"),
            ("onDemandBase", "onDemandBase"),
            ("spotAllocationStrategy", "spotStrategy"),
            ("spotInstancePools", "spotPools"),
        ] {
            if let Some(entry) = policy.entry(theirs).filter(|entry| entry.value.text() != Some("")) {
                scaling.put_field(ours, entry);
            }
        }
    }
    let price = group.get("maxPrice").filter(|price| price.text() != Some(""));
    scaling.put_some("spotMaxPrice", price.map(|price| text(price.span, price.text().unwrap_or_default())));
    if let Some(rebalance) = group.entry("capacityRebalance") {
        scaling.put_field("capacityRebalance", rebalance);
    }
    scaling.put_some("maxInstanceLifetime", lifetime(group, tell));
    let (mut balancers, mut targets) = (Vec::new(), Vec::new());
    for item in group.items("externalLoadBalancers") {
        let given = tell.record(item, "a load balancer of kops", LOAD_BALANCER);
        balancers.extend(given.get("loadBalancerName").cloned());
        targets.extend(given.get("targetGroupArn").or_else(|| given.get("targetGroupARN")).cloned());
    }
    scaling.put_full("loadBalancers", list(span, balancers));
    scaling.put_full("targetGroups", list(span, targets));
    (types, scaling.into_node())
}

/// After how long a machine is replaced; kops writes times as Go does, and none at all as nothing.
fn lifetime(group: &Record<'_>, tell: &mut Teller<'_>) -> Option<Node> {
    let node = group.get("maxInstanceLifetime")?;
    let Some(nanoseconds) = node.text().and_then(duration_nanoseconds) else {
        let message = "`maxInstanceLifetime` is no length of time";
        tell.error(codes::WRONG_TYPE, node.span, message, "write one such as `168h`");
        return None;
    };
    let seconds = nanoseconds / 1_000_000_000;
    (seconds > 0).then(|| text(node.span, format!("{seconds}s")))
}

/// Fields that shape the number of machines.
const OF_SCALING: [&str; 6] =
    ["capacityRebalance", "externalLoadBalancers", "maxInstanceLifetime", "maxPrice", "maxSize", "minSize"];

/// Further fields that shape machines.
const OF_MACHINES: [&str; 18] = [
    "additionalSecurityGroups",
    "cloudLabels",
    "detailedInstanceMonitoring",
    "iam",
    "instanceMetadata",
    "machineType",
    "mixedInstancesPolicy",
    "rootVolume",
    "rootVolumeEncryption",
    "rootVolumeEncryptionKey",
    "rootVolumeIOPS",
    "rootVolumeIops",
    "rootVolumeOptimization",
    "rootVolumeSize",
    "rootVolumeThroughput",
    "rootVolumeType",
    "securityGroupOverride",
    "volumes",
];

/// Tells what is left aside where somebody else makes the machines: Karpenter, or whoever makes them in another cloud.
pub(super) fn tell_of_machines(group: &Record<'_>, is_karpenters: bool, span: Span, tell: &mut Teller<'_>) {
    let (whose, others) = if is_karpenters {
        ("Karpenter makes the machines", [].as_slice())
    } else {
        ("no template is made for this cloud", OF_MACHINES.as_slice())
    };
    let written = OF_SCALING.iter().chain(others).filter(|name| group.entry(name).is_some());
    let named: Vec<String> = written.map(|name| format!("`{name}`")).collect();
    if !named.is_empty() {
        let message =
            format!("{whose}: {} of this group shape no node, and are left aside", named.join(", "));
        let hint = "give the user-data that is made to whoever makes the machines";
        tell.note(codes::FIELD_ASIDE, span, message, hint);
    }
}
