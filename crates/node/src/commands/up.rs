//! `bringup-node up`.

use std::path::Path;

use bringup_disk::FileFault;
use bringup_facts::{Facts, Known};
use bringup_plan::{Plan, nodeadm};
use bringup_progress::{Course, Range};
use bringup_spec::Phase;

use crate::actions::identify;
use crate::arguments::Up;
use crate::ended::Ended;
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::plan_file::PlanFault;
use crate::teller::Teller;
use crate::turn::{self, Turn};
use crate::{gate, journal, node_config, places, plan_file, up};

/// Follows the plan.
pub(crate) fn execute(options: &Up) -> Ended {
    match begin(options) {
        Ok(ended) => ended,
        Err((ended, why)) => {
            Teller::note(&why);
            ended
        }
    }
}

fn begin(options: &Up) -> Result<Ended, (Ended, String)> {
    let wrong = |why: String| (Ended::Wrong, why);
    let machine = Machine::open(&options.place.root)
        .map_err(|fault| wrong(format!("cannot open `{}`: {fault}", options.place.root.display())))?;
    let read = || -> Result<(Plan, Option<Facts>), (Ended, String)> {
        let plan = chosen(&machine, &options.config, options.plan.as_deref(), options.facts.as_deref())?;
        let given = given(options.facts.as_deref(), &plan, !options.config.is_empty()).map_err(wrong)?;
        Ok((plan, given))
    };
    let (mut plan, mut given) = read()?;
    let wanted = bringup_facts::wanted(&plan);
    if !machine.is_itself() && given.is_none() && (wanted.cores || wanted.memory) {
        let why = "with `--root` nobody but a facts file says how many processors and how much memory the machine has: \
                   give `--facts FILE`";
        return Err(wrong(why.to_owned()));
    }
    if let Some(given) = &given {
        all_there(&machine, &plan, given, options.facts.as_deref()).map_err(wrong)?;
    }
    // Giving up is the plan's end; whatever else stops a run may be gone at the next start.
    let not_yet = |fault: String| (Ended::NotYet, fault);
    let range = Range { from: options.from, until: options.until };
    let is_followed = || {
        // A file may be replaced while this one waits. Whoever is asked over the network is not asked again and again.
        let now = if options.config.is_empty() { read().ok() } else { Some((plan.clone(), given.clone())) };
        let (Some((plan, given)), Some(state)) = (now, journal::look(machine.files())) else { return false };
        let identity = identity(&machine, given.as_ref());
        let after = Range { from: Some(Phase::Gate), until: None };
        let course = Course::new(&plan, after, state, &identity, &Machine::boot());
        let knowledge = Knowledge::new(&machine, &plan, given.unwrap_or_default());
        // Whoever has removed a file starts this to have it back.
        !course.is_of_another_plan()
            && course.missing_at_gate().is_none()
            && course.gone_at_gate(&knowledge).is_none()
    };
    let lock = match turn::take(&machine, range, is_followed).map_err(|fault| not_yet(fault.to_string()))? {
        Turn::Mine(lock) => lock,
        Turn::MineAtLast(lock) => {
            (plan, given) = read()?;
            lock
        }
        Turn::Done => {
            gate::queue(&machine, &plan).map_err(|fault| not_yet(fault.to_string()))?;
            // A unit of type notify that ends without this word has failed, and is started again and again.
            Teller::of(&machine).ready();
            return Ok(Ended::Well);
        }
    };
    if !options.config.is_empty() {
        node_config::keep(&machine, &plan).map_err(|fault| not_yet(fault.to_string()))?;
    }
    let asked = up::Asked {
        range,
        again: options.again,
        given,
        ignored: options.ignore_preflight.iter().cloned().collect(),
    };
    let identity = identity(&machine, asked.given.as_ref());
    let followed =
        up::follow(&machine, &plan, &asked, &identity).map_err(|fault| not_yet(fault.to_string()))?;
    // What is queued may start at once, and wants the lock.
    drop(lock);
    if followed.found_open {
        gate::queue(&machine, &plan).map_err(|fault| not_yet(fault.to_string()))?;
    }
    if let Some(unit) = &followed.goes_on {
        gate::go_on(unit).map_err(|fault| not_yet(fault.to_string()))?;
    }
    Ok(followed.ended)
}

/// The plan that is asked for: that of NodeConfigs, another one, or the machine's.
pub(crate) fn chosen(
    machine: &Machine,
    configs: &[String],
    other: Option<&Path>,
    facts_file: Option<&Path>,
) -> Result<Plan, (Ended, String)> {
    if configs.is_empty() {
        return plan(machine, other).map_err(|fault| {
            (if may_pass(&fault) { Ended::NotYet } else { Ended::Wrong }, fault.to_string())
        });
    }
    plan_file::gives_way(machine, nodeadm::GROUP).map_err(|why| (Ended::Wrong, why))?;
    let facts = facts_file.map(facts).transpose().map_err(|why| (Ended::Wrong, why))?;
    let facts = facts.map(|facts| facts.or(identify::counted()));
    let identity = identity(machine, facts.as_ref());
    node_config::plan(machine, configs, facts.as_ref(), &identity)
}

/// The plan of the machine, or another one.
fn plan(machine: &Machine, other: Option<&Path>) -> Result<Plan, PlanFault> {
    match other {
        Some(path) => {
            let fault = |source| FileFault { doing: "read", path: path.to_owned(), source };
            let there = Machine::open(Path::new("/")).map_err(fault)?;
            let path = std::path::absolute(path).map_err(fault)?;
            plan_file::read(&there.files(), &path)
        }
        None => plan_file::read(&machine.files(), Path::new(places::PLAN)),
    }
}

/// Whether the next start may find what this one did not. A plan that is no plan stays so until another one is placed, and
/// whoever places it starts the agent; a disk that cannot be read is another matter.
fn may_pass(fault: &PlanFault) -> bool {
    match fault {
        // Something else than a file in its place.
        PlanFault::File(fault) => fault.source.kind() != std::io::ErrorKind::InvalidInput,
        PlanFault::Missing(_) | PlanFault::Unreadable { .. } | PlanFault::TooNew { .. } => false,
    }
}

/// Who the machine is. A directory that stands for a machine is who its facts say.
pub(crate) fn identity(machine: &Machine, given: Option<&Facts>) -> String {
    match given.and_then(|facts| facts.instance_id.clone()) {
        Some(id) if !machine.is_itself() => id,
        _ => up::identity(machine).name,
    }
}

/// The facts of a file.
pub(crate) fn facts(path: &Path) -> Result<Facts, String> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|fault| format!("cannot read `{name}`: {fault}"))?;
    Facts::from_json(&bytes).map_err(|fault| format!("`{name}`, {fault}"))
}

/// The facts of a file, if one is given. They have to be of the plan's platform: what one calls a host's name is not what
/// the other does. nodeadm counts processors and memory wherever it runs, and so does a plan of its configuration.
pub(crate) fn given(path: Option<&Path>, plan: &Plan, counts: bool) -> Result<Option<Facts>, String> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display();
    let facts = facts(path)?;
    let wanted = plan.platform.word();
    match &facts.platform {
        Some(platform) if platform != wanted => Err(format!(
            "`{name}` is about a machine of platform `{platform}`, and the plan is for `{wanted}`: give the facts of the \
             machine, or its plan"
        )),
        _ if counts => Ok(Some(facts.or(identify::counted()))),
        _ => Ok(Some(facts)),
    }
}

/// A file is not asked again: what the plan uses and it does not say is told at once.
fn all_there(machine: &Machine, plan: &Plan, given: &Facts, path: Option<&Path>) -> Result<(), String> {
    let facts = given.clone().or(identify::of_machine(machine, &bringup_facts::wanted(plan)));
    let faults: Vec<String> =
        Known::new(plan, &facts).faults().iter().map(|fault| format!("{fault}: {}", fault.hint())).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let name = path.unwrap_or(Path::new("")).display();
    Err(format!("`{name}` does not say all: {}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use bringup_disk::FileFault;

    use super::may_pass;
    use crate::plan_file::PlanFault;

    #[test]
    fn only_a_disk_may_do_better_at_the_next_start() {
        let of_file = |kind: ErrorKind| {
            PlanFault::File(FileFault { doing: "read", path: "/plan".into(), source: Error::from(kind) })
        };
        assert!(may_pass(&of_file(ErrorKind::PermissionDenied)) && may_pass(&of_file(ErrorKind::Other)));
        assert!(!may_pass(&of_file(ErrorKind::InvalidInput)));
        assert!(!may_pass(&PlanFault::Missing(String::new())) && !may_pass(&PlanFault::TooNew { found: 7 }));
        assert!(!may_pass(&PlanFault::Unreadable { path: String::new(), why: String::new() }));
    }
}
