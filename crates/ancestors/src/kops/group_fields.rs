//! The fields of kops' `InstanceGroup`, of hooks, files, volumes and parts of user-data, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Taken};

const SCALING: &str = "how many machines there are, and when";
const MACHINE: &str = "how the machine is made";
pub(super) const WARM_POOL: &str =
    "a machine of a warm pool would be brought up whole while it waits, and join: make the pool without it";

/// `spec` of an `InstanceGroup`.
pub(super) const GROUP: &[Field] = &[
    ("additionalSecurityGroups", Taken),
    ("additionalUserData", Taken),
    ("associatePublicIP", Aside(MACHINE)),
    ("associatePublicIp", Aside(MACHINE)),
    ("autoscale", Aside(SCALING)),
    ("autoscalePriority", Aside(SCALING)),
    ("capacityRebalance", Aside(SCALING)),
    ("cloudLabels", Taken),
    ("compressUserData", Taken),
    ("containerd", Taken),
    ("cpuCredits", Aside(MACHINE)),
    ("detailedInstanceMonitoring", Taken),
    ("externalLoadBalancers", Aside("who reaches the machines")),
    ("fileAssets", Taken),
    ("gcpProvisioningModel", Aside(MACHINE)),
    ("guestAccelerators", Aside(MACHINE)),
    ("hooks", Taken),
    ("iam", Taken),
    ("image", Taken),
    ("instanceInterruptionBehavior", Aside(SCALING)),
    ("instanceMetadata", Taken),
    ("instanceProtection", Aside(SCALING)),
    ("kubelet", Taken),
    ("machineType", Taken),
    ("manager", Taken),
    ("maxInstanceLifetime", Aside(SCALING)),
    ("maxPrice", Taken),
    ("maxSize", Taken),
    ("minSize", Taken),
    ("mixedInstancesPolicy", Taken),
    ("nodeLabels", Taken),
    ("packages", Taken),
    ("role", Taken),
    ("rollingUpdate", Aside("how kops replaces machines")),
    ("rootVolume", Taken),
    ("rootVolumeDeleteOnTermination", Aside(MACHINE)),
    ("rootVolumeEncryption", Taken),
    ("rootVolumeEncryptionKey", Taken),
    ("rootVolumeIOPS", Taken),
    ("rootVolumeIops", Taken),
    ("rootVolumeOptimization", Taken),
    ("rootVolumeSize", Taken),
    ("rootVolumeThroughput", Taken),
    ("rootVolumeType", Taken),
    ("securityGroupOverride", Taken),
    ("spotDurationInMinutes", Aside(SCALING)),
    ("subnets", Aside("where the machines are made")),
    ("suspendProcesses", Aside(SCALING)),
    ("sysctlParameters", Taken),
    ("taints", Taken),
    ("tenancy", Aside(MACHINE)),
    ("updatePolicy", Taken),
    ("volumeMounts", Taken),
    ("volumes", Taken),
    ("warmPool", Differs(WARM_POOL)),
    ("zones", Aside("where the machines are made")),
];

/// A part of `additionalUserData`.
pub(super) const USER_DATA: &[Field] = &[("content", Taken), ("name", Taken), ("type", Taken)];

/// A hook; `disabled` is of v1alpha2, `enabled` of v1alpha3.
pub(super) const HOOK: &[Field] = &[
    ("before", Taken),
    ("disabled", Taken),
    ("enabled", Taken),
    ("execContainer", Taken),
    ("manifest", Taken),
    ("name", Taken),
    ("requires", Taken),
    ("roles", Taken),
    ("useRawManifest", Taken),
];

/// What a hook runs in a container.
pub(super) const EXEC_CONTAINER: &[Field] = &[("command", Taken), ("environment", Taken), ("image", Taken)];

/// A file.
pub(super) const FILE_ASSET: &[Field] = &[
    ("content", Taken),
    ("isBase64", Taken),
    ("mode", Taken),
    ("name", Taken),
    ("path", Taken),
    ("roles", Taken),
];

/// `rootVolume` of v1alpha3.
pub(super) const ROOT_VOLUME: &[Field] = &[
    ("encryption", Taken),
    ("encryptionKey", Taken),
    ("iops", Taken),
    ("optimization", Taken),
    ("size", Taken),
    ("throughput", Taken),
    ("type", Taken),
];

/// A further volume.
pub(super) const VOLUME: &[Field] = &[
    ("deleteOnTermination", Aside("what happens to the volume after the machine")),
    ("device", Taken),
    ("encrypted", Taken),
    ("iops", Taken),
    ("key", Taken),
    ("size", Taken),
    ("throughput", Taken),
    ("type", Taken),
];

/// Where a volume is mounted.
pub(super) const VOLUME_MOUNT: &[Field] = &[
    ("device", Taken),
    ("filesystem", Taken),
    ("formatOptions", Taken),
    ("mountOptions", Taken),
    ("path", Taken),
];

/// `instanceMetadata`.
pub(super) const INSTANCE_METADATA: &[Field] = &[("httpPutResponseHopLimit", Taken), ("httpTokens", Taken)];

/// `iam` of a group.
pub(super) const IAM: &[Field] = &[("profile", Taken)];

/// `mixedInstancesPolicy`.
pub(super) const MIXED_INSTANCES: &[Field] = &[
    ("instanceRequirements", Aside("which machines are made")),
    ("instances", Taken),
    ("onDemandAboveBase", Taken),
    ("onDemandAllocationStrategy", Aside(SCALING)),
    ("onDemandBase", Aside(SCALING)),
    ("spotAllocationStrategy", Aside(SCALING)),
    ("spotInstancePools", Aside(SCALING)),
];
