//! The data of a runtime that another version replaces, on this machine.

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::FileFault;
use bringup_plan::{Action, InstallSource};
use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::Systemd;

use super::{Doing, Stopped, install};
use crate::machine::Machine;
use crate::runtime_data::{self, Removal};
use crate::software::software;

/// What uses the data, in the order in which it is stopped: nothing that is left may start what was stopped.
const USERS: [&str; 4] = ["kubelet.service", "docker.socket", "docker.service", "containerd.service"];
/// How long the stop of a unit is waited for.
const LONGEST_STOP: Duration = Duration::from_secs(90);

/// Notes which version the data is of, before the software is replaced.
pub(super) fn note(
    doing: &Doing<'_>,
    name: &str,
    source: &InstallSource,
    directory: &str,
) -> Result<(), Stopped> {
    let version = || version_of(doing, name, source);
    runtime_data::note(doing.machine.files(), name, Path::new(directory), version)
}

/// The version that is there now, as far as it can tell.
fn version_of(doing: &Doing<'_>, name: &str, source: &InstallSource) -> Result<Option<String>, Stopped> {
    let Some(software) = software(name) else { return Ok(None) };
    // The file of an image does not know what was installed since; a directory that stands for a machine runs nothing.
    match install::found_version(doing, software, source, !doing.machine.is_itself()) {
        // One that is not there, or cannot tell: nobody's.
        Err(Stopped::Failed(_) | Stopped::TimedOut { .. }) => Ok(None),
        found => found,
    }
}

/// Hands the data directory over to the version that is installed now.
pub(super) fn hand_over(
    doing: &Doing<'_>,
    name: &str,
    version: &str,
    directory: &str,
) -> Result<(), Stopped> {
    let stop = || if doing.machine.is_itself() { stop_users() } else { Ok(()) };
    runtime_data::hand_over(
        doing.machine.files(),
        (name, version),
        Path::new(directory),
        &Machine::boot(),
        stop,
    )
}

/// Takes the data directory back from a version that has failed, before its files go.
pub(super) fn take_back(doing: &Doing<'_>, name: &str) -> Result<bool, Stopped> {
    let stop = || if doing.machine.is_itself() { stop_users() } else { Ok(()) };
    runtime_data::take_back(doing.machine.files(), name, &Machine::boot(), stop)
}

/// Gives the data directory to the version whose files are back.
pub(super) fn give_back(doing: &Doing<'_>, name: &str) -> Result<(), Stopped> {
    let source = doing.plan.steps.iter().find_map(|step| match &step.action {
        Action::Install { software, source, .. } if software == name => Some(source),
        _ => None,
    });
    let version = version_of(doing, name, source.unwrap_or(&InstallSource::Image))?;
    Ok(runtime_data::give_back(doing.machine.files(), version)?)
}

fn stop_users() -> Result<(), Stopped> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    for unit in USERS {
        if systemd.state(unit)?.is_some() {
            let job = systemd.stop(unit)?;
            systemd.job_end(&job, Instant::now() + LONGEST_STOP)?;
        }
    }
    Ok(())
}

/// Removes what was set aside.
pub(super) fn remove(doing: &Doing<'_>, directories: &[String]) -> Result<Success, Stopped> {
    let files = doing.machine.files();
    let deadline = doing.deadline();
    let old = directories.iter().map(Path::new).filter(|directory| runtime_data::has_old(files, directory));
    for directory in old {
        let mounts = doing.machine.mount_points().map_err(|source| FileFault {
            doing: "read",
            path: "/proc/self/mountinfo".into(),
            source,
        })?;
        match runtime_data::remove_old(files, directory, &mounts, deadline)? {
            Removal::Done => {}
            Removal::Overdue => return Err(Stopped::TimedOut { tail: String::new() }),
            Removal::Mounted(path) => {
                let why = format!(
                    "`{}` is mounted within the data of an old runtime, which stays as it is",
                    path.display()
                );
                return Err(Failure::new(FailureKind::Operator, why, "unmount it, or reboot").into());
            }
        }
    }
    Ok(Success::default())
}
