//! Which questions a plan asks, and of whom.

use std::collections::BTreeSet;

use bringup_plan::{Plan, PodLimit};
use bringup_spec::{Fact, NodeNamePolicy, Platform};

/// What must be learned for a plan. On AWS, the first three of the metadata service's answers come from one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Wanted {
    /// Who the instance is: its id, type, region, zone, and usually its address.
    pub identity: bool,
    /// How it is paid for.
    pub lifecycle: bool,
    /// The host's name.
    pub hostname: bool,
    /// Whether that is the machine's own idea of its name, and not the platform's.
    pub own_hostname: bool,
    /// The address, in the family that the plan asks for.
    pub address: bool,
    /// Whether that address is an IPv6 one, which the document does not tell.
    pub ipv6: bool,
    /// Tags, by name.
    pub tags: BTreeSet<String>,
    /// How many processors; the machine itself knows.
    pub cores: bool,
    /// How much memory; the machine itself knows.
    pub memory: bool,
    /// Which file names servers for pods; the machine itself knows.
    pub resolver: bool,
    /// What EKS says of the cluster.
    pub cluster: bool,
    /// The addresses of the network that the machine is in.
    pub network: bool,
}

/// What must be learned for a plan.
pub fn wanted(plan: &Plan) -> Wanted {
    let mut wanted = Wanted { ipv6: plan.ipv6, ..Wanted::default() };
    for fact in &plan.facts {
        match fact {
            Fact::InstanceId | Fact::InstanceType | Fact::Region | Fact::Zone | Fact::ProviderId => {
                wanted.identity = true;
            }
            // Asked of nobody but the API server, and not by everybody.
            Fact::KubernetesTag => {}
            Fact::GuessedDns => wanted.network = true,
            Fact::Lifecycle => wanted.lifecycle = true,
            Fact::Hostname => wanted.hostname = true,
            Fact::Address => wanted.address = true,
            Fact::Cores | Fact::ReservedCpu => wanted.cores = true,
            Fact::MemoryMiB => wanted.memory = true,
            Fact::ResolvConf => wanted.resolver = true,
            Fact::ClusterEndpoint | Fact::ClusterAuthority | Fact::ClusterDns => wanted.cluster = true,
            Fact::NodeName => match plan.node_name {
                NodeNamePolicy::InstanceId => wanted.identity = true,
                NodeNamePolicy::Address => wanted.address = true,
                NodeNamePolicy::PrivateDns | NodeNamePolicy::Hostname => wanted.hostname = true,
            },
            Fact::MaxPods | Fact::ReservedMemory => {
                let limit = if *fact == Fact::MaxPods { &plan.max_pods } else { plan.memory_limit() };
                if !matches!(limit, PodLimit::Fixed(_)) {
                    wanted.identity = true;
                    wanted.cores = true;
                }
                wanted.cores |= plan.pods_per_core.is_some();
            }
            Fact::Tag(tag) => {
                wanted.tags.insert(tag.clone());
            }
        }
    }
    // A journal is bound to its instance, and signals name it.
    wanted.identity |= plan.platform == Platform::Aws;
    wanted.own_hostname = plan.platform == Platform::Generic || plan.node_name == NodeNamePolicy::Hostname;
    wanted
}
