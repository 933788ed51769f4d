//! Kubelet, its runtime, and how many pods there may be.

use bringup_yaml::{Content, Entry, Node, Style};

use super::cluster::Cluster;
use super::family::Family;
use super::group::Given;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// Fields that eksctl lets nobody set.
const FORBIDDEN: [&str; 7] = [
    "kind",
    "apiVersion",
    "address",
    "clusterDomain",
    "authentication",
    "authorization",
    "serverTLSBootstrap",
];

/// Below this minor version of Kubernetes, eksctl's runtime was docker.
const WITHOUT_DOCKER: u16 = 24;

/// What is laid over the defaults.
pub(super) struct Settings {
    pub(super) max_pods: Option<Node>,
    pub(super) node_name: Option<Node>,
    /// Fields of KubeletConfiguration.
    pub(super) config: Node,
    pub(super) flags: Branch,
    pub(super) environment: Branch,
    pub(super) runtime: Branch,
    pub(super) files: Vec<Node>,
    pub(super) units: Vec<Node>,
}

impl Settings {
    pub(super) fn of(given: &Given<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) -> Self {
        let fields = &given.fields;
        let max_pods = fields.get("maxPodsPerNode").filter(|pods| pods.text() != Some("0")).cloned();
        let mut settings = Self {
            max_pods,
            node_name: None,
            config: Branch::new(given.span).into_node(),
            flags: Branch::new(given.span),
            environment: Branch::new(given.span),
            runtime: Branch::new(given.span),
            files: Vec::new(),
            units: Vec::new(),
        };
        if let Some(extra) = fields.entry("kubeletExtraConfig") {
            settings.config = allowed(extra, tell);
            if given.family == Family::AmazonLinux2023 {
                tell_of_replaced(&mut settings.config, settings.max_pods.is_some(), tell);
            }
        }
        if let Some(dns) = fields.get("clusterDNS") {
            let servers = list(dns.span, vec![dns.clone()]);
            // On Amazon Linux 2 and Ubuntu the person's own field is laid over eksctl's answer, here under it.
            let own = settings.config.get("clusterDNS").is_some();
            if given.family == Family::AmazonLinux2023 || !own {
                lay_field(&mut settings.config, "clusterDNS", servers);
            }
        }
        runtime(&mut settings.runtime, given, cluster, tell);
        settings
    }

    /// Whether the runtime is docker.
    pub(super) fn is_docker(&self) -> bool {
        self.runtime.clone().into_node().get("name").and_then(Node::text) == Some("docker")
    }

    /// Puts all of it into the group.
    pub(super) fn put(self, tree: &mut Branch) {
        tree.put_some("maxPods", self.max_pods);
        tree.put_some("nodeName", self.node_name);
        let span = self.config.span;
        let mut kubelet = Branch::new(span);
        kubelet.put_full("config", self.config);
        kubelet.put_full("flags", self.flags.into_node());
        kubelet.put_full("environment", self.environment.into_node());
        tree.put_full("kubelet", kubelet.into_node());
        tree.put_full("runtime", self.runtime.into_node());
        tree.put_full("files", list(span, self.files));
        tree.put_full("units", list(span, self.units));
    }
}

/// The extra configuration without what eksctl refuses, having told of that.
fn allowed(extra: &Entry, tell: &mut Teller<'_>) -> Node {
    let mut config = extra.value.clone();
    let Content::Map(entries) = &mut config.content else {
        let message = "`kubeletExtraConfig` must be a mapping";
        tell.error(codes::WRONG_TYPE, extra.value.span, message, "write fields of KubeletConfiguration");
        return Branch::new(extra.value.span).into_node();
    };
    entries.retain(|entry| {
        let refused = FORBIDDEN.contains(&entry.key.as_str());
        if refused {
            let message = format!("eksctl lets nobody set `{}` in `kubeletExtraConfig`", entry.key);
            let hint = "remove it: joining the cluster depends on it";
            tell.error(codes::FIELD_REFUSED, entry.key_span, message, hint);
        }
        !refused
    });
    config
}

/// Takes out what eksctl's own NodeConfigs say instead, having told of it.
fn tell_of_replaced(config: &mut Node, counted: bool, tell: &mut Teller<'_>) {
    let Content::Map(entries) = &mut config.content else { return };
    entries.retain(|entry| {
        let (why, hint) = match entry.key.as_str() {
            "clusterDNS" => (
                "eksctl puts its own address in its place",
                "write the address as `clusterDNS` of the group, or remove it",
            ),
            "maxPods" if counted => ("`maxPodsPerNode` is laid over it", "remove one of the two"),
            _ => return true,
        };
        let message = format!(
            "`{}` of `kubeletExtraConfig` counts for nothing on Amazon Linux 2023: {why}, and so it is here",
            entry.key
        );
        tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
        false
    });
}

/// The runtime as eksctl's helper names it.
pub(super) fn runtime_word<'a>(given: &Given<'a>, cluster: &Cluster<'_>) -> &'a str {
    let docker = cluster.minor.is_some_and(|minor| minor < WITHOUT_DOCKER);
    given.fields.text("containerRuntime").unwrap_or(if docker { "dockerd" } else { "containerd" })
}

fn runtime(runtime: &mut Branch, given: &Given<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) {
    let docker_by_default =
        given.family != Family::AmazonLinux2023 && cluster.minor.is_some_and(|minor| minor < WITHOUT_DOCKER);
    let Some(word) = given.fields.get("containerRuntime") else {
        if docker_by_default {
            runtime.put("name", text(given.span, "docker"));
        }
        return;
    };
    match word.text() {
        Some("containerd") => {}
        Some("dockerd" | "docker") if given.family == Family::AmazonLinux2023 => {
            let message = "Amazon Linux 2023 has no docker: eksctl refuses it too";
            tell.error(codes::FIELD_REFUSED, word.span, message, "write `containerd`, or leave it out");
        }
        Some("dockerd" | "docker") => runtime.put("name", text(word.span, "docker")),
        _ => {
            let message = "this is no container runtime of eksctl's";
            tell.error(codes::WRONG_TYPE, word.span, message, "write `containerd`, or leave it out");
        }
    }
}

/// Lays a tree over another: mappings key by key, anything else as a whole.
pub(super) fn lay_over(under: &mut Node, over: &Node) {
    match (&mut under.content, over.entries()) {
        (Content::Map(_), Some(entries)) => {
            for entry in entries {
                lay_entry(under, entry);
            }
        }
        _ => *under = over.clone(),
    }
}

/// Lays one field over those of a mapping.
pub(super) fn lay_field(under: &mut Node, key: &str, value: Node) {
    lay_entry(under, &Entry { key: key.to_owned(), key_style: Style::Plain, key_span: value.span, value });
}

fn lay_entry(under: &mut Node, over: &Entry) {
    let Content::Map(entries) = &mut under.content else { return };
    match entries.iter_mut().find(|entry| entry.key == over.key) {
        Some(entry) => lay_over(&mut entry.value, &over.value),
        None => entries.push(over.clone()),
    }
}
