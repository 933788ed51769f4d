//! The fields of kops' `Cluster`, of both versions of its API and of older releases, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is};
use crate::shapes::Shape::{Fields, Flag, Number, Text, TextOr};
use crate::shapes::{LIST, MAP, TEXT_MAP, TEXTS};

const IN_CLUSTER: &str = "what runs in the cluster";
const CONTROL_PLANE: &str = "the control plane";
const STATE: &str = "where kops keeps its own state";
const FIREWALL: &str = "who reaches the machines";
const CLOUD_NETWORK: &str = "the network that the machines are made in";
const API_SERVER: &str = "the API server";
const GOSSIP: &str = "names by gossip are made by kops' own programs: write `api.endpoint` with an address that nodes reach in additions";

/// A document of kops.
pub(super) const DOCUMENT: &[Field] = &[
    ("apiVersion", Is(Text)),
    ("kind", Is(Text)),
    ("metadata", Is(MAP)),
    ("spec", Is(MAP)),
    ("status", Aside("nothing")),
];

/// `spec` of a `Cluster`.
pub(super) const CLUSTER: &[Field] = &[
    ("additionalNetworkCIDRs", Aside(CLOUD_NETWORK)),
    ("additionalPolicies", Aside("what the machines may do in the cloud")),
    ("additionalSANs", Aside(API_SERVER)),
    ("additionalSans", Aside(API_SERVER)),
    ("addons", Aside(IN_CLUSTER)),
    ("api", Is(MAP)),
    ("assets", Is(MAP)),
    ("authentication", Aside(API_SERVER)),
    ("authorization", Aside(API_SERVER)),
    ("awsLoadBalancerController", Aside(IN_CLUSTER)),
    ("certManager", Aside(IN_CLUSTER)),
    ("channel", Aside("which versions kops proposes")),
    ("cloudConfig", Aside("what the cloud's controllers do")),
    ("cloudControllerManager", Aside(IN_CLUSTER)),
    ("cloudLabels", Is(TEXT_MAP)),
    ("cloudProvider", Is(TextOr(&MAP))),
    ("clusterAutoscaler", Aside(IN_CLUSTER)),
    ("clusterDNSDomain", Is(Text)),
    ("configBase", Aside(STATE)),
    ("configStore", Aside(STATE)),
    ("containerRuntime", Is(Text)),
    ("containerd", Is(MAP)),
    ("controlPlaneKubelet", Is(MAP)),
    ("DisableSubnetTags", Aside(CLOUD_NETWORK)),
    ("dnsControllerGossipConfig", Differs(GOSSIP)),
    ("dnsZone", Aside("where the cluster's names are kept")),
    ("docker", Is(MAP)),
    ("egressProxy", Is(MAP)),
    ("encryptionConfig", Aside(API_SERVER)),
    ("etcdClusters", Aside(CONTROL_PLANE)),
    ("externalDNS", Aside(IN_CLUSTER)),
    ("externalDns", Aside(IN_CLUSTER)),
    ("externalPolicies", Is(MAP)),
    ("fileAssets", Is(LIST)),
    ("gossipConfig", Differs(GOSSIP)),
    ("hooks", Is(LIST)),
    ("iam", Aside("what the machines may do in the cloud")),
    ("isolateMasters", Is(Flag)),
    ("karpenter", Aside(IN_CLUSTER)),
    ("keyStore", Aside(STATE)),
    ("kubeAPIServer", Aside(API_SERVER)),
    ("kubeControllerManager", Aside(CONTROL_PLANE)),
    ("kubeDNS", Is(MAP)),
    ("kubeProxy", Is(MAP)),
    ("kubeScheduler", Aside(CONTROL_PLANE)),
    ("kubelet", Is(MAP)),
    ("kubernetesAPIAccess", Aside(FIREWALL)),
    ("kubernetesApiAccess", Aside(FIREWALL)),
    ("kubernetesVersion", Is(Text)),
    ("masterInternalName", Is(Text)),
    ("masterKubelet", Is(MAP)),
    ("masterPublicName", Aside("the name by which people, not nodes, reach the API server")),
    ("metricsServer", Aside(IN_CLUSTER)),
    ("networkCIDR", Aside(CLOUD_NETWORK)),
    ("networkID", Is(Text)),
    ("networking", Is(MAP)),
    ("nodeAuthorization", Aside("how old releases of kops let nodes join")),
    ("nodePortAccess", Aside(FIREWALL)),
    ("nodeProblemDetector", Aside(IN_CLUSTER)),
    ("nodeTerminationHandler", Aside(IN_CLUSTER)),
    ("nonMasqueradeCIDR", Is(Text)),
    ("ntp", Aside("the clock, which the image's own time service keeps")),
    ("packages", Is(TEXTS)),
    ("podCIDR", Is(Text)),
    ("podIdentityWebhook", Aside(IN_CLUSTER)),
    ("project", Aside("the account that the machines are made in")),
    ("rollingUpdate", Aside("how kops replaces machines")),
    ("secretStore", Aside(STATE)),
    ("serviceAccountIssuerDiscovery", Aside(API_SERVER)),
    ("serviceClusterIPRange", Is(Text)),
    ("snapshotController", Aside(IN_CLUSTER)),
    ("sshAccess", Aside(FIREWALL)),
    ("sshKeyName", Is(Text)),
    ("subnets", Is(LIST)),
    ("sysctlParameters", Is(TEXTS)),
    ("tagSubnets", Aside(CLOUD_NETWORK)),
    ("target", Aside("what kops writes for other tools")),
    ("topology", Is(MAP)),
    ("updatePolicy", Is(Text)),
    ("useHostCertificates", Aside("the control plane's pods")),
    ("warmPool", Differs(super::group_fields::WARM_POOL)),
];

/// `spec.externalPolicies`, by the role of machines.
pub(super) const EXTERNAL_POLICIES: &[Field] = &[
    ("apiserver", Is(TEXTS)),
    ("bastion", Aside("what machines that are no nodes may do in the cloud")),
    ("control-plane", Is(TEXTS)),
    ("master", Is(TEXTS)),
    ("node", Is(TEXTS)),
];

/// `spec.kubeProxy`, which is told as a whole: nothing here runs kube-proxy.
pub(super) const KUBE_PROXY: &[Field] = &[
    ("bindAddress", Is(Text)),
    ("clusterCIDR", Is(Text)),
    ("conntrackMaxPerCore", Is(Number)),
    ("conntrackMin", Is(Number)),
    ("cpuLimit", Is(Text)),
    ("cpuRequest", Is(Text)),
    ("enabled", Is(Flag)),
    ("featureGates", Is(MAP)),
    ("hostnameOverride", Is(Text)),
    ("image", Is(Text)),
    ("ipvsExcludeCIDRs", Is(TEXTS)),
    ("ipvsExcludeCidrs", Is(TEXTS)),
    ("ipvsMinSyncPeriod", Is(Text)),
    ("ipvsScheduler", Is(Text)),
    ("ipvsSyncPeriod", Is(Text)),
    ("logLevel", Is(Number)),
    ("master", Is(Text)),
    ("memoryLimit", Is(Text)),
    ("memoryRequest", Is(Text)),
    ("metricsBindAddress", Is(Text)),
    ("proxyMode", Is(Text)),
];

/// `spec.networking`: the pod network, and in v1alpha3 all that is about addresses.
pub(super) const NETWORKING: &[Field] = &[
    ("additionalNetworkCIDRs", Aside(CLOUD_NETWORK)),
    ("amazonVPC", Is(MAP)),
    ("amazonvpc", Is(MAP)),
    ("calico", Aside(IN_CLUSTER)),
    ("canal", Aside(IN_CLUSTER)),
    ("cilium", Is(Fields(&[("ipam", Text)]))),
    ("classic", Differs("kubelet's own bridge is long gone: install a pod network")),
    ("cni", Aside(IN_CLUSTER)),
    ("egressProxy", Is(MAP)),
    ("external", Aside(IN_CLUSTER)),
    ("flannel", Aside(IN_CLUSTER)),
    ("gce", Aside(IN_CLUSTER)),
    ("gcp", Aside(IN_CLUSTER)),
    ("isolateControlPlane", Is(Flag)),
    ("kindnet", Aside(IN_CLUSTER)),
    ("kopeio", Aside(IN_CLUSTER)),
    ("kubeRouter", Aside(IN_CLUSTER)),
    (
        "kubenet",
        Differs(
            "kops gives containerd a template of a bridge for it: install a pod network, or place such a template with `files`",
        ),
    ),
    ("kuberouter", Aside(IN_CLUSTER)),
    ("lyftvpc", Differs("this pod network is long gone: install another")),
    ("networkCIDR", Aside(CLOUD_NETWORK)),
    ("networkID", Is(Text)),
    ("nonMasqueradeCIDR", Is(Text)),
    ("podCIDR", Is(Text)),
    ("romana", Differs("this pod network is long gone: install another")),
    ("serviceClusterIPRange", Is(Text)),
    ("subnets", Is(LIST)),
    ("tagSubnets", Aside(CLOUD_NETWORK)),
    ("topology", Is(MAP)),
    ("weave", Aside(IN_CLUSTER)),
];

/// AWS' own pod network, in the words of both versions.
pub(super) const AMAZON_VPC: &[Field] = &[
    ("env", Aside(IN_CLUSTER)),
    ("image", Aside(IN_CLUSTER)),
    ("imageName", Aside(IN_CLUSTER)),
    ("initImage", Aside(IN_CLUSTER)),
    ("initImageName", Aside(IN_CLUSTER)),
    ("networkPolicyAgentImage", Aside(IN_CLUSTER)),
];

/// `spec.topology`.
pub(super) const TOPOLOGY: &[Field] = &[
    ("bastion", Aside("how people reach the machines")),
    ("dns", Is(TextOr(&MAP))),
    ("masters", Aside(CLOUD_NETWORK)),
    ("nodes", Aside(CLOUD_NETWORK)),
];

/// `dns` of `topology`, which is a word in v1alpha3.
pub(super) const TOPOLOGY_DNS: &[Field] = &[("type", Is(Text))];

/// A subnet.
pub(super) const SUBNET: &[Field] = &[
    ("additionalRoutes", Aside(CLOUD_NETWORK)),
    ("cidr", Aside(CLOUD_NETWORK)),
    ("egress", Aside(CLOUD_NETWORK)),
    ("id", Is(Text)),
    ("ipv6CIDR", Aside(CLOUD_NETWORK)),
    ("name", Is(Text)),
    ("publicIP", Aside(CLOUD_NETWORK)),
    ("region", Is(Text)),
    ("type", Aside(CLOUD_NETWORK)),
    ("zone", Is(Text)),
];

/// `spec.api`.
pub(super) const API: &[Field] = &[
    ("access", Aside(FIREWALL)),
    ("additionalSANs", Aside(API_SERVER)),
    ("dns", Aside("how people reach the API server")),
    ("loadBalancer", Aside("how the API server is reached")),
    ("publicName", Aside("the name by which people, not nodes, reach the API server")),
];

/// `spec.egressProxy`.
pub(super) const EGRESS_PROXY: &[Field] = &[("excludes", Is(Text)), ("httpProxy", Is(MAP))];

/// `spec.egressProxy.httpProxy`.
pub(super) const HTTP_PROXY: &[Field] = &[("host", Is(Text)), ("port", Is(Number))];

/// `spec.assets`.
pub(super) const ASSETS: &[Field] =
    &[("containerProxy", Is(Text)), ("containerRegistry", Is(Text)), ("fileRepository", Is(Text))];

/// `spec.kubeDNS`, as far as kubelet knows of it.
pub(super) const KUBE_DNS: &[Field] = &[
    ("affinity", Aside(IN_CLUSTER)),
    ("cacheMaxConcurrent", Aside(IN_CLUSTER)),
    ("cacheMaxSize", Aside(IN_CLUSTER)),
    ("coreDNSImage", Aside(IN_CLUSTER)),
    ("cpaImage", Aside(IN_CLUSTER)),
    ("cpuRequest", Aside(IN_CLUSTER)),
    ("domain", Is(Text)),
    ("externalCoreFile", Aside(IN_CLUSTER)),
    ("image", Aside(IN_CLUSTER)),
    ("memoryLimit", Aside(IN_CLUSTER)),
    ("memoryRequest", Aside(IN_CLUSTER)),
    ("nodeLocalDNS", Is(MAP)),
    ("podAnnotations", Aside(IN_CLUSTER)),
    ("provider", Aside(IN_CLUSTER)),
    ("replicas", Aside(IN_CLUSTER)),
    ("serverIP", Is(Text)),
    ("stubDomains", Aside(IN_CLUSTER)),
    ("tolerations", Aside(IN_CLUSTER)),
    ("upstreamNameservers", Aside(IN_CLUSTER)),
];

/// `spec.kubeDNS.nodeLocalDNS`, as far as kubelet knows of it.
pub(super) const NODE_LOCAL_DNS: &[Field] = &[
    ("additionalConfig", Aside(IN_CLUSTER)),
    ("cpuRequest", Aside(IN_CLUSTER)),
    ("enabled", Is(Flag)),
    ("externalCoreFile", Aside(IN_CLUSTER)),
    ("forwardToKubeDNS", Aside(IN_CLUSTER)),
    ("image", Aside(IN_CLUSTER)),
    ("localIP", Is(Text)),
    ("memoryRequest", Aside(IN_CLUSTER)),
    ("podAnnotations", Aside(IN_CLUSTER)),
];
