//! What the lab needs of the machine that it runs on.

use std::path::Path;

use crate::LabFault;

/// Programs, and the Debian packages that bring them.
const NEEDED: [(&str, &str); 6] = [
    ("systemd-nspawn", "systemd-container"),
    ("mmdebstrap", "mmdebstrap"),
    ("unshare", "util-linux"),
    ("ip", "iproute2"),
    ("journalctl", "systemd"),
    ("mount", "mount"),
];

/// What is missing, as an error that says how to get it.
pub fn missing() -> Option<LabFault> {
    if !rustix::process::geteuid().is_root() {
        return Some(LabFault::NotRoot);
    }
    let absent: Vec<_> = NEEDED.iter().filter(|(program, _)| !is_there(program)).collect();
    if absent.is_empty() {
        return None;
    }
    let mut packages: Vec<String> = absent.iter().map(|(_, package)| (*package).to_owned()).collect();
    packages.dedup();
    Some(LabFault::Missing {
        missing: absent.iter().map(|(program, _)| (*program).to_owned()).collect(),
        packages,
    })
}

fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| Path::new(folder).join(program).is_file())
}
