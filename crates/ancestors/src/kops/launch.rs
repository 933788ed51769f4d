//! How the machines of a group are launched on AWS.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node, Resolved};

use super::group_fields::{IAM, INSTANCE_METADATA, ROOT_VOLUME, VOLUME};
use super::kubelet::laid_over;
use super::role::Role;
use crate::codes;
use crate::fields::Record;
use crate::ids;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// What of the cluster goes into every launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common<'a> {
    pub(super) key_name: Option<&'a Entry>,
    pub(super) tags: Option<&'a Node>,
    pub(super) policies: Option<&'a Node>,
    /// Tags that tell the labels of nodes.
    pub(super) labels: &'a [(String, Node)],
}

/// `launch`.
pub(super) fn launch(
    common: Common<'_>,
    group: &Record<'_>,
    role: Role,
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let mut launch = Branch::new(span);
    image(group, &mut launch, tell);
    if let Some(key) = common.key_name.filter(|key| key.value.text() != Some("")) {
        launch.put_field("keyName", key);
    }
    launch.put_full("volumes", list(span, volumes(group, role, span, tell)));
    if let Some(node) = group.get("instanceMetadata") {
        let given = tell.record(node, "`instanceMetadata` of kops", INSTANCE_METADATA);
        let mut metadata = Branch::new(node.span);
        if let Some(node) = given.get("httpTokens").filter(|node| node.text() != Some("")) {
            let word = node.text().unwrap_or_default();
            if !matches!(word, "optional" | "required") {
                let message = format!("`{word}` is no word for `httpTokens`");
                tell.error(codes::WRONG_TYPE, node.span, message, "write `required` or `optional`");
            }
            metadata.put("tokensRequired", plain(node.span, word != "optional"));
        }
        if let Some(limit) = given.entry("httpPutResponseHopLimit") {
            metadata.put_field("hopLimit", limit);
        }
        launch.put_full("metadata", metadata.into_node());
    }
    let entries = |node: Option<&Node>| node.and_then(Node::entries).unwrap_or_default().to_vec();
    let tags = laid_over(&entries(common.tags), &entries(group.get("cloudLabels")));
    let mut named = Branch::new(span);
    for entry in &tags {
        named.put(&entry.key, text(entry.value.span, entry.value.text().unwrap_or_default()));
    }
    for (tag, value) in common.labels {
        named.put(tag, text(value.span, value.text().unwrap_or_default()));
    }
    launch.put_full("tags", named.into_node());
    let groups =
        group.get("securityGroupOverride").into_iter().chain(group.items("additionalSecurityGroups"));
    let groups = groups.filter(|id| ids::real(id, "sg-", tell).is_some()).cloned().collect();
    launch.put_full("securityGroups", list(span, groups));
    launch.put_full("role", nodes_role(common, group, span, tell));
    // With several types the share of spot capacity is said beside them.
    if let Some(price) = group.entry("maxPrice").filter(|_| group.get("mixedInstancesPolicy").is_none()) {
        launch.put("spot", plain(price.value.span, true));
    }
    let root = group.get("rootVolume").and_then(|node| node.get("optimization"));
    launch.put_some("ebsOptimized", group.get("rootVolumeOptimization").or(root).cloned());
    if let Some(monitoring) = group.entry("detailedInstanceMonitoring") {
        launch.put_field("monitoring", monitoring);
    }
    launch.into_node()
}

fn image(group: &Record<'_>, launch: &mut Branch, tell: &mut Teller<'_>) {
    let Some(entry) = group.entry("image") else { return };
    let (span, image) = (entry.value.span, entry.value.text().unwrap_or_default());
    if image.starts_with("ami-") {
        launch.put_some("image", ids::real(&entry.value, "ami-", tell).cloned());
    } else if let Some(parameter) = image.strip_prefix("ssm:") {
        launch.put("imageParameter", text(span, parameter));
    } else {
        let message = format!(
            "kops looks the image `{image}` up by its name; the template takes the newest of its system"
        );
        let hint = "write `launch: {image: ami-...}` in additions to have this one";
        tell.note(codes::DIFFERENCE, entry.key_span, message, hint);
    }
}

/// The root volume in either version's words, then the others.
fn volumes(group: &Record<'_>, role: Role, span: Span, tell: &mut Teller<'_>) -> Vec<Node> {
    let newer = group.get("rootVolume").map(|node| tell.record(node, "`rootVolume` of kops", ROOT_VOLUME));
    let root = |old: &str, new: &str| {
        group.get(old).or_else(|| newer.as_ref().and_then(|record| record.get(new))).cloned()
    };
    let size = root("rootVolumeSize", "size");
    let kind = root("rootVolumeType", "type");
    let iops = root("rootVolumeIops", "iops").or_else(|| group.get("rootVolumeIOPS").cloned());
    let throughput = root("rootVolumeThroughput", "throughput");
    let encrypted = root("rootVolumeEncryption", "encryption");
    let key = root("rootVolumeEncryptionKey", "encryptionKey");
    let (iops, throughput) = sufficient(kind.as_ref().and_then(Node::text), iops, throughput, tell);
    let others = group.items("volumes");
    let said = [&size, &kind, &iops, &throughput, &encrypted, &key].iter().any(|value| value.is_some());
    let mut volumes = Vec::new();
    if said || !others.is_empty() {
        let mut volume = Branch::new(span);
        // kops' own sizes.
        let usual = if role == Role::ControlPlane { 64 } else { 128 };
        volume.put("sizeGiB", size.unwrap_or_else(|| plain(span, usual)));
        volume.put_some("type", kind);
        volume.put_some("iops", iops);
        volume.put_some("throughput", throughput);
        volume.put_some("encrypted", encrypted);
        volume.put_some("kmsKey", key);
        volumes.push(volume.into_node());
    }
    for node in others {
        let given = tell.record(node, "a volume of kops", VOLUME);
        let mut volume = Branch::new(node.span);
        for (theirs, ours) in [
            ("device", "device"),
            ("size", "sizeGiB"),
            ("type", "type"),
            ("iops", "iops"),
            ("throughput", "throughput"),
            ("encrypted", "encrypted"),
            ("key", "kmsKey"),
        ] {
            if let Some(entry) = given.entry(theirs) {
                volume.put_field(ours, entry);
            }
        }
        volumes.push(volume.into_node());
    }
    volumes
}

/// What kops asks of EC2 for a root volume: no less than EC2 has of its kind, and of kinds without such numbers nothing.
fn sufficient(
    kind: Option<&str>,
    iops: Option<Node>,
    throughput: Option<Node>,
    tell: &mut Teller<'_>,
) -> (Option<Node>, Option<Node>) {
    let least = match kind {
        None | Some("gp3") => 3000,
        Some("io1" | "io2") => 100,
        Some(kind) => {
            if let Some(node) = &iops {
                let message = format!("a volume of the type `{kind}` has no number of operations to choose");
                tell.note(codes::DIFFERENCE, node.span, message, "remove it, as kops does");
            }
            return (None, throughput);
        }
    };
    let raised = |given: Option<Node>, least: i64, what: &str, tell: &mut Teller<'_>| {
        let given = given?;
        match given.scalar().map(bringup_yaml::Scalar::core) {
            Some(Resolved::Integer(number)) if number < least.into() => {
                let message = format!("`{number}` is below the {what} that EC2 has: kops takes {least}");
                tell.note(codes::DIFFERENCE, given.span, message, format!("write `{least}`"));
                Some(plain(given.span, least))
            }
            _ => Some(given),
        }
    };
    let iops = raised(iops, least, "number of operations", tell);
    let throughput = if least == 3000 { raised(throughput, 125, "throughput", tell) } else { throughput };
    (iops, throughput)
}

fn nodes_role(common: Common<'_>, group: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Node {
    let mut role = Branch::new(span);
    if let Some(node) = group.get("iam") {
        let given = tell.record(node, "`iam` of a kops group", IAM);
        if let Some(profile) = given.get("profile") {
            // kops takes the profile's ARN, CloudFormation its name.
            let name = profile.text().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            role.put("instanceProfile", text(profile.span, name));
            return role.into_node();
        }
    }
    if let Some(policies) = common.policies.filter(|policies| policies.items().is_some()) {
        role.put("policies", policies.clone());
    }
    role.into_node()
}
