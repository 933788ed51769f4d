//! The accounts that images for Ignition have and Debian has not: configs give files to them, and run units as them.

use std::path::Path;

use crate::image::Layer;
use crate::{LabFault, Subject, Way};

/// The account that people log in with, on every such image.
const CORE: u32 = 500;
/// The names, for people.
pub(crate) const NAMES: &str = "the accounts `core` and `etcd`";

/// What files of accounts have more of. The numbers of `core`, `etcd` and `docker` are Flatcar's.
const LINES: [(&str, &str, u32); 4] = [
    (
        "/etc/passwd",
        "core:x:500:500:Admin:/home/core:/bin/bash\netcd:x:232:232::/dev/null:/usr/sbin/nologin\n",
        0o644,
    ),
    ("/etc/shadow", "core:*:19000:0:99999:7:::\netcd:*:19000:0:99999:7:::\n", 0o640),
    ("/etc/group", "core:x:500:\netcd:x:232:\ndocker:x:233:core\nwheel:x:234:core\n", 0o644),
    ("/etc/gshadow", "core:!::\netcd:!::\ndocker:!::core\nwheel:!::core\n", 0o640),
];

/// Whether the machine is to have them.
pub(crate) fn are_of(subject: &Subject) -> bool {
    subject.way == Way::Ignition || subject.stands_for.as_deref() == Some("flatcar")
}

/// Adds them to those of the root below.
pub(crate) fn add(layer: &Layer, lower: &Path) -> Result<(), LabFault> {
    for (path, lines, mode) in LINES {
        let below = lower.join(path.trim_start_matches('/'));
        let known = std::fs::read_to_string(&below).map_err(LabFault::file("read", &below))?;
        layer.write(path, format!("{known}{lines}").as_bytes(), mode)?;
    }
    let home = layer.path("/home/core");
    std::fs::create_dir_all(&home).map_err(LabFault::file("make", &home))?;
    std::os::unix::fs::chown(&home, Some(CORE), Some(CORE)).map_err(LabFault::file("change", &home))
}
