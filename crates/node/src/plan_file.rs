//! The plan on the disk.

use std::path::Path;

use bringup_disk::{FileFault, Files};
use bringup_plan::{FORMAT, Plan};

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
