//! What Ignition refuses of disks, by the rules of its own validator.

use std::collections::BTreeSet;

use serde_json::Value;

use super::rules::{Rules, is_true, list, text};

impl Rules {
    pub(super) fn disks(&mut self, config: &Value) {
        for disk in list(config, "/storage/disks") {
            let device = text(disk, "device").unwrap_or_default();
            self.path(device);
            self.partitions(device, list(disk, "/partitions"));
        }
        for filesystem in list(config, "/storage/filesystems") {
            let device = text(filesystem, "device").unwrap_or_default();
            self.path(device);
            if let Some(path) = text(filesystem, "path").filter(|path| !path.is_empty()) {
                self.path(path);
            }
            let given = |key: &str| text(filesystem, key).is_some_and(|value| !value.is_empty());
            let format = text(filesystem, "format").unwrap_or_default();
            let known = ["ext4", "btrfs", "xfs", "vfat", "swap"].contains(&format)
                || format == "none" && self.minor >= 3;
            if format.is_empty()
                && (given("path") || given("label") || given("uuid") || is_true(filesystem, "wipeFilesystem"))
            {
                self.refused(
                    format!("the file system on `{device}` has no `format`"),
                    "write `ext4`, `xfs`, `btrfs`, `vfat` or `swap`",
                    device,
                );
            } else if !format.is_empty() && !known {
                self.refused(
                    format!("`{format}` is no file system that Ignition makes"),
                    "write `ext4`, `xfs`, `btrfs`, `vfat` or `swap`",
                    format,
                );
            }
        }
        for raid in list(config, "/storage/raid") {
            let name = text(raid, "name").unwrap_or_default();
            let levels = [
                "linear", "raid0", "0", "stripe", "raid1", "1", "mirror", "raid4", "4", "raid5", "5",
                "raid6", "6", "raid10", "10",
            ];
            if !levels.contains(&text(raid, "level").unwrap_or_default()) {
                self.refused(
                    format!("the raid `{name}` has no level that there is"),
                    "write `raid1`, for one",
                    name,
                );
            }
            if list(raid, "/devices").is_empty() {
                self.refused(format!("the raid `{name}` has no devices"), "name them in `devices`", name);
            }
            for device in list(raid, "/devices").iter().filter_map(Value::as_str) {
                self.path(device);
            }
        }
        for luks in list(config, "/storage/luks") {
            self.path(text(luks, "device").unwrap_or_default());
        }
    }

    fn partitions(&mut self, device: &str, partitions: &[Value]) {
        let mut labels = BTreeSet::new();
        for partition in partitions {
            let label = text(partition, "label");
            let numbered = partition.get("number").and_then(Value::as_i64).is_some_and(|number| number != 0);
            if let Some(label) = label.filter(|label| !labels.insert(*label)) {
                self.refused(
                    format!("two partitions of `{device}` are labelled `{label}`"),
                    "give each its own label",
                    label,
                );
            }
            if label.is_none() && !numbered {
                self.refused(
                    format!("a partition of `{device}` has neither number nor label"),
                    "write one of them",
                    device,
                );
            }
        }
    }
}
