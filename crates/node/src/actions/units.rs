//! Units: the operator's, put in place; others, started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bringup_disk::{Files, Owner, Wanted};
use bringup_plan::{PlacedBy, Unit};
use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::{Activity, JobEnd, Systemd};

use super::{Doing, Stopped, install, old_data};
use crate::kept::{self, Installed};
use crate::teller::Teller;

pub(crate) const UNITS: &str = "/etc/systemd/system";

/// Puts the operator's units in place, reads them, and enables, disables or masks them.
pub(super) fn place(doing: &Doing<'_>) -> Result<Success, Stopped> {
    let files = doing.machine.files();
    let mut changed = BTreeSet::new();
    let units: Vec<&Unit> =
        doing.plan.units.iter().filter(|unit| unit.placed_by == PlacedBy::Agent).collect();
    for unit in &units {
        write(&files, unit, &mut changed)?;
    }
    if !doing.machine.is_itself() {
        return Ok(Success { changed, ..Success::default() });
    }
    let mut systemd = Systemd::connect()?;
    let named = |wanted: Option<bool>| -> Vec<&str> {
        units
            .iter()
            .filter(|unit| !unit.mask && unit.enabled == wanted)
            .map(|unit| unit.name.as_str())
            .collect()
    };
    let (enabled, disabled) = (named(Some(true)), named(Some(false)));
    if !enabled.is_empty() {
        systemd.enable(&enabled)?;
    }
    for unit in disabled {
        match systemd.disable(&[unit]) {
            // One that this system does not have never starts.
            Err(fault) if fault.is("NoSuchUnit") || fault.is("FileNotFound") => {}
            disabled => disabled?,
        }
    }
    // Once, at the end: what is enabled is looked up on the disk.
    systemd.reload()?;
    for unit in enabled {
        // This boot was planned before the unit was there. Nothing is waited for: it may wait for us.
        match systemd.start(unit) {
            Err(fault) if fault.is("BadUnitSetting") && Unit::is_kernels_mount(unit) => {
                Teller::note(&format!(
                    "`{unit}` is left to systemd, which mounts this file system by itself"
                ));
            }
            started => drop(started?),
        }
    }
    Ok(Success { changed, ..Success::default() })
}

fn write(files: &Files<'_>, unit: &Unit, changed: &mut BTreeSet<String>) -> Result<(), Stopped> {
    let folder = Path::new(UNITS);
    let mut put = |path: PathBuf, content: &str| -> Result<(), Stopped> {
        let wanted = Wanted { content: content.as_bytes(), mode: 0o644, owner: Owner::ROOT };
        if files.replace(&path, wanted)?.is_any() {
            changed.insert(path.display().to_string());
        }
        Ok(())
    };
    if let Some(content) = &unit.content {
        put(folder.join(&unit.name), content)?;
    }
    for (name, content) in &unit.drop_ins {
        put(folder.join(format!("{}.d", unit.name)).join(name), content)?;
    }
    let mut link = |path: PathBuf, target: &Path| -> Result<(), Stopped> {
        if files.make_link(&path, target)?.is_any() {
            changed.insert(path.display().to_string());
        }
        Ok(())
    };
    for alias in &unit.aliases {
        link(folder.join(alias), &folder.join(&unit.name))?;
    }
    if unit.mask {
        link(folder.join(&unit.name), Path::new("/dev/null"))?;
    }
    Ok(())
}

/// Sees to it that a unit runs, and anew if something that it reads has changed.
pub(super) fn start(doing: &Doing<'_>, unit: &str) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let own = kept::installed(doing.state, doing.plan)
        .into_iter()
        .find(|installed| unit.strip_suffix(".service") == Some(installed.software));
    if let Some(own) = &own
        && let Some(failure) = kept::interrupted(doing.machine.files(), &own.paths)
    {
        put_back(doing, own, &failure)?;
    }
    let failed =
        own.iter().flat_map(|own| &own.paths).find(|path| kept::has_failed(doing.machine.files(), path));
    if let Some(path) = failed {
        // The old version is to run all the same.
        let _ = run(doing, unit);
        return Err(kept::set_aside(doing.machine.files(), path).into());
    }
    match (run(doing, unit), own) {
        (Err(Stopped::Failed(failure)), Some(own)) => match put_back(doing, &own, &failure)? {
            Some(path) => Err(kept::set_aside(doing.machine.files(), &path).into()),
            None => Err(failure.into()),
        },
        (result, _) => result,
    }
}

/// Puts the old version of a piece of software back and starts its unit anew, if there is an old version: one of its files.
pub(super) fn put_back(
    doing: &Doing<'_>,
    installed: &Installed<'_>,
    failure: &Failure,
) -> Result<Option<PathBuf>, Stopped> {
    let files = doing.machine.files();
    let mut back = None;
    let has_data = installed.has_data
        && kept::has_old(files, &installed.paths)
        && old_data::take_back(doing, installed.software)?;
    for path in &installed.paths {
        if kept::take_back(files, path, failure)? {
            back = Some(path.clone());
        }
    }
    if back.is_some() {
        if installed.is_extension {
            install::merge_extensions(doing.deadline())?;
        }
        if has_data {
            old_data::give_back(doing, installed.software)?;
        }
        let unit = format!("{}.service", installed.software);
        let mut systemd = Systemd::connect()?;
        // Kubelet is started by whoever found it ill, and not all software has a unit.
        if installed.software != "kubelet" && systemd.state(&unit)?.is_some() {
            systemd.subscribe()?;
            let job = systemd.restart(&unit)?;
            systemd.job_end(&job, doing.deadline())?;
        }
    }
    Ok(back)
}

/// Lets the manager read its own files anew if one of them has changed.
pub(super) fn reread(doing: &Doing<'_>) -> Result<(), Stopped> {
    if doing.order.changed.iter().any(|path| path.starts_with("/etc/systemd/")) {
        Systemd::connect()?.reload()?;
    }
    Ok(())
}

fn run(doing: &Doing<'_>, unit: &str) -> Result<Success, Stopped> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    let runs = systemd.state(unit)?.is_some_and(|state| state.activity == Activity::Active);
    if runs && doing.order.changed.is_empty() {
        return Ok(Success::default());
    }
    reread(doing)?;
    let job = if doing.order.changed.is_empty() { systemd.start(unit)? } else { systemd.restart(unit)? };
    let deadline = Instant::now() + Duration::from_millis(doing.order.timeout_ms);
    match systemd.job_end(&job, deadline)? {
        JobEnd::Late => return Err(Stopped::TimedOut { tail: String::new() }),
        JobEnd::Done | JobEnd::Other(_) => {}
    }
    let state = systemd.state(unit)?;
    match state {
        Some(state) if matches!(state.activity, Activity::Active) => Ok(Success::default()),
        // A oneshot that does not remain is through, and well.
        Some(state) if state.activity == Activity::Inactive && state.result == "success" => {
            Ok(Success::default())
        }
        Some(state) => Err(Failure::new(
            FailureKind::Transient,
            match &state.helper {
                Some(helper) => format!("`{unit}` does not run: {helper}"),
                None => format!("`{unit}` does not run: {} ({})", state.sub_state, state.result),
            },
            format!("see `systemctl status {unit}`"),
        )
        .into()),
        None => Err(Failure::new(
            FailureKind::Permanent,
            format!("there is no unit `{unit}`"),
            "install what brings it, or take it out of the document",
        )
        .into()),
    }
}
