//! What launches machines: an Auto Scaling group, or a managed node group of EKS.

use bringup_yaml::Node;

use super::launch::{known, list_of, put, put_flag};
use super::launch_fields as tables;
use super::launch_values::put_tag;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// `scaling` of a group, by the first of these; `launch` and the instance types are completed by it.
pub(super) fn translated(
    launchers: &[Node],
    (launch, types): (&mut Branch, &mut Vec<Node>),
    price: Option<&Node>,
    tell: &mut Teller<'_>,
) -> Node {
    let kind = |launcher: &Node| launcher.get("type").and_then(Node::text).unwrap_or_default().to_owned();
    let is_group = |launcher: &&Node| {
        matches!(kind(launcher).as_str(), "AWS::AutoScaling::AutoScalingGroup" | "AWS::EKS::Nodegroup")
    };
    let first = launchers.iter().find(is_group);
    for other in
        launchers.iter().filter(|launcher| !first.is_some_and(|first| std::ptr::eq(first, *launcher)))
    {
        let name = other.get("name").and_then(Node::text).unwrap_or_default();
        let message = format!("`{name}` launches machines from the same settings, and is left aside");
        let hint = "describe it as a node group of its own: copy the resource with the user-data for it";
        tell.warning(codes::FIELD_DIFFERS, other.span, message, hint);
    }
    let span = first.map(|launcher| launcher.span).unwrap_or_default();
    let mut scaling = Branch::new(span);
    if let Some(launcher) = first {
        if let Some(outer) = launcher.get("outer") {
            tell.record(outer, "the resource that launches machines", tables::OUTER);
        }
        if let Some(properties) = launcher.get("properties") {
            if kind(launcher) == "AWS::EKS::Nodegroup" {
                managed(&mut scaling, properties, (launch, types), tell);
            } else {
                group(&mut scaling, properties, (launch, types), tell);
            }
        }
    }
    scaling.put_some("spotMaxPrice", price.map(|price| text(price.span, price.text().unwrap_or_default())));
    let scaling = scaling.into_node();
    if scaling.get("max").is_none() && scaling.entries().is_some_and(|entries| !entries.is_empty()) {
        let message =
            "nothing says how many nodes there may be at most: the settings of the group are left out";
        tell.warning(
            codes::FIELD_DIFFERS,
            scaling.span,
            message,
            "write `scaling: {max: ...}` of the group in additions",
        );
        return Branch::new(span).into_node();
    }
    scaling
}

fn group(
    scaling: &mut Branch,
    properties: &Node,
    (launch, types): (&mut Branch, &mut Vec<Node>),
    tell: &mut Teller<'_>,
) {
    let fields = tell.record(properties, "the Auto Scaling group", tables::SCALING);
    sizes(scaling, &fields, ["MinSize", "MaxSize", "DesiredCapacity"], tell);
    put_flag(scaling, "capacityRebalance", &fields, "CapacityRebalance", tell);
    let life = fields.entry("MaxInstanceLifetime").and_then(|entry| known(&entry.key, &entry.value, tell));
    let life = life.filter(|life| life.text() != Some("0"));
    scaling.put_some(
        "maxInstanceLifetime",
        life.map(|life| text(life.span, format!("{}s", life.text().unwrap_or_default()))),
    );
    for (key, name) in [("loadBalancers", "LoadBalancerNames"), ("targetGroups", "TargetGroupARNs")] {
        scaling.put_full(key, list(properties.span, list_of(&fields, name, tell)));
    }
    put(launch, "placementGroup", &fields, "PlacementGroup", tell);
    tell_subnets(&fields, "VPCZoneIdentifier", tell);
    let mut tags = Branch::new(properties.span);
    for tag in fields.items("Tags") {
        put_tag(&mut tags, tag, tell);
        if tag.get("PropagateAtLaunch").and_then(Node::text) == Some("false") {
            let message = "this tag is the group's alone: nodes will have it too";
            tell.note(codes::DIFFERENCE, tag.span, message, "nothing has to be done");
        }
    }
    scaling.put_full("tags", tags.into_node());
    let Some(mixed) = fields.get("MixedInstancesPolicy") else { return };
    let mixed = tell.record(mixed, "`MixedInstancesPolicy`", tables::MIXED);
    if let Some(template) = mixed.get("LaunchTemplate") {
        let template = tell.record(template, "`LaunchTemplate` of it", tables::MIXED_TEMPLATE);
        let overrides: Vec<Node> = template
            .items("Overrides")
            .iter()
            .filter_map(|item| {
                let fields = tell.record(item, "an override", tables::OVERRIDE);
                let entry = fields.entry("InstanceType")?;
                known("InstanceType", &entry.value, tell).cloned()
            })
            .collect();
        // They stand in the place of the template's own.
        if !overrides.is_empty() {
            *types = overrides;
        }
    }
    let Some(shares) = mixed.get("InstancesDistribution") else { return };
    let shares = tell.record(shares, "`InstancesDistribution`", tables::DISTRIBUTION);
    for (key, name) in [
        ("onDemandBase", "OnDemandBaseCapacity"),
        ("onDemandPercentage", "OnDemandPercentageAboveBaseCapacity"),
        ("spotPools", "SpotInstancePools"),
    ] {
        put_flag(scaling, key, &shares, name, tell);
    }
    put(scaling, "spotStrategy", &shares, "SpotAllocationStrategy", tell);
    put(scaling, "spotMaxPrice", &shares, "SpotMaxPrice", tell);
}

fn managed(
    scaling: &mut Branch,
    properties: &Node,
    (launch, types): (&mut Branch, &mut Vec<Node>),
    tell: &mut Teller<'_>,
) {
    let fields = tell.record(properties, "the managed node group", tables::MANAGED);
    if let Some(sized) = fields.get("ScalingConfig") {
        let sized = tell.record(sized, "`ScalingConfig`", tables::MANAGED_SCALING);
        sizes(scaling, &sized, ["MinSize", "MaxSize", "DesiredSize"], tell);
    }
    types.extend(list_of(&fields, "InstanceTypes", tell));
    tell_subnets(&fields, "Subnets", tell);
    if let Some(kind) = fields.get("CapacityType").filter(|kind| kind.text() == Some("SPOT")) {
        launch.put("spot", plain(kind.span, true));
    }
}

/// Subnets are the cluster's in a Bringup document, and here each group's own.
pub(super) fn tell_subnets(fields: &Record<'_>, name: &str, tell: &mut Teller<'_>) {
    let Some(entry) = fields.entry(name) else { return };
    let message =
        format!("`{name}` says where machines are made: who deploys the new template is asked for it");
    let hint = "write `aws: {subnets: [subnet-...]}` in additions to have them proposed";
    tell.note(codes::FIELD_ASIDE, entry.key_span, message, hint);
}

fn sizes(scaling: &mut Branch, fields: &Record<'_>, [min, max, desired]: [&str; 3], tell: &mut Teller<'_>) {
    put_flag(scaling, "min", fields, min, tell);
    put_flag(scaling, "max", fields, max, tell);
    put_flag(scaling, "desired", fields, desired, tell);
}
