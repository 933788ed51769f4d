//! A `Cluster` of tkestack as a Bringup document.

use bringup_diag::{Span, closest};
use bringup_spec::KubernetesVersion;
use bringup_yaml::{Entry, Node};

use super::addresses::Ranges;
use super::arguments::{self, Arguments};
use super::conditions::Skipped;
use super::control_plane::{ControlPlane, endpoint, virtual_address};
use super::groups::{Group, groups};
use super::machines::{Machine, Worker};
use super::naming::{Naming, Source};
use super::{hooks, runtime, tables, types};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// What `kubectl apply` keeps for itself, and no hook wants to have.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The first minor whose control-plane nodes have the newer taint.
const NEW_TAINT: u16 = 24;

/// The first minor whose kubeadm lets each node have its own settings of kubelet.
const OWN_SETTINGS: u16 = 25;

/// Where machines that join look for what they join with, unless additions say otherwise.
pub(super) const KUBECONFIG: &str = "/etc/kubernetes/join.conf";

/// A cluster whose fields have been accounted for.
pub(super) struct Cluster<'a> {
    naming: Naming,
    span: Span,
    metadata: Record<'a>,
    spec: Record<'a>,
    spec_span: Span,
    features: Record<'a>,
    properties: Record<'a>,
}

/// What all groups have in common.
struct Common<'a> {
    minor: u16,
    flags: Arguments,
    runtime: Node,
    ipvs: bool,
    node_name: &'static str,
    own_taint: Option<&'static str>,
    skipped: &'a Skipped<'a>,
    ranges: &'a Ranges,
}

impl<'a> Cluster<'a> {
    /// Reads a document; whether nodes can be brought up from it.
    pub(super) fn read(document: &'a Node, naming: Naming, tell: &mut Teller<'_>) -> (Self, bool) {
        let object = tell.record(document, "a cluster of tkestack", tables::OBJECT);
        let mut part = |record: Record<'a>, name: &str, what: &str, table| match record.get(name) {
            Some(node) => tell.record(node, what, table),
            None => Record::default(),
        };
        let metadata = part(object, "metadata", "`metadata` of a cluster", tables::METADATA);
        let spec = part(object, "spec", "`spec` of a cluster", tables::CLUSTER);
        let features = part(spec, "features", "`features` of a cluster", tables::FEATURES);
        let properties = part(spec, "properties", "`properties` of a cluster", tables::PROPERTIES);
        types::check(metadata, types::METADATA, tell);
        types::check(spec, types::CLUSTER, tell);
        types::check(features, types::FEATURES, tell);
        let spec_span = object.entry("spec").map_or(document.span, |entry| entry.key_span);
        let cluster = Self { naming, span: document.span, metadata, spec, spec_span, features, properties };
        let is_possible = cluster.check_type(tell);
        (cluster, is_possible)
    }

    /// Whether a machine means this cluster.
    pub(super) fn is_named(&self, name: Option<&str>) -> bool {
        name == Some(self.naming.name.as_str())
    }

    /// Only machines that are brought up over SSH can be brought up here.
    fn check_type(&self, tell: &mut Teller<'_>) -> bool {
        let Some(kind) = self.spec.get("type") else {
            let hint = "write `type: Baremetal`";
            tell.error(codes::MISSING, self.spec_span, "nothing says of which `type` this cluster is", hint);
            return true;
        };
        match kind.text().unwrap_or_default() {
            "Baremetal" => true,
            "Edge" | "EdgeCluster" => {
                let message = "a cluster at the edge is brought up like one of `Baremetal`: what makes it one is left out";
                let hint = "install what runs at the edge once the API answers";
                tell.warning(codes::FIELD_DIFFERS, kind.span, message, hint);
                true
            }
            "Imported" | "Registered" => {
                let message = "this cluster is up already: there is nothing to bring up";
                let hint = "write a cluster of the type `Baremetal`, with its machines";
                tell.error(codes::FIELD_REFUSED, kind.span, message, hint);
                false
            }
            other => {
                let message = format!("clusters of the type `{other}` are not brought up over SSH");
                let hint = match closest(other, ["Baremetal"]) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write a cluster of the type `Baremetal`, with its machines".to_owned(),
                };
                tell.error(codes::FIELD_REFUSED, kind.span, message, hint);
                // With machines of its own it is meant to be one: what else is wrong with it is told in the same run.
                !self.spec.items("machines").is_empty()
            }
        }
    }

    /// The Bringup document.
    pub(super) fn translate(&self, workers: &[&Worker<'_>], tell: &mut Teller<'_>) -> Node {
        let span = self.spec_span;
        self.tell_name(tell);
        let upgrade = self.upgrade(tell);
        let masters: Vec<Machine<'_>> =
            self.spec.items("machines").iter().map(|node| Machine::of_master(node, tell)).collect();
        if masters.is_empty() {
            let hint = "add `machines:`, of which the first starts the cluster";
            tell.error(codes::MISSING, span, "this cluster has no machine for its control plane", hint);
        }
        let minor = self.minor(tell);
        let skipped = Skipped::read(self.features, tell);
        let ranges = Ranges::read(self.spec, self.properties, span, tell);
        let shared = virtual_address(self.features, tell);
        let annotations = self.metadata.get("annotations");
        let plane = ControlPlane {
            spec: self.spec,
            features: self.features,
            annotations,
            ranges: &ranges,
            masters: &masters,
            skipped: &skipped,
            minor,
            span,
        };
        let tainted = workers.iter().any(|worker| !worker.machine.taints.is_empty());
        let joining = masters.len() + workers.len() > 1;
        let join = plane.join(shared.map(|(address, _)| address), tainted, joining, tell);

        let mut spec = Branch::new(self.span);
        spec.put("kubernetes", self.kubernetes());
        if let Some(endpoint) = endpoint(&masters, shared) {
            let mut api = Branch::new(endpoint.span);
            api.put("endpoint", endpoint);
            spec.put("api", api.into_node());
        }
        spec.put("network", self.network(&ranges));
        spec.put("join", join);
        spec.put_full("files", list(span, hooks::files(self.features, &skipped, tell)));
        spec.put_full("hooks", list(span, hooks::hooks(self.features, &skipped, masters.len(), tell)));
        spec.put_some("upgrade", upgrade);
        let flags = arguments::read(self.spec, "kubeletExtraArgs", tell);
        let common = Common {
            minor,
            node_name: self.node_name(&flags, &masters),
            flags,
            runtime: runtime::runtime(self.spec, self.features, minor, span, tell),
            ipvs: self.features.flag("ipvs") == Some(true),
            own_taint: self.own_taint(minor),
            skipped: &skipped,
            ranges: &ranges,
        };
        let masters = groups("masters", masters.iter());
        let workers = groups("workers", workers.iter().map(|worker| &worker.machine));
        self.tell_differences(&masters, &workers, &skipped, tell);
        let is_first = |index: usize| index == 0;
        let trees =
            masters.iter().enumerate().map(|(index, group)| common.group(group, true, is_first(index), span));
        let trees: Vec<Node> =
            trees.chain(workers.iter().map(|group| common.group(group, false, false, span))).collect();
        spec.put("nodeGroups", list(span, trees));
        let machines = masters.iter().chain(&workers);
        let machines =
            machines.flat_map(|group| group.machines.iter().map(|machine| machine.tree(&group.name)));
        spec.put_full("machines", list(span, machines.collect()));

        let mut document = Branch::new(self.span);
        document.put("apiVersion", text(self.span, "bringup.dev/v1alpha1"));
        document.put("kind", text(self.span, "Cluster"));
        document.put("metadata", self.metadata());
        document.put("spec", spec.into_node());
        document.into_node()
    }

    fn metadata(&self) -> Node {
        let mut metadata = Branch::new(self.naming.span);
        metadata.put("name", text(self.naming.span, self.naming.name.as_str()));
        for name in ["labels", "annotations"] {
            let Some(node) = self.metadata.get(name) else { continue };
            let Some(entries) = node.entries() else {
                metadata.put(name, node.clone());
                continue;
            };
            let mut pairs = Branch::new(node.span);
            entries
                .iter()
                .filter(|entry| entry.key != LAST_APPLIED)
                .for_each(|entry| pairs.put_field(&entry.key, entry));
            metadata.put_full(name, pairs.into_node());
        }
        metadata.into_node()
    }

    fn kubernetes(&self) -> Node {
        let version = self.spec.entry("version");
        let mut kubernetes = Branch::new(version.map_or(self.spec_span, |entry| entry.value.span));
        if let Some(Entry { value, .. }) = version {
            kubernetes.put("version", text(value.span, value.text().unwrap_or_default()));
        }
        kubernetes.into_node()
    }

    fn minor(&self, tell: &mut Teller<'_>) -> u16 {
        let version = self.spec.text("version").filter(|version| !version.is_empty());
        if version.is_none() {
            let hint = "add `version:`, such as \"1.33.4\"; tkestack takes the newest that it knows";
            tell.error(
                codes::MISSING,
                self.spec_span,
                "nothing says which version of Kubernetes to run",
                hint,
            );
        }
        version
            .and_then(|version| KubernetesVersion::parse(version).ok())
            .map_or(u16::MAX, |known| known.minor)
    }

    fn network(&self, ranges: &Ranges) -> Node {
        let mut network = Branch::new(self.spec_span);
        network.put_full("serviceRanges", Ranges::list(&ranges.services, self.spec_span));
        if !ranges.shared {
            network.put_full("podRanges", Ranges::list(&ranges.pods, self.spec_span));
        }
        if let Some(domain) = self.spec.entry("dnsDomain").filter(|entry| entry.value.text() != Some("")) {
            network.put_field("domain", domain);
        }
        network.into_node()
    }

    /// tkestack's nodes are called by their addresses, unless asked otherwise; IPv6 addresses are no names.
    fn node_name(&self, flags: &Arguments, masters: &[Machine<'_>]) -> &'static str {
        let by_host = self.spec.flag("hostnameAsNodename") == Some(true)
            || flags.contains_key("hostname-override")
            || masters.iter().any(|machine| machine.ip().contains(':'));
        if by_host { "hostname" } else { "address" }
    }

    fn own_taint(&self, minor: u16) -> Option<&'static str> {
        if self.features.flag("enableMasterSchedule") == Some(true) {
            None
        } else if minor < NEW_TAINT {
            Some("node-role.kubernetes.io/master")
        } else {
            Some("node-role.kubernetes.io/control-plane")
        }
    }

    fn tell_name(&self, tell: &mut Teller<'_>) {
        if let Some(entry) = self.spec.entry("displayName").filter(|_| self.naming.source != Source::Display)
        {
            let message = "`displayName` of a cluster shapes the console, not the node: it is left aside";
            tell.note(codes::FIELD_ASIDE, entry.key_span, message, "the node comes up the same without it");
        }
        let prefix = self.metadata.entry("generateName");
        if let Some(entry) = prefix.filter(|_| self.naming.source != Source::Prefix) {
            let message = "`generateName` has no effect where a cluster has a name: it is left aside";
            tell.note(codes::FIELD_ASIDE, entry.key_span, message, "the node comes up the same without it");
        }
        if self.naming.source != Source::Written {
            let name = &self.naming.name;
            let message =
                format!("this cluster has no name, and tkestack would make one up: it is called `{name}`");
            let hint = format!("write `metadata: {{name: {name}}}`, or another name");
            tell.note(codes::DIFFERENCE, self.naming.span, message, hint);
        }
    }

    /// How nodes follow one another: no node differs by it, and whoever drives the upgrade finds it in the document.
    fn upgrade(&self, tell: &mut Teller<'_>) -> Option<Node> {
        let entry = self.features.entry("upgrade")?;
        let written = tell.record(&entry.value, "`upgrade` of tkestack", tables::UPGRADE);
        let strategy = match written.get("strategy") {
            Some(strategy) => tell.record(strategy, "`strategy` of `upgrade`", tables::STRATEGY),
            None => Record::default(),
        };
        let mut upgrade = Branch::new(entry.value.span);
        if let Some(mode) = written.get("mode") {
            match mode.text() {
                Some("Auto") => upgrade.put("mode", text(mode.span, "auto")),
                Some("Manual") => upgrade.put("mode", text(mode.span, "manual")),
                Some("") => {}
                _ => {
                    let message = "this is no mode of upgrading";
                    tell.error(codes::WRONG_TYPE, mode.span, message, "write `Auto` or `Manual`");
                }
            }
        }
        for (theirs, ours) in [("maxUnready", "maxUnready"), ("drainNodeBeforeUpgrade", "drain")] {
            if let Some(field) = strategy.entry(theirs) {
                upgrade.put_field(ours, field);
            }
        }
        Some(upgrade.into_node())
    }

    /// What tkestack does at run time, and nobody does here unless asked.
    fn tell_differences(
        &self,
        masters: &[Group<'_>],
        workers: &[Group<'_>],
        skipped: &Skipped<'_>,
        tell: &mut Teller<'_>,
    ) {
        if let Some(version) = self.spec.entry("version") {
            let message = "tkestack copies kubelet, kubeadm, the runtime and the CNI plugins to each machine; here each machine is taken to have them";
            let hint = "else say where they come from: `software` of a node group, in a document of the kind `Additions`";
            tell.note(codes::DIFFERENCE, version.key_span, message, hint);
        }
        if !skipped.has("EnsureGalaxy") || self.features.flag("enableCilium") == Some(true) {
            let message = "tkestack installs a network for pods; here nodes wait for one";
            let hint = "apply one once the API answers";
            tell.note(codes::DIFFERENCE, self.spec_span, message, hint);
        }
        let joining = masters.iter().chain(workers).map(|group| group.machines.len()).sum::<usize>() > 1;
        if joining {
            let message = format!(
                "tkestack makes up a token, a key and an authority, and copies them to machines that join; here those join with a kubeconfig, looked for at `{KUBECONFIG}`"
            );
            let hint = "add `join.token` and beneath `join.kubeadm` the fields `caCertHashes` and `certificateKey` with `--with additions.yaml`, a document of the kind `Additions`; or have a program put it there, and the certificates of the control plane on further masters";
            let span = self.spec.entry("machines").map_or(self.spec_span, |entry| entry.key_span);
            tell.warning_unless(joins_otherwise, (codes::FIELD_DIFFERS, span), message, hint);
        }
        let several = masters.iter().map(|group| group.machines.len()).sum::<usize>() > 1;
        let tainted = workers.iter().find_map(|group| group.machines.first()?.taints.first());
        if let (true, Some(taint), None) = (several, tainted, self.own_taint(0))
            && masters.iter().all(|group| group.machines.iter().all(|machine| machine.taints.is_empty()))
        {
            let message =
                "with workers that have taints, `enableMasterSchedule` holds for the first master only";
            let hint = "remove the taint of the others once they have joined";
            tell.warning(codes::FIELD_DIFFERS, taint.span, message, hint);
        }
    }
}

/// Whether a document has machines join in another way than with a kubeconfig that is there already.
fn joins_otherwise(document: &Node) -> bool {
    let join = document.get("spec").and_then(|spec| spec.get("join"));
    let kubeconfig = join.and_then(|join| join.get("kubeconfig")?.get("file")?.text());
    let has_token = join.is_some_and(|join| join.get("token").is_some());
    has_token || kubeconfig != Some(KUBECONFIG)
}

impl Common<'_> {
    fn group(&self, group: &Group<'_>, is_master: bool, starts: bool, span: Span) -> Node {
        let at = group.span(span);
        let mut tree = Branch::new(at);
        tree.put("name", text(at, group.name.as_str()));
        tree.put("os", text(at, "generic"));
        tree.put("role", text(at, if is_master { "control-plane" } else { "worker" }));
        match group.machines.as_slice() {
            [_] if starts => tree.put("bootstrap", plain(at, true)),
            [first, ..] if starts => {
                let mut bootstrap = Branch::new(at);
                bootstrap.put("fact", text(at, "address"));
                bootstrap.put("equals", text(at, first.ip()));
                tree.put("bootstrap", bootstrap.into_node());
            }
            _ => {}
        }
        tree.put("nodeName", text(at, self.node_name));
        tree.put("labels", group.labels(at));
        tree.put_full("taints", group.taints(self.own_taint.filter(|_| is_master), at));
        // An older kubeadm gives every node the settings that the first one has.
        let configures = starts || self.minor >= OWN_SETTINGS;
        // A flag of kubelet's stands above what kubeadm configures.
        if configures && !self.flags.contains_key("max-pods") {
            tree.put("maxPods", plain(self.ranges.most_pods_span, self.ranges.most_pods));
        }
        tree.put_full("kubelet", runtime::kubelet(&self.flags, configures, span));
        tree.put("runtime", self.runtime.clone());
        runtime::put_system(&mut tree, self.ipvs, self.skipped, span);
        tree.put("carriers", list(at, vec![text(at, "bundle")]));
        tree.into_node()
    }
}
