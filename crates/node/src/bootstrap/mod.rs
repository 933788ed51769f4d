//! Stands in for `bootstrap.sh` of EKS' images: learns what the call needs, makes a plan of it, and follows that.
//!
//! What is decided is decided in `bringup_plan::bootstrap`; here is what it is decided from.

mod facts;
mod image;
mod retry;

use std::path::PathBuf;

use bringup_facts::Facts;
use bringup_plan::Plan;
use bringup_plan::bootstrap::{self, Bootstrapped, GROUP};
use bringup_progress::Range;
use bringup_spec::Phase;
use bringup_spec::bootstrap_flags::BootstrapRequest;

use crate::ended::Ended;
use crate::lock::Lock;
use crate::machine::Machine;
use crate::network::Network;
use crate::teller::Teller;
use crate::{commands, node_config, plan_file, preflight, up};

/// A call, and where it is carried out.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) request: BootstrapRequest,
    pub(crate) root: PathBuf,
    pub(crate) facts: Option<PathBuf>,
    pub(crate) until: Option<Phase>,
}

/// How it ended, and why, where it did not end well.
type Outcome<T> = Result<T, (Ended, String)>;

/// Carries a call out.
pub(crate) fn carry_out(call: &Call) -> Outcome<Ended> {
    let wrong = |why: String| (Ended::Wrong, why);
    let not_yet = |why: String| (Ended::NotYet, why);
    let machine = Machine::open(&call.root)
        .map_err(|fault| wrong(format!("cannot open `{}`: {fault}", call.root.display())))?;
    if machine.is_itself() && !rustix::process::geteuid().is_root() {
        return Err(wrong("it must be run as root".to_owned()));
    }
    let given = call.facts.as_deref().map(commands::up::facts).transpose().map_err(wrong)?;
    if !machine.is_itself() && given.is_none() {
        let why = "with `--root` nobody but a facts file says which machine this is, and this one's own metadata service is \
                   not asked for another's: give `--facts FILE`";
        return Err(wrong(why.to_owned()));
    }
    let _lock = Lock::take(&machine).map_err(|fault| not_yet(fault.to_string()))?;
    plan_file::gives_way(&machine, GROUP).map_err(wrong)?;
    let learned = match given {
        Some(given) => given,
        None => facts::learn(&call.request, &Network::of_process())?,
    };
    let instance = facts::instance(&call.request, &learned).map_err(wrong)?;
    let image = image::look(&machine, &call.request, &instance)?;
    let Bootstrapped { plan, findings } = bootstrap::bootstrap(&call.request, &instance, &image);
    for finding in &findings {
        Teller::note(&node_config::line(finding));
    }
    let plan = plan.ok_or_else(|| wrong("nothing was done".to_owned()))?;
    node_config::keep(&machine, &plan).map_err(|fault| not_yet(fault.to_string()))?;
    follow(&machine, &plan, call.until, learned).map_err(not_yet)
}

fn follow(machine: &Machine, plan: &Plan, until: Option<Phase>, facts: Facts) -> Result<Ended, String> {
    let identity = commands::up::identity(machine, Some(&facts));
    let asked = up::Asked {
        range: Range { from: None, until },
        // Whoever calls again wants another try.
        again: true,
        given: Some(facts),
        // The script has no such checks, and its callers no flag to pass them over.
        ignored: [preflight::ALL.to_owned()].into(),
    };
    up::follow(machine, plan, &asked, &identity)
        .map(|followed| followed.ended)
        .map_err(|fault| fault.to_string())
}

/// Whether EKS' answer about the cluster is one of a cluster with IPv6.
fn is_ipv6(request: &BootstrapRequest, facts: &Facts) -> bool {
    let range = facts.cluster.as_ref().filter(|_| request.needs_cluster());
    let range = range.and_then(|cluster| cluster.service_cidr.as_deref());
    request.ipv6.unwrap_or_else(|| range.is_some_and(|range| range.contains(':')))
}

/// Whether the plan has to guess where the cluster's DNS is.
fn guesses_dns(request: &BootstrapRequest, facts: &Facts) -> bool {
    let learned = facts.cluster.as_ref().filter(|_| request.needs_cluster());
    let range = match learned {
        Some(cluster) => cluster.service_cidr.is_some(),
        None => request.service_ipv4.is_some(),
    };
    request.dns.is_none() && !range && !is_ipv6(request, facts)
}
