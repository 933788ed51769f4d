//! How many nodes there are.

use bringup_yaml::Node;

use super::cluster::Cluster;
use super::group::Given;
use super::{record, tables};
use crate::codes;
use crate::fields::is_nothing;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

/// eksctl's number of nodes where none is said.
const COUNT: u32 = 2;

/// How the autoscaler knows what a node of an empty group would register with.
const TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template";

pub(super) fn translated(
    given: &Given<'_>,
    cluster: &Cluster<'_>,
    labels: &Branch,
    taints: &[Node],
    tell: &mut Teller<'_>,
) -> Node {
    let (fields, span) = (&given.fields, given.span);
    let desired = fields.get("desiredCapacity");
    let min = fields.get("minSize").or(desired).cloned().unwrap_or_else(|| plain(span, COUNT));
    let max = fields.get("maxSize").or(desired).cloned().unwrap_or_else(|| min.clone());
    // EKS wants room for one node.
    let max = if given.managed && max.text() == Some("0") { plain(max.span, 1) } else { max };
    let mut scaling = Branch::new(span);
    scaling.put("min", min);
    scaling.put("max", max);
    scaling.put_some("desired", desired.cloned());

    let update = record(fields.get("updateConfig"), "`updateConfig`", tables::UPDATE, tell);
    if let Some(batch) = update.entry("maxUnavailable") {
        let mut rolling = Branch::new(batch.value.span);
        rolling.put_field("maxBatchSize", batch);
        scaling.put("rollingUpdate", rolling.into_node());
    }
    put_distribution(&mut scaling, fields.get("instancesDistribution"));
    if let Some(most) = fields.get("maxInstanceLifetime").filter(|most| most.text() != Some("0")) {
        let seconds = most.text().unwrap_or_default();
        scaling.put("maxInstanceLifetime", text(most.span, format!("{seconds}s")));
    }
    for (field, key) in [("classicLoadBalancerNames", "loadBalancers"), ("targetGroupARNs", "targetGroups")] {
        if let Some(entry) = fields.entry(field) {
            scaling.put_field(key, entry);
        }
    }
    tell_suspended(given, tell);
    scaling.put_full("tags", tags(given, cluster, labels, taints));
    scaling.into_node()
}

/// How types and ways to pay are mixed.
fn put_distribution(scaling: &mut Branch, distribution: Option<&Node>) {
    for entry in distribution.and_then(Node::entries).unwrap_or_default() {
        match entry.key.as_str() {
            _ if is_nothing(&entry.value) => {}
            "onDemandPercentageAboveBaseCapacity" => scaling.put_field("onDemandPercentage", entry),
            "onDemandBaseCapacity" => scaling.put_field("onDemandBase", entry),
            "spotInstancePools" => scaling.put_field("spotPools", entry),
            "spotAllocationStrategy" => scaling.put_field("spotStrategy", entry),
            "capacityRebalance" => scaling.put_field("capacityRebalance", entry),
            "maxPrice" => {
                let price = entry.value.text().map(|price| text(entry.value.span, price));
                scaling.put("spotMaxPrice", price.unwrap_or_else(|| entry.value.clone()));
            }
            _ => {}
        }
    }
}

/// eksctl calls EC2 for these once the group is there: CloudFormation has no word for them.
fn tell_suspended(given: &Given<'_>, tell: &mut Teller<'_>) {
    let Some(entry) = given.fields.entry("asgSuspendProcesses") else { return };
    let names: Vec<&str> = entry.value.items().unwrap_or_default().iter().filter_map(Node::text).collect();
    let message = "`asgSuspendProcesses` is not carried out, for CloudFormation cannot say it: the nodes are the same, and the Auto Scaling group will differ";
    let hint = format!(
        "once the stack is there, call `aws autoscaling suspend-processes --auto-scaling-group-name NAME --scaling-processes {}`",
        names.join(" ")
    );
    tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
}

fn tags(given: &Given<'_>, cluster: &Cluster<'_>, labels: &Branch, taints: &[Node]) -> Node {
    let span = given.span;
    let mut tags = Branch::new(span);
    let addons = given.fields.get("iam").and_then(|iam| iam.get("withAddonPolicies"));
    let autoscaler = addons.and_then(|addons| addons.get("autoScaler")).and_then(Node::text);
    if autoscaler == Some("true") {
        tags.put("k8s.io/cluster-autoscaler/enabled", text(span, "true"));
        tags.put(&format!("k8s.io/cluster-autoscaler/{}", cluster.name), text(span, "owned"));
    }
    if given.fields.flag("propagateASGTags") == Some(true) {
        let labels = labels.clone().into_node();
        for entry in labels.entries().unwrap_or_default() {
            // What only the node knows is in no tag.
            if !entry.value.text().is_some_and(|value| value.contains("@{")) {
                tags.put_field(&format!("{TEMPLATE}/label/{}", entry.key), entry);
            }
        }
        for taint in taints {
            if let Some(key) = taint.get("key").and_then(Node::text) {
                let value = taint.get("value").and_then(Node::text).unwrap_or_default();
                tags.put(&format!("{TEMPLATE}/taint/{key}"), text(taint.span, value));
            }
        }
    }
    tags.into_node()
}
