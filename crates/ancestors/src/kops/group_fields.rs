//! The fields of kops' `InstanceGroup`, of hooks, files, volumes and parts of user-data, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is};
use crate::shapes::Shape::{Flag, Number, Text};
use crate::shapes::{LIST, MAP, TEXT_MAP, TEXTS};

const SCALING: &str = "how many machines there are, and when";
const MACHINE: &str = "how the machine is made";
pub(super) const WARM_POOL: &str =
    "a machine of a warm pool would be brought up whole while it waits, and join: make the pool without it";

/// `spec` of an `InstanceGroup`.
pub(super) const GROUP: &[Field] = &[
    ("additionalSecurityGroups", Is(TEXTS)),
    ("additionalUserData", Is(LIST)),
    ("associatePublicIP", Aside(MACHINE)),
    ("associatePublicIp", Aside(MACHINE)),
    ("autoscale", Aside(SCALING)),
    ("autoscalePriority", Aside(SCALING)),
    ("capacityRebalance", Is(Flag)),
    ("cloudLabels", Is(TEXT_MAP)),
    ("compressUserData", Is(Flag)),
    ("containerd", Is(MAP)),
    ("cpuCredits", Aside(MACHINE)),
    ("detailedInstanceMonitoring", Is(Flag)),
    ("externalLoadBalancers", Is(LIST)),
    ("fileAssets", Is(LIST)),
    ("gcpProvisioningModel", Aside(MACHINE)),
    ("guestAccelerators", Aside(MACHINE)),
    ("hooks", Is(LIST)),
    ("iam", Is(MAP)),
    ("image", Is(Text)),
    ("instanceInterruptionBehavior", Aside(SCALING)),
    ("instanceMetadata", Is(MAP)),
    ("instanceProtection", Aside(SCALING)),
    ("kubelet", Is(MAP)),
    ("machineType", Is(Text)),
    ("manager", Is(Text)),
    ("maxInstanceLifetime", Is(Text)),
    ("maxPrice", Is(Text)),
    ("maxSize", Is(Number)),
    ("minSize", Is(Number)),
    ("mixedInstancesPolicy", Is(MAP)),
    ("nodeLabels", Is(TEXT_MAP)),
    ("packages", Is(TEXTS)),
    ("role", Is(Text)),
    ("rollingUpdate", Aside("how kops replaces machines")),
    ("rootVolume", Is(MAP)),
    ("rootVolumeDeleteOnTermination", Aside(MACHINE)),
    ("rootVolumeEncryption", Is(Flag)),
    ("rootVolumeEncryptionKey", Is(Text)),
    ("rootVolumeIOPS", Is(Number)),
    ("rootVolumeIops", Is(Number)),
    ("rootVolumeOptimization", Is(Flag)),
    ("rootVolumeSize", Is(Number)),
    ("rootVolumeThroughput", Is(Number)),
    ("rootVolumeType", Is(Text)),
    ("securityGroupOverride", Is(Text)),
    ("spotDurationInMinutes", Aside(SCALING)),
    ("subnets", Aside("where the machines are made")),
    ("suspendProcesses", Aside(SCALING)),
    ("sysctlParameters", Is(TEXTS)),
    ("taints", Is(TEXTS)),
    ("tenancy", Aside(MACHINE)),
    ("updatePolicy", Is(Text)),
    ("volumeMounts", Is(LIST)),
    ("volumes", Is(LIST)),
    ("warmPool", Differs(WARM_POOL)),
    ("zones", Aside("where the machines are made")),
];

/// A part of `additionalUserData`.
pub(super) const USER_DATA: &[Field] = &[("content", Is(Text)), ("name", Is(Text)), ("type", Is(Text))];

/// A hook; `disabled` is of v1alpha2, `enabled` of v1alpha3.
pub(super) const HOOK: &[Field] = &[
    ("before", Is(TEXTS)),
    ("disabled", Is(Flag)),
    ("enabled", Is(Flag)),
    ("execContainer", Is(MAP)),
    ("manifest", Is(Text)),
    ("name", Is(Text)),
    ("requires", Is(TEXTS)),
    ("roles", Is(TEXTS)),
    ("useRawManifest", Is(Flag)),
];

/// What a hook runs in a container.
pub(super) const EXEC_CONTAINER: &[Field] =
    &[("command", Is(TEXTS)), ("environment", Is(TEXT_MAP)), ("image", Is(Text))];

/// A file.
pub(super) const FILE_ASSET: &[Field] = &[
    ("content", Is(Text)),
    ("isBase64", Is(Flag)),
    ("mode", Is(Text)),
    ("name", Is(Text)),
    ("path", Is(Text)),
    ("roles", Is(TEXTS)),
];

/// `rootVolume` of v1alpha3.
pub(super) const ROOT_VOLUME: &[Field] = &[
    ("encryption", Is(Flag)),
    ("encryptionKey", Is(Text)),
    ("iops", Is(Number)),
    ("optimization", Is(Flag)),
    ("size", Is(Number)),
    ("throughput", Is(Number)),
    ("type", Is(Text)),
];

/// A further volume.
pub(super) const VOLUME: &[Field] = &[
    ("deleteOnTermination", Aside("what happens to the volume after the machine")),
    ("device", Is(Text)),
    ("encrypted", Is(Flag)),
    ("iops", Is(Number)),
    ("key", Is(Text)),
    ("size", Is(Number)),
    ("throughput", Is(Number)),
    ("type", Is(Text)),
];

/// Where a volume is mounted.
pub(super) const VOLUME_MOUNT: &[Field] = &[
    ("device", Is(Text)),
    ("filesystem", Is(Text)),
    ("formatOptions", Is(TEXTS)),
    ("mountOptions", Is(TEXTS)),
    ("path", Is(Text)),
];

/// `instanceMetadata`.
pub(super) const INSTANCE_METADATA: &[Field] =
    &[("httpPutResponseHopLimit", Is(Number)), ("httpTokens", Is(Text))];

/// `iam` of a group.
pub(super) const IAM: &[Field] = &[("profile", Is(Text))];

/// What the machines stand behind; the last is of v1alpha3.
pub(super) const LOAD_BALANCER: &[Field] =
    &[("loadBalancerName", Is(Text)), ("targetGroupArn", Is(Text)), ("targetGroupARN", Is(Text))];

/// `mixedInstancesPolicy`.
pub(super) const MIXED_INSTANCES: &[Field] = &[
    ("instanceRequirements", Aside("which machines are made")),
    ("instances", Is(TEXTS)),
    ("onDemandAboveBase", Is(Number)),
    ("onDemandAllocationStrategy", Aside(SCALING)),
    ("onDemandBase", Is(Number)),
    ("spotAllocationStrategy", Is(Text)),
    ("spotInstancePools", Is(Number)),
];
