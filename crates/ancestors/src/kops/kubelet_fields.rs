//! The fields of kops' `KubeletConfigSpec`, each with what it becomes of kubelet's own configuration.

/// What a field of kops becomes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// A field of KubeletConfiguration, by its path, as it is.
    Config(&'static [&'static str]),
    /// A mapping, written by kops as `signal<value,signal<value`.
    Pairs(&'static str, char),
    /// A list, written by kops with commas.
    Commas(&'static str),
    /// A flag.
    Flag(&'static str),
    /// Feature gates, whose truth values kops writes as text.
    Gates,
    /// How much kubelet says: a field since 1.23, before that a flag.
    Verbosity,
    /// Something that the document says elsewhere.
    Elsewhere,
    /// Something that kops itself sets, whatever is written: why.
    Overridden(&'static str),
    /// A flag that went before any kubelet that is still brought up.
    Gone,
}

use crate::shapes::{Shape, TEXT_MAP, TEXTS};
use Becomes::{Commas, Config, Elsewhere, Flag, Gates, Gone, Overridden, Pairs, Verbosity};

const CREDENTIALS: &str = "`join` says where kubelet has its credentials from";

/// All fields, of both versions of the API and of older releases.
pub(super) const KUBELET: &[(&str, Becomes)] = &[
    ("allowPrivileged", Gone),
    ("allowedUnsafeSysctls", Config(&["allowedUnsafeSysctls"])),
    ("anonymousAuth", Config(&["authentication", "anonymous", "enabled"])),
    ("apiServers", Gone),
    ("authenticationTokenWebhook", Config(&["authentication", "webhook", "enabled"])),
    ("authenticationTokenWebhookCacheTTL", Config(&["authentication", "webhook", "cacheTTL"])),
    ("authenticationTokenWebhookCacheTtl", Config(&["authentication", "webhook", "cacheTTL"])),
    ("authorizationMode", Config(&["authorization", "mode"])),
    ("babysitDaemons", Gone),
    ("bootstrapKubeconfig", Overridden(CREDENTIALS)),
    ("cgroupDriver", Config(&["cgroupDriver"])),
    ("cgroupRoot", Config(&["cgroupRoot"])),
    ("clientCaFile", Overridden("the cluster's authority is that of `api.certificateAuthority`")),
    ("cloudProvider", Overridden("the platform decides it")),
    ("clusterDNS", Elsewhere),
    ("clusterDomain", Overridden("`clusterDNSDomain` decides it")),
    ("configureCbr0", Gone),
    ("containerLogMaxFiles", Config(&["containerLogMaxFiles"])),
    ("containerLogMaxSize", Config(&["containerLogMaxSize"])),
    ("cpuCFSQuota", Config(&["cpuCFSQuota"])),
    ("cpuCFSQuotaPeriod", Config(&["cpuCFSQuotaPeriod"])),
    ("cpuManagerPolicy", Config(&["cpuManagerPolicy"])),
    ("crashLoopBackOffMaxContainerRestartPeriod", Config(&["crashLoopBackOff", "maxContainerRestartPeriod"])),
    ("dockerDisableSharedPID", Gone),
    ("enableCadvisorJsonEndpoints", Flag("enable-cadvisor-json-endpoints")),
    ("enableCustomMetrics", Gone),
    ("enableDebuggingHandlers", Config(&["enableDebuggingHandlers"])),
    ("enforceNodeAllocatable", Commas("enforceNodeAllocatable")),
    ("eventBurst", Config(&["eventBurst"])),
    // Of the two names the older wins, as in kops.
    ("eventRecordQPS", Config(&["eventRecordQPS"])),
    ("eventQPS", Config(&["eventRecordQPS"])),
    ("evictionHard", Pairs("evictionHard", '<')),
    ("evictionMaxPodGracePeriod", Config(&["evictionMaxPodGracePeriod"])),
    ("evictionMinimumReclaim", Pairs("evictionMinimumReclaim", '=')),
    ("evictionPressureTransitionPeriod", Config(&["evictionPressureTransitionPeriod"])),
    ("evictionSoft", Pairs("evictionSoft", '<')),
    ("evictionSoftGracePeriod", Pairs("evictionSoftGracePeriod", '=')),
    ("experimentalAllocatableIgnoreEviction", Flag("experimental-allocatable-ignore-eviction")),
    ("experimentalAllowedUnsafeSysctls", Config(&["allowedUnsafeSysctls"])),
    ("experimental_allowed_unsafe_sysctls", Config(&["allowedUnsafeSysctls"])),
    ("failSwapOn", Config(&["failSwapOn"])),
    ("featureGates", Gates),
    ("hairpinMode", Config(&["hairpinMode"])),
    ("hostnameOverride", Elsewhere),
    ("housekeepingInterval", Flag("housekeeping-interval")),
    ("imageGCHighThresholdPercent", Config(&["imageGCHighThresholdPercent"])),
    ("imageGCLowThresholdPercent", Config(&["imageGCLowThresholdPercent"])),
    ("imageMaximumGCAge", Config(&["imageMaximumGCAge"])),
    ("imageMinimumGCAge", Config(&["imageMinimumGCAge"])),
    ("imagePullProgressDeadline", Flag("image-pull-progress-deadline")),
    ("kernelMemcgNotification", Config(&["kernelMemcgNotification"])),
    ("kubeAPIQPS", Config(&["kubeAPIQPS"])),
    ("kubeReserved", Config(&["kubeReserved"])),
    ("kubeReservedCgroup", Config(&["kubeReservedCgroup"])),
    ("kubeconfigPath", Overridden(CREDENTIALS)),
    ("kubeletCgroups", Config(&["kubeletCgroups"])),
    ("logFormat", Config(&["logging", "format"])),
    ("logLevel", Verbosity),
    ("maxParallelImagePulls", Config(&["maxParallelImagePulls"])),
    ("maxPods", Elsewhere),
    ("memorySwapBehavior", Config(&["memorySwap", "swapBehavior"])),
    ("networkPluginMTU", Flag("network-plugin-mtu")),
    ("networkPluginName", Flag("network-plugin")),
    ("nodeLabels", Elsewhere),
    ("nodeLeaseDurationSeconds", Config(&["nodeLeaseDurationSeconds"])),
    ("nodeStatusUpdateFrequency", Config(&["nodeStatusUpdateFrequency"])),
    ("nonMasqueradeCIDR", Flag("non-masquerade-cidr")),
    ("nvidiaGPUs", Gone),
    ("podCIDR", Config(&["podCIDR"])),
    ("podInfraContainerImage", Elsewhere),
    ("podManifestPath", Config(&["staticPodPath"])),
    ("podPidsLimit", Config(&["podPidsLimit"])),
    ("protectKernelDefaults", Config(&["protectKernelDefaults"])),
    ("readOnlyPort", Config(&["readOnlyPort"])),
    ("reconcileCIDR", Gone),
    ("registerNode", Config(&["registerNode"])),
    ("registerSchedulable", Flag("register-schedulable")),
    ("registryBurst", Config(&["registryBurst"])),
    ("registryPullQPS", Config(&["registryPullQPS"])),
    ("requireKubeconfig", Gone),
    ("resolvConf", Config(&["resolvConf"])),
    ("rootDir", Flag("root-dir")),
    ("rotateCertificates", Config(&["rotateCertificates"])),
    ("runtimeCgroups", Flag("runtime-cgroups")),
    ("runtimeRequestTimeout", Config(&["runtimeRequestTimeout"])),
    ("seccompDefault", Config(&["seccompDefault"])),
    ("seccompProfileRoot", Flag("seccomp-profile-root")),
    ("serializeImagePulls", Config(&["serializeImagePulls"])),
    ("shutdownGracePeriod", Config(&["shutdownGracePeriod"])),
    ("shutdownGracePeriodCriticalPods", Config(&["shutdownGracePeriodCriticalPods"])),
    ("streamingConnectionIdleTimeout", Config(&["streamingConnectionIdleTimeout"])),
    ("systemCgroups", Config(&["systemCgroups"])),
    ("systemReserved", Config(&["systemReserved"])),
    ("systemReservedCgroup", Config(&["systemReservedCgroup"])),
    ("taints", Elsewhere),
    ("tlsCertFile", Overridden("kubelet's own serving certificate is made on the node")),
    ("tlsCipherSuites", Config(&["tlsCipherSuites"])),
    ("tlsMinVersion", Config(&["tlsMinVersion"])),
    ("tlsPrivateKeyFile", Overridden("kubelet's own serving certificate is made on the node")),
    ("topologyManagerPolicy", Config(&["topologyManagerPolicy"])),
    ("volumePluginDirectory", Config(&["volumePluginDir"])),
    ("volumeStatsAggPeriod", Config(&["volumeStatsAggPeriod"])),
];

/// Fields that are mappings, lists and truth values; the others are written as one word.
const MAPPINGS: &[&str] = &["featureGates", "kubeReserved", "nodeLabels", "systemReserved"];
const LISTS: &[&str] = &[
    "allowedUnsafeSysctls",
    "experimentalAllowedUnsafeSysctls",
    "experimental_allowed_unsafe_sysctls",
    "taints",
    "tlsCipherSuites",
];
const FLAGS: &[&str] = &[
    "anonymousAuth",
    "authenticationTokenWebhook",
    "cpuCFSQuota",
    "enableCadvisorJsonEndpoints",
    "enableDebuggingHandlers",
    "experimentalAllocatableIgnoreEviction",
    "failSwapOn",
    "kernelMemcgNotification",
    "protectKernelDefaults",
    "registerNode",
    "registerSchedulable",
    "rotateCertificates",
    "seccompDefault",
    "serializeImagePulls",
];

/// How a field is written.
pub(super) fn shape(name: &str) -> Shape {
    match name {
        _ if MAPPINGS.contains(&name) => TEXT_MAP,
        _ if LISTS.contains(&name) => TEXTS,
        _ if FLAGS.contains(&name) => Shape::Flag,
        _ => Shape::Text,
    }
}
