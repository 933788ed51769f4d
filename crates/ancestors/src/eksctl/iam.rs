//! The role of the nodes.

use bringup_yaml::{Content, Node};

use super::cluster::Cluster;
use super::group::Given;
use super::{record, tables};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// Policies of AWS' own that eksctl attaches for an add-on.
const POLICIES: [(&str, &str); 2] =
    [("imageBuilder", "AmazonEC2ContainerRegistryPowerUser"), ("cloudWatch", "CloudWatchAgentServerPolicy")];

pub(super) fn translated(given: &Given<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) -> Node {
    let span = given.fields.get("iam").map_or(given.span, |iam| iam.span);
    let iam = record(given.fields.get("iam"), "`iam`", tables::IAM, tell);
    let addons = iam.get("withAddonPolicies").map(wanted_ones);
    let addons = record(addons.as_ref(), "`withAddonPolicies`", tables::ADDON_POLICIES, tell);
    let mut role = Branch::new(span);
    let mut policies = iam.items("attachPolicyARNs").to_vec();
    for (addon, policy) in POLICIES {
        let arn = format!("arn:{}:iam::aws:policy/{policy}", partition(cluster.region));
        policies.extend(addons.entry(addon).map(|entry| text(entry.key_span, arn)));
    }
    if let Some(autoscaler) = addons.entry("autoScaler") {
        let message = "the group gets the autoscaler's tags, but its nodes not the autoscaler's permissions";
        let hint = "give the autoscaler's pods a role of their own, or write a policy's ARN under `attachPolicyARNs`";
        tell.warning(codes::FIELD_DIFFERS, autoscaler.key_span, message, hint);
    }
    role.put_full("policies", list(span, policies));
    match (iam.entry("instanceProfileARN"), iam.entry("instanceRoleARN")) {
        (Some(profile), Some(arn)) => {
            role.put_field("instanceProfile", profile);
            role.put_field("arn", arn);
        }
        (Some(profile), None) => {
            role.put_field("instanceProfile", profile);
            role.put("accessEntry", plain(profile.value.span, false));
            let message = "eksctl looks up the role of this instance profile to let its nodes join; here nobody is asked";
            let hint = "add `instanceRoleARN`, or see to it that the role may join the cluster";
            tell.warning(codes::DIFFERENCE, profile.key_span, message, hint);
        }
        (None, Some(arn)) => {
            let message = "the template makes no instance profile for a role that is there already: the nodes would get a role of the template's own";
            let hint = "add `instanceProfileARN`, the profile of that role";
            tell.warning(codes::FIELD_DIFFERS, arn.key_span, message, hint);
        }
        (None, None) => {}
    }
    role.into_node()
}

/// The partition of AWS that a region belongs to.
fn partition(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "aws-cn"
    } else if region.starts_with("us-gov-") {
        "aws-us-gov"
    } else {
        "aws"
    }
}

/// The add-ons that are switched on.
fn wanted_ones(addons: &Node) -> Node {
    let mut addons = addons.clone();
    if let Content::Map(entries) = &mut addons.content {
        entries.retain(|entry| entry.value.text() != Some("false"));
    }
    addons
}
