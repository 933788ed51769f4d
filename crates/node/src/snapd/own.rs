//! Which settings of a snap are the agent's: those that it has set, as long as a plan has them.
//!
//! The file is written before snapd is asked to set anything: a run that dies in between knows too many, and never too few.

use std::collections::BTreeSet;
use std::path::Path;

use bringup_disk::{FileFault, Files, Owner, Wanted};
use serde::{Deserialize, Serialize};

use crate::places::SNAP_SETTINGS;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Own {
    snap: String,
    settings: BTreeSet<String>,
}

/// Those of this snap.
pub(super) fn read(files: Files<'_>, snap: &str) -> Result<BTreeSet<String>, FileFault> {
    let bytes = files.read(Path::new(SNAP_SETTINGS))?;
    let own = bytes.and_then(|bytes| serde_json::from_slice::<Own>(&bytes).ok()).unwrap_or_default();
    Ok(if own.snap == snap { own.settings } else { BTreeSet::new() })
}

pub(super) fn write(files: Files<'_>, snap: &str, settings: BTreeSet<String>) -> Result<(), FileFault> {
    let own = Own { snap: snap.to_owned(), settings };
    let mut content = serde_json::to_vec(&own).unwrap_or_default();
    content.push(b'\n');
    let wanted = Wanted { content: &content, mode: 0o644, owner: Owner::ROOT };
    files.replace(Path::new(SNAP_SETTINGS), wanted).map(|_| ())
}
