//! Files, directories and links.

use std::collections::BTreeSet;
use std::path::Path;

use bringup_disk::{Change, Owner, OwnerFault, Wanted};
use bringup_plan::Content;
use bringup_progress::{Failure, FailureKind, Success};

use super::{Doing, Stopped, content, merged, of_file};

/// Writes a file.
pub(super) fn write(
    doing: &Doing<'_>,
    path: &str,
    mode: &str,
    owner: &str,
    wanted: &Content,
) -> Result<Success, Stopped> {
    let bytes = match wanted {
        Content::Merged { otherwise, over } => merged::bytes(doing, path, otherwise, over)?,
        wanted => content::bytes(doing, wanted)?,
    };
    let owner = find(doing, owner)?;
    let wanted = Wanted { content: &bytes, mode: bits(mode)?, owner };
    let change = doing.machine.files().replace(Path::new(path), wanted)?;
    Ok(changed(path, change))
}

/// Makes a directory.
pub(super) fn directory(doing: &Doing<'_>, path: &str, mode: &str, owner: &str) -> Result<Success, Stopped> {
    let owner = find(doing, owner)?;
    doing.machine.files().make_directory(Path::new(path), bits(mode)?, owner)?;
    Ok(Success::default())
}

/// Makes a symbolic link.
pub(super) fn link(doing: &Doing<'_>, path: &str, target: &str) -> Result<Success, Stopped> {
    let change = doing.machine.files().make_link(Path::new(path), Path::new(target))?;
    Ok(changed(path, change))
}

/// What a change of one path comes to.
pub(super) fn changed(path: &str, change: Change) -> Success {
    let changed = if change.is_any() { BTreeSet::from([path.to_owned()]) } else { BTreeSet::new() };
    Success { changed, ..Success::default() }
}

/// The numbers of `user:group`.
pub(super) fn find(doing: &Doing<'_>, owner: &str) -> Result<Owner, Failure> {
    Owner::find(doing.machine.files().disk(), owner).map_err(|fault| match &fault {
        OwnerFault::File(file) => of_file(file),
        OwnerFault::Unknown { .. } => Failure::new(
            FailureKind::Permanent,
            fault.to_string(),
            "make the user in a step that comes before, or name another owner",
        ),
    })
}

/// Permissions as a number.
pub(super) fn bits(mode: &str) -> Result<u32, Failure> {
    u32::from_str_radix(mode, 8).map_err(|_| {
        Failure::new(FailureKind::Permanent, format!("`{mode}` is no mode"), "build the plan anew")
    })
}
