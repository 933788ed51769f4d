//! containerd's configuration from schema 2 to schema 3, as `containerd config migrate` turns it: what moved is moved, and
//! every default of the version is written out.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Surroundings;
use super::toml_text::{self, lay_over};

const CRI_2: &str = "io.containerd.grpc.v1.cri";
const IMAGES: &str = "io.containerd.cri.v1.images";
const RUNTIME: &str = "io.containerd.cri.v1.runtime";

/// Settings that went to the plugin for images.
const OF_IMAGES: [&str; 6] = [
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
];
const OF_IMAGES_IN_CONTAINERD: [&str; 3] =
    ["snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers"];

/// Settings of the server that streams to and from containers, which stay where they are.
const OF_STREAMING: [&str; 6] = [
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
];

/// A runtime of which nothing is said; the runtime of the defaults says more.
const RUNTIME_FIELDS: &str = "base_runtime_spec = ''\ncni_conf_dir = ''\ncni_max_conf_num = 0\n\
    container_annotations = []\nio_type = ''\npod_annotations = []\nprivileged_without_host_devices = false\n\
    privileged_without_host_devices_all_devices_allowed = false\nruntime_path = ''\nsandboxer = ''\nsnapshotter = ''\n";

/// The same for what stands beside the plugins.
const OTHER_FIELDS: [(&str, &str); 2] = [
    ("proxy_plugins", "type = ''\naddress = ''\nplatform = ''\ncapabilities = []\n"),
    ("stream_processors", "accepts = []\nreturns = ''\npath = ''\nargs = []\nenv = []\n"),
];

/// The defaults of containerd 2.0, and what each later version adds.
const DEFAULTS: [(u32, &str); 3] = [
    (0, include_str!("../../data/containerd-2.0.toml")),
    (1, include_str!("../../data/containerd-2.1.toml")),
    (2, include_str!("../../data/containerd-2.2.toml")),
];

/// Tables that containerd has as maps: it writes what is in them by name.
const MAPS: [&str; 6] = ["options", "plugins", "proxy_plugins", "runtimes", "stream_processors", "timeouts"];

/// The whole as containerd writes it: in the order of its own fields, tables indented.
pub(super) fn written(table: &Table) -> String {
    let mut ranks: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut add = |path: Vec<String>| {
        let rank = ranks.len();
        ranks.entry(path).or_insert(rank);
    };
    for (_, text) in DEFAULTS {
        ranked(text, &[], &mut add);
    }
    for (section, fields) in OTHER_FIELDS {
        ranked(fields, &[section, "*"], &mut add);
    }
    let rank = |path: &[&str], key: &str| -> usize {
        if path.last().is_some_and(|last| MAPS.contains(last)) {
            return 0;
        }
        let whole: Vec<&str> = path.iter().copied().chain([key]).collect();
        ranks.get(&general(&whole)).copied().unwrap_or(usize::MAX)
    };
    toml_text::in_order(table, &rank)
}

/// The keys of a text and the tables that they are in, as they follow each other.
fn ranked(text: &str, within: &[&str], add: &mut impl FnMut(Vec<String>)) {
    let mut table: Vec<String> = within.iter().map(|key| (*key).to_owned()).collect();
    for line in text.lines() {
        let header = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if let (Some(_), Ok(mut parsed)) = (header, line.parse::<Table>()) {
            table.clear();
            while let Some((key, inner)) = parsed.into_iter().next() {
                table.push(key);
                let whole: Vec<&str> = table.iter().map(String::as_str).collect();
                add(general(&whole));
                parsed = if let Value::Table(inner) = inner { inner } else { Table::new() };
            }
        } else if let Some((key, _)) = line.split_once(" = ") {
            let whole: Vec<&str> = table.iter().map(String::as_str).chain([key.trim_matches('\'')]).collect();
            add(general(&whole));
        }
    }
}

/// A path for which one of these maps' members stands for all.
fn general(path: &[&str]) -> Vec<String> {
    let is_member = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| path.get(before));
        before.is_some_and(|map| matches!(*map, "runtimes" | "proxy_plugins" | "stream_processors"))
    };
    let member = |(index, key): (usize, &&str)| if is_member(index) { "*" } else { key }.to_owned();
    path.iter().enumerate().map(member).collect()
}

/// The same in schema 3.
pub(super) fn migrated(mut table: Table, around: &Surroundings) -> Table {
    let minor = around.containerd_version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let schema = table.get("version").and_then(Value::as_integer).unwrap_or_default();
    if schema < 3
        && let Some(Value::Table(plugins)) = table.get_mut("plugins")
    {
        move_settings(plugins, minor.is_some_and(|minor| minor >= 1));
    }
    table.insert("version".to_owned(), Value::Integer(3));
    // Of a version that is not known, the defaults are left to containerd itself.
    let Some(minor) = minor.filter(|minor| DEFAULTS.iter().any(|(known, _)| known == minor)) else {
        return table;
    };
    let mut whole = defaults(minor, around);
    with_all_fields(&mut table, minor);
    // What is imported is added to what containerd imports by itself.
    if let (Some(Value::Array(own)), Some(Value::Array(given))) =
        (whole.get("imports"), table.get_mut("imports"))
    {
        given.splice(0..0, own.iter().cloned());
    }
    forget_disabled(&mut whole, &table);
    lay_over(&mut whole, table);
    whole
}

/// The defaults of a plugin that is turned off are not written.
fn forget_disabled(whole: &mut Table, given: &Table) {
    let disabled = given.get("disabled_plugins").and_then(Value::as_array);
    if let Some(Value::Table(plugins)) = whole.get_mut("plugins") {
        for name in disabled.into_iter().flatten().filter_map(Value::as_str) {
            plugins.remove(name);
        }
    }
}

fn move_settings(plugins: &mut Table, has_directories: bool) {
    let Some(Value::Table(old)) = plugins.remove(CRI_2) else { return };
    let mut images = taken(plugins, IMAGES);
    let mut runtime = taken(plugins, RUNTIME);
    let mut streaming = Table::new();
    if let Some(image) = old.get("sandbox_image") {
        let pinned = images.entry("pinned_images").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(pinned) = pinned {
            pinned.insert("sandbox".to_owned(), image.clone());
        }
    }
    for (key, value) in old {
        match (key.as_str(), value) {
            ("sandbox_image", _) => {}
            ("containerd", Value::Table(containerd)) => {
                move_containerd(containerd, &mut images, &mut runtime);
            }
            (name, value) if OF_IMAGES.contains(&name) => {
                images.insert(key, value);
            }
            (name, value) if OF_STREAMING.contains(&name) => {
                streaming.insert(key, value);
            }
            ("cni", Value::Table(mut cni)) if has_directories => {
                if let Some(directory) = cni.remove("bin_dir") {
                    cni.entry("bin_dirs").or_insert_with(|| Value::Array(vec![directory]));
                }
                runtime.entry("cni").or_insert(Value::Table(cni));
            }
            (_, value) => {
                runtime.entry(key).or_insert(value);
            }
        }
    }
    plugins.insert(CRI_2.to_owned(), Value::Table(streaming));
    plugins.insert(IMAGES.to_owned(), Value::Table(images));
    plugins.insert(RUNTIME.to_owned(), Value::Table(runtime));
}

fn move_containerd(containerd: Table, images: &mut Table, runtime: &mut Table) {
    let mut rest = taken(runtime, "containerd");
    for (key, mut value) in containerd {
        if OF_IMAGES_IN_CONTAINERD.contains(&key.as_str()) {
            images.insert(key, value);
            continue;
        }
        if key == "runtimes"
            && let Value::Table(runtimes) = &mut value
        {
            for one in runtimes.iter_mut().filter_map(|(_, one)| one.as_table_mut()) {
                if !one.contains_key("sandboxer")
                    && let Some(mode) = one.remove("sandbox_mode")
                {
                    one.insert("sandboxer".to_owned(), mode);
                }
            }
        }
        rest.entry(key).or_insert(value);
    }
    runtime.insert("containerd".to_owned(), Value::Table(rest));
}

fn taken(table: &mut Table, key: &str) -> Table {
    match table.remove(key) {
        Some(Value::Table(inner)) => inner,
        _ => Table::new(),
    }
}

fn defaults(minor: u32, around: &Surroundings) -> Table {
    let mut whole = Table::new();
    for (_, text) in DEFAULTS.iter().filter(|(known, _)| *known <= minor) {
        lay_over(&mut whole, text.parse().unwrap_or_default());
    }
    if minor >= 1 {
        whole.remove("plugin_dir");
    }
    let platform = match around.architecture {
        bringup_spec::Architecture::X86_64 => "linux/amd64",
        bringup_spec::Architecture::Aarch64 => "linux/arm64",
    };
    if let Some(Value::Table(task)) =
        whole.get_mut("plugins").and_then(|plugins| plugins.get_mut("io.containerd.runtime.v2.task"))
    {
        task.insert("platforms".to_owned(), Value::Array(vec![platform.into()]));
    }
    whole
}

/// Runtimes beside the one of the defaults, and plugins of other processes, are written with all of their fields.
fn with_all_fields(table: &mut Table, minor: u32) {
    for (section, fields) in OTHER_FIELDS {
        let Some(Value::Table(given)) = table.get_mut(section) else { continue };
        for (_, one) in given {
            fill(one, fields.parse().unwrap_or_default());
        }
    }
    let runtimes = table
        .get_mut("plugins")
        .and_then(|plugins| plugins.get_mut(RUNTIME))
        .and_then(|plugin| plugin.get_mut("containerd"))
        .and_then(|containerd| containerd.get_mut("runtimes"));
    let Some(Value::Table(runtimes)) = runtimes else { return };
    for (_, given) in runtimes.iter_mut().filter(|(name, _)| *name != "runc") {
        let mut fields: Table = RUNTIME_FIELDS.parse().unwrap_or_default();
        if minor >= 1 {
            fields.insert("cgroup_writable".to_owned(), Value::Boolean(false));
        }
        fill(given, fields);
    }
}

/// Lays what is given over all fields that there are.
fn fill(given: &mut Value, mut fields: Table) {
    if let Value::Table(given) = given {
        lay_over(&mut fields, std::mem::take(given));
        *given = fields;
    }
}
