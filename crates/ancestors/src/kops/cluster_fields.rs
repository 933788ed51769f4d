//! The fields of kops' `Cluster`, of both versions of its API and of older releases, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Taken};

const IN_CLUSTER: &str = "what runs in the cluster";
const CONTROL_PLANE: &str = "the control plane";
const STATE: &str = "where kops keeps its own state";
const FIREWALL: &str = "who reaches the machines";
const CLOUD_NETWORK: &str = "the network that the machines are made in";
const API_SERVER: &str = "the API server";
const GOSSIP: &str = "names by gossip are made by kops' own programs: write `api.endpoint` with an address that nodes reach in additions";

/// A document of kops.
pub(super) const DOCUMENT: &[Field] = &[
    ("apiVersion", Taken),
    ("kind", Taken),
    ("metadata", Taken),
    ("spec", Taken),
    ("status", Aside("nothing")),
];

/// `spec` of a `Cluster`.
pub(super) const CLUSTER: &[Field] = &[
    ("additionalNetworkCIDRs", Aside(CLOUD_NETWORK)),
    ("additionalPolicies", Aside("what the machines may do in the cloud")),
    ("additionalSANs", Aside(API_SERVER)),
    ("additionalSans", Aside(API_SERVER)),
    ("addons", Aside(IN_CLUSTER)),
    ("api", Taken),
    ("assets", Taken),
    ("authentication", Aside(API_SERVER)),
    ("authorization", Aside(API_SERVER)),
    ("awsLoadBalancerController", Aside(IN_CLUSTER)),
    ("certManager", Aside(IN_CLUSTER)),
    ("channel", Aside("which versions kops proposes")),
    ("cloudConfig", Aside("what the cloud's controllers do")),
    ("cloudControllerManager", Aside(IN_CLUSTER)),
    ("cloudLabels", Taken),
    ("cloudProvider", Taken),
    ("clusterAutoscaler", Aside(IN_CLUSTER)),
    ("clusterDNSDomain", Taken),
    ("configBase", Aside(STATE)),
    ("configStore", Aside(STATE)),
    ("containerRuntime", Taken),
    ("containerd", Taken),
    ("controlPlaneKubelet", Taken),
    ("DisableSubnetTags", Aside(CLOUD_NETWORK)),
    ("dnsControllerGossipConfig", Differs(GOSSIP)),
    ("dnsZone", Aside("where the cluster's names are kept")),
    ("docker", Taken),
    ("egressProxy", Taken),
    ("encryptionConfig", Aside(API_SERVER)),
    ("etcdClusters", Aside(CONTROL_PLANE)),
    ("externalDNS", Aside(IN_CLUSTER)),
    ("externalDns", Aside(IN_CLUSTER)),
    ("externalPolicies", Taken),
    ("fileAssets", Taken),
    ("gossipConfig", Differs(GOSSIP)),
    ("hooks", Taken),
    ("iam", Aside("what the machines may do in the cloud")),
    ("isolateMasters", Aside("the network of the control plane's pods")),
    ("karpenter", Aside(IN_CLUSTER)),
    ("keyStore", Aside(STATE)),
    ("kubeAPIServer", Aside(API_SERVER)),
    ("kubeControllerManager", Aside(CONTROL_PLANE)),
    ("kubeDNS", Taken),
    ("kubeProxy", Taken),
    ("kubeScheduler", Aside(CONTROL_PLANE)),
    ("kubelet", Taken),
    ("kubernetesAPIAccess", Aside(FIREWALL)),
    ("kubernetesApiAccess", Aside(FIREWALL)),
    ("kubernetesVersion", Taken),
    ("masterInternalName", Taken),
    ("masterKubelet", Taken),
    ("masterPublicName", Aside("the name by which people, not nodes, reach the API server")),
    ("metricsServer", Aside(IN_CLUSTER)),
    ("networkCIDR", Aside(CLOUD_NETWORK)),
    ("networkID", Taken),
    ("networking", Taken),
    ("nodeAuthorization", Aside("how old releases of kops let nodes join")),
    ("nodePortAccess", Aside(FIREWALL)),
    ("nodeProblemDetector", Aside(IN_CLUSTER)),
    ("nodeTerminationHandler", Aside(IN_CLUSTER)),
    ("nonMasqueradeCIDR", Taken),
    ("ntp", Aside("the clock, which the image's own time service keeps")),
    ("packages", Taken),
    ("podCIDR", Taken),
    ("podIdentityWebhook", Aside(IN_CLUSTER)),
    ("project", Aside("the account that the machines are made in")),
    ("rollingUpdate", Aside("how kops replaces machines")),
    ("secretStore", Aside(STATE)),
    ("serviceAccountIssuerDiscovery", Aside(API_SERVER)),
    ("serviceClusterIPRange", Taken),
    ("snapshotController", Aside(IN_CLUSTER)),
    ("sshAccess", Aside(FIREWALL)),
    ("sshKeyName", Taken),
    ("subnets", Taken),
    ("sysctlParameters", Taken),
    ("tagSubnets", Aside(CLOUD_NETWORK)),
    ("target", Aside("what kops writes for other tools")),
    ("topology", Taken),
    ("updatePolicy", Taken),
    ("useHostCertificates", Aside("the control plane's pods")),
    ("warmPool", Differs(super::group_fields::WARM_POOL)),
];

/// `spec.networking`: the pod network, and in v1alpha3 all that is about addresses.
pub(super) const NETWORKING: &[Field] = &[
    ("additionalNetworkCIDRs", Aside(CLOUD_NETWORK)),
    ("amazonVPC", Taken),
    ("amazonvpc", Taken),
    ("calico", Aside(IN_CLUSTER)),
    ("canal", Aside(IN_CLUSTER)),
    ("cilium", Taken),
    ("classic", Differs("kubelet's own bridge is long gone: install a pod network")),
    ("cni", Aside(IN_CLUSTER)),
    ("egressProxy", Taken),
    ("external", Aside(IN_CLUSTER)),
    ("flannel", Aside(IN_CLUSTER)),
    ("gce", Aside(IN_CLUSTER)),
    ("gcp", Aside(IN_CLUSTER)),
    ("isolateControlPlane", Aside("the network of the control plane's pods")),
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
    ("networkID", Taken),
    ("nonMasqueradeCIDR", Taken),
    ("podCIDR", Taken),
    ("romana", Differs("this pod network is long gone: install another")),
    ("serviceClusterIPRange", Taken),
    ("subnets", Taken),
    ("tagSubnets", Aside(CLOUD_NETWORK)),
    ("topology", Taken),
    ("weave", Aside(IN_CLUSTER)),
];

/// `spec.topology`.
pub(super) const TOPOLOGY: &[Field] = &[
    ("bastion", Aside("how people reach the machines")),
    ("dns", Taken),
    ("masters", Aside(CLOUD_NETWORK)),
    ("nodes", Aside(CLOUD_NETWORK)),
];

/// A subnet.
pub(super) const SUBNET: &[Field] = &[
    ("additionalRoutes", Aside(CLOUD_NETWORK)),
    ("cidr", Taken),
    ("egress", Taken),
    ("id", Taken),
    ("ipv6CIDR", Taken),
    ("name", Taken),
    ("publicIP", Aside(CLOUD_NETWORK)),
    ("region", Taken),
    ("type", Taken),
    ("zone", Taken),
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
pub(super) const EGRESS_PROXY: &[Field] = &[("excludes", Taken), ("httpProxy", Taken)];

/// `spec.egressProxy.httpProxy`.
pub(super) const HTTP_PROXY: &[Field] = &[("host", Taken), ("port", Taken)];

/// `spec.assets`.
pub(super) const ASSETS: &[Field] =
    &[("containerProxy", Taken), ("containerRegistry", Taken), ("fileRepository", Taken)];

/// `spec.kubeDNS`, as far as kubelet knows of it.
pub(super) const KUBE_DNS: &[Field] = &[
    ("affinity", Aside(IN_CLUSTER)),
    ("cacheMaxConcurrent", Aside(IN_CLUSTER)),
    ("cacheMaxSize", Aside(IN_CLUSTER)),
    ("coreDNSImage", Aside(IN_CLUSTER)),
    ("cpaImage", Aside(IN_CLUSTER)),
    ("cpuRequest", Aside(IN_CLUSTER)),
    ("domain", Taken),
    ("externalCoreFile", Aside(IN_CLUSTER)),
    ("image", Aside(IN_CLUSTER)),
    ("memoryLimit", Aside(IN_CLUSTER)),
    ("memoryRequest", Aside(IN_CLUSTER)),
    ("nodeLocalDNS", Taken),
    ("podAnnotations", Aside(IN_CLUSTER)),
    ("provider", Aside(IN_CLUSTER)),
    ("replicas", Aside(IN_CLUSTER)),
    ("serverIP", Taken),
    ("stubDomains", Aside(IN_CLUSTER)),
    ("tolerations", Aside(IN_CLUSTER)),
    ("upstreamNameservers", Aside(IN_CLUSTER)),
];

/// `spec.kubeDNS.nodeLocalDNS`, as far as kubelet knows of it.
pub(super) const NODE_LOCAL_DNS: &[Field] = &[
    ("additionalConfig", Aside(IN_CLUSTER)),
    ("cpuRequest", Aside(IN_CLUSTER)),
    ("enabled", Taken),
    ("externalCoreFile", Aside(IN_CLUSTER)),
    ("forwardToKubeDNS", Aside(IN_CLUSTER)),
    ("image", Aside(IN_CLUSTER)),
    ("localIP", Taken),
    ("memoryRequest", Aside(IN_CLUSTER)),
    ("podAnnotations", Aside(IN_CLUSTER)),
];
