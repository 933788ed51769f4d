//! What is built on the calls: files that are replaced whole, directories, links, and their removal.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Disk, Entry, FileFault, Kind, Owner};

/// The end of a temporary file's name: what is left of a dead run is known by it, and written over.
const TEMPORARY: &str = ".bringup-new";

/// What a file is to be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its content.
    pub content: &'a [u8],
    /// Its permissions.
    pub mode: u32,
    /// Its owner.
    pub owner: Owner,
}

/// What an operation had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was so already.
    None,
    /// It was made.
    Made,
    /// It was otherwise before.
    Changed,
}

impl Change {
    /// Whether anything was done.
    pub fn is_any(self) -> bool {
        self != Self::None
    }
}

/// Files on a disk.
#[derive(Clone, Copy)]
pub struct Files<'d> {
    disk: &'d dyn Disk,
}

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Files").finish_non_exhaustive()
    }
}

impl<'d> Files<'d> {
    /// Of this disk.
    pub fn on(disk: &'d dyn Disk) -> Self {
        Self { disk }
    }

    /// The disk beneath.
    pub fn disk(&self) -> &'d dyn Disk {
        self.disk
    }

    /// The content of a file, or nothing if there is none.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, FileFault> {
        match self.disk.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(FileFault::of("read", path)(fault)),
        }
    }

    /// Writes a file so that after a crash the path holds the old or the new content, never a mix. A file that is as it
    /// should be is left alone, its time included.
    pub fn replace(&self, path: &Path, wanted: Wanted<'_>) -> Result<Change, FileFault> {
        let before = self.disk.look(path).map_err(FileFault::of("look at", path))?;
        if let Some(entry) = before
            && entry.kind == Kind::File
            && (entry.mode, entry.user, entry.group) == (wanted.mode, wanted.owner.user, wanted.owner.group)
            && entry.size == wanted.content.len() as u64
            && self.disk.read(path).is_ok_and(|content| content == wanted.content)
        {
            return Ok(Change::None);
        }
        self.make_parents(path)?;
        let temporary = beside(path);
        self.clear(&temporary)?;
        self.write_new(&temporary, wanted).inspect_err(|_| {
            // A temporary file that cannot be finished only takes up the room that is missing.
            let _ = self.disk.remove(&temporary);
        })?;
        self.publish(&temporary, path)?;
        Ok(if before.is_some() { Change::Changed } else { Change::Made })
    }

    /// Gives a finished and synced file its name, and returns when the name is on the disk.
    pub fn publish(&self, temporary: &Path, path: &Path) -> Result<(), FileFault> {
        self.disk.rename(temporary, path).map_err(FileFault::of("write", path))?;
        self.sync_parent(path)
    }

    fn write_new(&self, temporary: &Path, wanted: Wanted<'_>) -> Result<(), FileFault> {
        let fault = FileFault::of("write", temporary);
        let written = self.disk.create(temporary, 0o600).and_then(|mut file| {
            file.write(wanted.content)?;
            // The owner first: changing it may clear bits of the mode.
            file.set_owner(wanted.owner.user, wanted.owner.group)?;
            file.set_mode(wanted.mode)?;
            file.sync()
        });
        written.map_err(fault)
    }

    /// Makes a directory, and those above it; sets its permissions and owner.
    pub fn make_directory(&self, path: &Path, mode: u32, owner: Owner) -> Result<Change, FileFault> {
        let entry = self.disk.look(path).map_err(FileFault::of("look at", path))?;
        let change = match entry {
            Some(Entry { kind: Kind::Directory, mode: is, user, group, .. }) => {
                if (is, user, group) == (mode, owner.user, owner.group) {
                    return Ok(Change::None);
                }
                Change::Changed
            }
            Some(_) => {
                let fault = io::Error::new(io::ErrorKind::NotADirectory, "something else has this name");
                return Err(FileFault::of("make the directory", path)(fault));
            }
            None => {
                self.make_parents(path)?;
                self.disk.make_directory(path, mode).map_err(FileFault::of("make the directory", path))?;
                Change::Made
            }
        };
        self.disk
            .set_directory(path, mode, owner.user, owner.group)
            .map_err(FileFault::of("set the permissions of", path))?;
        self.disk.sync_directory(path).map_err(FileFault::of("sync", path))?;
        self.sync_parent(path)?;
        Ok(change)
    }

    /// Makes a symbolic link, whole or not at all. An empty directory gives way to it.
    pub fn make_link(&self, path: &Path, target: &Path) -> Result<Change, FileFault> {
        let before = self.disk.look(path).map_err(FileFault::of("look at", path))?;
        if before.is_some_and(|entry| entry.kind == Kind::Link)
            && self.disk.read_link(path).is_ok_and(|is| is == target.as_os_str())
        {
            return Ok(Change::None);
        }
        self.make_parents(path)?;
        let temporary = beside(path);
        self.clear(&temporary)?;
        self.disk.make_link(target, &temporary).map_err(FileFault::of("make the link", path))?;
        if before.is_some_and(|entry| entry.kind == Kind::Directory) {
            // One with something in it stays, and is told of.
            let _ = self.disk.remove_directory(path);
        }
        self.publish(&temporary, path)?;
        Ok(if before.is_some() { Change::Changed } else { Change::Made })
    }

    /// Removes a file or a link; nothing there is fine.
    pub fn remove(&self, path: &Path) -> Result<Change, FileFault> {
        match self.disk.remove(path) {
            Ok(()) => self.sync_parent(path).map(|()| Change::Changed),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Change::None),
            Err(fault) => Err(FileFault::of("remove", path)(fault)),
        }
    }

    /// Adds to the end of a file, making it if it is not there, and returns when it is on the disk.
    pub fn append(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileFault> {
        let fault = FileFault::of("write", path);
        match self.disk.append(path) {
            Ok(mut file) => file.write(bytes).and_then(|()| file.sync()).map_err(fault),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                self.make_parents(path)?;
                let made = self.disk.create(path, mode).and_then(|mut file| {
                    file.write(bytes)?;
                    file.sync()
                });
                made.map_err(fault)?;
                self.sync_parent(path)
            }
            Err(other) => Err(fault(other)),
        }
    }

    /// Cuts a file to its first `size` bytes.
    pub fn cut(&self, path: &Path, size: u64) -> Result<(), FileFault> {
        let cut = self.disk.append(path).and_then(|mut file| {
            file.cut(size)?;
            file.sync()
        });
        cut.map_err(FileFault::of("cut", path))
    }

    /// Makes the directories above a path, as `root:root 0755` where they are not there.
    pub fn make_parents(&self, path: &Path) -> Result<(), FileFault> {
        let Some(parent) = path.parent() else { return Ok(()) };
        let missing = match self.disk.look(parent) {
            Ok(entry) => entry.is_none(),
            Err(fault) => return Err(FileFault::of("look at", parent)(fault)),
        };
        if missing {
            self.make_parents(parent)?;
            match self.disk.make_directory(parent, 0o755) {
                Ok(()) => {}
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
                Err(fault) => return Err(FileFault::of("make the directory", parent)(fault)),
            }
            self.sync_parent(parent)?;
        }
        Ok(())
    }

    /// Removes what a run that died has left beside a path.
    pub(crate) fn clear(&self, temporary: &Path) -> Result<(), FileFault> {
        match self.disk.remove(temporary) {
            Ok(()) => Ok(()),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(fault) => Err(FileFault::of("remove", temporary)(fault)),
        }
    }

    pub(crate) fn sync_parent(&self, path: &Path) -> Result<(), FileFault> {
        let parent = path.parent().unwrap_or(path);
        self.disk.sync_directory(parent).map_err(FileFault::of("sync", parent))
    }
}

/// The temporary name beside a path: in the same directory, as a rename works only within one file system.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMPORARY);
    path.with_file_name(name)
}
