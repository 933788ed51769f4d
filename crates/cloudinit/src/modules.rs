//! What modules other than those of files and commands are told to do, for people to read.

use serde::Serialize;

use crate::data::{Datum, Value};
use crate::effects::Stage;

/// A module that acts on a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleAct {
    /// When.
    pub stage: Stage,
    /// The key of the configuration.
    pub key: &'static str,
    /// What it does, in a few words.
    pub does: String,
}

/// Keys in the order in which Debian's cloud-init 22.4 runs their modules.
const MODULES: [(Stage, &str, &str); 26] = [
    (Stage::Init, "random_seed", "seeds the random number generator"),
    (Stage::Init, "growpart", "grows the root partition"),
    (Stage::Init, "resize_rootfs", "grows the root file system"),
    (Stage::Init, "disk_setup", "partitions disks"),
    (Stage::Init, "fs_setup", "makes file systems"),
    (Stage::Init, "mounts", "writes /etc/fstab and mounts"),
    (Stage::Init, "swap", "makes a swap file"),
    (Stage::Init, "hostname", "sets the host name"),
    (Stage::Init, "fqdn", "sets the host name"),
    (Stage::Init, "manage_etc_hosts", "writes /etc/hosts"),
    (Stage::Init, "ca_certs", "installs certificate authorities"),
    (Stage::Init, "ca-certs", "installs certificate authorities"),
    (Stage::Init, "rsyslog", "configures rsyslog"),
    (Stage::Init, "groups", "makes groups"),
    (Stage::Init, "users", "makes users"),
    (Stage::Init, "ssh_authorized_keys", "installs keys for the default user"),
    (Stage::Config, "snap", "installs snaps and runs their commands"),
    (Stage::Config, "locale", "sets the locale"),
    (Stage::Config, "chpasswd", "sets passwords"),
    (Stage::Config, "apt", "configures apt"),
    (Stage::Config, "yum_repos", "configures yum"),
    (Stage::Config, "ntp", "configures time synchronisation"),
    (Stage::Config, "timezone", "sets the time zone"),
    (Stage::Final, "package_upgrade", "upgrades all packages"),
    (Stage::Final, "packages", "installs packages"),
    (Stage::Final, "phone_home", "posts to a URL"),
];

/// What the configuration tells them.
pub(crate) fn acts(config: &Datum) -> Vec<ModuleAct> {
    let asked =
        |key: &str| config.get(key).filter(|value| !matches!(value.value, Value::Null | Value::Bool(false)));
    let mut acts = Vec::new();
    for (stage, key, does) in MODULES {
        let Some(value) = asked(key) else { continue };
        let does = match (key, value.items()) {
            ("packages", Some(items)) => {
                format!("{does}: {}", items.iter().map(package).collect::<Vec<_>>().join(" "))
            }
            _ => does.to_owned(),
        };
        acts.push(ModuleAct { stage, key, does });
    }
    if let Some(does) = config.get("power_state").and_then(shutdown) {
        acts.push(ModuleAct { stage: Stage::Final, key: "power_state", does });
    }
    acts
}

/// A name, or a name and a version.
fn package(item: &Datum) -> String {
    match item.items() {
        Some(words) => words.iter().map(Datum::python_str).collect::<Vec<_>>().join("="),
        None => item.python_str(),
    }
}

/// The command that `power_state` runs when everything else is done.
fn shutdown(state: &Datum) -> Option<String> {
    let flag = match state.get("mode").and_then(Datum::text)? {
        "halt" => "-H",
        "poweroff" => "-P",
        "reboot" => "-r",
        _ => return None,
    };
    let delay = state.get("delay").map_or_else(|| "now".to_owned(), Datum::python_str);
    let delay = match delay.strip_prefix('+').unwrap_or(&delay).parse::<u32>() {
        Ok(minutes) => format!("+{minutes}"),
        Err(_) => delay,
    };
    let message = state.get("message").filter(|message| message.value != Value::Null);
    let message = message.map_or_else(String::new, |message| format!(" {}", message.python_str()));
    Some(format!("runs `shutdown {flag} {delay}{message}` last"))
}
