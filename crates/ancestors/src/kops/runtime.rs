//! The container runtime: kops' `containerd` and `docker`.

use std::fmt::Write as _;

use bringup_diag::Span;
use bringup_yaml::{Entry, Node, Resolved};

use super::kubelet::{Settings, value};
use super::runtime_fields::{CONTAINERD, DAEMON_KEYS, DOCKER, NRI};
use super::software;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Where containerd looks for settings of registries.
const REGISTRIES: &str = "/etc/containerd/certs.d";

/// The settings of containerd, of a cluster or of a group.
pub(super) fn containerd_settings(node: Option<&Node>, what: &str, tell: &mut Teller<'_>) -> Settings {
    let Some(node) = node else { return Vec::new() };
    tell.record(node, what, CONTAINERD);
    if let Some(nri) = node.get("nri") {
        tell.record(nri, "`nri` of kops' containerd", NRI);
    }
    software::account_for(node, tell);
    let known = |entry: &&Entry| {
        CONTAINERD.iter().any(|(name, _)| *name == entry.key)
            && !is_nothing(&entry.value)
            && entry.value.text() != Some("")
    };
    node.entries().unwrap_or_default().iter().filter(known).cloned().collect()
}

/// What the runtime adds to a group.
pub(super) struct Runtime {
    /// `runtime`.
    pub(super) settings: Node,
    /// Files of mirrors.
    pub(super) files: Vec<Node>,
}

/// containerd.
pub(super) fn containerd(
    settings: &[Entry],
    sandbox: &Node,
    (minor, is_nvidia): (Option<u16>, bool),
    span: Span,
    tell: &mut Teller<'_>,
) -> Runtime {
    let mut runtime = Branch::new(span);
    let version = value(settings, "version");
    let plain_version = version.map(|node| text(node.span, unmarked(node)));
    runtime.put_some("version", plain_version);
    runtime.put("sandboxImage", value(settings, "sandboxImage").unwrap_or(sandbox).clone());
    let schema_3 = match version.and_then(Node::text) {
        _ if names_old_plugin(settings) => false,
        Some(version) => !version.trim_start_matches('v').starts_with("1."),
        None => software::is_current(minor),
    };
    let mut files = Vec::new();
    if let Some(whole) = value(settings, "configOverride") {
        let message =
            "kops takes this as all of containerd's configuration; here it is laid over what the node needs";
        tell.note(
            codes::DIFFERENCE,
            whole.span,
            message,
            "nothing has to be done, unless it leaves something out on purpose",
        );
        runtime.put("config", whole.clone());
        beside_override(settings, tell);
    } else {
        let config = fragment(settings, schema_3, is_nvidia, tell);
        if !config.is_empty() {
            let place = settings.first().map_or(span, |entry| entry.value.span);
            runtime.put("config", text(place, config));
        }
        files = mirrors(settings);
    }
    Runtime { settings: runtime.into_node(), files }
}

/// What goes into the configuration that kops writes where none is given.
const REPLACED: [&str; 4] = ["configAdditions", "nri", "registryMirrors", "selinuxEnabled"];

/// What kops says to containerd in flags, whatever its configuration is.
const FLAGS: [&str; 4] = ["address", "logLevel", "root", "state"];

/// Tells of settings beside a configuration of one's own.
fn beside_override(settings: &[Entry], tell: &mut Teller<'_>) {
    for Entry { key, key_span, .. } in settings {
        if REPLACED.contains(&key.as_str()) {
            let message = format!("`{key}` has no effect beside `configOverride`, with kops as here");
            let hint = "write it into the configuration, or take it away";
            tell.note(codes::DIFFERENCE, *key_span, message, hint);
        } else if FLAGS.contains(&key.as_str()) {
            let message = format!("`{key}` is not carried out beside `configOverride`: the node will differ");
            tell.warning(codes::FIELD_DIFFERS, *key_span, message, "write it into the configuration");
        }
    }
}

fn unmarked(node: &Node) -> String {
    node.text().unwrap_or_default().trim_start_matches('v').to_owned()
}

/// The plugin of pods, by its name before containerd 2.
const OLD_PLUGIN: &str = "io.containerd.grpc.v1.cri";

/// Whether what is added to containerd's configuration calls the plugin of pods by its old name.
fn names_old_plugin(settings: &[Entry]) -> bool {
    let added = value(settings, "configAdditions").and_then(Node::entries).unwrap_or_default();
    added.iter().any(|entry| entry.key.contains(OLD_PLUGIN))
}

/// Lines of TOML, one for each key: of two the later counts, in the place of the first.
#[derive(Default)]
struct Lines(Vec<(String, String)>);

impl Lines {
    fn put(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => self.0.push((key, value)),
        }
    }

    fn into_text(self) -> String {
        self.0.into_iter().fold(String::new(), |mut toml, (key, value)| {
            let _ = writeln!(toml, "{key} = {value}");
            toml
        })
    }
}

/// The key of how much containerd says. kops always gives it as a flag.
const LEVEL: &str = "debug.level";

/// What is said of containerd, as TOML.
fn fragment(settings: &[Entry], schema_3: bool, is_nvidia: bool, tell: &mut Teller<'_>) -> String {
    let mut lines = Lines::default();
    let plugin = quoted(if schema_3 { "io.containerd.cri.v1.runtime" } else { OLD_PLUGIN });
    // With kops these are flags, which go before what the file says.
    let mut flags = vec![LEVEL];
    for (setting, key) in
        [("root", "root"), ("state", "state"), ("address", "grpc.address"), ("logLevel", LEVEL)]
    {
        if let Some(word) = value(settings, setting).and_then(Node::text) {
            lines.put(key, quoted(word));
            flags.push(key);
        }
    }
    let truth = |node: &Node| node.scalar().map(bringup_yaml::Scalar::core) == Some(Resolved::Bool(true));
    if value(settings, "selinuxEnabled").is_some_and(truth) {
        lines.put(format!("plugins.{plugin}.enable_selinux"), "true");
    }
    if is_nvidia {
        let runtime = format!("plugins.{plugin}.containerd.runtimes.nvidia");
        for (key, value) in [
            ("runtime_type", "\"io.containerd.runc.v2\""),
            ("privileged_without_host_devices", "false"),
            ("options.SystemdCgroup", "true"),
            ("options.BinaryName", "\"/usr/bin/nvidia-container-runtime\""),
        ] {
            lines.put(format!("{runtime}.{key}"), value);
        }
    }
    if let Some(nri) = value(settings, "nri").filter(|nri| nri.get("enabled").is_none_or(truth)) {
        let plugin = format!("plugins.{}", quoted("io.containerd.nri.v1.nri"));
        lines.put(format!("{plugin}.disable"), "false");
        for (theirs, ours) in [
            ("pluginRegistrationTimeout", "plugin_registration_timeout"),
            ("pluginRequestTimeout", "plugin_request_timeout"),
        ] {
            if let Some(time) = nri.get(theirs).and_then(Node::text) {
                lines.put(format!("{plugin}.{ours}"), quoted(time));
            }
        }
    }
    let mut additions =
        value(settings, "configAdditions").and_then(Node::entries).unwrap_or_default().to_vec();
    additions.sort_by(|one, other| one.key.cmp(&other.key));
    for entry in &additions {
        let key = dotted(&entry.key);
        if flags.contains(&key.as_str()) {
            let message = format!(
                "`{key}` of `configAdditions` counts for nothing: kops gives it to containerd as a flag, which goes before it"
            );
            let hint = "remove it; the level is `logLevel` of the group's `containerd`";
            tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
            continue;
        }
        let value = match entry.value.scalar().map(bringup_yaml::Scalar::core) {
            Some(Resolved::Integer(number)) => number.to_string(),
            Some(Resolved::Bool(value)) => value.to_string(),
            // kops takes these two words for truth values even in quotes.
            _ => match entry.value.text().unwrap_or_default() {
                word @ ("true" | "false") => word.to_owned(),
                word => quoted(word),
            },
        };
        lines.put(key, value);
    }
    lines.into_text()
}

/// The settings of a cluster, but for how much containerd says: that kops decides, and a group.
pub(super) fn of_cluster(mut settings: Settings, tell: &mut Teller<'_>) -> Settings {
    settings.retain(|entry| {
        if entry.key != "logLevel" {
            return true;
        }
        if entry.value.text() != Some("info") {
            let message =
                "`logLevel` of containerd of kops' Cluster counts for nothing: kops sets `info`, and so it is here";
            let hint = "remove it, or write it in `containerd` of a group, where it counts";
            tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
        }
        false
    });
    settings
}

/// A path of kops, whose parts are parted by dots and quoted where they have dots of their own, as a key of TOML.
fn dotted(path: &str) -> String {
    let (mut parts, mut part, mut inside) = (Vec::new(), String::new(), false);
    for letter in path.chars() {
        match letter {
            '"' => inside = !inside,
            '.' if !inside => parts.push(std::mem::take(&mut part)),
            letter => part.push(letter),
        }
    }
    parts.push(part);
    let bare = |part: &String| {
        !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    let parts: Vec<String> =
        parts.iter().map(|part| if bare(part) { part.clone() } else { quoted(part) }).collect();
    parts.join(".")
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// One file for each registry that has mirrors; their order is that of preference.
fn mirrors(settings: &[Entry]) -> Vec<Node> {
    let mut files = Vec::new();
    for entry in value(settings, "registryMirrors").and_then(Node::entries).unwrap_or_default() {
        let mut hosts = String::new();
        for mirror in entry.value.items().unwrap_or_default().iter().filter_map(Node::text) {
            let _ = writeln!(hosts, "[host.{}]\n  capabilities = [\"pull\", \"resolve\"]\n", quoted(mirror));
        }
        let registry = if entry.key == "*" { "_default" } else { &entry.key };
        let mut file = Branch::new(entry.key_span);
        file.put("path", text(entry.key_span, format!("{REGISTRIES}/{registry}/hosts.toml")));
        file.put("content", text(entry.value.span, hosts));
        file.put("mode", text(entry.key_span, "0644"));
        files.push(file.into_node());
    }
    files
}

/// docker, for Kubernetes below 1.24.
pub(super) fn docker(record: Option<Record<'_>>, sandbox: Option<&Node>, span: Span) -> Node {
    let mut runtime = Branch::new(span);
    runtime.put("name", text(span, "docker"));
    runtime.put_some("sandboxImage", sandbox.cloned());
    let Some(record) = record else { return runtime.into_node() };
    runtime.put_some("version", record.get("version").map(|node| text(node.span, unmarked(node))));
    let mut daemon = Branch::new(span);
    for (field, key) in DAEMON_KEYS {
        daemon.put_some(key, record.get(field).cloned());
    }
    let options =
        record.items("logOpt").iter().filter_map(|node| Some((node, node.text()?.split_once('=')?)));
    let mut log = Branch::new(span);
    for (node, (name, value)) in options {
        log.put(name, text(node.span, value));
    }
    daemon.put_full("log-opts", log.into_node());
    runtime.put_full("dockerConfig", daemon.into_node());
    runtime.into_node()
}

/// The settings of docker.
pub(super) fn docker_settings<'a>(node: Option<&'a Node>, tell: &mut Teller<'_>) -> Option<Record<'a>> {
    node.map(|node| tell.record(node, "`docker` of kops' Cluster", DOCKER))
}

#[cfg(test)]
mod tests {
    use super::dotted;

    #[test]
    fn paths_keep_the_dots_of_quoted_parts() {
        let path = "plugins.\"io.containerd.grpc.v1.cri\".sandbox_image";
        assert_eq!(dotted(path), path);
        assert_eq!(dotted("debug.level"), "debug.level");
    }
}
