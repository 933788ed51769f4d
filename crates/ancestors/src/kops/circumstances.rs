//! What kops tells kubelet by itself, by cloud, role, system and version.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node, Style};

use super::kubelet::{MANIFESTS, Settings, value};
use super::role::Role;
use crate::tree::{Branch, plain, text};

/// What kops evicts pods for, if nothing else is said.
const EVICTION: &str = "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<10%,imagefs.inodesFree<5%";

/// The first Kubernetes whose clouds all have their controllers outside of kubelet with kops.
const FIRST_EXTERNAL: u16 = 24;

/// What kops' own choices hang on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) minor: Option<u16>,
    /// The cloud, in the words of kops.
    pub(super) cloud: &'a str,
    pub(super) role: Role,
    /// The family of the operating system.
    pub(super) family: &'a str,
    /// Machines with addresses of the cloud for their pods lose them if pods are ended too early.
    pub(super) pods_leave_slowly: bool,
    /// Whether the cluster has addresses of IPv6 alone.
    pub(super) is_ipv6: bool,
}

impl Circumstances<'_> {
    /// Whether a controller of the cloud outside of kubelet completes a node. Of AWS the platform says it.
    fn is_external(self) -> bool {
        !matches!(self.cloud, "aws" | "metal" | "") && self.minor.is_none_or(|minor| minor >= FIRST_EXTERNAL)
    }

    /// Flags that kops gives to kubelet by itself.
    pub(super) fn flags(self) -> Vec<(&'static str, &'static str)> {
        let mut flags = Vec::new();
        if self.is_external() {
            flags.push(("cloud-provider", "external"));
        }
        if self.is_ipv6 {
            // Kubelet finds the address itself, and is told its family.
            flags.push(("node-ip", "::"));
        }
        flags
    }

    /// What kops sets where the cluster does not say otherwise, in its own words.
    pub(super) fn defaults(self, given: &[Entry], span: Span) -> Settings {
        let mut defaults = vec![("evictionHard", EVICTION), ("podManifestPath", MANIFESTS)];
        defaults.push(("runtimeRequestTimeout", "15m"));
        if self.minor.is_some_and(|minor| minor >= 21)
            && !self.pods_leave_slowly
            && value(given, "shutdownGracePeriod").is_none()
        {
            defaults.extend([("shutdownGracePeriod", "30s"), ("shutdownGracePeriodCriticalPods", "10s")]);
        }
        if self.family == "flatcar" {
            // Kubelet's own is beneath /usr, which cannot be written to.
            defaults.push(("volumePluginDirectory", "/var/lib/kubelet/volumeplugins/"));
        }
        let mut settings = entries(&defaults, span);
        if self.role == Role::ControlPlane && self.minor.is_some_and(|minor| (32..36).contains(&minor)) {
            // The programs of etcd come to its pod as a volume; later minors have it on.
            let mut gates = Branch::new(span);
            gates.put("ImageVolume", text(span, "true"));
            settings.push(entry("featureGates", gates.into_node(), span));
        }
        settings
    }

    /// What kops sets on the node, whatever is written.
    pub(super) fn imposed(self, span: Span) -> Settings {
        let mut imposed = Vec::new();
        if self.role == Role::ControlPlane && self.minor.is_some_and(|minor| minor >= 35) {
            imposed.push(("crashLoopBackOffMaxContainerRestartPeriod", "1m"));
        }
        entries(&imposed, span)
    }
}

/// Settings of these words; a truth value is one.
pub(super) fn entries(words: &[(&str, &str)], span: Span) -> Settings {
    let node = |value: &str| match value {
        "true" | "false" => plain(span, value),
        value => text(span, value),
    };
    words.iter().map(|(key, value)| entry(key, node(value), span)).collect()
}

fn entry(key: &str, value: Node, span: Span) -> Entry {
    Entry { key: key.to_owned(), key_style: Style::Plain, key_span: span, value }
}
