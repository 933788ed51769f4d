//! kops' `Cluster`: what all of its groups share.

use bringup_diag::{Span, closest};
use bringup_spec::KubernetesVersion;
use bringup_yaml::{Entry, Node};

use super::cloud_fields::{AWS, CLOUDS, OTHERS, WORDS};
use super::cluster_fields::{
    AMAZON_VPC, API, ASSETS, CLUSTER, EGRESS_PROXY, EXTERNAL_POLICIES, HTTP_PROXY, KUBE_DNS, KUBE_PROXY,
    NETWORKING, NODE_LOCAL_DNS, SUBNET, TOPOLOGY, TOPOLOGY_DNS,
};
use super::file_assets::{self, FileAsset};
use super::hooks::{self, Hook};
use super::imposed::Imposed;
use super::kubelet::{self, Settings};
use super::launch::Common;
use super::names::plain_name;
use super::role::Role;
use super::software::Software;
use super::sysctls::Surroundings;
use super::{cilium, network, runtime, updates};
use crate::codes;
use crate::fields::Record;
use crate::ids;
use crate::shapes::truth;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// Where the cache of DNS on each node listens unless it is told otherwise.
const NODE_LOCAL: &str = "169.254.20.10";

/// Where nodes look for their credentials unless additions say otherwise: kops has its own in this directory.
const KUBECONFIG: &str = "/srv/kubernetes/kubeconfig";

/// The label by which a cluster says that its machines are of no cloud.
const CLOUD_LABEL: &str = "alpha.kops.k8s.io/cloud";
const METAL: &str = "metal";

/// Where the addresses of pods come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodAddresses {
    /// A range of the cluster's own.
    Cluster,
    /// Interfaces of the machine, by AWS' own pod network.
    AmazonVpc,
    /// Interfaces of the machine, by Cilium.
    CiliumInterfaces,
}

/// A cluster that has been read.
pub(super) struct Cluster<'a> {
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    pub(super) span: Span,
    pub(super) spec: Record<'a>,
    pub(super) networking: Record<'a>,
    pub(super) minor: Option<u16>,
    pub(super) version: Option<Node>,
    /// The cloud, in the words of kops.
    pub(super) cloud: &'a str,
    pub(super) on_aws: bool,
    pub(super) docker: bool,
    pub(super) pod_addresses: PodAddresses,
    pub(super) kubelet: Settings,
    pub(super) control_plane_kubelet: Settings,
    pub(super) containerd: Settings,
    pub(super) docker_settings: Option<Record<'a>>,
    pub(super) hooks: Vec<Hook<'a>>,
    pub(super) files: Vec<FileAsset<'a>>,
    subnets: Vec<Record<'a>>,
    kube_dns: Option<Record<'a>>,
    local_dns: Option<Record<'a>>,
}

pub(super) fn is_true(node: &Node) -> bool {
    truth(node) == Some(true)
}

impl<'a> Cluster<'a> {
    /// Reads a cluster, and tells of every field.
    pub(super) fn read(document: &'a Node, name: &'a Node, spec: &'a Node, tell: &mut Teller<'_>) -> Self {
        let span = document.span;
        let spec = tell.record(spec, "kops' Cluster", CLUSTER);
        let mut nested = |name: &str, what: &str, table| match spec.get(name) {
            Some(node) => tell.record(node, what, table),
            None => Record::default(),
        };
        let networking = nested("networking", "`networking` of kops", NETWORKING);
        nested("api", "`api` of kops", API);
        nested("assets", "`assets` of kops", ASSETS);
        nested("externalPolicies", "`externalPolicies` of kops", EXTERNAL_POLICIES);
        let kube_dns = spec.get("kubeDNS").map(|node| tell.record(node, "`kubeDNS` of kops", KUBE_DNS));
        let local_dns = kube_dns
            .and_then(|record| record.get("nodeLocalDNS"))
            .map(|node| tell.record(node, "`nodeLocalDNS` of kops", NODE_LOCAL_DNS));
        let mut subnets = Vec::new();
        for node in networking.items("subnets").iter().chain(spec.items("subnets")) {
            subnets.push(tell.record(node, "a subnet of kops", SUBNET));
        }
        let version = version(&spec, span, tell);
        let minor = version
            .as_ref()
            .and_then(Node::text)
            .and_then(|version| Some(KubernetesVersion::parse(version).ok()?.minor));
        let amazon_vpc = networking.get("amazonvpc").or_else(|| networking.get("amazonVPC"));
        if let Some(node) = amazon_vpc {
            tell.record(node, "`amazonvpc` of kops", AMAZON_VPC);
        }
        let cilium = networking.entry("cilium").map(|entry| cilium::told(&entry.value, entry.key_span, tell));
        let cilium = cilium.and_then(|cilium| cilium.text("ipam"));
        let pod_addresses = match cilium {
            _ if amazon_vpc.is_some() => PodAddresses::AmazonVpc,
            Some("eni") => PodAddresses::CiliumInterfaces,
            _ => PodAddresses::Cluster,
        };
        let cloud = cloud(document, &spec, tell);
        let containerd =
            runtime::containerd_settings(spec.get("containerd"), "containerd of kops' Cluster", tell);
        let isolated = spec.flag("isolateMasters").or_else(|| networking.flag("isolateControlPlane"));
        let imposed = |is_isolated| Imposed {
            minor,
            cloud,
            pods_leave_slowly: pod_addresses == PodAddresses::AmazonVpc,
            is_isolated,
        };
        let mut kubelet = |node: Option<&Node>, what: &str, imposed: Imposed<'_>| {
            let written = kubelet::settings(node, what, tell);
            imposed.over(written, what, span, tell)
        };
        let nodes = kubelet(spec.get("kubelet"), "kubelet of kops' Cluster", imposed(false));
        let control_plane = spec.get("controlPlaneKubelet").or_else(|| spec.get("masterKubelet"));
        let what = "the control plane's kubelet of kops' Cluster";
        let control_plane = kubelet(control_plane, what, imposed(isolated == Some(true)));
        Self {
            name: name.text().unwrap_or_default(),
            name_span: name.span,
            span,
            networking,
            minor,
            version,
            cloud,
            on_aws: cloud == "aws",
            docker: is_docker(&spec, tell),
            pod_addresses,
            kubelet: nodes,
            control_plane_kubelet: control_plane,
            containerd: runtime::of_cluster(containerd, tell),
            docker_settings: runtime::docker_settings(spec.get("docker"), tell),
            hooks: hooks::read(spec.items("hooks"), tell),
            files: file_assets::read(spec.items("fileAssets"), tell),
            subnets,
            kube_dns,
            local_dns,
            spec,
        }
    }

    /// A field about addresses, which v1alpha3 has under `networking`.
    pub(super) fn address_field(&self, name: &str) -> Option<&'a Entry> {
        self.networking.entry(name).or_else(|| self.spec.entry(name))
    }

    /// The DNS that kubelet is told: its own setting, the cache on each node, or the cluster's.
    pub(super) fn dns(&self, kubelets: Option<&Node>) -> Option<Node> {
        let local = self.local_dns.filter(|dns| dns.flag("enabled") == Some(true));
        let local =
            local.map(|dns| dns.get("localIP").cloned().unwrap_or_else(|| text(self.span, NODE_LOCAL)));
        let cluster = self.kube_dns.and_then(|dns| dns.get("serverIP")).cloned();
        kubelets.cloned().or(local).or(cluster).filter(|node| node.text() != Some(""))
    }

    /// The settings of kubelet that are for this role.
    pub(super) fn kubelet_of(&self, role: Role) -> &Settings {
        if role == Role::ControlPlane { &self.control_plane_kubelet } else { &self.kubelet }
    }

    pub(super) fn surroundings(&self) -> Surroundings<'a> {
        let ports =
            self.spec.get("kubeAPIServer").and_then(|server| server.get("serviceNodePortRange")?.text());
        Surroundings {
            on_aws: self.on_aws,
            cilium: self.networking.get("cilium").is_some(),
            node_ports: ports.filter(|ports| !ports.is_empty()).unwrap_or("30000-32767"),
        }
    }

    /// What of the cluster goes into the launch of machines of a role.
    pub(super) fn common<'b>(&self, role: Role, labels: &'b [(String, Node)]) -> Common<'b>
    where
        'a: 'b,
    {
        let policies = self.spec.get("externalPolicies");
        let of = |word: &str| policies.and_then(|policies| policies.get(word));
        Common {
            key_name: self.spec.entry("sshKeyName"),
            tags: self.spec.get("cloudLabels"),
            labels,
            policies: match role {
                Role::Node => of("node"),
                Role::ApiServer => of("apiserver"),
                _ => of("control-plane").or_else(|| of("master")),
            },
        }
    }

    /// The tree of a Bringup document, without its groups.
    pub(super) fn branch(&self, dns: Option<Node>, has_api_server: bool, tell: &mut Teller<'_>) -> Branch {
        let span = self.span;
        let mut spec = Branch::new(span);
        spec.put("flavour", text(span, "kops"));
        if let Some(version) = &self.version {
            let mut kubernetes = Branch::new(version.span);
            kubernetes.put("version", version.clone());
            spec.put("kubernetes", kubernetes.into_node());
        }
        spec.put("api", self.api(tell));
        spec.put("network", self.network(dns, tell));
        let mut join = Branch::new(span);
        join.put("method", text(span, "kubeconfig"));
        let mut kubeconfig = Branch::new(span);
        kubeconfig.put("file", text(span, KUBECONFIG));
        join.put("kubeconfig", kubeconfig.into_node());
        spec.put("join", join.into_node());
        if self.on_aws {
            spec.put_full("aws", self.aws(tell));
        }
        if let Some(proxy) = self.address_field("egressProxy") {
            spec.put_full("proxy", proxy_of(&proxy.value, tell));
        }
        self.tell_differences(has_api_server, tell);
        spec
    }

    /// What kops does by itself, and nobody here.
    fn tell_differences(&self, has_api_server: bool, tell: &mut Teller<'_>) {
        let place = self.name_span;
        let message = format!(
            "with kops, nodes get their credentials from its controller; here they join with a kubeconfig, looked for at `{KUBECONFIG}`"
        );
        let hint = "write `join: {kubeconfig: {secretsManager: ...}}` in additions, or `join.method: bootstrap-token` with its token, and give the file with `--with`; or have a program put it there";
        tell.warning_unless(joins_otherwise, (codes::FIELD_DIFFERS, place), message, hint);
        Software::of(self).tell(has_api_server, place, tell);
        self.tell_other_runtime(tell);
        self.tell_mirror(tell);
        let fields = self.spec.get("kubeProxy");
        let fields = fields.map(|fields| tell.record(fields, "`kubeProxy` of kops", KUBE_PROXY));
        let proxy = fields.and_then(|fields| fields.get("enabled"));
        if proxy.is_none_or(is_true) {
            let place = self.spec.entry("kubeProxy").map_or(place, |entry| entry.key_span);
            let message = "kops runs kube-proxy as a static pod of every node; here nothing runs it: without it, pods reach no service";
            let hint = "run kube-proxy as a DaemonSet, or write its manifest to `/etc/kubernetes/manifests` with `fileAssets`; `kubeProxy: {enabled: false}` where the pod network does its work";
            tell.warning(codes::FIELD_DIFFERS, place, message, hint);
        }
        self.tell_names(tell);
        let kubelet =
            ["masterKubelet", "controlPlaneKubelet"].iter().find_map(|field| self.spec.entry(field));
        if let Some(entry) = kubelet.filter(|_| !has_api_server) {
            let message =
                format!("no group here is of the control plane: `{}` shapes none of the nodes", entry.key);
            tell.note(codes::FIELD_ASIDE, entry.key_span, message, "nothing has to be done");
        }
        updates::told(self.spec.entry("updatePolicy"), Some(place), tell);
    }

    /// Settings of the runtime that nodes do not have.
    fn tell_other_runtime(&self, tell: &mut Teller<'_>) {
        let (field, runs) = if self.docker { ("containerd", "docker") } else { ("docker", "containerd") };
        if let Some(entry) = self.spec.entry(field) {
            let message =
                format!("nodes run {runs}: `{field}` of kops' Cluster has no effect, with kops as here");
            let hint = format!("write what it should do under `{runs}`, or take it away");
            tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
        }
    }

    fn api(&self, tell: &mut Teller<'_>) -> Node {
        let own = self.spec.get("masterInternalName").filter(|node| node.text() != Some(""));
        let (place, host) = match own.and_then(Node::text) {
            Some(host) => (own.map_or(self.name_span, |node| node.span), host.to_owned()),
            None => (self.name_span, format!("api.internal.{}", self.name)),
        };
        let topology = self
            .address_field("topology")
            .map(|entry| tell.record(&entry.value, "`topology` of kops", TOPOLOGY));
        let dns = topology.and_then(|topology| topology.get("dns"));
        if let Some(dns) = dns.filter(|dns| dns.entries().is_some()) {
            tell.record(dns, "`dns` of kops' `topology`", TOPOLOGY_DNS);
        }
        let kind = dns.and_then(|dns| dns.text().or_else(|| dns.get("type")?.text()));
        if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("none")) || self.name.ends_with(".k8s.local") {
            let place = dns.map_or(self.name_span, |dns| dns.span);
            let message = format!("no DNS has `{host}`: kops writes its address into `/etc/hosts`");
            let hint = "write `api: {endpoint: https://...}` with an address that nodes reach in additions";
            tell.warning(codes::FIELD_DIFFERS, place, message, hint);
        }
        let mut api = Branch::new(place);
        api.put("endpoint", text(place, format!("https://{host}")));
        api.into_node()
    }

    fn network(&self, dns: Option<Node>, tell: &mut Teller<'_>) -> Node {
        let span = self.span;
        let field = |name: &str| self.address_field(name).map(|entry| &entry.value);
        let mut network = Branch::new(span);
        if let Some(dns) = dns {
            network.put("dns", list(dns.span, vec![dns]));
        }
        let domain =
            self.spec.get("clusterDNSDomain").or_else(|| self.kube_dns.and_then(|dns| dns.get("domain")));
        network.put_some("domain", domain.filter(|node| node.text() != Some("")).cloned());
        let internal = field("nonMasqueradeCIDR").filter(|node| node.text() != Some(""));
        if let Some(internal) = internal {
            network::check(internal, tell);
        }
        let given = |name: &str| field(name).filter(|node| node.text() != Some(""));
        let services = network::services(given("serviceClusterIPRange"), internal, span);
        network.put("serviceRanges", list(services.span, vec![services]));
        let pods = network::pods(given("podCIDR"), internal, span);
        network.put_some("podRanges", pods.map(|pods| list(pods.span, vec![pods])));
        network.into_node()
    }

    /// The region, by the subnets.
    pub(super) fn region(&self) -> Option<Node> {
        let zone = self.subnets.iter().find_map(|subnet| subnet.get("zone"));
        let region = self.subnets.iter().find_map(|subnet| subnet.get("region"));
        let found = zone.and_then(|zone| Some(text(zone.span, network::region(zone.text()?)?)));
        region.cloned().or(found)
    }

    /// Where programs of the cloud are, if kops is told.
    pub(super) fn binaries_location(&self) -> Option<&'a Node> {
        let location = self.spec.get("cloudProvider")?.get(self.cloud)?.get("binariesLocation")?;
        location.text().is_some_and(|text| !text.is_empty()).then_some(location)
    }

    fn aws(&self, tell: &mut Teller<'_>) -> Node {
        let mut aws = Branch::new(self.span);
        match self.region() {
            Some(region) => aws.put("region", region),
            None => tell.note_of_missing(
                &["spec", "aws", "region"],
                (codes::DIFFERENCE, self.name_span),
                "no subnet says in which zone it is, and so in which region the nodes are",
                "write `aws: {region: ...}` in additions",
            ),
        }
        let network = self.address_field("networkID").filter(|entry| entry.value.text() != Some(""));
        aws.put_some("vpc", network.and_then(|entry| ids::real(&entry.value, "vpc-", tell)).cloned());
        let given = self.subnets.iter().filter_map(|subnet| subnet.get("id"));
        let given = given.filter(|id| id.text() != Some(""));
        let mut ids: Vec<Node> =
            given.filter(|id| ids::real(id, "subnet-", tell).is_some()).cloned().collect();
        let mut seen: Vec<String> = Vec::new();
        ids.retain(|id| {
            let new = !seen.iter().any(|known| Some(known.as_str()) == id.text());
            seen.extend(id.text().map(ToOwned::to_owned));
            new
        });
        aws.put_full("subnets", list(self.span, ids));
        aws.into_node()
    }

    /// The name in the letters of a Bringup document.
    pub(super) fn plain_name(&self) -> Node {
        text(self.name_span, plain_name(self.name))
    }
}

/// Whether a document has nodes join in another way than with a kubeconfig that is there already.
fn joins_otherwise(document: &Node) -> bool {
    let join = document.get("spec").and_then(|spec| spec.get("join"));
    let word = |path: &[&str]| path.iter().try_fold(join?, |node, key| node.get(key))?.text();
    word(&["method"]) != Some("kubeconfig") || word(&["kubeconfig", "file"]) != Some(KUBECONFIG)
}

/// The version; in the address of a build of Kubernetes it is the last word that looks like one.
fn version(spec: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Option<Node> {
    let Some(entry) = spec.entry("kubernetesVersion").filter(|entry| entry.value.text() != Some("")) else {
        let hint = "add `kubernetesVersion`, or write `kubernetes: {version: ...}` in additions";
        let message = "nothing says which Kubernetes the nodes run: kops asks its channel on the network";
        let path = ["spec", "kubernetes", "version"];
        tell.note_of_missing(&path, (codes::DIFFERENCE, span), message, hint);
        return None;
    };
    let node = &entry.value;
    let given = node.text().unwrap_or_default();
    if !given.contains("://") {
        return Some(text(node.span, given.trim_start_matches('v')));
    }
    let found = given.rsplit('/').find(|word| KubernetesVersion::parse(word).is_ok());
    let message = "kops downloads a build of Kubernetes from this address; here only its version is taken";
    let hint = "write `software` in additions to download kubelet by URL and digest";
    tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
    Some(text(node.span, found.unwrap_or(given).trim_start_matches('v')))
}

/// Whether nodes run docker, and not containerd.
fn is_docker(spec: &Record<'_>, tell: &mut Teller<'_>) -> bool {
    let Some(node) = spec.get("containerRuntime") else { return false };
    let word = node.text().unwrap_or_default();
    if !matches!(word, "" | "containerd" | "docker") {
        let message = format!("kops has no runtime `{word}`");
        tell.error(codes::WRONG_TYPE, node.span, message, "write `containerd`");
    }
    word == "docker"
}

/// The cloud of the machines: a word in v1alpha2, a mapping of one key in v1alpha3; a label says that there is none.
fn cloud<'a>(document: &'a Node, spec: &Record<'a>, tell: &mut Teller<'_>) -> &'a str {
    let labels = document.get("metadata").and_then(|metadata| metadata.get("labels"));
    if labels.and_then(|labels| labels.get(CLOUD_LABEL)?.text()) == Some(METAL) {
        return METAL;
    }
    let Some(entry) = spec.entry("cloudProvider") else { return "aws" };
    if entry.value.entries().is_some() {
        let clouds = tell.record(&entry.value, "`cloudProvider` of kops", CLOUDS);
        if let Some(aws) = clouds.get("aws") {
            tell.record(aws, "`cloudProvider.aws` of kops", AWS);
        }
        for (name, fields) in OTHERS {
            if let Some(other) = clouds.get(name) {
                tell.record(other, &format!("`cloudProvider.{name}` of kops"), fields);
            }
        }
        let mut further = entry.value.entries().unwrap_or_default().iter().filter(|entry| is_cloud(entry));
        if let (Some(first), Some(second)) = (further.next(), further.next()) {
            let message =
                format!("machines are in one cloud, and `{}` is named before `{}`", first.key, second.key);
            tell.error(codes::WRONG_TYPE, second.key_span, message, "keep one of the two; kops refuses both");
        }
    }
    let named = entry.value.entries().and_then(|entries| entries.first()).map(|entry| entry.key.as_str());
    let cloud = entry.value.text().or(named).unwrap_or_default();
    if cloud == "aws" {
        return cloud;
    }
    if let Some(word) = entry.value.text().filter(|word| !WORDS.contains(word)) {
        let message = format!("kops has no cloud `{word}`");
        let hint = closest(word, WORDS.iter().copied());
        let hint = hint.map_or_else(
            || "write `aws`, `gce` or another".to_owned(),
            |word| format!("did you mean `{word}`?"),
        );
        tell.error(codes::WRONG_TYPE, entry.value.span, message, hint);
        return cloud;
    }
    let message = format!(
        "the metadata service of `{cloud}` is not asked: nodes have their hosts' names, and no provider id"
    );
    let hint = "give a facts file for what only the machine knows; the cloud's own controller finds a node by its name";
    tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
    cloud
}

fn is_cloud(entry: &Entry) -> bool {
    CLOUDS.iter().any(|(name, _)| *name == entry.key)
}

fn proxy_of(node: &Node, tell: &mut Teller<'_>) -> Node {
    let record = tell.record(node, "`egressProxy` of kops", EGRESS_PROXY);
    let mut proxy = Branch::new(node.span);
    let server = record.get("httpProxy").map(|node| tell.record(node, "`httpProxy` of kops", HTTP_PROXY));
    if let Some(host) = server.and_then(|server| server.get("host")) {
        let port = server.and_then(|server| server.text("port")).filter(|port| *port != "0");
        let name = host.text().unwrap_or_default();
        let address = port.map_or_else(|| format!("http://{name}"), |port| format!("http://{name}:{port}"));
        proxy.put("http", text(host.span, address.as_str()));
        proxy.put("https", text(host.span, address));
    }
    if let Some(excludes) = record.get("excludes") {
        let names = excludes.text().unwrap_or_default().split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty()).map(|name| text(excludes.span, name)).collect();
        proxy.put_full("noProxy", list(excludes.span, names));
    }
    proxy.into_node()
}
