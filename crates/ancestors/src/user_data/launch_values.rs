//! Disks, network interfaces, tags and the like of EC2's launch settings.

use bringup_yaml::Node;

use super::launch::{known, list_of, put, put_flag};
use super::launch_fields as tables;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

/// Names that images' root disks have.
const ROOTS: [&str; 2] = ["/dev/xvda", "/dev/sda1"];

/// Volumes, the root first.
pub(super) fn devices(fields: &Record<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let mut roots = Vec::new();
    let mut others = Vec::new();
    for device in fields.items("BlockDeviceMappings") {
        let record = tell.record(device, "a block device", tables::DEVICE);
        let Some(ebs) = record.get("Ebs") else { continue };
        let ebs = tell.record(ebs, "`Ebs` of a block device", tables::EBS);
        let mut volume = Branch::new(device.span);
        put(&mut volume, "device", &record, "DeviceName", tell);
        put_flag(&mut volume, "sizeGiB", &ebs, "VolumeSize", tell);
        if ebs.entry("VolumeSize").is_none() {
            let message = "this volume has the size of its snapshot or of the image, which is not known here: it is left out";
            let hint = "write `VolumeSize`";
            tell.warning(codes::FIELD_DIFFERS, device.span, message, hint);
            continue;
        }
        // What EC2 takes where nothing is said.
        volume.put("type", text(device.span, "gp2"));
        put(&mut volume, "type", &ebs, "VolumeType", tell);
        put_flag(&mut volume, "iops", &ebs, "Iops", tell);
        put_flag(&mut volume, "throughput", &ebs, "Throughput", tell);
        volume.put("encrypted", plain(device.span, false));
        put_flag(&mut volume, "encrypted", &ebs, "Encrypted", tell);
        put(&mut volume, "kmsKey", &ebs, "KmsKeyId", tell);
        put(&mut volume, "snapshot", &ebs, "SnapshotId", tell);
        let volume = volume.into_node();
        if volume.get("sizeGiB").is_none() {
            continue;
        }
        let is_root = record.text("DeviceName").is_some_and(|name| ROOTS.contains(&name));
        if is_root { roots.push(volume) } else { others.push(volume) }
    }
    roots.append(&mut others);
    roots
}

pub(super) fn metadata(fields: &Record<'_>, tell: &mut Teller<'_>) -> Node {
    let options = fields.entry("MetadataOptions");
    let span = options.map(|entry| entry.value.span).unwrap_or_default();
    let mut metadata = Branch::new(span);
    let Some(options) = options else { return metadata.into_node() };
    let options = tell.record(&options.value, "`MetadataOptions`", tables::METADATA);
    for (key, name, word) in
        [("tokensRequired", "HttpTokens", "required"), ("instanceTags", "InstanceMetadataTags", "enabled")]
    {
        let node = options.entry(name).and_then(|entry| known(name, &entry.value, tell));
        metadata.put_some(key, node.map(|node| plain(node.span, node.text() == Some(word))));
    }
    let endpoint = options.entry("HttpEndpoint").and_then(|entry| known("HttpEndpoint", &entry.value, tell));
    if let Some(endpoint) = endpoint.filter(|endpoint| endpoint.text() != Some("enabled")) {
        let message = "`HttpEndpoint` of `MetadataOptions` is not carried out: the node will differ";
        let hint = "leave it on: a node asks the metadata service who it is";
        tell.warning(codes::FIELD_DIFFERS, endpoint.span, message, hint);
    }
    put_flag(&mut metadata, "hopLimit", &options, "HttpPutResponseHopLimit", tell);
    metadata.into_node()
}

/// Tags of instances and volumes.
pub(super) fn tags(fields: &Record<'_>, tell: &mut Teller<'_>) -> Node {
    let all = fields.get("TagSpecifications").or_else(|| fields.get("Tags"));
    let mut tags = Branch::new(all.map(|node| node.span).unwrap_or_default());
    for specification in fields.items("TagSpecifications") {
        let kind = specification.get("ResourceType");
        if !matches!(kind.and_then(Node::text), Some("instance" | "volume")) {
            let kind = kind.and_then(Node::text).unwrap_or_default();
            let message = format!("tags of the type `{kind}` shape no node: they are left aside");
            let hint = "the node comes up the same without them";
            tell.note(codes::FIELD_ASIDE, specification.span, message, hint);
            continue;
        }
        let items = specification.get("Tags").and_then(Node::items).unwrap_or_default();
        for tag in items {
            put_tag(&mut tags, tag, tell);
        }
    }
    for tag in fields.items("Tags") {
        put_tag(&mut tags, tag, tell);
    }
    tags.into_node()
}

/// A tag; that of the cluster is set by the new template, and those of AWS by AWS.
pub(super) fn put_tag(tags: &mut Branch, tag: &Node, tell: &mut Teller<'_>) {
    let Some(key) = tag.get("Key").and_then(|key| known("Key", key, tell)) else { return };
    let word = key.text().unwrap_or_default();
    if word.starts_with("kubernetes.io/cluster/") || word.starts_with("aws:") || word.contains("${") {
        let message =
            format!("the tag `{word}` is left aside: the new template sets that of the cluster itself");
        tell.note(codes::FIELD_ASIDE, key.span, message, "the node comes up the same without it");
        return;
    }
    if let Some(value) = tag.get("Value").and_then(|value| known("Value", value, tell)) {
        tags.put(word, text(value.span, value.text().unwrap_or_default()));
    }
}

/// Security groups of the interfaces, and how many are for EFA.
pub(super) fn interfaces(
    launch: &mut Branch,
    groups: &mut Vec<Node>,
    fields: &Record<'_>,
    tell: &mut Teller<'_>,
) {
    let mut fabric: u16 = 0;
    let interfaces = fields.items("NetworkInterfaces");
    for interface in interfaces {
        let record = tell.record(interface, "a network interface", tables::INTERFACE);
        for group in list_of(&record, "Groups", tell) {
            if !groups.iter().any(|known| known.text() == group.text()) {
                groups.push(group);
            }
        }
        if record.text("InterfaceType").is_some_and(|kind| kind.starts_with("efa")) {
            fabric = fabric.saturating_add(1);
        }
    }
    if fabric > 0 {
        let span = fields.get("NetworkInterfaces").map(|node| node.span).unwrap_or_default();
        launch.put("efaInterfaces", plain(span, fabric));
    }
}

/// The instance profile, by its name.
pub(super) fn profile(fields: &Record<'_>, tell: &mut Teller<'_>) -> Node {
    let entry = fields.entry("IamInstanceProfile");
    let mut role = Branch::new(entry.map(|entry| entry.value.span).unwrap_or_default());
    let node =
        entry.map(|entry| entry.value.get("Name").or_else(|| entry.value.get("Arn")).unwrap_or(&entry.value));
    if let Some(node) = node.and_then(|node| known("IamInstanceProfile", node, tell)) {
        let name = node.text().unwrap_or_default();
        let name = name
            .rsplit_once("instance-profile/")
            .map_or(name, |(_, path)| path.rsplit('/').next().unwrap_or(path));
        role.put("instanceProfile", text(node.span, name));
        // The nodes of that profile may join already.
        role.put("accessEntry", plain(node.span, false));
    }
    role.into_node()
}
