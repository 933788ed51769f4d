//! The disks of an instance.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::Cluster;
use super::group::Given;
use super::tables;
use crate::codes;
use crate::fields::Record;
use crate::ids;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

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
    let taken: Vec<&str> = others.iter().filter_map(|other| other.get("volumeName")?.text()).collect();
    let mut free =
        ('f'..='p').map(|letter| format!("/dev/sd{letter}")).filter(|name| !taken.contains(&&**name));
    let mut root = volume(fields, given.span, on_outpost, tell);
    // The root's is the image's where it cannot be what is written.
    root.put_some("device", fields.get("volumeName").filter(|name| is_device(name, tell)).cloned());
    let mut volumes = vec![root.into_node()];
    for other in others {
        let fields = tell.record(other, "an additional volume", tables::VOLUME);
        let mut volume = volume(&fields, other.span, cluster.on_outpost, tell);
        if let Some(name) = fields.get("volumeName") {
            let fits = is_device(name, tell);
            let device =
                if fits { Some(name.clone()) } else { free.next().map(|free| text(name.span, free)) };
            volume.put_some("device", device);
        }
        volumes.push(volume.into_node());
    }
    volumes
}

fn volume(fields: &Record<'_>, span: Span, on_outpost: bool, tell: &mut Teller<'_>) -> Branch {
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
        ("volumeEncrypted", "encrypted"),
        ("volumeKmsKeyID", "kmsKey"),
        ("volumeIOPS", "iops"),
        ("volumeThroughput", "throughput"),
    ] {
        if let Some(entry) = fields.entry(field) {
            volume.put_field(key, entry);
        }
    }
    volume
        .put_some("snapshot", fields.get("snapshotID").and_then(|id| ids::real(id, "snap-", tell)).cloned());
    volume
}

/// Whether this can be the name of a device. eksctl takes anything, and EC2 refuses it later.
fn is_device(name: &Node, tell: &mut Teller<'_>) -> bool {
    let fits = name.text().is_some_and(|name| name.starts_with("/dev/") || name.starts_with("xvd"));
    if !fits {
        let message = "this can be no device of an instance: another is taken";
        tell.warning(codes::FIELD_DIFFERS, name.span, message, "write one such as `/dev/sdf`");
    }
    fits
}
