//! Learns the facts: given ones, remembered ones, those of the machine itself, those of the platform.

use std::collections::BTreeMap;

use bringup_facts::{ClusterFacts, ElectionFacts, Facts, Known, Wanted, resolver, wanted};
use bringup_plan::{EksCluster, Election, Plan};
use bringup_progress::{Failure, FailureKind, State, Success};
use bringup_spec::Platform;

use super::{Checks, Doing, Stopped, detect, election};
use crate::machine::Machine;
use crate::teller::Teller;
use crate::{cluster, preflight, up};

/// The name under which the journal keeps what was learned.
const KEPT: &str = "facts";

/// The name under which it keeps the plan for which the checks have passed.
const CHECKED: &str = "checked-for";

/// What an earlier boot has learned, if the journal has it.
pub(crate) fn remembered(state: &State, plan: &Plan) -> Option<Facts> {
    let step = plan.steps.iter().find(|step| matches!(step.action, bringup_plan::Action::LearnFacts))?;
    let kept = state.step(&step.name)?.kept().get(KEPT)?;
    Facts::from_json(kept.as_bytes()).ok()
}

/// Whether the checks before the start have passed for this very plan.
pub(crate) fn is_checked(state: &State, plan: &Plan) -> bool {
    let step = plan.steps.iter().find(|step| matches!(step.action, bringup_plan::Action::LearnFacts));
    let kept = step.and_then(|step| state.step(&step.name)).and_then(|step| step.kept().get(CHECKED));
    kept == Some(&plan.digest())
}

/// Learns the facts that the plan uses, and checks the machine before anything is changed on it.
pub(super) fn learn(doing: &Doing<'_>) -> Result<Success, Stopped> {
    let facts = with_version(doing, gather(doing)?)?;
    let faults = Known::new(doing.plan, &facts).faults();
    if !faults.is_empty() {
        let why: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let fix: Vec<String> = faults.iter().map(bringup_facts::FactFault::hint).collect();
        return Err(Failure::new(FailureKind::Permanent, why.join("; "), fix.join("; ")).into());
    }
    if let Checks::Due(ignored) = doing.checks {
        let seen = preflight::look(doing.machine, doing.plan, Known::new(doing.plan, &facts));
        let (failures, warnings) = preflight::failing(&seen, doing.plan, ignored);
        if !failures.is_empty() {
            return Err(preflight::failure(&failures).into());
        }
        for warning in &warnings {
            Teller::note(&format!("[{}] {}: {}", warning.name, warning.why, warning.fix));
        }
    }
    let kept =
        BTreeMap::from([(KEPT.to_owned(), facts.to_json()), (CHECKED.to_owned(), doing.plan.digest())]);
    doing.knowledge.learn(facts);
    Ok(Success { kept, ..Success::default() })
}

/// The facts with the API server's version, where the plan wants it. The node that starts the cluster has nobody to ask.
fn with_version(doing: &Doing<'_>, mut facts: Facts) -> Result<Facts, Stopped> {
    let Some(server) = &doing.plan.detect else { return Ok(facts) };
    let asks = doing.given.is_none() && doing.machine.is_itself();
    if !asks || Known::new(doing.plan, &facts).elected().unwrap_or(false) {
        return Ok(facts);
    }
    let remembered = doing.remembered.and_then(|facts| facts.kubernetes_tag.clone());
    facts.kubernetes_tag = Some(detect::version(doing.network, server, doing.plan, remembered)?);
    Ok(facts)
}

fn gather(doing: &Doing<'_>) -> Result<Facts, Stopped> {
    let wanted = wanted(doing.plan);
    if let Some(given) = doing.given {
        return Ok(given.clone().or(of_machine(doing.machine, &wanted)));
    }
    let own = of_machine(doing.machine, &wanted);
    match doing.plan.platform {
        Platform::Generic => Ok(own.or(Facts { platform: Some("generic".to_owned()), ..Facts::default() })),
        Platform::Aws => {
            // A machine that the firmware knows by id and type is the one that was asked about in an earlier boot: what
            // the platform said then still holds, whether its service answers or not.
            let firmware = up::identity(doing.machine);
            if let Some(known) = doing.remembered
                && firmware.instance_id.is_some()
                && firmware.instance_id == known.instance_id
                && firmware.instance_type == known.instance_type
                && Known::new(doing.plan, known).faults().is_empty()
            {
                return Ok(own.or(known.clone()));
            }
            // The machine's own address of that family costs no request.
            let wanted = Wanted { address: wanted.address && own.address.is_none(), ..wanted };
            let deadline = crate::network::deadline(doing.order.timeout_ms);
            let mut asked = doing.network.metadata.facts(&wanted, deadline)?;
            if let Some(cluster) = doing.plan.eks.as_ref().filter(|_| wanted.cluster) {
                asked.cluster = Some(of_cluster(doing, cluster, deadline)?);
            }
            if let Some(Election::Store { object }) = &doing.plan.bootstrap {
                asked.election = Some(of_store(doing, object, &asked, deadline)?);
            }
            Ok(asked.or(own))
        }
    }
}

/// What EKS says of the cluster; what it said of this very cluster in an earlier boot still holds.
fn of_cluster(
    doing: &Doing<'_>,
    cluster: &EksCluster,
    deadline: std::time::Instant,
) -> Result<ClusterFacts, Stopped> {
    let remembered = doing.remembered.and_then(|facts| facts.cluster.clone());
    match remembered.filter(|known| known.name.as_ref() == Some(&cluster.name)) {
        Some(known) => Ok(known),
        None => Ok(cluster::learn(doing.network, cluster, deadline)?),
    }
}

/// Which machine starts the cluster; who that is does not change.
fn of_store(
    doing: &Doing<'_>,
    object: &str,
    asked: &Facts,
    deadline: std::time::Instant,
) -> Result<ElectionFacts, Stopped> {
    let remembered = doing.remembered.and_then(|facts| facts.election.clone());
    match remembered.filter(|known| known.object == object) {
        Some(known) => Ok(known),
        None => Ok(election::hold(doing.network, object, asked, deadline)?),
    }
}

/// What the machine itself knows.
pub(crate) fn of_machine(machine: &Machine, wanted: &Wanted) -> Facts {
    if !machine.is_itself() {
        return Facts::default();
    }
    let counted = counted();
    let hostname = wanted.own_hostname.then(|| {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        name.to_lowercase()
    });
    Facts {
        cores: counted.cores.filter(|_| wanted.cores),
        memory_mib: counted.memory_mib.filter(|_| wanted.memory),
        resolv_conf: wanted.resolver.then(|| resolv_conf().to_owned()),
        hostname,
        address: if wanted.address { crate::address::primary(wanted.ipv6) } else { None },
        ..Facts::default()
    }
}

/// The file that names the servers which pods ask for names.
fn resolv_conf() -> &'static str {
    let system = std::fs::read_to_string(resolver::SYSTEM).unwrap_or_default();
    resolver::for_pods(&system, std::path::Path::new(resolver::UPSTREAM).exists())
}

/// What can be counted here.
pub(crate) fn counted() -> Facts {
    let cores = std::thread::available_parallelism().ok();
    let cores = cores.and_then(|cores| u32::try_from(cores.get()).ok());
    Facts { cores, memory_mib: memory_mib(), ..Facts::default() }
}

pub(crate) fn memory_mib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}
