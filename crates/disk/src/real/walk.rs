//! From the root to a path's directory, name by name, so that nothing can lead astray.
//!
//! `..` in a path is refused. A link on the way is followed within the root, and only if nobody but the administrator
//! (or whoever runs this) could have put it there: both the link and the directory that holds it are theirs, and nobody
//! else may write to that directory. Where there is no link on the way, the kernel's own `openat2` does all of it at once;
//! kernels before 5.6 lack it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// As many links as the kernel itself follows in one path.
const LINKS: u32 = 40;

/// A way that starts at the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk<'r> {
    root: &'r OwnedFd,
}

impl<'r> Walk<'r> {
    pub(super) fn new(root: &'r OwnedFd) -> Self {
        Self { root }
    }

    /// The directory that holds the last name of a path, and that name.
    pub(super) fn parent(self, path: &Path) -> io::Result<(OwnedFd, OsString)> {
        let mut names = names(path)?;
        let last = names.pop_back().ok_or_else(|| invalid("the path names no file"))?;
        Ok((self.reach(names)?, last))
    }

    /// The directory that a path names; its last name is not followed if it is a link.
    pub(super) fn directory(self, path: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if names(path)?.is_empty() {
            return Ok(rustix::fs::openat(self.root, c".", flags, Mode::empty())?);
        }
        // A directory that is reached through a trusted link is as good as any.
        let reached = self.reach(names(path)?)?;
        Ok(rustix::fs::openat(&reached, c".", flags, Mode::empty())?)
    }

    fn reach(self, names: VecDeque<OsString>) -> io::Result<OwnedFd> {
        match self.at_once(&names) {
            // A link, or a kernel that cannot tell.
            Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => {
                self.by_name(names)
            }
            reached => Ok(reached?),
        }
    }

    /// The directory, if no link leads there.
    fn at_once(self, names: &VecDeque<OsString>) -> Result<OwnedFd, Errno> {
        let path: PathBuf = if names.is_empty() { PathBuf::from(".") } else { names.iter().collect() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        rustix::fs::openat2(self.root, &path, flags, Mode::empty(), resolve)
    }

    fn by_name(self, mut names: VecDeque<OsString>) -> io::Result<OwnedFd> {
        let mut stack = vec![self.root.try_clone()?];
        let mut links = 0;
        while let Some(name) = names.pop_front() {
            if name == OsStr::new("..") {
                // Only a link's target has it; above the root is the root.
                if stack.len() > 1 {
                    stack.pop();
                }
                continue;
            }
            let here = stack.last().unwrap_or(self.root).as_fd();
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = rustix::fs::openat(here, &name, flags, Mode::empty())?;
            let stat = rustix::fs::fstat(&next)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => stack.push(next),
                FileType::Symlink => {
                    links += 1;
                    if links > LINKS {
                        return Err(io::Error::from_raw_os_error(Errno::LOOP.raw_os_error()));
                    }
                    let holder = rustix::fs::fstat(here)?;
                    if !(is_ours(stat.st_uid) && is_ours(holder.st_uid) && holder.st_mode & 0o022 == 0) {
                        return Err(io::Error::new(
                            io::ErrorKind::PermissionDenied,
                            format!("`{}` is a link that others than root could have made", name.display()),
                        ));
                    }
                    let target = rustix::fs::readlinkat(here, &name, Vec::new())?.into_bytes();
                    let target = OsString::from_vec(target);
                    let target = Path::new(&target);
                    if target.is_absolute() {
                        stack.truncate(1);
                    }
                    for component in target.components().rev() {
                        match component {
                            Component::Normal(name) => names.push_front(name.to_owned()),
                            Component::ParentDir => names.push_front(OsString::from("..")),
                            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
                        }
                    }
                }
                _ => return Err(io::Error::from_raw_os_error(Errno::NOTDIR.raw_os_error())),
            }
        }
        stack.pop().map_or_else(|| self.root.try_clone(), Ok)
    }
}

/// The names of an absolute path without `..`.
fn names(path: &Path) -> io::Result<VecDeque<OsString>> {
    let mut names = VecDeque::new();
    let mut absolute = false;
    for component in path.components() {
        match component {
            Component::RootDir => absolute = true,
            Component::Normal(name) => names.push_back(name.to_owned()),
            Component::CurDir => {}
            Component::ParentDir => return Err(invalid("the path has `..` in it")),
            Component::Prefix(_) => return Err(invalid("the path has a prefix")),
        }
    }
    if absolute { Ok(names) } else { Err(invalid("the path is not absolute")) }
}

fn is_ours(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
