//! Volumes that EC2 would not make.

use std::collections::BTreeSet;

use bringup_spec::{Volume, VolumeType};

use super::{Report, is_id};
use crate::codes;
use crate::write::{minimum_volume_gib, root_device};

/// What a type of volume offers: smallest and largest size, and operations a second where they can be provisioned.
struct Offer {
    gib: (u32, u32),
    iops: Option<(u32, u32)>,
}

fn offer(kind: VolumeType) -> Offer {
    let (gib, iops) = match kind {
        VolumeType::Gp3 => ((1, 65_536), Some((3_000, 80_000))),
        VolumeType::Gp2 => ((1, 16_384), None),
        VolumeType::Io1 => ((4, 16_384), Some((100, 64_000))),
        VolumeType::Io2 => ((4, 65_536), Some((100, 256_000))),
        VolumeType::St1 | VolumeType::Sc1 => ((125, 16_384), None),
        VolumeType::Standard => ((1, 1_024), None),
    };
    Offer { gib, iops }
}

pub(super) fn check(report: &mut Report<'_>) {
    let request = report.request;
    let volumes = &request.launch.volumes;
    let mut names = BTreeSet::new();
    for (index, volume) in volumes.iter().enumerate() {
        let path = report.at(&["launch", "volumes"]).index(index);
        let root = index == 0;
        let smallest = if root { minimum_volume_gib(request) } else { None };
        if let Some(smallest) = smallest.filter(|smallest| volume.size_gib < *smallest) {
            report.error(
                codes::VOLUME,
                &path.key("sizeGiB"),
                format!(
                    "{} GiB are too few for the image, which has a snapshot of {smallest} GiB",
                    volume.size_gib
                ),
                &format!("write {smallest} or more"),
            );
        }
        if root && matches!(volume.kind, VolumeType::St1 | VolumeType::Sc1) {
            let message = format!("an instance cannot boot from a `{}` volume", volume.kind);
            report.error(codes::VOLUME, &path.key("type"), message, "write `type: gp3`");
        }
        settings(report, &path, volume);
        let name = match &volume.device {
            Some(name) => name.clone(),
            None if root => root_device(request.group.os.family).to_owned(),
            None => {
                report.error(
                    codes::DEVICE,
                    &path,
                    "a volume beside the root needs a device name",
                    "add one such as `device: /dev/sdf`",
                );
                continue;
            }
        };
        if !name.starts_with("/dev/") && !name.starts_with("xvd") {
            let message = format!("`{name}` is no device name");
            report.error(codes::DEVICE, &path.key("device"), message, "write one such as `/dev/sdf`");
        }
        if !names.insert(name.clone()) {
            let message = format!("two volumes are to be `{name}`");
            report.error(codes::DEVICE, &path, message, "give each volume a device name of its own");
        }
    }
}

fn settings(report: &mut Report<'_>, path: &bringup_yaml::Path, volume: &Volume) {
    let offer = offer(volume.kind);
    let kind = volume.kind.word();
    if !(offer.gib.0..=offer.gib.1).contains(&volume.size_gib) {
        report.error(
            codes::VOLUME,
            &path.key("sizeGiB"),
            format!("a `{kind}` volume cannot have {} GiB", volume.size_gib),
            &format!("write {} to {}", offer.gib.0, offer.gib.1),
        );
    }
    match (volume.iops, offer.iops) {
        (Some(_), None) => {
            let message = format!("a `{kind}` volume has no provisioned `iops`");
            report.error(codes::VOLUME, &path.key("iops"), message, "write `type: gp3`, or take `iops` away");
        }
        (Some(iops), Some((low, high))) if !(low..=high).contains(&iops) => {
            let message = format!("a `{kind}` volume cannot have {iops} operations a second");
            report.error(codes::VOLUME, &path.key("iops"), message, &format!("write {low} to {high}"));
        }
        (None, Some((low, _))) if matches!(volume.kind, VolumeType::Io1 | VolumeType::Io2) => {
            let message = format!("an `{kind}` volume needs `iops`");
            report.error(codes::VOLUME, path, message, &format!("add `iops: {}`", low.max(3_000)));
        }
        _ => {}
    }
    if let Some(throughput) = volume.throughput {
        if volume.kind != VolumeType::Gp3 {
            let message = format!("a `{kind}` volume has no provisioned `throughput`");
            report.error(
                codes::VOLUME,
                &path.key("throughput"),
                message,
                "write `type: gp3`, or take `throughput` away",
            );
        } else if !(125..=2_000).contains(&throughput) {
            let message = format!("a `gp3` volume cannot have {throughput} MiB a second");
            report.error(codes::VOLUME, &path.key("throughput"), message, "write 125 to 2000");
        } else if throughput > volume.iops.unwrap_or(3_000) / 4 {
            let message = format!(
                "{throughput} MiB a second need at least {} operations a second",
                throughput.saturating_mul(4)
            );
            report.error(
                codes::VOLUME,
                &path.key("throughput"),
                message,
                &format!("add `iops: {}`", throughput.saturating_mul(4)),
            );
        }
    }
    if let Some(snapshot) = volume.snapshot.as_deref().filter(|id| !is_id(id, "snap-")) {
        let message = format!("`{snapshot}` is no id of a snapshot");
        let hint = "write one such as `snap-0123456789abcdef0`";
        report.error(codes::MALFORMED, &path.key("snapshot"), message, hint);
    }
    if volume.kms_key.is_some() && !volume.encrypted {
        report.error(
            codes::VOLUME,
            &path.key("kmsKey"),
            "a volume with `kmsKey` cannot be unencrypted",
            "take `encrypted: false` or `kmsKey` away",
        );
    }
}
