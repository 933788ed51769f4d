//! What a config does beside files and units: disks, accounts, the kernel's command line, and how it fetches. As steps in
//! the order of Ignition's stages, for people to read.

use std::fmt::Write as _;

use serde_json::Value;

use crate::inspect::StepRecord;

/// The steps of a config of any specification.
pub(super) fn steps(config: &Value) -> Vec<StepRecord> {
    let mut said = Vec::new();
    fetching(config, &mut said);
    for (key, verb) in [("shouldExist", "add"), ("shouldNotExist", "remove")] {
        for argument in texts(config.pointer(&format!("/kernelArguments/{key}"))) {
            said.push(format!("{verb} kernel argument {argument}"));
        }
    }
    for disk in list(config, "/storage/disks") {
        disk_steps(disk, &mut said);
    }
    for raid in list(config, "/storage/raid") {
        let devices = texts(raid.get("devices")).join(", ");
        said.push(format!(
            "make raid {} of level {} from {devices}",
            text(raid, "name"),
            text(raid, "level")
        ));
    }
    for luks in list(config, "/storage/luks") {
        luks_step(luks, &mut said);
    }
    for filesystem in list(config, "/storage/filesystems") {
        filesystem_step(filesystem, &mut said);
    }
    for group in list(config, "/passwd/groups") {
        let verb = if is(group, "shouldExist", false) { "remove" } else { "make" };
        said.push(format!("{verb} group {}{}", text(group, "name"), number(group, "gid")));
    }
    for user in list(config, "/passwd/users") {
        user_step(user, &mut said);
    }
    said.into_iter().map(|run| StepRecord::new("ignition", run)).collect()
}

fn list<'value>(value: &'value Value, pointer: &str) -> &'value [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'value>(value: &'value Value, key: &str) -> &'value str {
    value.get(key).and_then(Value::as_str).unwrap_or("?")
}

fn given<'value>(value: &'value Value, key: &str) -> Option<&'value str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn is(value: &Value, key: &str, truth: bool) -> bool {
    value.get(key) == Some(&Value::Bool(truth))
}

/// ` (gid 500)`, if there is a number.
fn number(value: &Value, key: &str) -> String {
    value.get(key).filter(|number| number.is_number()).map(|id| format!(" ({key} {id})")).unwrap_or_default()
}

fn fetching(config: &Value, said: &mut Vec<String>) {
    for key in ["httpResponseHeaders", "httpTotal"] {
        if let Some(seconds) =
            config.pointer(&format!("/ignition/timeouts/{key}")).filter(|value| value.is_number())
        {
            said.push(format!("fetch with {key} of {seconds} s"));
        }
    }
    for key in ["httpProxy", "httpsProxy"] {
        if let Some(proxy) = config.pointer(&format!("/ignition/proxy/{key}")).and_then(Value::as_str) {
            said.push(format!("fetch with {key} {}", bringup_diag::masked_line(proxy)));
        }
    }
    for authority in list(config, "/ignition/security/tls/certificateAuthorities") {
        let source = text(authority, "source");
        let source = if source.starts_with("data:") { "in the config" } else { source };
        said.push(format!("trust the certificate authority {source}"));
    }
}

fn disk_steps(disk: &Value, said: &mut Vec<String>) {
    let device = text(disk, "device");
    if is(disk, "wipeTable", true) {
        said.push(format!("wipe the partition table of {device}"));
    }
    for partition in list(disk, "/partitions") {
        let number = partition.get("number").and_then(Value::as_i64).unwrap_or(0);
        let which = if number == 0 { "the next partition".to_owned() } else { format!("partition {number}") };
        let label = given(partition, "label").map(|label| format!(" `{label}`")).unwrap_or_default();
        if is(partition, "shouldExist", false) {
            said.push(format!("remove {which}{label} of {device}"));
            continue;
        }
        // 2.x counts sectors in `size` and `start`.
        let measure = |keys: [(&str, &str); 2]| {
            keys.iter().find_map(|(key, unit)| {
                let value = partition.get(*key)?.as_i64()?;
                Some(format!("{value}{unit}"))
            })
        };
        let size =
            measure([("sizeMiB", " MiB"), ("size", " sectors")]).filter(|size| !size.starts_with("0 "));
        let start = measure([("startMiB", " MiB"), ("start", " sectors")]);
        let size = size.unwrap_or_else(|| "all that is left".to_owned());
        let start = start.map(|start| format!(" from {start}")).unwrap_or_default();
        let wipe = if is(partition, "wipePartitionEntry", true) { ", over one that differs" } else { "" };
        said.push(format!("make {which}{label} on {device}: {size}{start}{wipe}"));
    }
}

fn luks_step(luks: &Value, said: &mut Vec<String>) {
    let wipe = if is(luks, "wipeVolume", true) { ", wiping what is there" } else { "" };
    let key = if luks.pointer("/keyFile/source").is_some() {
        "a key file"
    } else if luks.get("clevis").is_some_and(|clevis| !clevis.is_null()) {
        "clevis"
    } else {
        "a key of its own"
    };
    said.push(format!("encrypt {} as {} with {key}{wipe}", text(luks, "device"), text(luks, "name")));
}

fn filesystem_step(filesystem: &Value, said: &mut Vec<String>) {
    // In 2.x, what is made stands beneath `mount`, and a name is for files to refer to.
    let mount = filesystem.get("mount").filter(|mount| mount.is_object()).unwrap_or(filesystem);
    let Some(device) = given(mount, "device") else {
        if let Some(path) = given(filesystem, "path") {
            said.push(format!("take {path} as the file system {}", text(filesystem, "name")));
        }
        return;
    };
    let wipe =
        is(mount, "wipeFilesystem", true) || mount.pointer("/create/force") == Some(&Value::Bool(true));
    let mut run = format!("make {} on {device}", given(mount, "format").unwrap_or("a file system"));
    for (key, word) in [("label", "label"), ("uuid", "uuid")] {
        if let Some(value) = given(mount, key) {
            let _ = write!(run, ", {word} {value}");
        }
    }
    if let Some(path) = given(mount, "path") {
        let _ = write!(run, ", for {path}");
    }
    if let Some(name) = given(filesystem, "name") {
        let _ = write!(run, ", named {name}");
    }
    run.push_str(if wipe { ", wiping what is there" } else { "" });
    said.push(run);
}

fn user_step(user: &Value, said: &mut Vec<String>) {
    let name = text(user, "name");
    if is(user, "shouldExist", false) {
        said.push(format!("remove user {name}"));
        return;
    }
    // In 2.x, what a new user has stands beneath `create`.
    let create = user.get("create").filter(|create| create.is_object()).unwrap_or(user);
    let mut run = format!("make or change user {name}{}", number(create, "uid"));
    let groups = texts(create.get("groups"));
    if !groups.is_empty() {
        let _ = write!(run, ", in groups {}", groups.join(", "));
    }
    for (key, word) in [("homeDir", "home"), ("shell", "shell"), ("primaryGroup", "primary group")] {
        if let Some(value) = given(create, key) {
            let _ = write!(run, ", {word} {value}");
        }
    }
    if given(user, "passwordHash").is_some() {
        run.push_str(", with a password");
    }
    for key in texts(user.get("sshAuthorizedKeys")) {
        let _ = write!(run, ", with key {}", shortened(key));
    }
    said.push(run);
}

/// The kind of a key, its first letters and its comment: enough to know it again.
fn shortened(key: &str) -> String {
    let mut words = key.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let start: String = words.next().unwrap_or_default().chars().take(16).collect();
    let comment: Vec<&str> = words.collect();
    let comment = if comment.is_empty() { String::new() } else { format!(" {}", comment.join(" ")) };
    format!("{kind} {start}…{comment}")
}
