//! The disk of this machine, beneath a root directory.

mod opened;
mod walk;

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use rustix::io::Errno;

use crate::{Disk, Entry, Kind, Opened, Readable};
use opened::OpenedFile;
use walk::Walk;

/// The disk of this machine beneath a root directory: `/`, or another one for a dry run or a test.
#[derive(Debug)]
pub struct RealDisk {
    root: OwnedFd,
}

impl RealDisk {
    /// Opens the root.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root })
    }

    /// The directory of a path, and its last name.
    fn parent(&self, path: &Path) -> io::Result<(OwnedFd, OsString)> {
        Walk::new(&self.root).parent(path)
    }

    /// The directory that a path names, open to be read.
    fn directory(&self, path: &Path) -> io::Result<OwnedFd> {
        Walk::new(&self.root).directory(path)
    }

    /// A file to be read, and its size.
    fn opened(&self, path: &Path) -> io::Result<(std::fs::File, u64)> {
        let (directory, name) = self.parent(path)?;
        // Without NONBLOCK a named pipe in the file's place would hold the agent for ever.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&directory, &name, flags, Mode::empty())?;
        let entry = entry(&rustix::fs::fstat(&file)?);
        if entry.kind != Kind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok((std::fs::File::from(file), entry.size))
    }

    /// A file that only its owner may open, to be written or locked; made if it is not there. What is no file is refused:
    /// a link could lead anywhere, and a named pipe would hold whoever opens it.
    pub fn private(&self, path: &Path) -> io::Result<std::fs::File> {
        let (directory, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = raw(0o600);
        let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a file");
        let file = match rustix::fs::openat(&directory, &name, flags, mode) {
            // In turn: a link, a directory, a pipe that nobody reads.
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(no_file()),
            opened => opened?,
        };
        let entry = entry(&rustix::fs::fstat(&file)?);
        if entry.kind != Kind::File {
            return Err(no_file());
        }
        if entry.mode != 0o600 {
            rustix::fs::fchmod(&file, mode)?;
        }
        Ok(std::fs::File::from(file))
    }
}

impl Disk for RealDisk {
    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        if path == Path::new("/") {
            return Ok(Some(entry(&rustix::fs::fstat(&self.root)?)));
        }
        let found = self.parent(path).and_then(|(directory, name)| {
            Ok(rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?)
        });
        match found {
            Ok(stat) => Ok(Some(entry(&stat))),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let (mut file, size) = self.opened(path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Readable>> {
        Ok(Box::new(self.opened(path)?.0))
    }

    fn read_link(&self, path: &Path) -> io::Result<OsString> {
        let (directory, name) = self.parent(path)?;
        Ok(OsString::from_vec(rustix::fs::readlinkat(&directory, &name, Vec::new())?.into_bytes()))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let opened = self.directory(directory)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(opened)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn Opened>> {
        let (directory, name) = self.parent(path)?;
        // Without APPEND, what is written after a cut would stand behind a hole.
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, &name, flags, raw(mode))?;
        Ok(Box::new(OpenedFile::new(file)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn Opened>> {
        let (directory, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&directory, &name, flags, Mode::empty())?;
        Ok(Box::new(OpenedFile::new(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (old_directory, old) = self.parent(from)?;
        let (new_directory, new) = self.parent(to)?;
        Ok(rustix::fs::renameat(&old_directory, &old, &new_directory, &new)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(&directory, &name, AtFlags::empty())?)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(&directory, &name, AtFlags::REMOVEDIR)?)
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (directory, name) = self.parent(path)?;
        Ok(rustix::fs::mkdirat(&directory, &name, raw(mode))?)
    }

    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        let (directory, name) = self.parent(path)?;
        Ok(rustix::fs::symlinkat(target, &directory, &name)?)
    }

    fn set_directory(&self, path: &Path, mode: u32, user: u32, group: u32) -> io::Result<()> {
        let directory = self.directory(path)?;
        rustix::fs::fchown(&directory, Some(user_id(user)), Some(group_id(group)))?;
        Ok(rustix::fs::fchmod(&directory, raw(mode))?)
    }

    fn set_link_owner(&self, path: &Path, user: u32, group: u32) -> io::Result<()> {
        let (directory, name) = self.parent(path)?;
        let (user, group) = (Some(user_id(user)), Some(group_id(group)));
        Ok(rustix::fs::chownat(&directory, &name, user, group, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.directory(directory)?)?)
    }
}

fn raw(mode: u32) -> Mode {
    Mode::from_raw_mode(RawMode::from(mode))
}

fn user_id(number: u32) -> rustix::fs::Uid {
    rustix::fs::Uid::from_raw(number)
}

fn group_id(number: u32) -> rustix::fs::Gid {
    rustix::fs::Gid::from_raw(number)
}

fn entry(stat: &rustix::fs::Stat) -> Entry {
    use rustix::fs::FileType;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    };
    Entry {
        kind,
        mode: stat.st_mode & 0o7777,
        user: stat.st_uid,
        group: stat.st_gid,
        size: u64::try_from(stat.st_size).unwrap_or(0),
    }
}
