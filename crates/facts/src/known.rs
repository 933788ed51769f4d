//! What was learned and what follows from it.

use std::net::IpAddr;

use bringup_plan::bootstrap::guessed_dns;
use bringup_plan::{Election, Plan, PodLimit, max_pods, reservations};
use bringup_spec::{Fact, NodeNamePolicy, Platform};

use crate::{FactFault, Facts, cluster, name, resolver};

/// What was learned, and what follows from it for one plan.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
}

impl<'a> Known<'a> {
    /// For this plan, by these facts.
    pub fn new(plan: &'a Plan, facts: &'a Facts) -> Self {
        Self { plan, facts }
    }

    /// The value of a fact, learned or derived.
    pub fn value(&self, fact: &Fact) -> Result<String, FactFault> {
        let facts = self.facts;
        let learned = match fact {
            Fact::InstanceId => facts.instance_id.clone(),
            Fact::InstanceType => facts.instance_type.clone(),
            Fact::Region => facts.region.clone(),
            Fact::Zone => facts.zone.clone(),
            Fact::Lifecycle => facts.lifecycle.clone(),
            Fact::Address => facts.address.clone(),
            Fact::Hostname => facts.hostname.clone(),
            Fact::Cores => facts.cores.filter(|cores| *cores > 0).map(|cores| cores.to_string()),
            Fact::MemoryMiB => facts.memory_mib.map(|memory| memory.to_string()),
            Fact::Tag(tag) => facts.tags.get(tag).cloned(),
            Fact::ClusterEndpoint | Fact::ClusterAuthority | Fact::ClusterDns => {
                return self.of_cluster(fact);
            }
            // Without an answer, the network is taken for one that is not like the range of services.
            Fact::GuessedDns => Some(guessed_dns(&facts.vpc_cidrs).to_owned()),
            Fact::NodeName => return self.node_name(),
            Fact::KubernetesTag if self.plan.detect.is_none() || self.elected()? => {
                Some(format!("v{}", self.plan.kubernetes).replace('+', "_"))
            }
            Fact::KubernetesTag => facts.kubernetes_tag.clone(),
            // Whoever has not looked has what kubelet has by itself.
            Fact::ResolvConf => {
                Some(facts.resolv_conf.clone().unwrap_or_else(|| resolver::SYSTEM.to_owned()))
            }
            Fact::ProviderId => return self.provider_id(),
            Fact::MaxPods => return self.max_pods().map(|pods| pods.to_string()),
            Fact::ReservedCpu => {
                return self.cores().map(|cores| format!("{}m", reservations::cpu_millicores(cores)));
            }
            Fact::ReservedMemory => {
                return self.pods_in_force().map(|pods| format!("{}Mi", reservations::memory_mib(pods)));
            }
        };
        // Only a tag may say nothing.
        let said = learned.filter(|value| !value.is_empty() || matches!(fact, Fact::Tag(_)));
        let value = said.ok_or_else(|| FactFault::Missing { fact: fact.clone() })?;
        // Values end in files of one line per value: a line end in one would be a line of somebody else's.
        if value.contains(char::is_control) {
            return Err(FactFault::ControlCharacter { fact: fact.clone() });
        }
        if *fact == Fact::Address && value.parse::<IpAddr>().is_err() {
            return Err(FactFault::BadAddress { address: value });
        }
        Ok(value)
    }

    /// Every fact that the plan uses and that cannot be had, each once: others may follow from it.
    pub fn faults(&self) -> Vec<FactFault> {
        let mut faults = Vec::new();
        for fault in self.plan.facts.iter().filter_map(|fact| self.value(fact).err()) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        if matches!(self.plan.bootstrap, Some(Election::Store { .. })) {
            faults.extend(self.elected().err());
        }
        faults
    }

    /// The name that the node registers with.
    pub fn node_name(&self) -> Result<String, FactFault> {
        let name = match &self.plan.node_name {
            NodeNamePolicy::InstanceId => self.value(&Fact::InstanceId)?,
            NodeNamePolicy::Address => self.value(&Fact::Address)?,
            NodeNamePolicy::PrivateDns | NodeNamePolicy::Hostname => {
                self.value(&Fact::Hostname)?.to_lowercase()
            }
        };
        match name::fault(&name) {
            Some(why) => Err(FactFault::BadName { name, why }),
            None => Ok(name),
        }
    }

    /// The platform's name of the machine, as Kubernetes has it.
    fn provider_id(&self) -> Result<String, FactFault> {
        match self.plan.platform {
            Platform::Aws => {
                Ok(format!("aws:///{}/{}", self.value(&Fact::Zone)?, self.value(&Fact::InstanceId)?))
            }
            Platform::Generic => Err(FactFault::Missing { fact: Fact::ProviderId }),
        }
    }

    /// How many pods the node takes.
    pub fn max_pods(&self) -> Result<u32, FactFault> {
        self.pods(&self.plan.max_pods)
    }

    fn pods(&self, limit: &PodLimit) -> Result<u32, FactFault> {
        match limit {
            PodLimit::Fixed(pods) => Ok(*pods),
            PodLimit::Interfaces { .. } | PodLimit::Expression { .. } => {
                let instance_type = self.value(&Fact::InstanceType)?;
                Ok(max_pods::max_pods(limit, &instance_type, self.cores()?))
            }
        }
    }

    /// How many pods memory is kept for. Kubelet also heeds a bound for each core.
    fn pods_in_force(&self) -> Result<u32, FactFault> {
        let pods = self.pods(self.plan.memory_limit())?;
        match self.plan.pods_per_core {
            Some(each) => Ok(pods.min(each.saturating_mul(self.cores()?))),
            None => Ok(pods),
        }
    }

    fn cores(&self) -> Result<u32, FactFault> {
        self.facts.cores.filter(|cores| *cores > 0).ok_or(FactFault::Missing { fact: Fact::Cores })
    }

    /// What EKS says of the cluster.
    fn of_cluster(&self, fact: &Fact) -> Result<String, FactFault> {
        let named = self.plan.eks.as_ref().map(|eks| eks.name.as_str());
        let cluster = self.facts.cluster.as_ref();
        let cluster = cluster.filter(|cluster| cluster.name.is_none() || cluster.name.as_deref() == named);
        let cluster = cluster.ok_or_else(|| FactFault::Missing { fact: fact.clone() })?;
        cluster::value(cluster, fact, self.plan.ipv6)
    }

    /// Whether this node starts the cluster.
    pub fn elected(&self) -> Result<bool, FactFault> {
        match &self.plan.bootstrap {
            None => Ok(false),
            Some(Election::Always) => Ok(true),
            Some(Election::When { fact, equals }) => Ok(self.value(fact)? == *equals),
            Some(Election::Store { object }) => {
                let held = self.facts.election.as_ref().filter(|held| held.object == *object);
                let held = held.ok_or_else(|| FactFault::NoElection { object: object.clone() })?;
                Ok(held.holder == self.value(&Fact::InstanceId)?)
            }
        }
    }
}
