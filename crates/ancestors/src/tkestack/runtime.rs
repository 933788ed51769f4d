//! The container runtime, kernel settings and kubelet, as tkestack sets them up on every machine.

use bringup_diag::Span;
use bringup_yaml::{Node, Resolved, Scalar};

use super::arguments::{self, Arguments};
use super::conditions::Skipped;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// The first minor whose kubelet does not speak to docker.
const NO_DOCKER: u16 = 24;

/// Arguments of docker's daemon that its configuration knows by another name, as a list.
const LISTS: [(&str, &str); 9] = [
    ("insecure-registry", "insecure-registries"),
    ("registry-mirror", "registry-mirrors"),
    ("exec-opt", "exec-opts"),
    ("storage-opt", "storage-opts"),
    ("dns-opt", "dns-opts"),
    ("label", "labels"),
    ("host", "hosts"),
    ("dns", "dns"),
    ("dns-search", "dns-search"),
];

/// tkestack's configuration of docker's daemon, as far as it is not ours too.
const DAEMON: [(&str, &str); 5] = [
    ("ip-masq", "false"),
    ("iptables", "false"),
    ("live-restore", "true"),
    ("log-driver", "json-file"),
    ("log-level", "warn"),
];

/// The runtime of the nodes.
pub(super) fn runtime(
    spec: Record<'_>,
    features: Record<'_>,
    minor: u16,
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let chosen = features.get("containerRuntime").filter(|node| node.text() != Some(""));
    let mut runtime = Branch::new(chosen.map_or(span, |node| node.span));
    let name = match chosen.and_then(Node::text) {
        Some(name) => name,
        // tkestack's default, for as long as Kubernetes takes it.
        None if minor < NO_DOCKER => "docker",
        None => "containerd",
    };
    runtime.put("name", text(chosen.map_or(span, |node| node.span), name));
    let arguments = arguments::read(spec, "dockerExtraArgs", tell);
    if name == "docker" {
        let mut daemon = Branch::new(span);
        for (key, value) in DAEMON {
            let is_flag = matches!(value, "true" | "false");
            daemon.put(key, if is_flag { plain(span, value) } else { text(span, value) });
        }
        let mut log = Branch::new(span);
        log.put("max-file", text(span, "10"));
        log.put("max-size", text(span, "100m"));
        daemon.put("log-opts", log.into_node());
        for (name, value) in &arguments {
            put_argument(&mut daemon, name, value);
        }
        runtime.put("dockerConfig", daemon.into_node());
    } else if let Some(entry) = spec.entry("dockerExtraArgs").filter(|_| !arguments.is_empty()) {
        let message = "`dockerExtraArgs` has no effect with another runtime than docker, as in tkestack";
        tell.note(codes::FIELD_ASIDE, entry.key_span, message, "remove it");
    }
    runtime.into_node()
}

/// An argument of docker's daemon as a field of its configuration.
fn put_argument(daemon: &mut Branch, name: &str, value: &Node) {
    let written = value.text().unwrap_or_default();
    if let Some((_, field)) = LISTS.iter().find(|(argument, _)| *argument == name) {
        daemon.put(field, list(value.span, vec![value.clone()]));
        return;
    }
    let bare = plain(value.span, written);
    let is_bare = matches!(bare.scalar().map(Scalar::core), Some(Resolved::Bool(_) | Resolved::Integer(_)));
    daemon.put(name, if is_bare { bare } else { value.clone() });
}

/// Kernel modules, kernel settings and swap: what Kubernetes' network needs.
pub(super) fn put_system(group: &mut Branch, ipvs: bool, skipped: &Skipped<'_>, span: Span) {
    let texts = |words: &[&str]| list(span, words.iter().map(|word| text(span, *word)).collect());
    if !skipped.has("EnsureKernelModule") {
        let modules: &[&str] = if ipvs {
            &["br_netfilter", "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_sh"]
        } else {
            &["br_netfilter"]
        };
        group.put("kernelModules", texts(modules));
    }
    if !skipped.has("EnsureSysctl") {
        let mut settings = Branch::new(span);
        for name in [
            "net.ipv4.ip_forward",
            "net.bridge.bridge-nf-call-iptables",
            "net.bridge.bridge-nf-call-ip6tables",
        ] {
            settings.put(name, plain(span, 1));
        }
        group.put("sysctls", settings.into_node());
    }
    let kept = [("modules", "EnsureKernelModule"), ("sysctls", "EnsureSysctl")];
    let mut defaults = Branch::new(span);
    for (name, _) in kept.iter().filter(|(_, condition)| skipped.has(condition)) {
        defaults.put(name, plain(span, false));
    }
    group.put_full("kernelDefaults", defaults.into_node());
    let swap = if skipped.has("EnsureDisableSwap") { "keep" } else { "off" };
    group.put("swap", text(span, swap));
}

/// Kubelet's configuration as tkestack has it, where a group has a say in it, and its arguments.
pub(super) fn kubelet(flags: &Arguments, configures: bool, span: Span) -> Node {
    let mut kubelet = Branch::new(span);
    if configures {
        let mut config = Branch::new(span);
        for key in ["kubeReserved", "systemReserved"] {
            let mut reserved = Branch::new(span);
            reserved.put("cpu", text(span, "100m"));
            reserved.put("memory", text(span, "500Mi"));
            config.put(key, reserved.into_node());
        }
        kubelet.put("config", config.into_node());
    }
    let as_it_is = |value: &Node| arguments::literal(value.span, value.text().unwrap_or_default());
    let flags: Arguments = flags.iter().map(|(name, value)| (name.clone(), as_it_is(value))).collect();
    kubelet.put_full("flags", arguments::mapping(&flags, span));
    kubelet.into_node()
}
