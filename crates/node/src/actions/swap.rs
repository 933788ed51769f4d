//! Swap: none, as it is, or a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bringup_disk::{Change, Owner, Wanted};
use bringup_progress::{Failure, FailureKind, Made, Success, unit_of};
use bringup_spec::SwapPolicy;
use bringup_systemd::{Activity, EnableScope, Systemd};

use super::units::UNITS;
use super::{Doing, Stopped};
use crate::machine::Machine;
use crate::preflight::tables::swaps;
use crate::swap_area::{first_page, in_fstab};

const MIB: u64 = 1024 * 1024;

/// Sees to swap.
pub(super) fn set(
    doing: &Doing<'_>,
    policy: SwapPolicy,
    size_mib: Option<u32>,
    path: Option<&str>,
) -> Result<Success, Stopped> {
    match (policy, path) {
        (SwapPolicy::Off, _) if doing.machine.is_itself() => off(doing),
        (SwapPolicy::File, Some(path)) => file(doing, path, u64::from(size_mib.unwrap_or_default()) * MIB),
        _ => Ok(Success::default()),
    }
}

fn active() -> Vec<String> {
    swaps(&std::fs::read_to_string("/proc/swaps").unwrap_or_default())
}

/// Stops every swap that is on, and keeps it and what `fstab` names from coming back.
fn off(doing: &Doing<'_>) -> Result<Success, Stopped> {
    let files = doing.machine.files();
    let on = active();
    let table = files.read(Path::new("/etc/fstab"))?.unwrap_or_default();
    let named = in_fstab(&String::from_utf8_lossy(&table));
    let units: BTreeSet<String> = on.iter().chain(&named).map(|path| unit_of(path, "swap")).collect();
    if units.is_empty() {
        return Ok(Success::default());
    }
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    for path in &on {
        let job = systemd.stop(&unit_of(path, "swap"))?;
        systemd.job_end(&job, doing.deadline())?;
    }
    let left = active();
    if !left.is_empty() {
        return Err(Failure::new(
            FailureKind::Operator,
            format!("swap is still on: `{}`", left.join("`, `")),
            "see `systemctl status '*.swap'`: there may be too little memory for what is in it",
        )
        .into());
    }
    let names: Vec<&str> = units.iter().map(String::as_str).collect();
    systemd.mask(&names, EnableScope::ForGood)?;
    systemd.reload()?;
    let made = units.iter().map(|unit| Made::Link(format!("{UNITS}/{unit}"))).collect();
    Ok(Success { made, ..Success::default() })
}

/// Makes a swap file and its unit, and starts it.
fn file(doing: &Doing<'_>, path: &str, size: u64) -> Result<Success, Stopped> {
    let files = doing.machine.files();
    let unit = unit_of(path, "swap");
    let content = format!(
        "[Unit]\nDescription=Swap file of this node\n\n[Swap]\nWhat={path}\n\n[Install]\nWantedBy=swap.target\n"
    );
    let unit_path = PathBuf::from(UNITS).join(&unit);
    let wanted = Wanted { content: content.as_bytes(), mode: 0o644, owner: Owner::ROOT };
    let placed = files.replace(&unit_path, wanted)?;
    let mut changed = BTreeSet::new();
    if placed.is_any() {
        changed.insert(unit_path.display().to_string());
    }
    let success = Success { changed, ..Success::default() };
    if !doing.machine.is_itself() {
        return Ok(success);
    }
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    if placed != Change::None {
        systemd.reload()?;
    }
    let right = files.disk().look(Path::new(path)).ok().flatten().is_some_and(|entry| entry.size == size);
    let runs = |systemd: &mut Systemd| -> Result<bool, Stopped> {
        Ok(systemd.state(&unit)?.is_some_and(|state| state.activity == Activity::Active))
    };
    if !right {
        if runs(&mut systemd)? {
            let job = systemd.stop(&unit)?;
            systemd.job_end(&job, doing.deadline())?;
        }
        write(doing, Path::new(path), size)?;
    }
    systemd.enable(&[unit.as_str()])?;
    let job = systemd.start(&unit)?;
    systemd.job_end(&job, doing.deadline())?;
    if runs(&mut systemd)? {
        return Ok(success);
    }
    Err(Failure::new(
        FailureKind::Operator,
        format!("swap on `{path}` cannot be switched on"),
        format!("see `systemctl status '{unit}'`: its file system may not take swap files"),
    )
    .into())
}

/// Writes the file, without holes: the kernel refuses those.
fn write(doing: &Doing<'_>, path: &Path, size: u64) -> Result<(), Stopped> {
    let files = doing.machine.files();
    let page = rustix::param::page_size();
    let pages = u32::try_from(size / page as u64).unwrap_or(u32::MAX);
    let (one, other) = (Machine::random().to_ne_bytes(), Machine::random().to_ne_bytes());
    let mut uuid = [0; 16];
    uuid.iter_mut().zip(one.into_iter().chain(other)).for_each(|(byte, random)| *byte = random);
    let mut name = std::ffi::OsString::from(path.file_name().unwrap_or_default());
    name.push(".bringup-new");
    let temporary = path.with_file_name(name);
    files.make_parents(path)?;
    files.remove(&temporary)?;
    let written = files.disk().create(&temporary, 0o600).and_then(|mut file| {
        file.write(&first_page(page, pages, uuid))?;
        let zeros = vec![0; 1024 * 1024];
        let mut left = size.saturating_sub(page as u64);
        while left > 0 {
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
            file.write(zeros.get(..count).unwrap_or_default())?;
            left = left.saturating_sub(count as u64);
        }
        file.sync()
    });
    if let Err(fault) = written {
        let _ = files.remove(&temporary);
        return Err(Failure::new(
            FailureKind::Operator,
            format!("cannot write `{}`: {fault}", path.display()),
            "make room for it, or give it another path; the agent goes on by itself",
        )
        .into());
    }
    Ok(files.publish(&temporary, path)?)
}
