//! Which units of a config a machine starts: those that are enabled, and those that they want.

use std::collections::BTreeSet;

use bringup_yaml::Node;

use super::node_units::{BOOTSTRAP, KUBELET};
use super::units::Given;
use crate::codes;
use crate::tell::Teller;

/// What brings another unit up with it.
const WANTING: [&str; 4] = ["Wants", "Requires", "BindsTo", "Upholds"];
/// Kinds of units that start another of their name.
const TRIGGERS: [&str; 4] = [".path", ".timer", ".socket", ".automount"];

/// What every boot comes to.
const OF_BOOT: [&str; 8] = [
    "basic.target",
    "default.target",
    "graphical.target",
    "local-fs.target",
    "multi-user.target",
    "network-online.target",
    "network.target",
    "sysinit.target",
];

/// The names of the units that are started.
pub(super) fn started<'a>(given: &'a [Given<'a>], links: &[Node]) -> BTreeSet<&'a str> {
    let is_linked = |name: &str| {
        links.iter().filter_map(|link| link.get("path").and_then(Node::text)).any(|path| {
            let (folder, file) = path.rsplit_once('/').unwrap_or_default();
            file == name
                && folder.rsplit_once('.').is_some_and(|(_, kind)| matches!(kind, "wants" | "requires"))
        })
    };
    let of_boot = |unit: &&Given<'_>| {
        // A unit of the image's, of which the config has a drop-in at most, is the image's to start.
        is_enabled(unit).unwrap_or(!unit.has_contents()) || is_linked(unit.name)
    };
    let mut started: BTreeSet<&str> = given.iter().filter(of_boot).map(|unit| unit.name).collect();
    let mut next: Vec<&str> = started.iter().copied().collect();
    while let Some(name) = next.pop() {
        let Some(by) = given.iter().find(|unit| unit.name == name) else { continue };
        for unit in given.iter().filter(|unit| brings_up(by, unit.name)) {
            if started.insert(unit.name) {
                next.push(unit.name);
            }
        }
    }
    started
}

/// Whether a unit is enabled or not, if the config says so.
fn is_enabled(unit: &Given<'_>) -> Option<bool> {
    unit.fields.flag("enabled").or_else(|| unit.fields.flag("enable"))
}

fn brings_up(by: &Given<'_>, name: &str) -> bool {
    // That a platform needs a cluster does not make a machine start one.
    if by.name.starts_with("tectonic.") && name.starts_with("bootkube.") {
        return false;
    }
    let wants = by.settings.iter().any(|setting| {
        setting.section == "Unit"
            && WANTING.contains(&setting.key.as_str())
            && setting.value.split_whitespace().any(|wanted| wanted == name)
    });
    let stem = TRIGGERS.iter().find_map(|kind| by.name.strip_suffix(kind));
    let named = by.settings.iter().rfind(|setting| setting.section != "Install" && setting.key == "Unit");
    let triggers = match (stem, named) {
        (None, _) => false,
        (Some(_), Some(unit)) => unit.value == name,
        (Some(stem), None) => name.strip_suffix(".service") == Some(stem),
    };
    wants || triggers
}

/// Tells where the agent starts what the config would not, or would by another unit.
pub(super) fn tell(unit: &Given<'_>, started: &BTreeSet<&str>, tell: &mut Teller<'_>) {
    let name = unit.name;
    let is_enabled = is_enabled(unit) == Some(true);
    let installs = || unit.settings.iter().filter(|setting| setting.section == "Install");
    if is_enabled && installs().next().is_none() && unit.has_contents() {
        let message = format!(
            "`{name}` is enabled without an `[Install]`, with which systemd would start it: it is taken to be meant"
        );
        tell.note(
            codes::DIFFERENCE,
            unit.span,
            message,
            "write `[Install]` and `WantedBy=multi-user.target`",
        );
    }
    for setting in installs().filter(|_| is_enabled) {
        for by in setting.value.split_whitespace() {
            if !OF_BOOT.contains(&by) && !started.contains(by) {
                let message = format!(
                    "whether a boot comes to `{by}`, which `{name}` is for, is not known: it is taken to"
                );
                tell.note(codes::DIFFERENCE, setting.span, message, "write `WantedBy=multi-user.target`");
            }
        }
    }
    let does = match name {
        KUBELET => "the gate starts kubelet",
        BOOTSTRAP => "the agent does its work",
        _ => return,
    };
    if !started.contains(name) {
        let message = format!("nothing starts `{name}` in this config, and {does} all the same");
        let hint = "enable the unit, so that both say the same; or give the config of a node that joins";
        tell.warning(codes::FIELD_DIFFERS, unit.span, message, hint);
    } else if !is_enabled && unit.has_contents() {
        let message = format!("`{name}` is not enabled, and other units start it: {does} before them");
        tell.note(codes::DIFFERENCE, unit.span, message, "nothing has to be done");
    }
}
