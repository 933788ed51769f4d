//! `bringup-node up`.

use std::path::Path;

use bringup_facts::Facts;
use bringup_progress::Range;

use crate::arguments::Up;
use crate::ended::Ended;
use crate::lock::{Lock, LockFault};
use crate::machine::Machine;
use crate::teller::Teller;
use crate::{places, plan_file, up};

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
    let plan = match &options.plan {
        Some(path) => {
            let there = Machine::open(Path::new("/")).map_err(|fault| wrong(fault.to_string()))?;
            let path = std::path::absolute(path).map_err(|fault| wrong(fault.to_string()))?;
            plan_file::read(&there.files(), &path)
        }
        None => plan_file::read(&machine.files(), Path::new(places::PLAN)),
    };
    let plan = plan.map_err(|fault| wrong(fault.to_string()))?;
    let _lock = Lock::take(&machine).map_err(|fault| match fault {
        LockFault::Taken => (Ended::NotYet, fault.to_string()),
        _ => (Ended::No, fault.to_string()),
    })?;
    let asked = up::Asked {
        range: Range { from: options.from, until: options.until },
        again: options.again,
        given,
        ignored: options.ignore_preflight.iter().cloned().collect(),
    };
    let identity = match asked.given.as_ref().and_then(|facts| facts.instance_id.clone()) {
        // A directory that stands for a machine has the identity that its facts give it.
        Some(id) if !machine.is_itself() => id,
        _ => up::identity(&machine).name,
    };
    up::follow(&machine, &plan, &asked, &identity).map_err(|fault| (Ended::No, fault.to_string()))
}

fn facts(path: &Path) -> Result<Facts, String> {
    let bytes = std::fs::read(path).map_err(|fault| format!("cannot read `{}`: {fault}", path.display()))?;
    Facts::from_json(&bytes).map_err(|fault| format!("`{}`, {fault}", path.display()))
}
