//! Archives: nothing in one leads out of the directory that it is unpacked into.
//!
//! An archive is looked through before anything of it is put in place, so that an unsound one leaves nothing behind.

mod tarball;
mod tree;
mod zip;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use bringup_disk::{FileFault, Files, Owner};
use bringup_progress::Made;
use bringup_spec::Unpack;

use tree::{Checked, Placed, Tree};

/// What came of an archive.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// Paths of which the content is another now.
    pub(crate) changed: BTreeSet<String>,
    /// All that is in it, but directories that were there before.
    pub(crate) made: BTreeSet<Made>,
}

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveFault {
    #[error(transparent)]
    File(#[from] FileFault),
    /// It is broken, or leads out of where it belongs.
    #[error("{0}")]
    Unsound(String),
}

/// What is done on the way about what stands there already.
pub(crate) trait Care {
    /// Before anything is put in place: these files will be.
    fn before(&self, paths: &[PathBuf]) -> Result<(), FileFault>;
    /// Before one file takes the place of another.
    fn replacing(&self, path: &Path) -> Result<(), FileFault>;
}

/// Unpacks an archive into a directory that is there. All that is in it gets this owner.
pub(crate) fn unpack(
    files: Files<'_>,
    archive: &Path,
    kind: Unpack,
    into: &Path,
    owner: Owner,
    care: &dyn Care,
) -> Result<Unpacked, ArchiveFault> {
    let open = || {
        files.disk().open(archive).map_err(|source| FileFault {
            doing: "read",
            path: archive.to_owned(),
            source,
        })
    };
    let walk = |tree: &mut dyn Tree| -> Result<(), ArchiveFault> {
        match kind {
            Unpack::TarGz => tarball::walk(open()?, tree),
            Unpack::Zip => zip::walk(open()?, tree),
            Unpack::No => Ok(()),
        }
    };
    let mut checked = Checked::new(into);
    walk(&mut checked)?;
    care.before(&checked.paths())?;
    let mut placed = Placed::new(files, into, owner, care);
    walk(&mut placed)?;
    Ok(placed.unpacked())
}

/// What the archive's own bytes are at fault for.
fn broken(fault: &io::Error) -> ArchiveFault {
    ArchiveFault::Unsound(format!("it is broken: {fault}"))
}
