//! Units that user-data writes, and those that its commands enable.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::effects::Step;
use crate::files::File;
use crate::invocations::{invocations, is_for_shell};

/// The directories that systemd loads units of the system from.
const DIRECTORIES: [&str; 4] =
    ["/etc/systemd/system/", "/run/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"];

/// The suffixes of units.
const SUFFIXES: [&str; 10] = [
    ".service",
    ".target",
    ".timer",
    ".path",
    ".socket",
    ".mount",
    ".automount",
    ".swap",
    ".slice",
    ".scope",
];

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unit {
    /// Its name with its suffix.
    pub name: String,
    /// Whether a command enables it, as far as can be seen.
    pub enabled: bool,
}

/// The name of the unit that a file holds, if its path is one of a unit.
pub(crate) fn unit_name(path: &str) -> Option<&str> {
    let name = DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory))?;
    (!name.contains('/') && SUFFIXES.iter().any(|suffix| name.ends_with(suffix))).then_some(name)
}

/// The name of the unit that a drop-in belongs to, if the path is one of a drop-in.
pub(crate) fn drop_in_of(path: &str) -> Option<&str> {
    let rest = DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory))?;
    let (directory, file) = rest.split_once('/')?;
    let has_suffix = std::path::Path::new(file).extension().is_some_and(|suffix| suffix == "conf");
    directory.strip_suffix(".d").filter(|_| has_suffix && !file.contains('/'))
}

/// All units that are written or enabled.
pub(crate) fn units(files: &[File], steps: &[Step]) -> Vec<Unit> {
    let mut units: BTreeMap<String, bool> = BTreeMap::new();
    for file in files {
        if let Some(name) = unit_name(&file.path) {
            units.entry(name.to_owned()).or_default();
        }
    }
    for step in steps {
        for (name, enabled) in switched(step.script.as_deref().unwrap_or(&step.run)) {
            units.insert(name, enabled);
        }
    }
    units.into_iter().map(|(name, enabled)| Unit { name, enabled }).collect()
}

/// The units that the commands of a script enable or disable.
fn switched(script: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let called = if is_for_shell(script) { invocations(script) } else { Vec::new() };
    for called in called.iter().filter(|called| called.program() == "systemctl") {
        let mut words = called.words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let enabled = match words.next().map(String::as_str) {
            Some("enable" | "reenable") => true,
            Some("disable" | "mask") => false,
            _ => continue,
        };
        for name in words {
            let is_name =
                name.chars().all(|letter| letter.is_ascii_alphanumeric() || ":-_.\\@".contains(letter));
            if is_name && !name.is_empty() {
                let suffixed = SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
                found.push((if suffixed { name.clone() } else { format!("{name}.service") }, enabled));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{drop_in_of, switched, unit_name};

    #[test]
    fn what_a_line_enables() {
        let cases: [(&str, &[(&str, bool)]); 7] = [
            ("systemctl enable --now kubelet", &[("kubelet.service", true)]),
            (
                "systemctl daemon-reload && systemctl enable a.timer b",
                &[("a.timer", true), ("b.service", true)],
            ),
            ("'systemctl' 'enable' 'x.path'", &[("x.path", true)]),
            ("systemctl disable docker > /dev/null", &[("docker.service", false)]),
            ("systemctl start kubelet", &[]),
            ("echo enable kubelet", &[]),
            ("sudo /bin/systemctl -q enable getty@tty1.service", &[("getty@tty1.service", true)]),
        ];
        for (line, expected) in cases {
            let found = switched(line);
            let found: Vec<_> = found.iter().map(|(name, enabled)| (name.as_str(), *enabled)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn paths_of_units() {
        assert_eq!(unit_name("/etc/systemd/system/a.service"), Some("a.service"));
        assert_eq!(unit_name("/etc/systemd/system/a.service.d/b.conf"), None);
        assert_eq!(unit_name("/etc/systemd/system/a.conf"), None);
        assert_eq!(drop_in_of("/lib/systemd/system/a.service.d/b.conf"), Some("a.service"));
        assert_eq!(drop_in_of("/etc/systemd/system/a.service"), None);
    }
}
