//! Fields of node groups.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Refused, Taken};

const PLACE: &str = "where AWS places the instances";
const SUBNETS: &str = "the subnets of the instances (the template's parameter `Subnets`)";

/// Of both kinds of node group.
pub(in crate::eksctl) const BASE: &[Field] = &[
    ("name", Taken),
    ("amiFamily", Taken),
    ("ami", Taken),
    ("instanceType", Taken),
    ("instanceSelector", Taken),
    ("instancePrefix", Taken),
    ("instanceName", Taken),
    ("desiredCapacity", Taken),
    ("minSize", Taken),
    ("maxSize", Taken),
    ("updateConfig", Taken),
    ("volumeSize", Taken),
    ("volumeType", Taken),
    ("volumeName", Taken),
    ("volumeEncrypted", Taken),
    ("volumeKmsKeyID", Taken),
    ("volumeIOPS", Taken),
    ("volumeThroughput", Taken),
    ("additionalVolumes", Taken),
    ("ssh", Taken),
    ("labels", Taken),
    ("taints", Taken),
    ("tags", Taken),
    ("iam", Taken),
    ("securityGroups", Taken),
    ("maxPodsPerNode", Taken),
    ("ebsOptimized", Taken),
    ("enableDetailedMonitoring", Taken),
    ("preBootstrapCommands", Taken),
    ("overrideBootstrapCommand", Taken),
    ("propagateASGTags", Taken),
    ("disableIMDSv1", Taken),
    ("disablePodIMDS", Taken),
    ("privateNetworking", Aside(SUBNETS)),
    ("availabilityZones", Aside(SUBNETS)),
    ("subnets", Aside(SUBNETS)),
    ("outpostARN", Aside(PLACE)),
    ("placement", Taken),
    ("capacityReservation", Aside("whose capacity EC2 takes")),
    ("instanceMarketOptions", Aside("whose capacity EC2 takes")),
    ("asgSuspendProcesses", Taken),
    ("efaEnabled", Taken),
    (
        "bottlerocket",
        Refused("only images of Bottlerocket have settings", "remove it, or leave this group to eksctl"),
    ),
];

/// Of groups that eksctl makes by itself.
pub(in crate::eksctl) const SELF_MANAGED: &[Field] = &[
    ("instancesDistribution", Taken),
    ("clusterDNS", Taken),
    ("kubeletExtraConfig", Taken),
    ("containerRuntime", Taken),
    ("localZones", Aside(SUBNETS)),
    ("asgMetricsCollection", Aside("what CloudWatch hears of the Auto Scaling group")),
    ("maxInstanceLifetime", Taken),
    ("disableASGTagPropagation", Aside("tags of the Auto Scaling group for the autoscaler")),
    ("classicLoadBalancerNames", Taken),
    ("targetGroupARNs", Taken),
    ("cpuCredits", Taken),
    ("enclaveEnabled", Taken),
];

/// Of groups that EKS makes.
pub(in crate::eksctl) const MANAGED: &[Field] = &[
    ("instanceTypes", Taken),
    ("spot", Taken),
    // eksctl refuses these three here, and people ask for them: nothing stands in their way.
    ("clusterDNS", Taken),
    ("kubeletExtraConfig", Taken),
    ("containerRuntime", Taken),
    (
        "launchTemplate",
        Refused(
            "what shapes the node is in a launch template that is not here",
            "write what the template holds as fields of the group, or leave this group to eksctl",
        ),
    ),
    ("releaseVersion", Differs("write the id of that release's image as `ami`; else the newest is taken")),
    ("nodeRepairConfig", Aside("what EKS does with nodes that are not well")),
];

pub(in crate::eksctl) const UPDATE: &[Field] = &[
    ("maxUnavailable", Taken),
    (
        "maxUnavailablePercentage",
        Aside("how many nodes an update takes at once: a number is needed here, and it is one by one"),
    ),
];

pub(in crate::eksctl) const VOLUME: &[Field] = &[
    ("volumeSize", Taken),
    ("volumeType", Taken),
    ("volumeName", Taken),
    ("volumeEncrypted", Taken),
    ("volumeKmsKeyID", Taken),
    ("volumeIOPS", Taken),
    ("volumeThroughput", Taken),
    ("snapshotID", Taken),
];

pub(in crate::eksctl) const SSH: &[Field] = &[
    ("allow", Taken),
    ("publicKeyName", Taken),
    ("publicKey", Taken),
    ("publicKeyPath", Differs("write the key itself as `publicKey`; no file beside this one is read")),
    ("sourceSecurityGroupIds", Aside("who may reach the nodes")),
    ("enableSsm", Aside("an agent that EKS' images have in any case")),
];

pub(in crate::eksctl) const SECURITY_GROUPS: &[Field] = &[
    ("attachIDs", Taken),
    ("withShared", Taken),
    ("withLocal", Aside("a security group of the group's own, which the template makes in any case")),
];

pub(in crate::eksctl) const IAM: &[Field] = &[
    ("instanceProfileARN", Taken),
    ("instanceRoleARN", Taken),
    ("attachPolicyARNs", Taken),
    ("withAddonPolicies", Taken),
    ("attachPolicy", Differs("make a policy of it, and write its ARN under `attachPolicyARNs`")),
    ("instanceRoleName", Aside("the name of the nodes' role")),
    ("instanceRolePermissionsBoundary", Differs("set `PermissionsBoundary` of the template's role")),
];

const POLICY: &str = "make a policy of what the pods may do, and write its ARN under `attachPolicyARNs`; better, give pods a role of their own";

pub(in crate::eksctl) const ADDON_POLICIES: &[Field] = &[
    ("imageBuilder", Taken),
    ("cloudWatch", Taken),
    ("autoScaler", Taken),
    ("externalDNS", Differs(POLICY)),
    ("certManager", Differs(POLICY)),
    ("appMesh", Differs(POLICY)),
    ("appMeshPreview", Differs(POLICY)),
    ("ebs", Differs(POLICY)),
    ("fsx", Differs(POLICY)),
    ("efs", Differs(POLICY)),
    ("awsLoadBalancerController", Differs(POLICY)),
    ("albIngress", Differs(POLICY)),
    ("xRay", Differs(POLICY)),
];

pub(in crate::eksctl) const DISTRIBUTION: &[Field] = &[
    ("instanceTypes", Taken),
    ("onDemandPercentageAboveBaseCapacity", Taken),
    ("onDemandBaseCapacity", Taken),
    ("maxPrice", Taken),
    ("spotInstancePools", Taken),
    ("spotAllocationStrategy", Taken),
    ("capacityRebalance", Taken),
];

pub(in crate::eksctl) const PLACEMENT: &[Field] = &[("groupName", Taken)];

pub(in crate::eksctl) const INSTANCE_SELECTOR: &[Field] = &[
    ("vCPUs", Taken),
    ("memory", Taken),
    ("gpus", Taken),
    ("neuron_devices", Taken),
    ("cpuArchitecture", Taken),
    ("allow", Taken),
    ("deny", Taken),
];

pub(in crate::eksctl) const TAINT: &[Field] = &[("key", Taken), ("value", Taken), ("effect", Taken)];
