//! What modules other than those of files and commands are told to do, for people to read.

use serde::Serialize;

use crate::data::{Datum, Value};
use crate::effects::Stage;
use crate::schedule::Run;

/// A module that acts on a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleAct {
    /// When.
    pub stage: Stage,
    /// The key of the configuration.
    #[serde(rename = "module")]
    pub key: &'static str,
    /// What it does, in a few words.
    pub does: String,
    /// So many of the user's commands start before it.
    #[serde(rename = "afterSteps")]
    pub commands_before: usize,
}

/// Modules, the keys that they read and what they do.
const MODULES: [(&str, &str, &str); 26] = [
    ("seed_random", "random_seed", "seeds the random number generator"),
    ("growpart", "growpart", "grows the root partition"),
    ("resizefs", "resize_rootfs", "grows the root file system"),
    ("disk_setup", "disk_setup", "partitions disks"),
    ("disk_setup", "fs_setup", "makes file systems"),
    ("mounts", "mounts", "writes /etc/fstab and mounts"),
    ("mounts", "swap", "makes a swap file"),
    ("set_hostname", "hostname", "sets the host name"),
    ("set_hostname", "fqdn", "sets the host name"),
    ("update_etc_hosts", "manage_etc_hosts", "writes /etc/hosts"),
    ("ca_certs", "ca_certs", "installs certificate authorities"),
    ("ca_certs", "ca-certs", "installs certificate authorities"),
    ("rsyslog", "rsyslog", "configures rsyslog"),
    ("users_groups", "groups", "makes groups"),
    ("users_groups", "users", "makes users"),
    ("ssh", "ssh_authorized_keys", "installs keys for the default user"),
    ("snap", "snap", "installs snaps and runs their commands"),
    ("locale", "locale", "sets the locale"),
    ("set_passwords", "chpasswd", "sets passwords"),
    ("apt_configure", "apt", "configures apt"),
    ("yum_add_repo", "yum_repos", "configures yum"),
    ("ntp", "ntp", "configures time synchronisation"),
    ("timezone", "timezone", "sets the time zone"),
    ("package_update_upgrade_install", "package_upgrade", "upgrades all packages"),
    ("package_update_upgrade_install", "packages", "installs packages"),
    ("phone_home", "phone_home", "posts to a URL"),
];

/// What the configuration tells those that run, in their order; each with the number of commands that start before it.
pub(crate) fn acts<'runs>(
    config: &Datum,
    runs: impl IntoIterator<Item = (&'runs Run, usize)>,
) -> Vec<ModuleAct> {
    let asked =
        |key: &str| config.get(key).filter(|value| !matches!(value.value, Value::Null | Value::Bool(false)));
    let mut acts = Vec::new();
    for (run, commands_before) in runs {
        let stage = run.stage;
        for (_, key, does) in MODULES.iter().filter(|(module, ..)| *module == run.module) {
            let Some(value) = asked(key) else { continue };
            let does = match (*key, value.items()) {
                ("packages", Some(items)) => {
                    format!("{does}: {}", items.iter().map(package).collect::<Vec<_>>().join(" "))
                }
                // Which of several parts has won is seen by the value.
                ("hostname" | "fqdn" | "locale" | "timezone", None) => {
                    format!("{does}: {}", value.python_str())
                }
                _ => (*does).to_owned(),
            };
            acts.push(ModuleAct { stage, key, does, commands_before });
        }
        if run.module == "power_state_change"
            && let Some(does) = config.get("power_state").and_then(shutdown)
        {
            acts.push(ModuleAct { stage, key: "power_state", does, commands_before });
        }
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
