//! What kubeadm makes of the control plane.

use std::collections::BTreeSet;

use bringup_diag::Span;
use bringup_yaml::Node;

use super::addresses::Ranges;
use super::arguments::{self, Arguments};
use super::cluster::KUBECONFIG;
use super::conditions::Skipped;
use super::machines::Machine;
use super::{tables, types};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// The host name by which tkestack's nodes know the API server.
const HOST: &str = "api.tke.com";
const PORT: &str = "6443";

/// The annotation that says where images come from.
const IMAGES: &str = "tkestack.io/location-based-image-prefix";

/// The first minor whose kubeadm takes two families of addresses without being told.
const BOTH_FAMILIES: u16 = 21;

/// What of the documents shapes the control plane.
pub(super) struct ControlPlane<'a> {
    pub(super) spec: Record<'a>,
    pub(super) features: Record<'a>,
    pub(super) annotations: Option<&'a Node>,
    pub(super) ranges: &'a Ranges,
    pub(super) masters: &'a [Machine<'a>],
    pub(super) skipped: &'a Skipped<'a>,
    pub(super) minor: u16,
    pub(super) span: Span,
}

/// The virtual address of a control plane of several machines, and its port.
pub(super) fn virtual_address<'a>(
    features: Record<'a>,
    tell: &mut Teller<'_>,
) -> Option<(&'a Node, Option<&'a Node>)> {
    let node = features.get("ha")?;
    let ha = tell.record(node, "`ha` of tkestack", tables::HA);
    let mut found = None;
    if let Some(tke) = ha.get("tke") {
        let record = tell.record(tke, "`tke` of `ha`", tables::TKE_HA);
        found = record.get("vip").map(|address| (address, None));
        let message = "no keepalived is installed: nothing holds the virtual address";
        let hint = "bring keepalived's configuration and static pod with `files`, or use a load balancer and `thirdParty`";
        tell.warning(codes::FIELD_DIFFERS, tke.span, message, hint);
    }
    if let Some(other) = ha.get("thirdParty") {
        let record = tell.record(other, "`thirdParty` of `ha`", tables::THIRD_PARTY_HA);
        found = record.get("vip").map(|address| (address, record.get("vport"))).or(found);
    }
    if found.is_none() && node.entries().is_some_and(|entries| !entries.is_empty()) {
        tell.error(codes::MISSING, node.span, "`ha` has no `vip`", "add `vip:` with the virtual address");
    }
    found
}

/// Where nodes reach the API server: at the virtual address, else at the first master.
pub(super) fn endpoint(masters: &[Machine<'_>], shared: Option<(&Node, Option<&Node>)>) -> Option<Node> {
    let (address, port) = match shared {
        Some(shared) => shared,
        None => (masters.first()?.address?, None),
    };
    let host = address.text()?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let port = port.and_then(Node::text).unwrap_or(PORT);
    Some(text(address.span, format!("https://{host}:{port}")))
}

impl ControlPlane<'_> {
    /// `join` of the document.
    pub(super) fn join(
        &self,
        shared: Option<&Node>,
        tainted: bool,
        joining: bool,
        tell: &mut Teller<'_>,
    ) -> Node {
        let mut join = Branch::new(self.span);
        join.put("method", text(self.span, "kubeadm"));
        if joining {
            let mut kubeconfig = Branch::new(self.span);
            kubeconfig.put("file", text(self.span, KUBECONFIG));
            join.put("kubeconfig", kubeconfig.into_node());
        }
        let mut kubeadm = Branch::new(self.span);
        kubeadm.put("clusterConfiguration", self.cluster_configuration(shared, tell));
        let mut init = Branch::new(self.span);
        if let Some(address) = self.masters.first().and_then(|machine| machine.address) {
            let mut point = Branch::new(address.span);
            point.put("advertiseAddress", address.clone());
            init.put("localAPIEndpoint", point.into_node());
        }
        if let Some(taints) = self.no_taints() {
            init.put("nodeRegistration", taints.clone());
            if self.masters.len() > 1 && !tainted {
                let mut join = Branch::new(self.span);
                join.put("nodeRegistration", taints);
                kubeadm.put("joinConfiguration", join.into_node());
            }
        }
        kubeadm.put_full("initConfiguration", init.into_node());
        kubeadm.put_full("kubeProxyConfiguration", self.proxy(shared));
        kubeadm.put_full("skipPhases", list(self.span, self.skipped.phases()));
        join.put("kubeadm", kubeadm.into_node());
        join.into_node()
    }

    /// An empty list of taints keeps kubeadm from adding its own, so that masters take any pod.
    fn no_taints(&self) -> Option<Node> {
        let wanted = self.features.get("enableMasterSchedule")?;
        let own = self.masters.iter().any(|machine| !machine.taints.is_empty());
        if self.features.flag("enableMasterSchedule") != Some(true) || own {
            return None;
        }
        let mut registration = Branch::new(wanted.span);
        registration.put("taints", list(wanted.span, Vec::new()));
        Some(registration.into_node())
    }

    fn cluster_configuration(&self, shared: Option<&Node>, tell: &mut Teller<'_>) -> Node {
        let span = self.span;
        let mut cluster = Branch::new(span);
        let server = arguments::read(self.spec, "apiServerExtraArgs", tell);
        let mut part = self.component(&server);
        part.put("certSANs", self.names(shared));
        cluster.put("apiServer", part.into_node());
        let mut manager = self.defaults();
        for (name, mask) in &self.ranges.masks {
            manager.insert((*name).to_owned(), text(self.ranges.most_pods_span, mask.as_str()));
        }
        if self.ranges.shared {
            // kubeadm would only be told of the pods' range by a field that must not hold the services'.
            let pods = text(span, self.ranges.pods_text());
            manager.insert("cluster-cidr".to_owned(), pods);
            manager.insert("allocate-node-cidrs".to_owned(), text(span, "true"));
            let services = text(span, self.ranges.services_text());
            manager.insert("service-cluster-ip-range".to_owned(), services);
        }
        manager.extend(arguments::read(self.spec, "controllerManagerExtraArgs", tell));
        cluster.put("controllerManager", self.component(&manager).into_node());
        let mut scheduler = self.defaults();
        scheduler.extend(arguments::read(self.spec, "schedulerExtraArgs", tell));
        cluster.put("scheduler", self.component(&scheduler).into_node());
        cluster.put_full("etcd", self.etcd(tell));
        let images = self.annotations.and_then(|annotations| annotations.get(IMAGES));
        cluster.put_some("imageRepository", images.cloned());
        let both = self
            .features
            .entry("ipv6DualStack")
            .filter(|_| self.features.flag("ipv6DualStack") == Some(true));
        if let Some(both) = both.filter(|_| self.ranges.pods.len() < 2) {
            let message = "`ipv6DualStack` needs a range of pods of each family: nodes have addresses of one family only";
            let hint =
                "write both under `clusterCIDR` and `serviceCIDR`, such as `10.244.0.0/16,fd00:10:16::/64`";
            tell.warning(codes::FIELD_DIFFERS, both.key_span, message, hint);
        }
        if both.is_some() && self.minor < BOTH_FAMILIES {
            let mut gates = Branch::new(span);
            gates.put("IPv6DualStack", plain(span, true));
            cluster.put("featureGates", gates.into_node());
        }
        cluster.into_node()
    }

    /// kube-proxy, where it is not as kubeadm has it by itself.
    fn proxy(&self, shared: Option<&Node>) -> Node {
        let mut proxy = Branch::new(self.span);
        if let Some(ipvs) = self.features.get("ipvs").filter(|_| self.features.flag("ipvs") == Some(true)) {
            proxy.put("mode", text(ipvs.span, "ipvs"));
            proxy.put("clusterCIDR", text(ipvs.span, self.ranges.pods_text()));
            if let Some(shared) = shared {
                // IPVS would take the virtual address for one of its own, and clear it away.
                let address = format!("{}/32", shared.text().unwrap_or_default());
                let mut excluded = Branch::new(ipvs.span);
                excluded.put("excludeCIDRs", list(ipvs.span, vec![text(shared.span, address)]));
                proxy.put("ipvs", excluded.into_node());
            }
        }
        if self.ranges.pods.first().and_then(Node::text).is_some_and(|range| range.contains(':')) {
            proxy.put("bindAddress", text(self.span, "::"));
        }
        proxy.into_node()
    }

    /// Metrics are scraped from other machines.
    fn defaults(&self) -> Arguments {
        Arguments::from([("bind-address".to_owned(), text(self.span, "0.0.0.0"))])
    }

    fn component(&self, arguments: &Arguments) -> Branch {
        let mut component = Branch::new(self.span);
        component.put_full("extraArgs", arguments::for_kubeadm(arguments, self.span, self.minor));
        component
    }

    /// Names and addresses of the API server's certificate, beside kubeadm's own.
    fn names(&self, shared: Option<&Node>) -> Node {
        let names = ["127.0.0.1", "localhost", "::1", HOST].map(|name| text(self.span, name));
        let public = self.spec.items("publicAlternativeNames").iter().cloned();
        let machines = self.masters.iter().filter_map(|machine| machine.address).cloned();
        let all = names.into_iter().chain(public).chain(shared.cloned()).chain(machines);
        let mut seen = BTreeSet::new();
        list(self.span, all.filter(|name| seen.insert(name.text().map(str::to_owned))).collect())
    }

    fn etcd(&self, tell: &mut Teller<'_>) -> Node {
        let mut etcd = Branch::new(self.span);
        let node = self.spec.get("etcd");
        let record = node.map(|node| tell.record(node, "`etcd` of tkestack", tables::ETCD));
        let external = record.and_then(|record| record.get("external"));
        if let Some(external) = external {
            let fields = tell.record(external, "`external` of `etcd`", tables::EXTERNAL_ETCD);
            types::check(fields, types::EXTERNAL_ETCD, tell);
            if let Some(local) = record.and_then(|record| record.entry("local")) {
                let message = "beside `external`, `local` has no effect: no etcd is made";
                tell.warning(codes::FIELD_DIFFERS, local.key_span, message, "remove one of the two");
            }
            etcd.put("external", external.clone());
            return etcd.into_node();
        }
        let local = record.and_then(|record| record.get("local"));
        let span = local.map_or(self.span, |local| local.span);
        let mut branch = Branch::new(span);
        let mut given = Arguments::from([("quota-backend-bytes".to_owned(), text(span, "6442450944"))]);
        // tkestack's own parts reach etcd as a service of these names.
        let mut names = vec![text(span, "etcd"), text(span, "etcd.kube-system")];
        if let Some(local) = local {
            let record = tell.record(local, "`local` of `etcd`", tables::LOCAL_ETCD);
            types::check(record, types::LOCAL_ETCD, tell);
            if let Some(entry) = record.entry("dataDir").filter(|entry| entry.value.text() != Some("")) {
                branch.put_field("dataDir", entry);
            }
            given.extend(arguments::read(record, "extraArgs", tell));
            for name in record.items("serverCertSANs") {
                if !names.iter().any(|known| known.text() == name.text()) {
                    names.push(name.clone());
                }
            }
            if let Some(entry) = record.entry("peerCertSANs") {
                branch.put_field("peerCertSANs", entry);
            }
        }
        branch.put("serverCertSANs", list(span, names));
        branch.put("extraArgs", arguments::for_kubeadm(&given, span, self.minor));
        etcd.put("local", branch.into_node());
        etcd.into_node()
    }
}
