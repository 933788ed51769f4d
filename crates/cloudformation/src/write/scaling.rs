//! The Auto Scaling group: how many nodes, of which types, and how a new launch template reaches them.

use bringup_spec::{Span, SpotStrategy};
use bringup_yaml::Value;

use super::Request;
use crate::intrinsic::{attribute, map, reference, single, sub};

/// The name of the group where a node must know it. Elsewhere AWS chooses one.
pub(crate) const GROUP_NAME: &str = "${AWS::StackName}-NodeGroup";

/// What the autoscaler looks at on the group itself, and would only clutter the nodes.
const AUTOSCALER: &str = "k8s.io/cluster-autoscaler/";

/// The group.
pub(crate) fn group(request: &Request<'_>) -> Value {
    let mut properties = Vec::new();
    if request.needs_group() {
        properties.push(("AutoScalingGroupName", sub(GROUP_NAME)));
    }
    properties.extend([
        ("MinSize", reference("NodeAutoScalingGroupMinSize")),
        ("MaxSize", reference("NodeAutoScalingGroupMaxSize")),
        ("DesiredCapacity", reference("NodeAutoScalingGroupDesiredCapacity")),
    ]);
    if request.is_mixed() {
        properties.push(("MixedInstancesPolicy", mixed(request)));
    } else {
        properties.push(("LaunchTemplate", launch_template()));
    }
    if let Some(name) = &request.scaling.lifecycle_hook {
        // In the group itself: a hook that came as a resource of its own would miss the first nodes.
        let hook = map(vec![
            ("LifecycleHookName", name.as_str().into()),
            ("LifecycleTransition", "autoscaling:EC2_INSTANCE_LAUNCHING".into()),
            ("HeartbeatTimeout", seconds(request.scaling.creation_timeout).into()),
            ("DefaultResult", "ABANDON".into()),
        ]);
        properties.push(("LifecycleHookSpecificationList", Value::List(vec![hook])));
    }
    if request.scaling.capacity_rebalance {
        properties.push(("CapacityRebalance", true.into()));
    }
    if let Some(most) = request.scaling.max_instance_lifetime {
        properties.push(("MaxInstanceLifetime", seconds(most).into()));
    }
    for (name, listed) in [
        ("LoadBalancerNames", &request.scaling.load_balancers),
        ("TargetGroupARNs", &request.scaling.target_groups),
    ] {
        if !listed.is_empty() {
            properties.push((name, Value::list(listed.iter().map(String::as_str))));
        }
    }
    properties.push(("Tags", Value::List(tags(request))));
    properties.push(("VPCZoneIdentifier", reference("Subnets")));

    let mut group = vec![("Type", Value::from("AWS::AutoScaling::AutoScalingGroup"))];
    if request.makes_access_entry() {
        // Before it, the cluster would turn the first nodes away.
        group.push(("DependsOn", Value::list(["NodeAccessEntry"])));
    }
    if request.waits_for_signals() && request.desired() > 0 {
        let signal = map(vec![
            ("Count", reference("NodeAutoScalingGroupDesiredCapacity")),
            ("Timeout", iso_8601(request.scaling.creation_timeout).into()),
        ]);
        group.push(("CreationPolicy", single("ResourceSignal", signal)));
    }
    group.push(("UpdatePolicy", single("AutoScalingRollingUpdate", rolling_update(request))));
    group.push(("Properties", map(properties)));
    map(group)
}

fn launch_template() -> Value {
    map(vec![
        ("LaunchTemplateId", reference("NodeLaunchTemplate")),
        ("Version", attribute("NodeLaunchTemplate", "LatestVersionNumber")),
    ])
}

fn mixed(request: &Request<'_>) -> Value {
    let on_demand = request.scaling.on_demand_percentage.unwrap_or(if request.launch.spot { 0 } else { 100 });
    let mut launch = vec![("LaunchTemplateSpecification", launch_template())];
    if let [_, others @ ..] = request.group.instance_types.as_slice()
        && !others.is_empty()
    {
        let mut overrides = vec![single("InstanceType", reference("NodeInstanceType"))];
        overrides.extend(others.iter().map(|name| single("InstanceType", name.as_str())));
        launch.push(("Overrides", Value::List(overrides)));
    }
    let scaling = &request.scaling;
    let mut distribution = vec![("OnDemandPercentageAboveBaseCapacity", u32::from(on_demand).into())];
    if let Some(base) = scaling.on_demand_base {
        distribution.push(("OnDemandBaseCapacity", base.into()));
    }
    // Only the cheapest kinds are counted.
    let by_price = scaling.spot_pools.map(|_| SpotStrategy::LowestPrice);
    let usual = (on_demand < 100).then_some(SpotStrategy::PriceCapacityOptimized);
    if let Some(strategy) = scaling.spot_strategy.or(by_price).or(usual) {
        distribution.push(("SpotAllocationStrategy", strategy.word().into()));
    }
    if let Some(pools) = scaling.spot_pools {
        distribution.push(("SpotInstancePools", u32::from(pools).into()));
    }
    if let Some(price) = &scaling.spot_max_price {
        distribution.push(("SpotMaxPrice", price.as_str().into()));
    }
    map(vec![("InstancesDistribution", map(distribution)), ("LaunchTemplate", map(launch))])
}

fn tags(request: &Request<'_>) -> Vec<Value> {
    let tag = |key: Value, value: Value, at_launch: bool| {
        map(vec![("Key", key), ("Value", value), ("PropagateAtLaunch", at_launch.into())])
    };
    let mut tags = Vec::new();
    if !request.scaling.tags.contains_key("Name") {
        // A name that the launch template gives wins over the group's.
        let at_launch = !request.launch.tags.contains_key("Name");
        tags.push(tag("Name".into(), sub("${ClusterName}-${NodeGroupName}-Node"), at_launch));
    }
    let owner = sub("kubernetes.io/cluster/${ClusterName}");
    tags.push(tag(owner, "owned".into(), !request.launch.metadata.instance_tags));
    for (key, value) in &request.scaling.tags {
        tags.push(tag(key.as_str().into(), value.as_str().into(), !key.starts_with(AUTOSCALER)));
    }
    tags
}

fn rolling_update(request: &Request<'_>) -> Value {
    let update = &request.scaling.rolling_update;
    // CloudFormation wants fewer in service than the group may have at most.
    let in_service = match update.min_in_service {
        Some(number) => number.into(),
        None if request.desired() < request.scaling.max => reference("NodeAutoScalingGroupDesiredCapacity"),
        None => request.scaling.max.saturating_sub(1).into(),
    };
    let suspended =
        ["HealthCheck", "ReplaceUnhealthy", "AZRebalance", "AlarmNotification", "ScheduledActions"];
    map(vec![
        ("MaxBatchSize", update.max_batch_size.into()),
        ("MinInstancesInService", in_service),
        ("PauseTime", iso_8601(request.pause()).into()),
        ("SuspendProcesses", Value::list(suspended)),
        ("WaitOnResourceSignals", request.waits_for_signals().into()),
    ])
}

/// Whole seconds, rounded up.
pub(crate) fn seconds(span: Span) -> i64 {
    i64::try_from(span.milliseconds.div_ceil(1000)).unwrap_or(i64::MAX)
}

/// As CloudFormation writes lengths of time: `PT1H30M`.
fn iso_8601(span: Span) -> String {
    let total = seconds(span);
    if total == 0 {
        return "PT0S".to_owned();
    }
    let mut text = "PT".to_owned();
    for (number, unit) in [(total / 3600, "H"), (total / 60 % 60, "M"), (total % 60, "S")] {
        if number > 0 {
            text.push_str(&number.to_string());
            text.push_str(unit);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use bringup_spec::Span;

    use super::iso_8601;

    #[test]
    fn lengths_of_time_are_whole_seconds_rounded_up() {
        assert_eq!(iso_8601(Span { milliseconds: 5_400_001 }), "PT1H30M1S");
        assert_eq!(iso_8601(Span::seconds(300)), "PT5M");
        assert_eq!(iso_8601(Span::seconds(0)), "PT0S");
    }
}
