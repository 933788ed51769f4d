//! Fetches something and checks its digest before anyone can see it.

use std::path::{Path, PathBuf};

use bringup_disk::{Change, FileFault, Owner, Wanted};
use bringup_progress::{Failure, FailureKind, Made, Success};
use bringup_spec::Unpack;

use super::{Doing, Stopped, files};
use crate::download::{Download, digest_of};
use crate::unpack::{self, ArchiveFault, Care};
use crate::{kept, originals};

/// What is fetched, and where it goes.
pub(super) struct Fetched<'a> {
    pub(super) urls: &'a [String],
    pub(super) sha256: &'a str,
    pub(super) path: &'a str,
    pub(super) mode: &'a str,
    pub(super) owner: &'a str,
    pub(super) unpack: Unpack,
    /// Whether it is software, of which the old version is kept until the new one is known to work.
    pub(super) is_software: bool,
}

/// What stands where an archive is unpacked: kept for good if it is nobody's, and for a while if it is software.
struct Careful<'a> {
    doing: &'a Doing<'a>,
    archive: &'a Path,
    is_software: bool,
}

impl Careful<'_> {
    /// Says that what stood there is kept: from here on it may be ours.
    fn mark(&self) -> PathBuf {
        self.archive.with_extension("begun")
    }
}

impl Care for Careful<'_> {
    fn before(&self, paths: &[PathBuf]) -> Result<(), FileFault> {
        let files = self.doing.machine.files();
        if self.is_software {
            // Another version is tried: that one before it failed is told no more.
            for path in paths {
                kept::forget(files, path)?;
            }
        }
        if files.read(&self.mark())?.is_some() {
            return Ok(());
        }
        for path in paths {
            if !self.doing.state.knows(&Made::File(path.display().to_string())) {
                originals::keep(files, path)?;
            }
        }
        files.replace(&self.mark(), Wanted { content: b"", mode: 0o600, owner: Owner::ROOT }).map(|_| ())
    }

    fn replacing(&self, path: &Path) -> Result<(), FileFault> {
        if self.is_software { kept::keep(self.doing.machine.files(), path) } else { Ok(()) }
    }
}

/// Fetches a file, or unpacks an archive. What is right already is left alone.
pub(super) fn fetch(doing: &Doing<'_>, wanted: &Fetched<'_>) -> Result<Success, Stopped> {
    let (mode, owner) = (files::bits(wanted.mode)?, files::find(doing, wanted.owner)?);
    let disk = doing.machine.files();
    let path = Path::new(wanted.path);
    if wanted.unpack == Unpack::No {
        if digest_of(disk, path).as_deref() == Some(wanted.sha256) {
            return Ok(files::changed(wanted.path, disk.settle(path, mode, owner)?));
        }
        let whole = Download::new(doing).obtain(wanted.urls, wanted.sha256)?;
        disk.move_in(&whole, path, mode, owner)?;
        return Ok(files::changed(wanted.path, Change::Changed));
    }
    let archive = Download::new(doing).obtain(wanted.urls, wanted.sha256)?;
    if disk.disk().look(path).ok().flatten().is_none() {
        disk.make_directory(path, mode, owner)?;
    }
    let care = Careful { doing, archive: &archive, is_software: wanted.is_software };
    let unpacked =
        unpack::unpack(disk, &archive, wanted.unpack, path, owner, &care).map_err(|fault| match fault {
            ArchiveFault::File(fault) => super::of_file(&fault),
            ArchiveFault::Unsound(why) => Failure::new(
                FailureKind::Permanent,
                format!("the archive for `{}` is not unpacked: {why}", wanted.path),
                "see what is in it; nothing of it may lead out of where it is unpacked",
            ),
        })?;
    disk.remove(&archive)?;
    disk.remove(&care.mark())?;
    Ok(Success { changed: unpacked.changed, made: unpacked.made, ..Success::default() })
}
