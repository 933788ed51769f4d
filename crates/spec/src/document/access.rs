//! How nodes reach and join the cluster.

use std::collections::BTreeMap;

use crate::decode::{choices, record};
use crate::{Address, Authority, Certificate, Cidr, KubernetesVersion, Name, SecretSource};

record! {
    /// Kubernetes itself.
    "`kubernetes`" pub struct Kubernetes {
        /// The version, `1.33` or `1.33.4`.
        "version" => version: KubernetesVersion,
        /// Whether a node that has registered asks the API server for its version, and holds kubelet's against it: one that
        /// Kubernetes' policy does not allow pauses the node.
        "checkSkew" => check_skew: bool = false,
        /// Whether a node that joins asks the API server for its version first: one that this version may not join pauses
        /// the node before anything is changed on it, and `@{kubernetesTag}` is the API server's own.
        "detect" => detect: bool = false,
    }
}

record! {
    /// How to reach the API server.
    "`api`" pub struct Api {
        /// Its address, `https://HOST[:PORT]`.
        "endpoint" => endpoint: String,
        /// The authority that signed its certificate.
        "certificateAuthority" => certificate_authority: Option<Authority>,
        /// The cluster's id, which EKS local clusters on Outposts need.
        "clusterId" => cluster_id: Option<String>,
    }
}

record! {
    /// DNS, service and pod ranges.
    "`network`" pub struct Network {
        /// Addresses of the cluster's DNS; by default the tenth of each service range.
        "dns" => dns: Vec<Address>,
        /// The cluster's domain.
        "domain" => domain: String = "cluster.local".to_owned(),
        /// Ranges of service addresses: one, or one of each family.
        "serviceRanges" => service_ranges: Vec<Cidr>,
        /// Ranges of pod addresses: one, or one of each family.
        "podRanges" => pod_ranges: Vec<Cidr>,
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            dns: Vec::new(),
            domain: "cluster.local".to_owned(),
            service_ranges: Vec::new(),
            pod_ranges: Vec::new(),
        }
    }
}

choices! {
    /// How a node gets its credentials.
    "way to join" pub enum JoinMethod {
        /// A token made from the instance's own AWS credentials.
        EksToken = "eks-token",
        /// A bootstrap token, traded for a certificate.
        BootstrapToken = "bootstrap-token",
        /// A kubeconfig that is given.
        Kubeconfig = "kubeconfig",
        /// `kubeadm join` or `kubeadm init`.
        Kubeadm = "kubeadm",
    }
}

record! {
    /// How a node gets its credentials.
    "`join`" pub struct Join {
        /// The way.
        "method" => method: JoinMethod,
        /// The bootstrap token, for `bootstrap-token` and `kubeadm`.
        "token" => token: Option<SecretSource>,
        /// The kubeconfig, for `kubeconfig`. With `kubeadm`, what nodes that join know the API server by where neither its
        /// authority nor a digest of that is given, and what they join with if it has credentials or there is a `token`.
        "kubeconfig" => kubeconfig: Option<SecretSource>,
        /// The role that the token is made for, if not the instance's own.
        "roleArn" => role_arn: Option<String>,
        /// Settings of kubeadm.
        "kubeadm" => kubeadm: Option<Kubeadm>,
    }
}

record! {
    /// Settings of kubeadm.
    "`kubeadm`" pub struct Kubeadm {
        /// Digests of the cluster's CA key, `sha256:HEX`, that discovery accepts.
        "caCertHashes" => ca_cert_hashes: Vec<String>,
        /// The key that decrypts the certificates of a control plane, for further control-plane nodes.
        "certificateKey" => certificate_key: Option<SecretSource>,
        /// Fields of kubeadm's `ClusterConfiguration`.
        "clusterConfiguration" => cluster_configuration: BTreeMap<String, serde_json::Value>,
        /// Fields of kubeadm's `InitConfiguration`.
        "initConfiguration" => init_configuration: BTreeMap<String, serde_json::Value>,
        /// Fields of kubeadm's `JoinConfiguration`.
        "joinConfiguration" => join_configuration: BTreeMap<String, serde_json::Value>,
        /// Fields of kube-proxy's `KubeProxyConfiguration`, which kubeadm installs it with.
        "kubeProxyConfiguration" => kube_proxy_configuration: BTreeMap<String, serde_json::Value>,
        /// Preflight checks to ignore, by kubeadm's names.
        "ignorePreflightErrors" => ignore_preflight_errors: Vec<String>,
        /// Phases to skip, by kubeadm's names.
        "skipPhases" => skip_phases: Vec<String>,
    }
}

record! {
    /// What is common to all node groups on AWS.
    "`aws`" pub struct Aws {
        /// The region, such as `eu-central-1`.
        "region" => region: String,
        /// The partition; by default the region's own.
        "partition" => partition: Option<String>,
        /// The name of the EKS cluster, if not the document's own.
        "clusterName" => cluster_name: Option<String>,
        /// The VPC that the nodes live in.
        "vpc" => vpc: Option<String>,
        /// Subnets that the nodes live in.
        "subnets" => subnets: Vec<String>,
        /// The security group of the control plane, which nodes must talk to.
        "controlPlaneSecurityGroup" => control_plane_security_group: Option<String>,
        /// The registry account of sandbox images; by default the region's own.
        "registryAccount" => registry_account: Option<String>,
    }
}

record! {
    /// A proxy.
    "`proxy`" pub struct Proxy {
        /// For plain HTTP.
        "http" => http: Option<String>,
        /// For HTTPS.
        "https" => https: Option<String>,
        /// What to reach directly; the API server, the service and pod ranges and the metadata service are added.
        "noProxy" => no_proxy: Vec<String>,
    }
}

record! {
    /// A certificate authority to trust.
    "a certificate authority" pub struct TrustedAuthority {
        /// The name of its file in the trust store.
        "name" => name: Name,
        /// The certificate.
        "certificate" => certificate: Certificate,
    }
}
