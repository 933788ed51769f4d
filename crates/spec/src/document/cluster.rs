//! The document as a whole.

use std::collections::BTreeMap;

use super::{
    AgentSource, Api, Asset, Aws, File, Hook, ImageProgram, Join, JoinMethod, Kubernetes, Machine, Network,
    NodeGroup, OsFamily, Platform, Proxy, TrustedAuthority, Upgrade,
};
use crate::Name;
use crate::decode::{choices, record};

record! {
    /// The nodes of a cluster.
    "the document" pub struct Cluster {
        /// The version of the format: `bringup.dev/v1alpha1`.
        "apiVersion" => api_version: String,
        /// The kind of the document: `Cluster`.
        "kind" => kind: String,
        /// Its name and what others hang on it.
        "metadata" => metadata: Metadata,
        /// What the nodes are.
        "spec" => spec: ClusterSpec,
    }
}

record! {
    /// The name of a cluster and what others hang on it.
    "`metadata`" pub struct Metadata {
        /// The cluster's name.
        "name" => name: Name,
        /// Labels of the cluster object; hooks of cluster scope get them as parameters.
        "labels" => labels: BTreeMap<String, String>,
        /// Annotations of the cluster object; hooks of cluster scope get them as parameters.
        "annotations" => annotations: BTreeMap<String, String>,
    }
}

record! {
    /// What the nodes of a cluster are.
    "`spec`" pub struct ClusterSpec {
        /// Whose names and files the nodes keep.
        "flavour" => flavour: Flavour = Flavour::Bringup,
        /// Kubernetes itself.
        "kubernetes" => kubernetes: Kubernetes,
        /// How to reach the API server.
        "api" => api: Option<Api>,
        /// DNS, service and pod ranges.
        "network" => network: Network = Network::default(),
        /// How a node gets its credentials.
        "join" => join: Join,
        /// What is common to all node groups on AWS.
        "aws" => aws: Option<Aws>,
        /// The proxy for the agent, the runtime and kubelet.
        "proxy" => proxy: Option<Proxy>,
        /// Certificate authorities that every fetch, the runtime and the system trust.
        "certificateAuthorities" => certificate_authorities: Vec<TrustedAuthority>,
        /// Downloads that every node needs.
        "assets" => assets: Vec<Asset>,
        /// Files that every node needs.
        "files" => files: Vec<File>,
        /// Programs that run at points of the life of the cluster or of each node.
        "hooks" => hooks: Vec<Hook>,
        /// Assertions on order that every node must satisfy, such as `drivers.service before kubelet.service`.
        "order" => order: Vec<String>,
        /// How nodes are upgraded, for whoever drives it.
        "upgrade" => upgrade: Option<Upgrade>,
        /// The kinds of node.
        "nodeGroups" => node_groups: Vec<NodeGroup>,
        /// Machines that are reached over SSH.
        "machines" => machines: Vec<Machine>,
    }
}

choices! {
    /// Whose names and files the nodes keep, for people who come from another system.
    "flavour" pub enum Flavour {
        /// Our own names.
        Bringup = "bringup",
        /// Files under `/etc/eksctl`.
        Eksctl = "eksctl",
        /// The agent's unit answers to `kops-configuration.service`.
        Kops = "kops",
        /// `k8s-node-bootstrap.service`, `kubelet.env`, `bootkube` and `tectonic`.
        Tectonic = "tectonic",
        /// Paths of the EKS images: `/etc/kubernetes/kubelet`, `/etc/eks`.
        Eks = "eks",
    }
}

impl Flavour {
    /// Whether nodes are those of EKS, whose images have programs of their own.
    pub fn is_of_eks(self) -> bool {
        matches!(self, Self::Eks | Self::Eksctl)
    }
}

impl ClusterSpec {
    /// Whether what was another program's input is taken as that program takes it: its addresses and authorities need
    /// not make sense to us.
    pub fn takes_as_given(&self) -> bool {
        self.flavour.is_of_eks()
            && !self.node_groups.is_empty()
            && self.node_groups.iter().all(|group| group.in_place_of.is_some())
    }

    /// Whether a group's nodes guess where the cluster's DNS is, as `bootstrap.sh` does where its call does not say.
    pub fn guesses_dns(&self, group: &NodeGroup) -> bool {
        let unknown = self.network.dns.is_empty() && self.network.service_ranges.is_empty();
        unknown
            && self.takes_as_given()
            && group.in_place_of == Some(ImageProgram::Bootstrap)
            && self.api.is_some()
            && self.join.method == JoinMethod::EksToken
            && group.agent.from != AgentSource::None
    }

    /// Whether the agent of EKS' own images, `nodeadm`, brings these nodes up: there is none of ours, and the image has it.
    pub fn leaves_to_nodeadm(&self, group: &NodeGroup) -> bool {
        group.agent.from == AgentSource::None
            && group.platform == Platform::Aws
            && group.os.family == OsFamily::AmazonLinux2023
            && self.join.method == JoinMethod::EksToken
    }
}
