//! Fields of the cluster as a whole.

use crate::fields::Field;
use crate::fields::Use::{Aside, Is};
use crate::shapes::Shape::{MapOf, Text};
use crate::shapes::{LIST, MAP, TEXT_MAP};

pub(in crate::eksctl) const CLUSTER: &[Field] = &[
    ("apiVersion", Is(Text)),
    ("kind", Is(Text)),
    ("metadata", Is(MAP)),
    ("status", Is(MAP)),
    ("kubernetesNetworkConfig", Is(MAP)),
    ("vpc", Is(MAP)),
    ("nodeGroups", Is(LIST)),
    ("managedNodeGroups", Is(LIST)),
    ("outpost", Is(MAP)),
    ("upgradePolicy", Aside("how long EKS supports the control plane's version")),
    ("autoModeConfig", Aside("nodes that EKS itself makes and runs")),
    ("autonomousModeConfig", Aside("nodes that EKS itself makes and runs")),
    ("remoteNetworkConfig", Aside("the networks of hybrid nodes")),
    ("iam", Aside("roles of the cluster and of pods")),
    ("iamIdentityMappings", Aside("who may use the cluster")),
    ("identityProviders", Aside("who may use the cluster")),
    ("accessConfig", Aside("who may use the cluster")),
    ("addons", Aside("add-ons that EKS installs in the cluster")),
    ("addonsConfig", Aside("add-ons that EKS installs in the cluster")),
    ("capabilities", Aside("what EKS runs beside the cluster")),
    ("privateCluster", Aside("the endpoints of the VPC")),
    ("fargateProfiles", Aside("pods that run without a node")),
    ("availabilityZones", Aside("the subnets of the VPC")),
    ("localZones", Aside("the subnets of the VPC")),
    ("cloudWatch", Aside("the control plane's logs")),
    ("secretsEncryption", Aside("how the control plane keeps secrets")),
    ("git", Aside("what is deployed to the cluster")),
    ("gitops", Aside("what is deployed to the cluster")),
    ("karpenter", Aside("nodes that Karpenter launches by its own documents")),
    ("controlPlaneScalingConfig", Aside("the control plane")),
    ("zonalShiftConfig", Aside("the control plane")),
    ("kubeAPIServerConfig", Aside("the control plane")),
    ("kubeSchedulerConfig", Aside("the control plane")),
    ("kubeControllerManagerConfig", Aside("the control plane")),
];

pub(in crate::eksctl) const METADATA: &[Field] = &[
    ("name", Is(Text)),
    ("region", Is(Text)),
    ("version", Is(Text)),
    ("tags", Is(TEXT_MAP)),
    ("annotations", Is(TEXT_MAP)),
    ("forceUpdateVersion", Aside("the upgrade of the control plane")),
    ("rollbackConfig", Aside("the upgrade of the control plane")),
];

pub(in crate::eksctl) const STATUS: &[Field] = &[
    ("endpoint", Is(Text)),
    ("certificateAuthorityData", Is(Text)),
    ("id", Is(Text)),
    ("arn", Aside("the cluster's name in AWS")),
    ("stackName", Aside("the control plane's stack")),
    ("eksctlCreated", Aside("eksctl's own memory")),
    ("kubernetesNetworkConfig", Is(MAP)),
    ("apiServerUnreachable", Aside("eksctl's own memory")),
];

pub(in crate::eksctl) const NETWORK: &[Field] =
    &[("ipFamily", Is(Text)), ("serviceIPv4CIDR", Is(Text)), ("serviceIPv6CIDR", Is(Text))];

const VPC_ITSELF: &str = "the VPC";
const CONTROL_PLANE: &str = "the control plane's network";

pub(in crate::eksctl) const VPC: &[Field] = &[
    ("id", Is(Text)),
    ("subnets", Is(MAP)),
    ("securityGroup", Is(Text)),
    ("sharedNodeSecurityGroup", Is(Text)),
    ("cidr", Aside(VPC_ITSELF)),
    ("ipv6Cidr", Aside(VPC_ITSELF)),
    ("ipv6Pool", Aside(VPC_ITSELF)),
    ("extraCIDRs", Aside(VPC_ITSELF)),
    ("extraIPv6CIDRs", Aside(VPC_ITSELF)),
    ("autoAllocateIPv6", Aside(VPC_ITSELF)),
    ("nat", Aside(VPC_ITSELF)),
    ("hostnameType", Aside("names of hosts in the subnets")),
    ("manageSharedNodeSecurityGroupRules", Aside("the rules of a security group")),
    ("clusterEndpoints", Aside(CONTROL_PLANE)),
    ("publicAccessCIDRs", Aside(CONTROL_PLANE)),
    ("controlPlaneSubnetIDs", Aside(CONTROL_PLANE)),
    ("controlPlaneOnPrivateSubnets", Aside(CONTROL_PLANE)),
    ("controlPlaneSecurityGroupIDs", Aside(CONTROL_PLANE)),
    ("controlPlaneEgressMode", Aside(CONTROL_PLANE)),
];

pub(in crate::eksctl) const SUBNETS: &[Field] = &[("private", Is(MapOf(&MAP))), ("public", Is(MapOf(&MAP)))];

pub(in crate::eksctl) const SUBNET: &[Field] =
    &[("id", Is(Text)), ("az", Aside("the subnet")), ("cidr", Aside("the subnet"))];

pub(in crate::eksctl) const OUTPOST: &[Field] = &[
    ("controlPlaneOutpostARN", Is(Text)),
    ("controlPlaneInstanceType", Aside("the control plane's machines")),
    ("controlPlanePlacement", Aside("the control plane's machines")),
    ("etcdInstanceType", Aside("the control plane's machines")),
    ("etcdPlacement", Aside("the control plane's machines")),
];
