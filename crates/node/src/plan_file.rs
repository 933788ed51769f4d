//! The plan on the disk.

use std::path::Path;

use bringup_disk::{FileFault, Files};
use bringup_plan::{FORMAT, Plan};

use crate::machine::Machine;
use crate::places;

/// A plan that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanFault {
    #[error(transparent)]
    File(#[from] FileFault),
    #[error("there is no plan at `{0}`: the carrier has not placed it")]
    Missing(String),
    #[error("`{path}` is no plan: {why}")]
    Unreadable { path: String, why: String },
    #[error(
        "the plan has format {found}, this agent knows formats up to {FORMAT}: install a newer `bringup-node`"
    )]
    TooNew { found: u32 },
}

/// Reads the plan.
pub(crate) fn read(files: &Files<'_>, path: &Path) -> Result<Plan, PlanFault> {
    let bytes = files.read(path)?.ok_or_else(|| PlanFault::Missing(path.display().to_string()))?;
    parse(path, &bytes)
}

/// Whether a plan that is made here may stand where plans are kept. A machine that follows another kind of plan, such as a
/// document's, is brought up by that, and whoever wants it otherwise says so.
pub(crate) fn gives_way(machine: &Machine, group: &str) -> Result<(), String> {
    let Ok(plan) = read(&machine.files(), Path::new(places::PLAN)) else { return Ok(()) };
    if plan.group == group {
        return Ok(());
    }
    Err(format!(
        "this machine follows the plan of the node group `{}` of cluster `{}` in `{path}`, and is brought up by that: nothing \
         was done; to have it brought up otherwise, call `bringup-node reset`, remove `{path}`, and call again",
        plan.group,
        plan.cluster,
        path = places::PLAN
    ))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Plan, PlanFault> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: u32,
    }
    let unreadable = |fault: serde_json::Error| PlanFault::Unreadable {
        path: path.display().to_string(),
        why: fault.to_string(),
    };
    // Of a newer format, only this much may be readable.
    let head: Head = serde_json::from_slice(bytes).map_err(unreadable)?;
    if head.format > FORMAT {
        return Err(PlanFault::TooNew { found: head.format });
    }
    serde_json::from_slice(bytes).map_err(unreadable)
}
