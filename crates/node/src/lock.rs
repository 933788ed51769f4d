//! Keeps two agents apart.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::machine::Machine;
use crate::places;

/// Held as long as it lives, and not longer than the process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: std::fs::File,
}

/// Who has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Process(u32),
    Nobody,
    Unknown,
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

    /// Who has it on the machine itself, as far as the kernel tells. Taking it to find out would be in somebody's way.
    pub(crate) fn holder() -> Holder {
        let found = std::fs::symlink_metadata(places::LOCK);
        match (found, std::fs::read_to_string("/proc/locks")) {
            (Ok(found), Ok(locks)) => {
                holder(&locks, found.dev(), found.ino()).map_or(Holder::Nobody, Holder::Process)
            }
            _ => Holder::Unknown,
        }
    }
}

/// The process that locks a whole file, in the kernel's table of locks.
fn holder(locks: &str, device: u64, number: u64) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{number}", rustix::fs::major(device), rustix::fs::minor(device));
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        // Who waits for a lock is listed beneath it, after an arrow.
        match words.as_slice() {
            [_, "FLOCK", _, "WRITE", process, locked, ..] if *locked == file => process.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::holder;

    #[test]
    fn the_kernel_tells_who_has_a_lock() {
        let locks = "1: POSIX  ADVISORY  WRITE 311 00:19:42 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 612 00:1a:41 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 700 00:19:42 0 EOF\n\
                     3: FLOCK  ADVISORY  READ  613 00:19:42 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 614 00:19:42 0 EOF\n";
        let device = rustix::fs::makedev(0, 0x19);
        assert_eq!(holder(locks, device, 42), Some(614));
        assert_eq!(holder(locks, device, 41), None);
        assert_eq!(holder("", device, 42), None);
    }
}
