//! What a call must know of the machine and its cluster, asked for and no more: a session, the identity document and the
//! host's name; the network's blocks, where the DNS must be guessed; credentials, where EKS is asked.

use bringup_facts::{ClusterFacts, Facts, Wanted};
use bringup_plan::EksCluster;
use bringup_plan::bootstrap::{ClusterAnswer, Instance};
use bringup_progress::Failure;
use bringup_spec::bootstrap_flags::BootstrapRequest;

use super::{Outcome, guesses_dns, is_ipv6, retry};
use crate::ended::Ended;
use crate::network::{Network, deadline};
use crate::{address, cluster};

/// How long the metadata service is asked.
const PATIENCE_MS: u64 = 5 * 60_000;

/// Asks the metadata service, and EKS where the call does not say where the cluster is.
pub(super) fn learn(request: &BootstrapRequest, network: &Network) -> Outcome<Facts> {
    let wanted = Wanted { identity: true, hostname: true, ..Wanted::default() };
    let mut facts =
        network.metadata.facts(&wanted, deadline(PATIENCE_MS)).map_err(|fault| given_up(&fault))?;
    if request.needs_cluster() {
        facts.cluster = Some(describe(request, network, facts.region.as_deref().unwrap_or_default())?);
    }
    if is_ipv6(request, &facts) {
        let wanted = Wanted { address: true, ipv6: true, ..Wanted::default() };
        let asked =
            network.metadata.facts(&wanted, deadline(PATIENCE_MS)).map_err(|fault| given_up(&fault))?;
        facts.address = asked.address;
    }
    if guesses_dns(request, &facts) {
        let mac = address::hardware();
        // Without an answer, the script takes the network for one that is not like the range of services.
        facts.vpc_cidrs =
            network.metadata.network_blocks(mac.as_deref(), deadline(PATIENCE_MS)).unwrap_or_default();
    }
    facts.cores = std::thread::available_parallelism().ok().and_then(|cores| u32::try_from(cores.get()).ok());
    Ok(facts)
}

/// EKS is asked again as often as the call says, and a cluster that is coming is waited for; what will not change is not asked
/// for again.
fn describe(request: &BootstrapRequest, network: &Network, region: &str) -> Outcome<ClusterFacts> {
    let cluster = EksCluster { name: request.cluster.clone(), region: region.to_owned() };
    retry::asked(request.retry_attempts, std::thread::sleep, || {
        cluster::look(network, &cluster, deadline(60_000))
    })
    .map_err(|failure| given_up(&failure))
}

fn given_up(failure: &Failure) -> (Ended, String) {
    let hint = if failure.fix.is_empty() { String::new() } else { format!(": {}", failure.fix) };
    (Ended::No, format!("{}{hint}", failure.why))
}

/// The facts that every plan of a call uses.
pub(super) fn instance(request: &BootstrapRequest, facts: &Facts) -> Result<Instance, String> {
    let mut missing = Vec::new();
    let mut must = |name: &'static str, value: &Option<String>| {
        let plain = |text: &&String| !text.is_empty() && !text.contains(|letter: char| letter.is_control());
        value.as_ref().filter(plain).cloned().unwrap_or_else(|| {
            missing.push(name);
            String::new()
        })
    };
    let mut instance = Instance {
        region: must("region", &facts.region),
        zone: must("zone", &facts.zone),
        id: must("instanceId", &facts.instance_id),
        instance_type: must("instanceType", &facts.instance_type),
        address: must("address", &facts.address),
        hostname: must("hostname", &facts.hostname),
        cores: facts.cores.unwrap_or_default(),
        vpc_cidrs: facts.vpc_cidrs.clone(),
        cluster: None,
    };
    if instance.cores == 0 {
        missing.push("cores");
    }
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        return Err(format!("it must be known and is not: {}", names.join(", ")));
    }
    let named = |cluster: &&ClusterFacts| cluster.name.as_ref().is_none_or(|name| *name == request.cluster);
    instance.cluster = facts.cluster.as_ref().filter(named).map(|cluster| ClusterAnswer {
        endpoint: cluster.endpoint.clone(),
        authority: cluster.certificate_authority.clone(),
        service_range: cluster.service_cidr.clone(),
        id: cluster.id.clone(),
        outpost: cluster.outpost,
    });
    Ok(instance)
}
