//! What the lab needs of the machine that it runs on.

use std::path::Path;

use crate::{LabFault, Way, ignition};

/// Programs, and the Debian packages that bring them.
const NEEDED: [(&str, &str); 9] = [
    ("systemd-nspawn", "systemd-container"),
    ("mmdebstrap", "mmdebstrap"),
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("setpriv", "util-linux"),
    ("ip", "iproute2"),
    ("journalctl", "systemd"),
    ("mount", "mount"),
    (ignition::PROGRAM, "ignition"),
];

/// What is missing for a carrier that gets in this way, as an error that says how to get it.
pub fn missing(way: Way) -> Option<LabFault> {
    let needed = NEEDED.iter().filter(|(program, _)| way == Way::Ignition || *program != ignition::PROGRAM);
    let mut packages: Vec<String> =
        needed.filter(|(program, _)| !is_there(program)).map(|(_, package)| (*package).to_owned()).collect();
    packages.dedup();
    let root = !rustix::process::geteuid().is_root();
    (root || !packages.is_empty()).then_some(LabFault::Missing { root, packages })
}

fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| Path::new(folder).join(program).is_file())
}
