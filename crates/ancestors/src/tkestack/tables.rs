//! Every field of tkestack's types, `platform.tkestack.io/v1`, and what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is, Taken};
use crate::shapes::Shape::{Number, Text};

const RECORD: &str = "tkestack's own record of the object";
const NETWORK: &str = "the network add-on";

/// `Cluster` and `Machine` as a whole.
pub(super) const OBJECT: &[Field] = &[
    ("apiVersion", Taken),
    ("kind", Taken),
    ("metadata", Taken),
    ("spec", Taken),
    ("status", Aside("tkestack's own record of what it has seen")),
];

/// A list of objects.
pub(super) const LIST: &[Field] = &[
    ("apiVersion", Taken),
    ("kind", Taken),
    ("metadata", Aside("tkestack's own record of the list")),
    ("items", Taken),
];

/// `metadata` of a cluster.
pub(super) const METADATA: &[Field] = &[
    ("name", Taken),
    ("generateName", Taken),
    ("labels", Taken),
    ("annotations", Taken),
    ("namespace", Aside(RECORD)),
    ("selfLink", Aside(RECORD)),
    ("uid", Aside(RECORD)),
    ("resourceVersion", Aside(RECORD)),
    ("generation", Aside(RECORD)),
    ("creationTimestamp", Aside(RECORD)),
    ("deletionTimestamp", Aside(RECORD)),
    ("deletionGracePeriodSeconds", Aside(RECORD)),
    ("ownerReferences", Aside(RECORD)),
    ("finalizers", Aside(RECORD)),
    ("clusterName", Aside(RECORD)),
    ("managedFields", Aside(RECORD)),
];

/// `metadata` of a machine.
pub(super) const MACHINE_METADATA: &[Field] = &[
    ("name", Taken),
    ("generateName", Aside("the name that tkestack would give")),
    ("labels", Aside("how the object is found in tkestack")),
    ("annotations", Aside("what others keep with the object")),
    ("namespace", Aside(RECORD)),
    ("selfLink", Aside(RECORD)),
    ("uid", Aside(RECORD)),
    ("resourceVersion", Aside(RECORD)),
    ("generation", Aside(RECORD)),
    ("creationTimestamp", Aside(RECORD)),
    ("deletionTimestamp", Aside(RECORD)),
    ("deletionGracePeriodSeconds", Aside(RECORD)),
    ("ownerReferences", Aside(RECORD)),
    ("finalizers", Aside(RECORD)),
    ("clusterName", Aside(RECORD)),
    ("managedFields", Aside(RECORD)),
];

/// `spec` of a cluster.
pub(super) const CLUSTER: &[Field] = &[
    ("finalizers", Aside("how tkestack deletes the object")),
    ("tenantID", Aside("who may see the cluster in tkestack")),
    ("displayName", Taken),
    ("type", Taken),
    ("version", Taken),
    ("networkType", Aside(NETWORK)),
    ("networkDevice", Aside("the network add-on and keepalived")),
    ("clusterCIDR", Taken),
    ("serviceCIDR", Taken),
    ("dnsDomain", Taken),
    ("publicAlternativeNames", Taken),
    ("features", Taken),
    ("properties", Taken),
    ("machines", Taken),
    ("dockerExtraArgs", Taken),
    ("kubeletExtraArgs", Taken),
    ("apiServerExtraArgs", Taken),
    ("controllerManagerExtraArgs", Taken),
    ("schedulerExtraArgs", Taken),
    ("clusterCredentialRef", Aside("where tkestack keeps the cluster's credentials")),
    ("etcd", Taken),
    ("hostnameAsNodename", Taken),
    ("networkArgs", Aside(NETWORK)),
    ("scalingMachines", Aside("a change of masters that tkestack has under way")),
    ("bootstrapApps", Aside("applications that are installed on top")),
    ("appVersion", Aside("applications that are installed on top")),
    ("clusterLevel", Aside("how large tkestack expects the cluster to grow")),
];

/// `spec.features`.
pub(super) const FEATURES: &[Field] = &[
    ("ipvs", Taken),
    ("publicLB", Aside("load balancers of the cloud")),
    ("internalLB", Aside("load balancers of the cloud")),
    ("gpuType", Differs("install the driver with a `PreInstall` hook, and the device plugin on the cluster")),
    ("enableMasterSchedule", Taken),
    ("ha", Taken),
    ("skipConditions", Taken),
    ("files", Taken),
    ("hooks", Taken),
    ("csiOperator", Aside("a storage add-on")),
    (
        "authzWebhookAddr",
        Differs("bring the webhook's kubeconfig with `files`, and name it in `apiServerExtraArgs`"),
    ),
    ("enableMetricsServer", Aside("an add-on")),
    // In proposals of tkestack only.
    ("platformApps", Aside("applications that are installed on top")),
    ("ipv6DualStack", Taken),
    ("enableCilium", Aside(NETWORK)),
    ("containerRuntime", Taken),
    ("upgrade", Taken),
];

/// `spec.features.ha`.
pub(super) const HA: &[Field] = &[("tke", Taken), ("thirdParty", Taken)];

/// `spec.features.ha.tke`.
pub(super) const TKE_HA: &[Field] =
    &[("vip", Taken), ("vrid", Differs("write it into the configuration of your keepalived"))];

/// `spec.features.ha.thirdParty`.
pub(super) const THIRD_PARTY_HA: &[Field] = &[("vip", Taken), ("vport", Taken)];

/// An item of `spec.features.files`.
pub(super) const FILE: &[Field] = &[("src", Taken), ("dst", Taken)];

/// `spec.features.upgrade`.
pub(super) const UPGRADE: &[Field] = &[("mode", Taken), ("strategy", Taken)];

/// `spec.features.upgrade.strategy`.
pub(super) const STRATEGY: &[Field] = &[("maxUnready", Taken), ("drainNodeBeforeUpgrade", Taken)];

/// `spec.properties`.
pub(super) const PROPERTIES: &[Field] = &[
    ("maxClusterServiceNum", Taken),
    ("maxNodePodNum", Taken),
    ("oversoldRatio", Aside("what the scheduler takes nodes for")),
];

/// `spec.etcd`.
pub(super) const ETCD: &[Field] = &[("local", Taken), ("external", Taken)];

/// `spec.etcd.local`.
pub(super) const LOCAL_ETCD: &[Field] =
    &[("dataDir", Taken), ("extraArgs", Taken), ("serverCertSANs", Taken), ("peerCertSANs", Taken)];

/// `spec.etcd.external`.
pub(super) const EXTERNAL_ETCD: &[Field] =
    &[("endpoints", Taken), ("caFile", Taken), ("certFile", Taken), ("keyFile", Taken)];

/// An item of `spec.machines` of a cluster.
pub(super) const MASTER: &[Field] = &[
    ("ip", Taken),
    ("port", Taken),
    ("username", Taken),
    ("password", Taken),
    ("privateKey", Taken),
    ("passPhrase", Taken),
    ("labels", Taken),
    ("taints", Taken),
    ("proxy", Taken),
];

/// `spec` of a machine.
pub(super) const MACHINE: &[Field] = &[
    ("finalizers", Aside("how tkestack deletes the object")),
    ("tenantID", Aside("who may see the machine in tkestack")),
    ("clusterName", Taken),
    ("type", Taken),
    ("ip", Taken),
    ("port", Taken),
    ("username", Taken),
    ("password", Taken),
    ("privateKey", Taken),
    ("passPhrase", Taken),
    ("labels", Taken),
    ("taints", Taken),
];

/// `proxy` of a master.
pub(super) const PROXY: &[Field] = &[
    ("type", Is(Text)),
    ("ip", Is(Text)),
    ("port", Is(Number)),
    ("username", Is(Text)),
    ("password", Is(Text)),
    ("privateKey", Is(Text)),
    ("passPhrase", Is(Text)),
];

/// A taint.
pub(super) const TAINT: &[Field] =
    &[("key", Taken), ("value", Taken), ("effect", Taken), ("timeAdded", Aside("when the taint was set"))];

/// Further kinds of the same group: none of them makes a node.
pub(super) const OTHER_KINDS: [&str; 16] = [
    "ClusterCredential",
    "ClusterCredentialList",
    "ClusterAddon",
    "ClusterAddonType",
    "Registry",
    "RegistryList",
    "ConfigMap",
    "ConfigMapList",
    "PersistentEvent",
    "TappController",
    "CSIOperator",
    "CronHPA",
    "Helm",
    "Prometheus",
    "LogCollector",
    "VolumeDecorator",
];
