//! Keeps two agents apart.

use std::path::Path;

use rustix::fs::FlockOperation;

use crate::machine::Machine;
use crate::places;

/// Held as long as it lives, and not longer than the process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: std::fs::File,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockFault {
    #[error("another agent is at work on this machine; see `bringup-node status`")]
    Taken,
    #[error(transparent)]
    File(#[from] bringup_disk::FileFault),
    #[error("cannot lock `{path}`: {source}; remove it")]
    InTheWay { path: &'static str, source: std::io::Error },
    #[error("cannot lock `{path}`: {source}")]
    System { path: &'static str, source: std::io::Error },
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(machine: &Machine) -> Result<Self, LockFault> {
        let path = Path::new(places::LOCK);
        machine.files().make_parents(path)?;
        let system = |source| LockFault::System { path: places::LOCK, source };
        let file = machine.private(path).map_err(|fault| match fault.kind() {
            std::io::ErrorKind::InvalidInput => LockFault::InTheWay { path: places::LOCK, source: fault },
            _ => system(fault),
        })?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(LockFault::Taken),
            Err(errno) => Err(system(errno.into())),
        }
    }
}
