//! Kubelet as it was last begun: for an agent that comes after one that died while it watched.
//!
//! Before kubelet is started anew, it is noted what it will read, and which run of it comes before. Another run than that
//! one has read what was noted: there is nothing to start it for again, unless something else is there by now.

use std::collections::BTreeMap;
use std::path::Path;

use bringup_disk::{FileFault, Files, Kind, Owner, Wanted};
use bringup_systemd::{Activity, UnitState};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::places;

/// A start that is not known to have ended either way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Begun {
    /// The run before it, by the manager's number; empty if there was none.
    before: String,
    /// What is there to be read.
    read: BTreeMap<String, String>,
}

/// Whether kubelet runs and has read what these paths hold.
pub(super) fn has_read<'a>(
    files: Files<'_>,
    paths: impl IntoIterator<Item = &'a String>,
    state: Option<&UnitState>,
) -> bool {
    let noted = files.read(Path::new(places::BEGUN)).ok().flatten();
    let noted = noted.and_then(|bytes| serde_json::from_slice::<Begun>(&bytes).ok());
    let (Some(noted), Some(state), Some(read)) = (noted, state, read(files, paths)) else { return false };
    let runs = matches!(state.activity, Activity::Activating | Activity::Active);
    runs && !state.invocation.is_empty() && state.invocation != noted.before && noted.read == read
}

/// Notes that it is about to be started, and what these paths hold.
pub(super) fn note<'a>(
    files: Files<'_>,
    paths: impl IntoIterator<Item = &'a String>,
    state: Option<&UnitState>,
) -> Result<(), FileFault> {
    let Some(read) = read(files, paths) else { return forget(files) };
    let before = state.map(|state| state.invocation.clone()).unwrap_or_default();
    let text = serde_json::to_vec(&Begun { before, read }).unwrap_or_default();
    let wanted = Wanted { content: &text, mode: 0o600, owner: Owner::ROOT };
    files.replace(Path::new(places::BEGUN), wanted).map(|_| ())
}

/// Forgets it, once it is known how the start ended.
pub(super) fn forget(files: Files<'_>) -> Result<(), FileFault> {
    files.remove(Path::new(places::BEGUN)).map(|_| ())
}

/// What is there, or nothing if that cannot be told: of a program, only its name is known to have changed.
fn read<'a>(
    files: Files<'_>,
    paths: impl IntoIterator<Item = &'a String>,
) -> Option<BTreeMap<String, String>> {
    let described = |path: &String| {
        let at = Path::new(path);
        let entry = Some(at).filter(|at| at.is_absolute()).and_then(|at| files.disk().look(at).ok()?)?;
        let content = match entry.kind {
            Kind::File => format!("{:x?}", Sha256::digest(files.disk().read(at).ok()?).as_slice()),
            Kind::Link => files.disk().read_link(at).ok()?.to_str()?.to_owned(),
            Kind::Directory => "directory".to_owned(),
            Kind::Other => return None,
        };
        Some((path.clone(), content))
    };
    paths.into_iter().map(described).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bringup_systemd::{Activity, UnitState};

    use super::{forget, has_read, note};
    use crate::machine::Machine;

    fn running(activity: Activity, invocation: &str) -> UnitState {
        UnitState {
            activity,
            sub_state: String::new(),
            result: "success".to_owned(),
            main_process: None,
            status: 0,
            killed: false,
            helper: None,
            restarts: None,
            queued: false,
            invocation: invocation.to_owned(),
        }
    }

    #[test]
    fn a_run_that_came_after_the_note_has_read_what_was_noted() {
        assert!(rustix::process::geteuid().is_root(), "this test needs root: `sudo ./test fast`");
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        let files = machine.files();
        let put = |path: &str, content: &str| {
            std::fs::write(machine.outside(Path::new(path)), content).unwrap();
        };
        let paths = ["/config".to_owned(), "/args".to_owned()];
        put("/config", "one");
        put("/args", "--v=1");
        let (old, new) = (running(Activity::Active, "a"), running(Activity::Activating, "b"));
        assert!(!has_read(files, &paths, Some(&new)), "nothing was noted");
        note(files, &paths, Some(&old)).unwrap();
        assert!(!has_read(files, &paths, Some(&old)), "it is the run from before");
        assert!(
            !has_read(files, &paths, None) && !has_read(files, &paths, Some(&running(Activity::Active, "")))
        );
        assert!(!has_read(files, &paths, Some(&running(Activity::Failed, "b"))), "it does not run");
        assert!(has_read(files, &paths, Some(&new)));
        assert!(!has_read(files, &paths[..1], Some(&new)), "something else has changed since");
        put("/args", "--v=2");
        assert!(!has_read(files, &paths, Some(&new)), "it holds something else by now");
        put("/args", "--v=1");
        assert!(has_read(files, &paths, Some(&new)));
        forget(files).unwrap();
        assert!(!has_read(files, &paths, Some(&new)));
    }

    #[test]
    fn a_program_that_has_changed_is_not_taken_for_the_same() {
        assert!(rustix::process::geteuid().is_root(), "this test needs root: `sudo ./test fast`");
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        let paths = [bringup_progress::installed("kubelet")];
        note(machine.files(), &paths, None).unwrap();
        assert!(!has_read(machine.files(), &paths, Some(&running(Activity::Active, "b"))));
    }
}
