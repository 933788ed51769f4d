//! The machine beside kubelet and containerd: variables of services, name resolution, disks, the hosts file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bringup_spec::nodeconfig::NodeConfig;
use bringup_spec::{Phase, Text};

use crate::steps::{plain, write_file};
use crate::{Action, Content, Step};

const MANAGER: &str = "/etc/systemd/system.conf.d/environment.conf";
const RESOLVED: &str = "/run/systemd/resolved.conf.d/40-eks.conf";

/// Files with variables, one for all services and one for each that has its own.
pub(super) fn environment(config: &NodeConfig) -> Vec<(String, String, String)> {
    let given = config.instance.environment.iter();
    let given = given.filter_map(|(service, variables)| Some((service, variables.as_ref()?)));
    let given = given.filter(|(_, variables)| !variables.is_empty());
    given
        .map(|(service, variables)| {
            if service == "default" {
                let text = lines("[Manager]", "DefaultEnvironment", variables);
                ("environment".to_owned(), MANAGER.to_owned(), text)
            } else {
                let path = format!("/etc/systemd/system/{service}.service.d/environment.conf");
                (format!("environment:{service}"), path, lines("[Service]", "Environment", variables))
            }
        })
        .collect()
}

fn lines(section: &str, directive: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = format!("{section}\n");
    for (name, value) in variables {
        let _ = writeln!(text, "{directive}=\"{name}={}\"", escaped(value));
    }
    text
}

/// A value inside systemd's quotes, escaped as Go quotes text; `%` begins a specifier, and is doubled. Quotes at either
/// end get lost, as with nodeadm.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '%' => text.push_str("%%"),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{b}' => text.push_str("\\v"),
            letter if letter.is_ascii_control() => {
                let _ = write!(text, "\\x{:02x}", u32::from(letter));
            }
            letter if letter.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.trim_matches('"').to_owned()
}

/// Name servers and search domains, for systemd-resolved. The file is gone at every boot.
pub(super) fn name_resolution(config: &NodeConfig) -> Vec<Step> {
    let (servers, domains) = (&config.instance.nameservers, &config.instance.domains);
    if servers.is_empty() && domains.is_empty() {
        return Vec::new();
    }
    let line = |key: &str, values: &[String]| {
        if values.is_empty() { String::new() } else { format!("{key}={}", values.join(" ")) }
    };
    let text = format!("[Resolve]\n{}\n{}\n", line("DNS", servers), line("Domains", domains));
    let mut file = write_file(
        "name-resolution",
        Phase::PreInstall,
        RESOLVED,
        "0644",
        Content::Text(Text::literal(text)),
    );
    file.every_boot = true;
    let reads = vec![RESOLVED.to_owned()];
    let start = Action::StartUnit { unit: "systemd-resolved.service".to_owned(), reads };
    let mut start = plain("restart-name-resolution", Phase::PreInstall, start);
    start.every_boot = true;
    vec![file, start]
}

/// The image's own program makes the instance's disks one volume, or mounts each.
pub(super) fn local_disks(config: &NodeConfig) -> Option<Step> {
    let storage = &config.instance.local_storage;
    if storage.strategy.is_empty() {
        return None;
    }
    let strategy = storage.strategy.to_lowercase();
    let mut words = vec!["/usr/bin/setup-local-disks", &strategy];
    if !storage.mount_path.is_empty() {
        words.extend(["--dir", &storage.mount_path]);
    }
    words.extend(storage.disabled_mounts.iter().filter_map(|mount| match mount.as_str() {
        "PodLogs" => Some("--no-bind-pods-logs"),
        "Containerd" => Some("--no-bind-containerd"),
        "SOCI" => Some("--no-bind-soci"),
        _ => None,
    }));
    let mut step = super::run("local-disks", Phase::PreInstall, &words);
    // A machine that was stopped comes back with other disks.
    step.every_boot = true;
    Some(step)
}

/// On an Outpost the API server's name must hold without the region: its addresses are kept in the hosts file.
pub(super) fn hosts(config: &NodeConfig) -> Option<Step> {
    let host = config.is_on_outpost().then(|| host_of(&config.cluster.api_server_endpoint))?;
    let action = Action::KeepAddresses { host: host?, path: "/etc/hosts".to_owned() };
    Some(plain("api-server-addresses", Phase::Configure, action))
}

fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    (!host.is_empty()).then(|| host.to_owned())
}

/// Says that the node has begun to run: the image's own manager of interfaces leaves later ones to the network plugin.
pub(super) fn marker() -> Step {
    let path = "/run/nodeadm/init";
    let mut step = write_file("nodeadm-marker", Phase::Gate, path, "0644", Content::Text(Text::default()));
    step.every_boot = true;
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_for_systemd() {
        for (value, text) in [
            ("simple value", "simple value"),
            ("with \"quotes\" inside", "with \\\"quotes\\\" inside"),
            ("back\\slash", "back\\\\slash"),
            ("100%", "100%%"),
            ("a\tb\u{1}", "a\\tb\\x01"),
            ("ü", "ü"),
        ] {
            assert_eq!(escaped(value), text);
        }
    }

    #[test]
    fn the_host_of_a_url() {
        for (url, host) in [
            ("https://example.com", Some("example.com")),
            ("http://localhost:6443/x", Some("localhost")),
            ("https://[fd00::1]:443", Some("fd00::1")),
            ("", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host);
        }
    }
}
