//! The disks of an instance.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::Cluster;
use super::group::Given;
use super::tables;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, plain};

/// eksctl's size of a volume that says none, in GiB.
const SIZE: u32 = 80;

/// eksctl's operations a second for volumes that must say them.
const OPERATIONS: u32 = 100;

const FIELDS: [&str; 7] = [
    "volumeSize",
    "volumeType",
    "volumeName",
    "volumeEncrypted",
    "volumeKmsKeyID",
    "volumeIOPS",
    "volumeThroughput",
];

/// The root, and what stands beside it. Nothing where nothing is said: the template's root is eksctl's then.
pub(super) fn translated(given: &Given<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let fields = &given.fields;
    let on_outpost = cluster.on_outpost || fields.entry("outpostARN").is_some();
    let others = fields.items("additionalVolumes");
    let said = FIELDS.iter().any(|field| fields.entry(field).is_some());
    if !said && others.is_empty() && !on_outpost {
        return Vec::new();
    }
    let mut volumes = vec![volume(fields, given.span, on_outpost)];
    for other in others {
        let fields = tell.record(other, "an additional volume", tables::VOLUME);
        volumes.push(volume(&fields, other.span, cluster.on_outpost));
    }
    volumes
}

fn volume(fields: &Record<'_>, span: Span, on_outpost: bool) -> Node {
    let mut volume = Branch::new(span);
    match fields.entry("volumeSize") {
        Some(size) => volume.put_field("sizeGiB", size),
        None => volume.put("sizeGiB", plain(span, SIZE)),
    }
    let kind = fields.text("volumeType").unwrap_or(if on_outpost { "gp2" } else { "gp3" });
    if matches!(kind, "io1" | "io2") && fields.entry("volumeIOPS").is_none() {
        volume.put("iops", plain(span, OPERATIONS));
    }
    if on_outpost {
        volume.put("type", plain(span, kind));
    }
    for (field, key) in [
        ("volumeType", "type"),
        ("volumeName", "device"),
        ("volumeEncrypted", "encrypted"),
        ("volumeKmsKeyID", "kmsKey"),
        ("volumeIOPS", "iops"),
        ("volumeThroughput", "throughput"),
        ("snapshotID", "snapshot"),
    ] {
        if let Some(entry) = fields.entry(field) {
            volume.put_field(key, entry);
        }
    }
    volume.into_node()
}
