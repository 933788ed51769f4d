//! The folder that is a machine's disk, and what a lab that was killed has left.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::LabFault;
use crate::container::remove_leftover_groups;

const PREFIX: &str = "bringup-lab-";
const LOCK: &str = "lock";

/// A folder with the layers of one machine; nobody else uses it meanwhile.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
    /// One that is not kept goes with the value.
    _temporary: Option<TempDir>,
}

impl Folder {
    /// One that is gone with the value.
    pub(crate) fn temporary() -> Result<Self, LabFault> {
        sweep();
        let holder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir()
            .map_err(LabFault::system("make a folder for the run"))?;
        let path = holder.path().to_owned();
        Ok(Self { _lock: locked(&path)?, path, _temporary: Some(holder) })
    }

    /// One that stays, and may have been booted before.
    pub(crate) fn kept(path: &Path) -> Result<Self, LabFault> {
        sweep();
        std::fs::create_dir_all(path).map_err(LabFault::file("make", path))?;
        let path = path.canonicalize().map_err(LabFault::file("open", path))?;
        Ok(Self { _lock: locked(&path)?, path, _temporary: None })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a machine has been laid in it.
    pub(crate) fn has_machine(&self) -> bool {
        self.path.join("upper/etc").is_dir()
    }
}

fn locked(folder: &Path) -> Result<File, LabFault> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(LabFault::file("make", &path))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|errno| LabFault::file("lock", &path)(errno.into()))?;
    Ok(file)
}

/// Removes what labs that were killed have left: their folders are locked by nobody, their control groups are empty.
fn sweep() {
    remove_leftover_groups(PREFIX);
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Some(lock) = ours.then(|| File::open(entry.path().join(LOCK)).ok()).flatten() else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
