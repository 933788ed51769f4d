//! The fields of EC2's launch settings and of what launches machines from them, each with what becomes of it.

use crate::fields::Field;
use crate::fields::Use::{Aside, Differs, Taken};

const RECORD: &str = "the record that AWS keeps of it";
const STACK: &str = "how the stack is made and changed";
const GROUP: &str = "how the group is kept, which the new template says for itself";
const PLACE: &str = "where machines are made";
const MACHINE: &str = "set it in the launch template that is made";
const ADDRESS: &str = "how machines are reached";

/// A launch template's data, a launch configuration or an instance.
pub(super) const LAUNCH: &[Field] = &[
    ("AdditionalInfo", Aside(RECORD)),
    ("Affinity", Aside("the host that machines run on")),
    ("AssociatePublicIpAddress", Differs("the subnet decides about public addresses: set it there")),
    ("AvailabilityZone", Aside(PLACE)),
    ("BlockDeviceMappings", Taken),
    ("CapacityReservationSpecification", Differs(MACHINE)),
    ("ClassicLinkVPCId", Aside(ADDRESS)),
    ("ClassicLinkVPCSecurityGroups", Aside(ADDRESS)),
    ("CpuOptions", Differs(MACHINE)),
    ("CreatedTime", Aside(RECORD)),
    ("CreditSpecification", Taken),
    ("DisableApiStop", Aside("who may stop a machine")),
    ("DisableApiTermination", Aside("who may end a machine")),
    ("EbsOptimized", Taken),
    ("ElasticGpuSpecifications", Differs("elastic graphics are no more")),
    ("ElasticInferenceAccelerators", Differs("elastic inference is no more")),
    ("EnclaveOptions", Taken),
    ("HibernationOptions", Differs("a node cannot hibernate")),
    ("HostId", Aside("the host that machines run on")),
    ("IamInstanceProfile", Taken),
    ("ImageId", Taken),
    ("InstanceId", Aside(RECORD)),
    ("InstanceInitiatedShutdownBehavior", Differs(MACHINE)),
    ("InstanceMarketOptions", Taken),
    ("InstanceMonitoring", Taken),
    ("InstanceRequirements", Differs("name types under `instanceTypes` of the group in additions")),
    ("InstanceType", Taken),
    ("Ipv6AddressCount", Differs(MACHINE)),
    ("Ipv6Addresses", Differs(MACHINE)),
    ("KernelId", Differs(MACHINE)),
    ("KeyName", Taken),
    ("LaunchConfigurationARN", Aside(RECORD)),
    ("LaunchConfigurationName", Aside(RECORD)),
    ("LaunchTemplate", Differs("write what it says here: it is another template's")),
    ("LicenseSpecifications", Aside("licences")),
    ("MaintenanceOptions", Aside("what EC2 does with a machine that fails")),
    ("MetadataOptions", Taken),
    ("Monitoring", Taken),
    ("NetworkInterfaces", Taken),
    ("NetworkPerformanceOptions", Differs(MACHINE)),
    ("Operator", Aside(RECORD)),
    ("Placement", Taken),
    ("PlacementGroupName", Taken),
    ("PlacementTenancy", Differs(MACHINE)),
    ("PrivateDnsName", Aside(RECORD)),
    ("PrivateDnsNameOptions", Differs("write `nodeName` of the group in additions")),
    ("PrivateIpAddress", Aside(ADDRESS)),
    ("PropagateTagsToVolumeOnCreation", Aside("tags, which volumes have too")),
    ("RamDiskId", Differs(MACHINE)),
    ("RamdiskId", Differs(MACHINE)),
    ("SecondaryInterfaces", Differs(MACHINE)),
    ("SecurityGroupIds", Taken),
    ("SecurityGroups", Taken),
    (
        "SourceDestCheck",
        Differs("the pod network may need it off: set it in the launch template that is made"),
    ),
    ("SpotPrice", Taken),
    ("SsmAssociations", Differs("associate the document with the nodes' tags")),
    ("SubnetId", Taken),
    ("TagSpecifications", Taken),
    ("Tags", Taken),
    ("Tenancy", Differs(MACHINE)),
    ("Volumes", Differs("a volume that exists belongs to one machine: attach it with a step")),
];

/// What a resource says beside that.
pub(super) const OUTER: &[Field] = &[
    ("CreationPolicy", Aside(STACK)),
    ("DeletionPolicy", Aside(STACK)),
    ("DependsOn", Aside(STACK)),
    ("LaunchTemplateName", Aside(RECORD)),
    ("Metadata", Differs("`cfn-init` reads it: write what it does as steps of the group in additions")),
    ("TagSpecifications", Aside(RECORD)),
    ("Tags", Aside(RECORD)),
    ("UpdatePolicy", Aside(STACK)),
    ("UpdateReplacePolicy", Aside(STACK)),
    ("VersionDescription", Aside(RECORD)),
];

pub(super) const DEVICE: &[Field] = &[
    ("DeviceName", Taken),
    ("Ebs", Taken),
    ("NoDevice", Differs("take the device out of the image")),
    ("VirtualName", Differs("disks of the instance are there without it; make one of them with a step")),
];

pub(super) const EBS: &[Field] = &[
    ("DeleteOnTermination", Aside("what is left when a machine ends: here nothing is")),
    ("EbsCardIndex", Differs(MACHINE)),
    ("Encrypted", Taken),
    ("Iops", Taken),
    ("KmsKeyId", Taken),
    ("SnapshotId", Taken),
    ("Throughput", Taken),
    ("VolumeInitializationRate", Differs(MACHINE)),
    ("VolumeSize", Taken),
    ("VolumeType", Taken),
];

pub(super) const METADATA: &[Field] = &[
    ("HttpEndpoint", Taken),
    ("HttpProtocolIpv6", Differs("the metadata service is asked over IPv4")),
    ("HttpPutResponseHopLimit", Taken),
    ("HttpTokens", Taken),
    ("InstanceMetadataTags", Taken),
    ("State", Aside(RECORD)),
];

pub(super) const INTERFACE: &[Field] = &[
    ("AssociateCarrierIpAddress", Differs(MACHINE)),
    ("AssociatePublicIpAddress", Differs("the subnet decides about public addresses: set it there")),
    ("ConnectionTrackingSpecification", Differs(MACHINE)),
    ("DeleteOnTermination", Aside("what is left when a machine ends: here nothing is")),
    ("Description", Aside(RECORD)),
    ("DeviceIndex", Taken),
    ("EnaQueueCount", Differs(MACHINE)),
    ("EnaSrdSpecification", Differs(MACHINE)),
    ("Groups", Taken),
    ("InterfaceType", Taken),
    ("Ipv4PrefixCount", Differs(MACHINE)),
    ("Ipv4Prefixes", Differs(MACHINE)),
    ("Ipv6AddressCount", Differs(MACHINE)),
    ("Ipv6Addresses", Differs(MACHINE)),
    ("Ipv6PrefixCount", Differs(MACHINE)),
    ("Ipv6Prefixes", Differs(MACHINE)),
    ("NetworkCardIndex", Taken),
    ("NetworkInterfaceId", Differs("an interface that exists belongs to one machine")),
    ("PrimaryIpv6", Differs(MACHINE)),
    ("PrivateIpAddress", Differs(MACHINE)),
    ("PrivateIpAddresses", Differs(MACHINE)),
    ("SecondaryPrivateIpAddressCount", Differs(MACHINE)),
    ("SubnetId", Aside(PLACE)),
];

pub(super) const MARKET: &[Field] = &[("MarketType", Taken), ("SpotOptions", Taken)];

pub(super) const SPOT: &[Field] = &[
    ("BlockDurationMinutes", Aside("capacity that EC2 no longer sells")),
    ("InstanceInterruptionBehavior", Differs(MACHINE)),
    ("MaxPrice", Taken),
    ("SpotInstanceType", Aside("how capacity is asked for again")),
    ("ValidUntil", Aside("how long capacity is asked for")),
];

pub(super) const PLACEMENT: &[Field] = &[
    ("Affinity", Aside("the host that machines run on")),
    ("AvailabilityZone", Aside(PLACE)),
    ("AvailabilityZoneId", Aside(PLACE)),
    ("GroupId", Differs("write the group's name, not its id")),
    ("GroupName", Taken),
    ("HostId", Aside("the host that machines run on")),
    ("HostResourceGroupArn", Aside("the host that machines run on")),
    ("PartitionNumber", Differs(MACHINE)),
    ("SpreadDomain", Differs(MACHINE)),
    ("Tenancy", Differs(MACHINE)),
];

/// An Auto Scaling group.
pub(super) const SCALING: &[Field] = &[
    ("AutoScalingGroupName", Aside(RECORD)),
    ("AvailabilityZoneDistribution", Aside(PLACE)),
    ("AvailabilityZoneImpairmentPolicy", Aside(GROUP)),
    ("AvailabilityZoneIds", Aside(PLACE)),
    ("AvailabilityZones", Aside(PLACE)),
    ("CapacityRebalance", Taken),
    ("CapacityReservationSpecification", Differs(MACHINE)),
    ("Context", Aside(RECORD)),
    ("Cooldown", Aside(GROUP)),
    ("DefaultInstanceWarmup", Aside(GROUP)),
    ("DeletionProtection", Aside(GROUP)),
    ("DesiredCapacity", Taken),
    ("DesiredCapacityType", Aside(GROUP)),
    ("HealthCheckGracePeriod", Aside(GROUP)),
    ("HealthCheckType", Aside(GROUP)),
    ("InstanceId", Aside(RECORD)),
    ("InstanceLifecyclePolicy", Aside(GROUP)),
    ("InstanceMaintenancePolicy", Aside(GROUP)),
    ("LaunchConfigurationName", Taken),
    ("LaunchTemplate", Taken),
    (
        "LifecycleHookSpecificationList",
        Differs("write `scaling: {lifecycleHook: NAME}` and the signal `lifecycle-action` in additions"),
    ),
    ("LoadBalancerNames", Taken),
    ("MaxInstanceLifetime", Taken),
    ("MaxSize", Taken),
    ("MetricsCollection", Aside("what is measured of the group")),
    ("MinSize", Taken),
    ("MixedInstancesPolicy", Taken),
    ("NewInstancesProtectedFromScaleIn", Aside(GROUP)),
    ("NotificationConfiguration", Aside("who is told of the group's machines")),
    ("NotificationConfigurations", Aside("who is told of the group's machines")),
    ("PlacementGroup", Taken),
    ("ServiceLinkedRoleARN", Aside(GROUP)),
    ("SkipZonalShiftValidation", Aside(GROUP)),
    ("Tags", Taken),
    ("TargetGroupARNs", Taken),
    ("TerminationPolicies", Aside(GROUP)),
    ("TrafficSources", Differs("write `scaling: {targetGroups: [...]}` in additions")),
    ("VPCZoneIdentifier", Taken),
];

pub(super) const MIXED: &[Field] = &[("InstancesDistribution", Taken), ("LaunchTemplate", Taken)];

pub(super) const MIXED_TEMPLATE: &[Field] = &[("LaunchTemplateSpecification", Taken), ("Overrides", Taken)];

pub(super) const OVERRIDE: &[Field] = &[
    ("ImageId", Differs("give such types a group of their own")),
    ("InstanceRequirements", Differs("name types under `instanceTypes` of the group in additions")),
    ("InstanceType", Taken),
    ("LaunchTemplateSpecification", Differs("give such types a group of their own")),
    ("WeightedCapacity", Differs("every node counts as one")),
];

pub(super) const DISTRIBUTION: &[Field] = &[
    ("OnDemandAllocationStrategy", Aside("which type is launched first: here the first that is named")),
    ("OnDemandBaseCapacity", Taken),
    ("OnDemandPercentageAboveBaseCapacity", Taken),
    ("SpotAllocationStrategy", Taken),
    ("SpotInstancePools", Taken),
    ("SpotMaxPrice", Taken),
];

/// A managed node group of EKS.
pub(super) const MANAGED: &[Field] = &[
    ("AmiType", Aside("an image that the launch template names itself")),
    ("CapacityType", Taken),
    ("ClusterName", Aside(RECORD)),
    ("DiskSize", Differs("write `launch: {volumes: [{sizeGiB: ...}]}` of the group in additions")),
    ("ForceUpdateEnabled", Aside(GROUP)),
    ("InstanceTypes", Taken),
    ("Labels", Differs("EKS hands them to its own nodes: write `labels` of the group in additions")),
    ("LaunchTemplate", Taken),
    ("NodeRepairConfig", Aside(GROUP)),
    ("NodeRole", Aside("who the nodes are: write `launch: {role: ...}` of the group in additions")),
    ("NodegroupName", Aside(RECORD)),
    ("ReleaseVersion", Aside("an image that the launch template names itself")),
    ("RemoteAccess", Differs("write `launch: {keyName: ...}` of the group in additions")),
    ("ScalingConfig", Taken),
    ("Subnets", Taken),
    ("Tags", Aside(RECORD)),
    ("Taints", Differs("EKS hands them to its own nodes: write `taints` of the group in additions")),
    ("UpdateConfig", Aside(GROUP)),
    ("Version", Aside("an image that the launch template names itself")),
    ("WarmPoolConfig", Aside(GROUP)),
];

pub(super) const MANAGED_SCALING: &[Field] =
    &[("DesiredSize", Taken), ("MaxSize", Taken), ("MinSize", Taken)];
