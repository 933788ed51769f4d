//! The files in which everybody can see how it stands.

use std::path::Path;

use bringup_disk::{FileFault, Files, Owner, Wanted};
use bringup_progress::{Done, Failed, Status};
use serde_json::to_vec_pretty;

use crate::places;

/// How it stands now.
pub(crate) fn status(files: &Files<'_>, status: &Status) -> Result<(), FileFault> {
    write(files, places::STATUS, to_vec_pretty(status).unwrap_or_default())
}

/// That it worked: no earlier failure stays.
pub(crate) fn done(files: &Files<'_>, done: &Done) -> Result<(), FileFault> {
    write(files, places::DONE, to_vec_pretty(done).unwrap_or_default())?;
    files.remove(Path::new(places::FAILED)).map(|_| ())
}

/// That it did not: no earlier success stays.
pub(crate) fn failed(files: &Files<'_>, failed: &Failed) -> Result<(), FileFault> {
    write(files, places::FAILED, to_vec_pretty(failed).unwrap_or_default())?;
    files.remove(Path::new(places::DONE)).map(|_| ())
}

fn write(files: &Files<'_>, path: &str, mut content: Vec<u8>) -> Result<(), FileFault> {
    content.push(b'\n');
    files.replace(Path::new(path), Wanted { content: &content, mode: 0o644, owner: Owner::ROOT }).map(|_| ())
}
