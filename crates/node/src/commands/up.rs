//! `bringup-node up`.

use std::path::Path;

use bringup_facts::Facts;
use bringup_plan::Plan;
use bringup_progress::Range;

use crate::arguments::Up;
use crate::ended::Ended;
use crate::lock::Lock;
use crate::machine::Machine;
use crate::teller::Teller;
use crate::{gate, places, plan_file, up};

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
    let given = options.facts.as_deref().map(facts).transpose().map_err(wrong)?;
    let plan = plan(&machine, options.plan.as_deref()).map_err(wrong)?;
    // Giving up is the plan's end; whatever else stops a run may be gone at the next start.
    let not_yet = |fault: String| (Ended::NotYet, fault);
    let lock = Lock::take(&machine).map_err(|fault| not_yet(fault.to_string()))?;
    let asked = up::Asked {
        range: Range { from: options.from, until: options.until },
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
    Ok(followed.ended)
}

/// The plan of the machine, or another one.
pub(crate) fn plan(machine: &Machine, other: Option<&Path>) -> Result<Plan, String> {
    let read = match other {
        Some(path) => {
            let there = Machine::open(Path::new("/")).map_err(|fault| fault.to_string())?;
            let path = std::path::absolute(path).map_err(|fault| fault.to_string())?;
            plan_file::read(&there.files(), &path)
        }
        None => plan_file::read(&machine.files(), Path::new(places::PLAN)),
    };
    read.map_err(|fault| fault.to_string())
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
    let bytes = std::fs::read(path).map_err(|fault| format!("cannot read `{}`: {fault}", path.display()))?;
    Facts::from_json(&bytes).map_err(|fault| format!("`{}`, {fault}", path.display()))
}
