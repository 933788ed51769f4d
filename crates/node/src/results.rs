//! The files in which it can be seen how it stands.
//!
//! Everybody may read how it stands and what to mend. What a program wrote is for root alone: a program that fails may
//! tell a secret as it does.

use std::path::Path;

use bringup_disk::{FileFault, Files, Owner, Wanted};
use bringup_progress::{Done, Failed, Status};
use serde::Serialize;
use serde_json::to_vec_pretty;

use crate::places;

/// For everybody.
const OPEN: u32 = 0o644;
/// For root.
const PRIVATE: u32 = 0o600;

/// How it stands now. With the output of a program there are two files, of which the one for everybody lacks it.
pub(crate) fn status(files: &Files<'_>, status: &Status) -> Result<(), FileFault> {
    let full = Path::new(places::FULL_STATUS);
    if status.tail.is_empty() {
        write(files, places::STATUS, OPEN, status)?;
        // Mostly there is none, and nothing to sync.
        return match files.disk().look(full) {
            Ok(None) => Ok(()),
            _ => files.remove(full).map(|_| ()),
        };
    }
    write(files, places::FULL_STATUS, PRIVATE, status)?;
    write(files, places::STATUS, OPEN, &Status { tail: String::new(), ..status.clone() })
}

/// How it stands, as far as whoever asks may know; none if nothing is known of this boot.
pub(crate) fn read_status(files: &Files<'_>) -> Result<Option<Status>, StatusFault> {
    let Some(bytes) = files.read(Path::new(places::STATUS))? else { return Ok(None) };
    let status: Status = serde_json::from_slice(&bytes).map_err(StatusFault::Content)?;
    let full = files.read(Path::new(places::FULL_STATUS)).ok().flatten();
    let full = full.and_then(|bytes| serde_json::from_slice::<Status>(&bytes).ok());
    // One that was left behind tells of something else.
    let same = |full: &Status| Status { tail: String::new(), ..full.clone() } == status;
    Ok(Some(full.filter(same).unwrap_or(status)))
}

/// A status that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusFault {
    #[error(transparent)]
    File(#[from] FileFault),
    #[error("`{path}` cannot be read: {0}", path = places::STATUS)]
    Content(serde_json::Error),
}

/// That it worked: no earlier failure stays.
pub(crate) fn done(files: &Files<'_>, done: &Done) -> Result<(), FileFault> {
    write(files, places::DONE, OPEN, done)?;
    files.remove(Path::new(places::FAILED)).map(|_| ())
}

/// That it did not: no earlier success stays. Where it is `known`, what is there about this very end says more.
pub(crate) fn failed(files: &Files<'_>, failed: &Failed, known: bool) -> Result<(), FileFault> {
    if !(known && is_told(files, failed)) {
        write(files, places::FAILED, PRIVATE, failed)?;
    }
    files.remove(Path::new(places::DONE)).map(|_| ())
}

fn is_told(files: &Files<'_>, failed: &Failed) -> bool {
    let there = files.read(Path::new(places::FAILED)).ok().flatten();
    let there = there.and_then(|bytes| serde_json::from_slice::<Failed>(&bytes).ok());
    let end = |failed: &Failed| (failed.boot.clone(), failed.plan.clone(), failed.step.clone());
    there.is_some_and(|there| end(&there) == end(failed))
}

fn write(files: &Files<'_>, path: &str, mode: u32, result: &impl Serialize) -> Result<(), FileFault> {
    let mut content = to_vec_pretty(result).unwrap_or_default();
    content.push(b'\n');
    files.replace(Path::new(path), Wanted { content: &content, mode, owner: Owner::ROOT }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use bringup_progress::{Failed, Status};
    use serde_json::json;

    use super::{failed, read_status, status};
    use crate::machine::Machine;

    fn paused(tail: &str) -> Status {
        let text = json!({"standing": "paused", "at_ms": 1, "boot": "b", "identity": "i", "cluster": "c",
            "group": "g", "plan": "p", "why": "it ended with code 3", "tail": tail, "steps": []});
        serde_json::from_value(text).unwrap()
    }

    /// All files that there are, each with its mode and content.
    fn there(machine: &Machine) -> Vec<(&'static str, u32, String)> {
        ["/run/bringup/status.json", "/run/bringup/status-full.json", "/var/lib/bringup/failed.json"]
            .into_iter()
            .filter_map(|path| {
                let outside = machine.outside(Path::new(path));
                let mode = outside.metadata().ok()?.permissions().mode() & 0o7777;
                Some((path, mode, std::fs::read_to_string(outside).unwrap()))
            })
            .collect()
    }

    #[test]
    fn what_a_program_wrote_is_for_root_alone() {
        assert!(rustix::process::geteuid().is_root(), "this test needs root: `sudo ./test fast`");
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        let files = machine.files();
        assert!(read_status(&files).unwrap().is_none());
        status(&files, &paused("password=hunter2\n")).unwrap();
        let report = json!({"at_ms": 1, "boot": "b", "identity": "i", "cluster": "c", "group": "g", "plan": "p",
            "step": "s", "attempts": 1, "why": "w", "fix": "f", "tail": "password=hunter2\n"});
        failed(&files, &serde_json::from_value::<Failed>(report).unwrap(), false).unwrap();
        let all = there(&machine);
        assert_eq!(all.len(), 3);
        for (path, mode, content) in all {
            let told = content.contains("hunter2");
            assert_eq!((mode, told), if told { (0o600, true) } else { (0o644, false) }, "{path}");
            assert!(path.ends_with("/status.json") != told, "{path}");
        }
        assert_eq!(read_status(&files).unwrap().unwrap(), paused("password=hunter2\n"));
        // Nothing of it stays once there is nothing to tell.
        status(&files, &paused("")).unwrap();
        assert_eq!(there(&machine).len(), 2);
        assert_eq!(read_status(&files).unwrap().unwrap(), paused(""));
    }

    #[test]
    fn output_of_another_time_is_not_told() {
        assert!(rustix::process::geteuid().is_root(), "this test needs root: `sudo ./test fast`");
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        let files = machine.files();
        status(&files, &paused("old\n")).unwrap();
        // As an agent leaves it that dies between its two files.
        let newer = serde_json::to_string(&Status { at_ms: 2, ..paused("") }).unwrap();
        std::fs::write(machine.outside(Path::new("/run/bringup/status.json")), newer).unwrap();
        assert_eq!(read_status(&files).unwrap().unwrap(), Status { at_ms: 2, ..paused("") });
    }
}
