//! How machines are launched on AWS, and whom they tell how it ended.

use std::collections::BTreeMap;

use crate::decode::{choices, record};
use crate::{AbsolutePath, SecretSource, Span, Text};

record! {
    /// The launch template.
    "`launch`" pub struct Launch {
        /// The image's id; or `imageParameter`.
        "image" => image: Option<String>,
        /// The SSM parameter that holds the image's id; the default is EKS' own for the operating system.
        "imageParameter" => image_parameter: Option<String>,
        /// The EC2 key pair.
        "keyName" => key_name: Option<String>,
        /// A public key that the template imports, in the place of `keyName`.
        "publicKey" => public_key: Option<String>,
        /// Volumes; the first is the root.
        "volumes" => volumes: Vec<Volume>,
        /// The metadata service.
        "metadata" => metadata: MetadataOptions = MetadataOptions::default(),
        /// Tags of instances and volumes.
        "tags" => tags: BTreeMap<String, String>,
        /// Further security groups.
        "securityGroups" => security_groups: Vec<String>,
        /// The nodes' role.
        "role" => role: NodeRole = NodeRole::default(),
        /// Whether to ask for spot capacity.
        "spot" => spot: bool = false,
        /// Whether instances are EBS-optimised, where the type leaves a choice.
        "ebsOptimized" => ebs_optimized: Option<bool>,
        /// Detailed monitoring.
        "monitoring" => monitoring: bool = false,
        /// What the template's user-data is.
        "userData" => user_data: LaunchUserData = LaunchUserData::Plan,
        /// What burstable types do when their credits are used up; by default what the account says.
        "cpuCredits" => cpu_credits: Option<CpuCredits>,
        /// A placement group that exists already.
        "placementGroup" => placement_group: Option<String>,
        /// On so many network cards, interfaces of the type EFA; the nodes then stand close together.
        "efaInterfaces" => efa_interfaces: u16 = 0,
        /// Whether Nitro enclaves may run beside the node.
        "enclave" => enclave: bool = false,
    }
}

choices! {
    /// What the user-data of a template is.
    "kind of user-data" pub enum LaunchUserData {
        /// All that the plan needs.
        Plan = "plan",
        /// A call of `/etc/eks/bootstrap.sh` with arguments that can be set when the template is deployed.
        Bootstrap = "bootstrap",
    }
}

choices! {
    /// What burstable types do when their credits are used up.
    "way to use credits" pub enum CpuCredits {
        /// They slow down.
        Standard = "standard",
        /// They cost more.
        Unlimited = "unlimited",
    }
}

choices! {
    /// Types of volume.
    "type of volume" pub enum VolumeType {
        /// General purpose, third generation.
        Gp3 = "gp3",
        /// General purpose, second generation.
        Gp2 = "gp2",
        /// Provisioned, first generation.
        Io1 = "io1",
        /// Provisioned, second generation.
        Io2 = "io2",
        /// Throughput-optimised disk.
        St1 = "st1",
        /// Cold disk.
        Sc1 = "sc1",
        /// Magnetic disk, of the first generation.
        Standard = "standard",
    }
}

record! {
    /// A volume.
    "a volume" pub struct Volume {
        /// The device's name; the root's default follows from the operating system.
        "device" => device: Option<String>,
        /// Its size.
        "sizeGiB" => size_gib: u32,
        /// Its type.
        "type" => kind: VolumeType = VolumeType::Gp3,
        /// Provisioned operations a second.
        "iops" => iops: Option<u32>,
        /// Provisioned throughput in MiB a second.
        "throughput" => throughput: Option<u32>,
        /// Whether it is encrypted.
        "encrypted" => encrypted: bool = true,
        /// The key that encrypts it, if not the account's default.
        "kmsKey" => kms_key: Option<String>,
        /// The snapshot that it starts from.
        "snapshot" => snapshot: Option<String>,
    }
}

record! {
    /// The metadata service of an instance.
    "`metadata`" pub struct MetadataOptions {
        /// Whether version 2, with tokens, is required.
        "tokensRequired" => tokens_required: bool = true,
        /// How many network hops an answer may travel: 2 reaches pods.
        "hopLimit" => hop_limit: u16 = 2,
        /// Whether an instance may read its own tags there.
        "instanceTags" => instance_tags: bool = false,
    }
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self { tokens_required: true, hop_limit: 2, instance_tags: false }
    }
}

record! {
    /// The role of the nodes.
    "`role`" pub struct NodeRole {
        /// An instance profile that exists already; the template then makes neither role nor profile.
        "instanceProfile" => instance_profile: Option<String>,
        /// The ARN of the role of that profile, for the access entry.
        "arn" => arn: Option<String>,
        /// Further policies of the role that the template makes, by ARN.
        "policies" => policies: Vec<String>,
        /// Whether the template makes the access entry that lets the nodes join.
        "accessEntry" => access_entry: bool = true,
    }
}

impl Default for NodeRole {
    fn default() -> Self {
        Self { instance_profile: None, arn: None, policies: Vec::new(), access_entry: true }
    }
}

record! {
    /// The Auto Scaling group.
    "`scaling`" pub struct Scaling {
        /// At least so many nodes.
        "min" => min: u32 = 1,
        /// At most so many.
        "max" => max: u32,
        /// So many to begin with; by default `min`.
        "desired" => desired: Option<u32>,
        /// How a new launch template reaches the nodes.
        "rollingUpdate" => rolling_update: RollingUpdate = RollingUpdate::default(),
        /// How long to wait for the first nodes to signal, where signals are sent.
        "creationTimeout" => creation_timeout: Span = Span::seconds(900),
        /// Tags of the group; they reach the nodes too.
        "tags" => tags: BTreeMap<String, String>,
        /// Share of on-demand capacity in percent, where there are several instance types.
        "onDemandPercentage" => on_demand_percentage: Option<u16>,
        /// So many nodes are on-demand capacity before the share counts.
        "onDemandBase" => on_demand_base: Option<u32>,
        /// How spot capacity is chosen.
        "spotStrategy" => spot_strategy: Option<SpotStrategy>,
        /// Among so many of the cheapest kinds of spot capacity the nodes are spread, with `lowest-price`.
        "spotPools" => spot_pools: Option<u16>,
        /// What an hour of spot capacity may cost, in dollars; by default as much as on demand.
        "spotMaxPrice" => spot_max_price: Option<String>,
        /// Whether a node is replaced before its spot capacity is taken away.
        "capacityRebalance" => capacity_rebalance: bool = false,
        /// After so long a node is replaced.
        "maxInstanceLifetime" => max_instance_lifetime: Option<Span>,
        /// Classic load balancers that the nodes stand behind, by name.
        "loadBalancers" => load_balancers: Vec<String>,
        /// Target groups that the nodes belong to, by ARN.
        "targetGroups" => target_groups: Vec<String>,
        /// Life-cycle hook that a new node must complete, by name.
        "lifecycleHook" => lifecycle_hook: Option<String>,
    }
}

choices! {
    /// How spot capacity is chosen.
    "way to choose spot capacity" pub enum SpotStrategy {
        /// By price and by how much there is.
        PriceCapacityOptimized = "price-capacity-optimized",
        /// By how much there is.
        CapacityOptimized = "capacity-optimized",
        /// By how much there is, the first instance types before the others.
        CapacityOptimizedPrioritized = "capacity-optimized-prioritized",
        /// By price.
        LowestPrice = "lowest-price",
    }
}

record! {
    /// How a new launch template reaches the nodes.
    "`rollingUpdate`" pub struct RollingUpdate {
        /// So many at once.
        "maxBatchSize" => max_batch_size: u32 = 1,
        /// So many stay in service; by default the desired number.
        "minInService" => min_in_service: Option<u32>,
        /// How long to wait for a node's signal, by default `creationTimeout`; or between batches, by default five minutes.
        "pause" => pause: Option<Span>,
    }
}

impl Default for RollingUpdate {
    fn default() -> Self {
        Self { max_batch_size: 1, min_in_service: None, pause: None }
    }
}

choices! {
    /// Ways to tell how it ended.
    "kind of signal" pub enum SignalKind {
        /// To the CloudFormation stack.
        CloudFormation = "cloudformation",
        /// Completes a life-cycle action of the Auto Scaling group.
        LifecycleAction = "lifecycle-action",
        /// A POST with a token.
        Http = "http",
        /// A file.
        File = "file",
    }
}

record! {
    /// Whom to tell how it ended.
    "a signal" pub struct Signal {
        /// The way.
        "kind" => kind: SignalKind,
        /// The stack, if the carrier does not know it.
        "stack" => stack: Option<String>,
        /// The logical id of the resource that waits, or the name of the Auto Scaling group.
        "resource" => resource: Option<String>,
        /// The name of the life-cycle hook.
        "hook" => hook: Option<String>,
        /// The address to POST to.
        "url" => url: Option<Text>,
        /// The bearer token of the POST.
        "token" => token: Option<SecretSource>,
        /// The file.
        "path" => path: Option<AbsolutePath>,
    }
}
