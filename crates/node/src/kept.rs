//! The old version of a program, kept until the new one is known to work.
//!
//! Beside a program that is replaced, `PATH.bringup-old` is the version that worked. Once kubelet is healthy it is
//! removed. If the new version fails, it becomes `PATH.bringup-failed` and the old one is put back; the mark stays until
//! somebody moves it back or a plan brings yet another version. Why it failed is kept with it, as `PATH.bringup-why`, for
//! root alone: it has the end of a program's output.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bringup_disk::{FileFault, Files, Kind, Owner, Wanted};
use bringup_plan::{Action, InstallSource, Plan, Step};
use bringup_progress::{Failure, FailureKind, Made, State};
use serde::{Deserialize, Serialize};

/// Why a version failed.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reason {
    why: String,
    tail: String,
}

/// A piece of software that a plan installs by URL or as an extension.
#[derive(Debug)]
pub(crate) struct Installed<'p> {
    /// Its name in plans.
    pub(crate) software: &'p str,
    /// Its files: one program, or all that its archive has.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether it is a system extension, which has to be merged anew.
    pub(crate) is_extension: bool,
    /// Whether it is a runtime whose data the plan looks after.
    pub(crate) has_data: bool,
}

/// What a plan installs, as far as it has been installed.
pub(crate) fn installed<'p>(state: &State, plan: &'p Plan) -> Vec<Installed<'p>> {
    let of = |step: &'p Step| {
        let Action::Install { software, source, data, .. } = &step.action else { return None };
        let (InstallSource::Url { path, .. } | InstallSource::Extension { path, .. }) = source else {
            return None;
        };
        let found = state.found_by(&step.name).filter_map(|made| match made {
            Made::File(path) => Some(PathBuf::from(path)),
            _ => None,
        });
        // Of a single program nothing may be known yet but what the plan says.
        let mut paths: Vec<PathBuf> = found.collect();
        if paths.is_empty() {
            paths.push(PathBuf::from(path));
        }
        let is_extension = matches!(source, InstallSource::Extension { .. });
        Some(Installed { software, paths, is_extension, has_data: data.is_some() })
    };
    plan.steps.iter().filter_map(of).collect()
}

/// All files beside which another version may be kept.
pub(crate) fn paths(state: &State, plan: Option<&Plan>) -> Vec<PathBuf> {
    plan.iter().flat_map(|plan| installed(state, plan)).flat_map(|installed| installed.paths).collect()
}

/// The old version beside a program.
pub(crate) fn old(path: &Path) -> PathBuf {
    with(path, ".bringup-old")
}

/// The version that failed beside a program.
pub(crate) fn failed(path: &Path) -> PathBuf {
    with(path, ".bringup-failed")
}

/// Whether an old version is kept beside one of these.
pub(crate) fn has_old(files: Files<'_>, paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| is_file(files, &old(path)))
}

/// Keeps what stands at a path before something new is put there.
pub(crate) fn keep(files: Files<'_>, path: &Path) -> Result<(), FileFault> {
    forget(files, path)?;
    // One that is kept already is the one that worked: what stands there now never did.
    if is_file(files, path) && !is_file(files, &old(path)) {
        files.publish(path, &old(path))?;
    }
    Ok(())
}

/// The new version works.
pub(crate) fn settle(files: Files<'_>, path: &Path) -> Result<(), FileFault> {
    files.remove(&reason(path))?;
    files.remove(&old(path)).map(|_| ())
}

/// Nothing is told any more of a version that failed.
pub(crate) fn forget(files: Files<'_>, path: &Path) -> Result<(), FileFault> {
    files.remove(&failed(path))?;
    files.remove(&reason(path)).map(|_| ())
}

/// Puts the old version back, if there is one; says whether. Goes on where an earlier run was interrupted.
pub(crate) fn restore(files: Files<'_>, path: &Path) -> Result<bool, FileFault> {
    if !is_file(files, &old(path)) {
        return Ok(false);
    }
    if is_file(files, path) {
        files.publish(path, &failed(path))?;
    }
    files.publish(&old(path), path)?;
    Ok(true)
}

/// Puts the old version back, if there is one, as the new one has failed; says whether.
pub(crate) fn take_back(files: Files<'_>, path: &Path, failure: &Failure) -> Result<bool, FileFault> {
    if !is_file(files, &old(path)) {
        return Ok(false);
    }
    // Before the version that failed is seen: there is never one without its reason, or with that of another.
    let why = Reason { why: failure.why.clone(), tail: failure.tail.clone() };
    let content = serde_json::to_vec(&why).unwrap_or_default();
    let wanted = Wanted { content: &content, mode: 0o600, owner: Owner::ROOT };
    if files.replace(&reason(path), wanted).is_err() {
        // On a full disk what works is wanted back all the same.
        files.remove(&reason(path))?;
    }
    restore(files, path)
}

/// Why a new version failed, where the way back to the old one was cut off: something is set aside, and something still
/// kept. A program may be new, old or not there at all.
pub(crate) fn interrupted(files: Files<'_>, paths: &[PathBuf]) -> Option<Failure> {
    let path = paths.iter().find(|path| has_failed(files, path))?;
    has_old(files, paths).then(|| {
        let Reason { why, tail } = told(files, path);
        Failure::new(FailureKind::Operator, why, "").with_tail(tail)
    })
}

fn told(files: Files<'_>, path: &Path) -> Reason {
    let bytes = files.read(&reason(path)).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// A version that failed waits beside the one that runs: why it failed, however often that is asked.
pub(crate) fn set_aside(files: Files<'_>, path: &Path) -> Failure {
    let failed = failed(path);
    let reason = told(files, path);
    let aside = format!("the new version is set aside as `{}`, and the old one runs", failed.display());
    Failure::new(
        FailureKind::Operator,
        if reason.why.is_empty() { aside } else { format!("{}; {aside}", reason.why) },
        format!(
            "mend what it says and `mv {} {}`, or give the plan another version; the agent goes on by itself",
            failed.display(),
            path.display()
        ),
    )
    .with_tail(reason.tail)
}

/// Whether there is a version that failed.
pub(crate) fn has_failed(files: Files<'_>, path: &Path) -> bool {
    is_file(files, &failed(path))
}

/// Why the version beside a program failed.
fn reason(path: &Path) -> PathBuf {
    with(path, ".bringup-why")
}

fn is_file(files: Files<'_>, path: &Path) -> bool {
    matches!(files.disk().look(path), Ok(Some(entry)) if entry.kind == Kind::File)
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(end);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bringup_disk::{Files, Owner, RealDisk, Wanted};

    use bringup_progress::{Failure, FailureKind};

    use super::{failed, has_failed, interrupted, keep, old, reason, restore, set_aside, settle, take_back};

    const PATH: &str = "/opt/bin/kubelet";

    fn on_a_disk(test: impl FnOnce(Files<'_>)) {
        let directory = tempfile::tempdir().unwrap();
        test(Files::on(&RealDisk::open(directory.path()).unwrap()));
    }

    fn put(files: Files<'_>, content: &str) {
        let metadata = rustix::process::geteuid().as_raw();
        let owner = Owner { user: metadata, group: rustix::process::getegid().as_raw() };
        files.replace(Path::new(PATH), Wanted { content: content.as_bytes(), mode: 0o755, owner }).unwrap();
    }

    fn read(files: Files<'_>, path: &Path) -> Option<String> {
        files.read(path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_old_version_is_kept_until_the_new_one_works() {
        on_a_disk(|files| {
            let path = Path::new(PATH);
            put(files, "one");
            keep(files, path).unwrap();
            put(files, "two");
            assert_eq!(read(files, &old(path)).as_deref(), Some("one"));
            // A further version before the second was seen to work does not push the first one out.
            keep(files, path).unwrap();
            put(files, "three");
            assert_eq!(read(files, &old(path)).as_deref(), Some("one"));
            settle(files, path).unwrap();
            assert_eq!((read(files, &old(path)), read(files, path).as_deref()), (None, Some("three")));
        });
    }

    #[test]
    fn the_old_version_comes_back_and_the_failed_one_stays_aside() {
        on_a_disk(|files| {
            let path = Path::new(PATH);
            put(files, "one");
            keep(files, path).unwrap();
            put(files, "two");
            assert!(restore(files, path).unwrap());
            assert_eq!(read(files, path).as_deref(), Some("one"));
            assert_eq!(read(files, &failed(path)).as_deref(), Some("two"));
            assert!(has_failed(files, path) && !restore(files, path).unwrap());
            keep(files, path).unwrap();
            assert!(!has_failed(files, path));
        });
    }

    #[test]
    fn why_a_version_failed_is_told_until_another_one_is_tried() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let failure =
            |why: &str| Failure::new(FailureKind::Transient, why, "").with_tail("this one is broken\n");
        on_a_disk(|files| {
            let path = Path::new(PATH);
            let aside =
                "the new version is set aside as `/opt/bin/kubelet.bringup-failed`, and the old one runs";
            put(files, "one");
            assert!(!take_back(files, path, &failure("nothing to go back to")).unwrap());
            assert_eq!(read(files, &reason(path)), None);
            for why in ["it ended with code 7", "it ended with code 8"] {
                keep(files, path).unwrap();
                put(files, why);
                assert!(take_back(files, path, &failure(why)).unwrap());
                assert_eq!(read(files, path).as_deref(), Some("one"));
                for _ in 0..2 {
                    let told = set_aside(files, path);
                    assert_eq!(told.why, format!("{why}; {aside}"));
                    assert_eq!(told.tail, "this one is broken\n");
                }
                assert_eq!(files.disk().look(&reason(path)).unwrap().unwrap().mode & 0o7777, 0o600);
            }
            files.remove(&reason(path)).unwrap();
            assert_eq!(set_aside(files, path).why, aside);
            keep(files, path).unwrap();
            put(files, "two");
            take_back(files, path, &failure("it ended")).unwrap();
            keep(files, path).unwrap();
            assert_eq!((has_failed(files, path), read(files, &reason(path))), (false, None));
        });
    }

    /// The power may go between the two renames of the way back.
    #[test]
    fn a_way_back_that_was_cut_off_is_gone_to_its_end() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        on_a_disk(|files| {
            let path = Path::new(PATH);
            put(files, "one");
            keep(files, path).unwrap();
            put(files, "two");
            let failure = Failure::new(FailureKind::Transient, "it ended with code 7", "");
            assert!(interrupted(files, &[path.to_owned()]).is_none());
            take_back(files, path, &failure).unwrap();
            assert!(interrupted(files, &[path.to_owned()]).is_none());
            // As the cut would leave it.
            files.publish(path, &old(path)).unwrap();
            let found = interrupted(files, &[path.to_owned()]).unwrap();
            assert_eq!(found.why, "it ended with code 7");
            assert!(take_back(files, path, &found).unwrap());
            assert_eq!(read(files, path).as_deref(), Some("one"));
            assert_eq!(read(files, &failed(path)).as_deref(), Some("two"));
        });
    }

    #[test]
    fn without_an_old_version_nothing_is_taken_away() {
        on_a_disk(|files| {
            let path = Path::new(PATH);
            keep(files, path).unwrap();
            put(files, "one");
            assert!(!restore(files, path).unwrap());
            assert_eq!(read(files, path).as_deref(), Some("one"));
        });
    }
}
