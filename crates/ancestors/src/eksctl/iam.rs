//! The role of the nodes.

use bringup_yaml::{Content, Node};

use super::group::Given;
use super::{record, tables};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// Policies of AWS' own that eksctl attaches for an add-on.
const POLICIES: [(&str, &str); 2] = [
    ("imageBuilder", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPowerUser"),
    ("cloudWatch", "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"),
];

pub(super) fn translated(given: &Given<'_>, tell: &mut Teller<'_>) -> Node {
    let span = given.fields.get("iam").map_or(given.span, |iam| iam.span);
    let iam = record(given.fields.get("iam"), "`iam`", tables::IAM, tell);
    let addons = iam.get("withAddonPolicies").map(wanted_ones);
    let addons = record(addons.as_ref(), "`withAddonPolicies`", tables::ADDON_POLICIES, tell);
    let mut role = Branch::new(span);
    let mut policies = iam.items("attachPolicyARNs").to_vec();
    for (addon, policy) in POLICIES {
        policies.extend(addons.entry(addon).map(|entry| text(entry.key_span, policy)));
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

/// The add-ons that are switched on.
fn wanted_ones(addons: &Node) -> Node {
    let mut addons = addons.clone();
    if let Content::Map(entries) = &mut addons.content {
        entries.retain(|entry| entry.value.text() != Some("false"));
    }
    addons
}
