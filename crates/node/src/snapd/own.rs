//! Which settings of a snap are the agent's: those that it has set, as long as a plan has them; and which names of programs.
//!
//! The file is written before snapd is asked to set anything: a run that dies in between knows too many, and never too few.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bringup_disk::{FileFault, Files, Owner, Wanted};
use serde::{Deserialize, Serialize};

use crate::places::SNAP_SETTINGS;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Own {
    snap: String,
    settings: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    aliases: BTreeMap<String, String>,
}

/// Those of this snap.
pub(super) fn read(files: Files<'_>, snap: &str) -> Result<BTreeSet<String>, FileFault> {
    Ok(all(files, snap)?.settings)
}

/// The names that programs were given, each with its program.
pub(super) fn aliases(files: Files<'_>, snap: &str) -> Result<BTreeMap<String, String>, FileFault> {
    Ok(all(files, snap)?.aliases)
}

pub(super) fn write(files: Files<'_>, snap: &str, settings: BTreeSet<String>) -> Result<(), FileFault> {
    keep(files, &Own { settings, ..all(files, snap)? })
}

pub(super) fn write_aliases(
    files: Files<'_>,
    snap: &str,
    aliases: BTreeMap<String, String>,
) -> Result<(), FileFault> {
    keep(files, &Own { aliases, ..all(files, snap)? })
}

fn all(files: Files<'_>, snap: &str) -> Result<Own, FileFault> {
    let bytes = files.read(Path::new(SNAP_SETTINGS))?;
    let own = bytes.and_then(|bytes| serde_json::from_slice::<Own>(&bytes).ok());
    Ok(own.filter(|own| own.snap == snap).unwrap_or_else(|| Own { snap: snap.to_owned(), ..Own::default() }))
}

fn keep(files: Files<'_>, own: &Own) -> Result<(), FileFault> {
    let mut content = serde_json::to_vec(own).unwrap_or_default();
    content.push(b'\n');
    let wanted = Wanted { content: &content, mode: 0o644, owner: Owner::ROOT };
    files.replace(Path::new(SNAP_SETTINGS), wanted).map(|_| ())
}
