//! Fields of node groups.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Is, Refused, Taken};
use crate::shapes::Shape::{Flag, Number, Text};
use crate::shapes::{LIST, MAP, TEXT_MAP, TEXTS};

const PLACE: &str = "where AWS places the instances";
const SUBNETS: &str = "the subnets of the instances (the template's parameter `Subnets`)";

/// Of both kinds of node group.
pub(in crate::eksctl) const BASE: &[Field] = &[
    ("name", Is(Text)),
    ("amiFamily", Is(Text)),
    ("ami", Is(Text)),
    ("instanceType", Is(Text)),
    ("instanceSelector", Is(MAP)),
    ("instancePrefix", Is(Text)),
    ("instanceName", Is(Text)),
    ("desiredCapacity", Is(Number)),
    ("minSize", Is(Number)),
    ("maxSize", Is(Number)),
    ("updateConfig", Is(MAP)),
    ("volumeSize", Is(Number)),
    ("volumeType", Is(Text)),
    ("volumeName", Is(Text)),
    ("volumeEncrypted", Is(Flag)),
    ("volumeKmsKeyID", Is(Text)),
    ("volumeIOPS", Is(Number)),
    ("volumeThroughput", Is(Number)),
    ("additionalVolumes", Is(LIST)),
    ("ssh", Is(MAP)),
    ("labels", Is(TEXT_MAP)),
    ("taints", Taken),
    ("tags", Is(TEXT_MAP)),
    ("iam", Is(MAP)),
    ("securityGroups", Is(MAP)),
    ("maxPodsPerNode", Is(Number)),
    ("ebsOptimized", Is(Flag)),
    ("enableDetailedMonitoring", Is(Flag)),
    ("preBootstrapCommands", Is(TEXTS)),
    ("overrideBootstrapCommand", Is(Text)),
    ("propagateASGTags", Is(Flag)),
    ("disableIMDSv1", Is(Flag)),
    ("disablePodIMDS", Is(Flag)),
    ("privateNetworking", Aside(SUBNETS)),
    ("availabilityZones", Aside(SUBNETS)),
    ("subnets", Aside(SUBNETS)),
    ("outpostARN", Aside(PLACE)),
    ("placement", Is(MAP)),
    ("capacityReservation", Aside("whose capacity EC2 takes")),
    ("instanceMarketOptions", Aside("whose capacity EC2 takes")),
    ("asgSuspendProcesses", Is(TEXTS)),
    ("efaEnabled", Is(Flag)),
    (
        "bottlerocket",
        Refused("only images of Bottlerocket have settings", "remove it, or leave this group to eksctl"),
    ),
];

/// Of groups that eksctl makes by itself.
pub(in crate::eksctl) const SELF_MANAGED: &[Field] = &[
    ("instancesDistribution", Is(MAP)),
    ("clusterDNS", Is(Text)),
    ("kubeletExtraConfig", Is(MAP)),
    ("containerRuntime", Is(Text)),
    ("localZones", Aside(SUBNETS)),
    ("asgMetricsCollection", Aside("what CloudWatch hears of the Auto Scaling group")),
    ("maxInstanceLifetime", Is(Number)),
    ("disableASGTagPropagation", Aside("tags of the Auto Scaling group for the autoscaler")),
    ("classicLoadBalancerNames", Is(TEXTS)),
    ("targetGroupARNs", Is(TEXTS)),
    ("cpuCredits", Is(Text)),
    ("enclaveEnabled", Is(Flag)),
];

/// Of groups that EKS makes.
pub(in crate::eksctl) const MANAGED: &[Field] = &[
    ("instanceTypes", Is(TEXTS)),
    ("spot", Is(Flag)),
    // eksctl refuses these three here, and people ask for them: nothing stands in their way.
    ("clusterDNS", Is(Text)),
    ("kubeletExtraConfig", Is(MAP)),
    ("containerRuntime", Is(Text)),
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
    ("maxUnavailable", Is(Number)),
    (
        "maxUnavailablePercentage",
        Aside("how many nodes an update takes at once: a number is needed here, and it is one by one"),
    ),
];

pub(in crate::eksctl) const VOLUME: &[Field] = &[
    ("volumeSize", Is(Number)),
    ("volumeType", Is(Text)),
    ("volumeName", Is(Text)),
    ("volumeEncrypted", Is(Flag)),
    ("volumeKmsKeyID", Is(Text)),
    ("volumeIOPS", Is(Number)),
    ("volumeThroughput", Is(Number)),
    ("snapshotID", Is(Text)),
];

pub(in crate::eksctl) const SSH: &[Field] = &[
    ("allow", Is(Flag)),
    ("publicKeyName", Is(Text)),
    ("publicKey", Is(Text)),
    ("publicKeyPath", Differs("write the key itself as `publicKey`; no file beside this one is read")),
    ("sourceSecurityGroupIds", Aside("who may reach the nodes")),
    ("enableSsm", Aside("an agent that EKS' images have in any case")),
];

pub(in crate::eksctl) const SECURITY_GROUPS: &[Field] = &[
    ("attachIDs", Is(TEXTS)),
    ("withShared", Is(Flag)),
    ("withLocal", Aside("a security group of the group's own, which the template makes in any case")),
];

pub(in crate::eksctl) const IAM: &[Field] = &[
    ("instanceProfileARN", Is(Text)),
    ("instanceRoleARN", Is(Text)),
    ("attachPolicyARNs", Is(TEXTS)),
    ("withAddonPolicies", Is(MAP)),
    ("attachPolicy", Differs("make a policy of it, and write its ARN under `attachPolicyARNs`")),
    ("instanceRoleName", Aside("the name of the nodes' role")),
    ("instanceRolePermissionsBoundary", Differs("set `PermissionsBoundary` of the template's role")),
];

const POLICY: &str = "make a policy of what the pods may do, and write its ARN under `attachPolicyARNs`; better, give pods a role of their own";

pub(in crate::eksctl) const ADDON_POLICIES: &[Field] = &[
    ("imageBuilder", Is(Flag)),
    ("cloudWatch", Is(Flag)),
    ("autoScaler", Is(Flag)),
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
    ("instanceTypes", Is(TEXTS)),
    ("onDemandPercentageAboveBaseCapacity", Is(Number)),
    ("onDemandBaseCapacity", Is(Number)),
    ("maxPrice", Is(Number)),
    ("spotInstancePools", Is(Number)),
    ("spotAllocationStrategy", Is(Text)),
    ("capacityRebalance", Is(Flag)),
];

pub(in crate::eksctl) const PLACEMENT: &[Field] = &[("groupName", Is(Text))];

pub(in crate::eksctl) const INSTANCE_SELECTOR: &[Field] = &[
    ("vCPUs", Is(Number)),
    ("memory", Is(Text)),
    ("gpus", Is(Number)),
    ("neuron_devices", Is(Number)),
    ("cpuArchitecture", Is(Text)),
    ("allow", Is(Text)),
    ("deny", Is(Text)),
];

pub(in crate::eksctl) const TAINT: &[Field] = &[("key", Is(Text)), ("value", Is(Text)), ("effect", Is(Text))];
