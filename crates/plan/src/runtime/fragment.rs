//! The operator's fragment of containerd's configuration beside ours: what containerd would not start with, or pass over.

use toml::{Table, Value};

use super::containerd::{CRI_2, IMAGES_3, RUNTIME_3};
use crate::codes;
use crate::context::Context;

/// A plugin of the other schema than the one that the text is written in, and that schema.
pub(super) fn stranger(fragment: &Table, schema: i64) -> Option<(&str, i64)> {
    let plugins = fragment.get("plugins")?.as_table()?;
    let own = |name: &str, plugin: &Value| match name {
        // In schema 3 it still has the server that streams.
        CRI_2 if plugin.as_table()?.keys().any(|key| !is_of_streaming(key)) => Some(2),
        name if name.starts_with("io.containerd.cri.v1.") => Some(3),
        _ => None,
    };
    let mut owned = plugins.iter().filter_map(|(name, plugin)| Some((name.as_str(), own(name, plugin)?)));
    owned.find(|(_, other)| *other != schema && matches!(schema, 2 | 3))
}

/// Whether a setting is about the server that streams to and from containers.
fn is_of_streaming(key: &str) -> bool {
    matches!(key, "disable_tcp_service" | "enable_tls_streaming" | "x509_key_pair_streaming")
        || key.starts_with("stream_")
}

/// Takes out of our configuration what containerd would not start with beside the fragment: registries are described
/// either in files or in place, and the directories of CNI by one key or by the other.
pub(super) fn make_room(base: &mut Table, fragment: &Table) {
    let Some(plugins) = base.get_mut("plugins").and_then(Value::as_table_mut) else { return };
    for (name, plugin) in plugins {
        let Some(given) = fragment.get("plugins").and_then(|plugins| plugins.get(name)) else { continue };
        let mut remove = |section: &str, key: &str| {
            plugin.get_mut(section).and_then(Value::as_table_mut).map(|section| section.remove(key))
        };
        if given.get("registry").is_some_and(describes_registries) {
            remove("registry", "config_path");
        }
        if given.get("cni").is_some_and(|cni| cni.get("bin_dirs").is_some()) {
            remove("cni", "bin_dir");
        }
    }
}

fn describes_registries(registry: &Value) -> bool {
    let secured = |configs: &Table| configs.values().any(|host| host.get("tls").is_some());
    registry.get("mirrors").is_some()
        || registry.get("configs").and_then(Value::as_table).is_some_and(secured)
}

/// Says what would keep containerd from serving kubelet.
pub(super) fn check_usable(context: &mut Context<'_>, config: &Table) {
    let path = context.at(["runtime", "config"]);
    let disabled = config.get("disabled_plugins").and_then(Value::as_array).into_iter().flatten();
    let serves_kubelet = |name: &&str| matches!(*name, "cri" | CRI_2 | IMAGES_3 | RUNTIME_3);
    if let Some(plugin) = disabled.filter_map(Value::as_str).find(serves_kubelet) {
        context.error(
            codes::RUNTIME_UNUSABLE,
            &path,
            format!("`disabled_plugins` turns off `{plugin}`, which kubelet speaks to"),
            format!("take `{plugin}` out of `disabled_plugins`"),
        );
    }
    let plugin = |name: &str| config.get("plugins").and_then(|plugins| plugins.get(name));
    let said = |value: Option<&Value>| value.is_some_and(|value| value.as_str() != Some(""));
    let is_doubled = |registry: &Value| said(registry.get("config_path")) && describes_registries(registry);
    if [CRI_2, IMAGES_3]
        .iter()
        .any(|name| plugin(name).and_then(|it| it.get("registry")).is_some_and(is_doubled))
    {
        let message = "registries are described here and in the files of `config_path`: containerd refuses both together";
        context.error(codes::RUNTIME_UNUSABLE, &path, message, "keep one of the two");
    }
    for name in [CRI_2, RUNTIME_3] {
        let section = |key: &str| plugin(name).and_then(|plugin| plugin.get(key));
        if section("cni").is_some_and(|cni| said(cni.get("bin_dir")) && cni.get("bin_dirs").is_some()) {
            let message = "containerd refuses `bin_dir` and `bin_dirs` together";
            context.error(codes::RUNTIME_UNUSABLE, &path, message, "keep one of the two");
        }
        let Some(containerd) = section("containerd") else { continue };
        let default = containerd.get("default_runtime_name").and_then(Value::as_str).unwrap_or("runc");
        if containerd.get("runtimes").and_then(|runtimes| runtimes.get(default)).is_some() {
            continue;
        }
        let hint =
            format!("describe it under `containerd.runtimes.{default}`, or remove `default_runtime_name`");
        let imports = config.get("imports").and_then(Value::as_array);
        if imports.is_some_and(|imports| !imports.is_empty()) {
            let message =
                format!("the default runtime `{default}` is described nowhere, unless in what is imported");
            context.warning(codes::RUNTIME_UNUSABLE, &path, message, hint);
        } else {
            let message = format!("the default runtime `{default}` is described nowhere");
            context.error(codes::RUNTIME_UNUSABLE, &path, message, hint);
        }
    }
}
