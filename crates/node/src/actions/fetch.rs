//! Fetches something and checks its digest before anyone can see it.

use std::path::Path;

use bringup_disk::Change;
use bringup_progress::{Failure, FailureKind, Success};
use bringup_spec::Unpack;

use super::{Doing, Stopped, files};
use crate::download::{Download, digest_of};
use crate::unpack::{self, ArchiveFault};

/// What is fetched, and where it goes.
pub(super) struct Fetched<'a> {
    pub(super) urls: &'a [String],
    pub(super) sha256: &'a str,
    pub(super) path: &'a str,
    pub(super) mode: &'a str,
    pub(super) owner: &'a str,
    pub(super) unpack: Unpack,
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
    let unpacked =
        unpack::unpack(disk, &archive, wanted.unpack, path, owner).map_err(|fault| match fault {
            ArchiveFault::File(fault) => super::of_file(&fault),
            ArchiveFault::Unsound(why) => Failure::new(
                FailureKind::Permanent,
                format!("the archive for `{}` is not unpacked: {why}", wanted.path),
                "see what is in it; nothing of it may lead out of where it is unpacked",
            ),
        })?;
    disk.remove(&archive)?;
    Ok(Success { changed: unpacked.changed, made: unpacked.made, ..Success::default() })
}
