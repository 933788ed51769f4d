//! Which modules cloud-init runs, when and in which order: Debian's lists, or those that the user-data puts in their place.

use crate::data::{Datum, Value};
use crate::effects::Stage;

/// Debian's lists of cloud-init 22.4, as far as this crate knows what the modules do; yum's is that of Amazon Linux.
const INIT: &[&str] = &[
    "seed_random",
    "bootcmd",
    "write_files",
    "growpart",
    "resizefs",
    "disk_setup",
    "mounts",
    "set_hostname",
    "update_etc_hosts",
    "ca_certs",
    "rsyslog",
    "users_groups",
    "ssh",
];
const CONFIG: &[&str] =
    &["snap", "locale", "set_passwords", "apt_configure", "yum_add_repo", "ntp", "timezone", "runcmd"];
const FINAL: &[&str] = &[
    "package_update_upgrade_install",
    "write_files_deferred",
    "scripts_per_once",
    "scripts_per_boot",
    "scripts_per_instance",
    "scripts_user",
    "phone_home",
    "power_state_change",
];

/// A module that runs.
pub(crate) struct Run {
    /// Its name, with underscores.
    pub module: String,
    pub stage: Stage,
    /// Whether the list says that it runs at every boot.
    pub always: bool,
}

/// The modules in the order in which they run.
pub(crate) fn schedule(config: &Datum) -> Vec<Run> {
    let mut runs = Vec::new();
    for (key, stage, usual) in [
        ("cloud_init_modules", Stage::Init, INIT),
        ("cloud_config_modules", Stage::Config, CONFIG),
        ("cloud_final_modules", Stage::Final, FINAL),
    ] {
        match config.get(key).filter(|list| list.value != Value::Null) {
            None => runs.extend(usual.iter().map(|module| Run {
                module: (*module).to_owned(),
                stage,
                always: false,
            })),
            Some(list) => match list.items() {
                Some(items) => runs.extend(items.iter().filter_map(|item| run(item, stage))),
                None => runs.extend(run(list, stage)),
            },
        }
    }
    runs
}

/// `name`, `[name, frequency]` or `{name: …, frequency: …}`.
fn run(item: &Datum, stage: Stage) -> Option<Run> {
    let (name, frequency) = match &item.value {
        Value::Text(name) => (name.clone(), None),
        Value::List(words) => (words.first()?.python_str(), words.get(1).map(Datum::python_str)),
        Value::Map(_) => (item.get("name")?.python_str(), item.get("frequency").map(Datum::python_str)),
        _ => return None,
    };
    let name = name.trim().to_lowercase().replace('-', "_");
    let module = name.strip_prefix("cc_").unwrap_or(&name).to_owned();
    Some(Run { module, stage, always: frequency.as_deref() == Some("always") })
}
