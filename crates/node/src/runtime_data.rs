//! The data of a container runtime: whose it is, and what becomes of it when another version takes over.
//!
//! What one version has written is not for another one to trip over. A file says whose the data is: written before the
//! software is replaced, and again once the data is set aside. Setting aside is one rename, so that there is all of the
//! old data where it was, or none; a run that dies anywhere finds by the file what is left to do. What was set aside is
//! removed when the machine has rebooted and nothing uses it any more.
//!
//! An old version that comes back, as the new one has failed, begins with an empty directory: what the new one wrote is not
//! for it either, and of its own data, which was set aside, nobody knows how much is left.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bringup_disk::{Disk, FileFault, Files, Kind, Owner, Wanted};
use bringup_progress::{Failure, FailureKind};
use serde::{Deserialize, Serialize};

use crate::places::RUNTIME_DATA;
use crate::software::fits;

/// What stands at the end of the name of what was set aside, before a number.
const OLD: &str = ".bringup-old";
/// A file system has this at its top, whoever uses it.
const NOT_DATA: &str = "lost+found";
/// The kernel takes no path that is longer than twice this. What lies deeper is moved up before it is removed.
const LONG_PATH: usize = 2048;

/// Whose the data is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Data {
    /// The runtime.
    pub(crate) software: String,
    /// Its version; none where nobody could tell it.
    pub(crate) version: Option<String>,
    /// Where it is.
    pub(crate) directory: PathBuf,
    /// The boot in which the data of another one was set aside: what used it may still run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cleared_in: Option<String>,
    /// Whether it was handed over by another version, which may yet come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) taken_over: bool,
}

impl Data {
    /// Whether it is that of this version.
    fn is_of(&self, software: &str, version: &str) -> bool {
        self.software == software && self.version.as_deref().is_some_and(|own| fits(own, version))
    }

    fn write(&self, files: Files<'_>) -> Result<(), FileFault> {
        let mut content = serde_json::to_vec(self).unwrap_or_default();
        content.push(b'\n');
        let wanted = Wanted { content: &content, mode: 0o644, owner: Owner::ROOT };
        files.replace(Path::new(RUNTIME_DATA), wanted).map(|_| ())
    }
}

/// Whose the data is, as far as anybody has noted it.
pub(crate) fn noted(files: Files<'_>) -> Result<Option<Data>, FileFault> {
    let bytes = files.read(Path::new(RUNTIME_DATA))?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Notes whose the data is, before the software is replaced. What is noted already stands.
pub(crate) fn note<E: From<FileFault>>(
    files: Files<'_>,
    software: &str,
    directory: &Path,
    version: impl FnOnce() -> Result<Option<String>, E>,
) -> Result<(), E> {
    if noted(files)?.is_some() {
        return Ok(());
    }
    let data = Data {
        software: software.to_owned(),
        version: version()?,
        directory: directory.to_owned(),
        cleared_in: None,
        taken_over: false,
    };
    Ok(data.write(files)?)
}

/// Hands the directory over to the version that is installed now. The data of another one is set aside, after `stop` has
/// ended what uses it.
pub(crate) fn hand_over<E: From<FileFault> + From<Failure>>(
    files: Files<'_>,
    (software, version): (&str, &str),
    directory: &Path,
    boot: &str,
    stop: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let before = noted(files)?;
    if before.as_ref().is_some_and(|data| data.is_of(software, version) && data.directory == directory) {
        return Ok(());
    }
    let mut places = vec![directory.to_owned()];
    places.extend(before.as_ref().map(|data| data.directory.clone()).filter(|old| old != directory));
    let mut full = Vec::new();
    for place in places {
        if has_data(files.disk(), &place)? {
            full.push(place);
        }
    }
    let began = before.as_ref().is_some_and(|data| data.cleared_in.as_deref() == Some(boot));
    let cleared_in = (began || !full.is_empty()).then(|| boot.to_owned());
    if !full.is_empty() {
        stop()?;
        // Known before it begins: a run that dies between the rename and the last word must not forget the reboot.
        let unknown = || Data {
            software: software.to_owned(),
            version: None,
            directory: directory.to_owned(),
            cleared_in: None,
            taken_over: false,
        };
        Data { cleared_in: cleared_in.clone(), ..before.unwrap_or_else(unknown) }.write(files)?;
        for place in &full {
            set_aside::<E>(files, place)?;
        }
    }
    let after = Data {
        software: software.to_owned(),
        version: Some(version.to_owned()),
        directory: directory.to_owned(),
        cleared_in,
        taken_over: true,
    };
    Ok(after.write(files)?)
}

/// Takes the directory back from a version that has failed, before its software goes. Until [`give_back`] the data is
/// nobody's, so that whichever version is installed next finds none. What others have is left alone; says whether it was taken.
pub(crate) fn take_back<E: From<FileFault> + From<Failure>>(
    files: Files<'_>,
    software: &str,
    boot: &str,
    stop: impl FnOnce() -> Result<(), E>,
) -> Result<bool, E> {
    let its_own = |data: &Data| data.software == software && data.taken_over;
    let Some(before) = noted(files)?.filter(its_own) else { return Ok(false) };
    let directory = before.directory.clone();
    let full = has_data(files.disk(), &directory)?;
    let cleared_in = if full { Some(boot.to_owned()) } else { before.cleared_in.clone() };
    if full {
        stop()?;
    }
    Data { version: None, cleared_in, ..before }.write(files)?;
    if full {
        set_aside::<E>(files, &directory)?;
    }
    Ok(true)
}

/// Gives the directory to the version that has come back.
pub(crate) fn give_back(files: Files<'_>, version: Option<String>) -> Result<(), FileFault> {
    match noted(files)? {
        Some(data) => Data { version, taken_over: false, ..data }.write(files),
        None => Ok(()),
    }
}

/// Whether data was set aside in this boot, so that the machine has to reboot.
pub(crate) fn needs_reboot(files: Files<'_>, boot: &str) -> bool {
    noted(files).ok().flatten().is_some_and(|data| data.cleared_in.as_deref() == Some(boot))
}

fn has_data(disk: &dyn Disk, directory: &Path) -> Result<bool, Failure> {
    let fault =
        |source| super::actions::of_file(&FileFault { doing: "look at", path: directory.to_owned(), source });
    match disk.look(directory).map_err(fault)?.map(|entry| entry.kind) {
        None => Ok(false),
        Some(Kind::Directory) => Ok(disk.list(directory).map_err(fault)?.iter().any(|name| name != NOT_DATA)),
        Some(_) => Err(Failure::new(
            FailureKind::Operator,
            format!("`{}`, where the old runtime's data is, is no directory", directory.display()),
            "name the directory itself in the runtime's configuration, not a link to it; the agent goes on by itself",
        )),
    }
}

/// In one rename, to a name of its own beside it.
fn set_aside<E: From<FileFault> + From<Failure>>(files: Files<'_>, directory: &Path) -> Result<(), E> {
    let taken = old_ones(files.disk(), directory)?;
    // One of so many names is not among those that are taken.
    let mut names = (1..=taken.len().saturating_add(1)).map(|number| old_name(directory, number));
    let free = names.find(|name| !taken.contains(name));
    let aside = free.unwrap_or_else(|| old_name(directory, 0));
    match files.publish(directory, &aside) {
        Err(fault) if matches!(fault.source.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) => {
            let place = directory.display();
            Err(Failure::new(
                FailureKind::Operator,
                format!("`{place}` is a mount point: the old runtime's data cannot be taken out of it in one piece"),
                "remove all that is in it; the agent goes on by itself",
            )
            .into())
        }
        done => Ok(done?),
    }
}

fn old_name(directory: &Path, number: usize) -> PathBuf {
    let mut name = prefix(directory);
    name.push(number.to_string());
    directory.with_file_name(name)
}

fn prefix(directory: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(directory.file_name().unwrap_or_default());
    name.push(OLD);
    name
}

/// What was set aside of a directory.
fn old_ones(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>, FileFault> {
    let parent = directory.parent().unwrap_or(directory);
    let names = match disk.list(parent) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => Vec::new(),
        names => names.map_err(|source| FileFault { doing: "look into", path: parent.to_owned(), source })?,
    };
    let prefix = prefix(directory);
    let is_old = |name: &&OsString| {
        name.as_encoded_bytes()
            .strip_prefix(prefix.as_encoded_bytes())
            .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
    };
    Ok(names.iter().filter(is_old).map(|name| parent.join(name)).collect())
}

/// Whether anything was set aside of a directory and is still there.
pub(crate) fn has_old(files: Files<'_>, directory: &Path) -> bool {
    old_ones(files.disk(), directory).is_ok_and(|old| !old.is_empty())
}

/// How the removal of old data ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// Nothing of it is left.
    Done,
    /// The time is up; what is gone is gone.
    Overdue,
    /// Something is mounted there, so that nothing was touched.
    Mounted(PathBuf),
}

/// Removes what was set aside of a directory. Links are removed, not followed; where something is mounted, it stays whole.
pub(crate) fn remove_old(
    files: Files<'_>,
    directory: &Path,
    mounts: &[PathBuf],
    deadline: Instant,
) -> Result<Removal, FileFault> {
    for old in old_ones(files.disk(), directory)? {
        if let Some(mount) = mounts.iter().find(|mount| mount.starts_with(&old)) {
            return Ok(Removal::Mounted(mount.clone()));
        }
        if !remove_tree(files.disk(), &old, deadline)? {
            return Ok(Removal::Overdue);
        }
        files.disk().sync_directory(directory.parent().unwrap_or(directory)).map_err(|source| FileFault {
            doing: "sync",
            path: directory.to_owned(),
            source,
        })?;
    }
    Ok(Removal::Done)
}

/// Removes all of a tree, from the leaves up; false if the time is up before.
fn remove_tree(disk: &dyn Disk, top: &Path, deadline: Instant) -> Result<bool, FileFault> {
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |source| FileFault { doing: "remove", path, source }
    };
    let gone = |removed: std::io::Result<()>| match removed {
        Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    let mut moved = 0_u32;
    let mut waiting = vec![top.to_owned()];
    while let Some(path) = waiting.last().cloned() {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        let kind = disk.look(&path).map_err(fault(&path))?.map(|entry| entry.kind);
        if kind != Some(Kind::Directory) {
            gone(disk.remove(&path)).map_err(fault(&path))?;
            waiting.pop();
            continue;
        }
        let mut deeper = false;
        for name in disk.list(&path).map_err(fault(&path))? {
            let child = path.join(name);
            let entry = disk.look(&child).map_err(fault(&child))?;
            match entry.map(|entry| entry.kind) {
                Some(Kind::Directory) if child.as_os_str().len() > LONG_PATH => {
                    let up = loop {
                        moved = moved.saturating_add(1);
                        let up = top.join(format!(".bringup-{moved}"));
                        if disk.look(&up).map_err(fault(&up))?.is_none() {
                            break up;
                        }
                    };
                    disk.rename(&child, &up).map_err(fault(&child))?;
                }
                Some(Kind::Directory) => {
                    waiting.push(child);
                    deeper = true;
                }
                Some(_) => gone(disk.remove(&child)).map_err(fault(&child))?,
                None => {}
            }
        }
        if !deeper {
            match disk.remove_directory(&path) {
                // Something was moved up into it since.
                Err(full) if full.kind() == ErrorKind::DirectoryNotEmpty && path == top => {}
                removed => {
                    gone(removed).map_err(fault(&path))?;
                    waiting.pop();
                }
            }
        }
    }
    Ok(true)
}

/// Where something is mounted, by what the kernel says of it in `mountinfo`.
pub(crate) fn mount_points(mountinfo: &str) -> Vec<PathBuf> {
    mountinfo.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped).collect()
}

/// The kernel writes white space and backslashes as three octal digits.
fn unescaped(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code =
            more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { more.get(3..).unwrap_or_default() } else { more };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests;
