//! The few calls that everything else is built on.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket, a pipe.
    Other,
}

/// What is known of what stands at a path; a link is looked at, not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its permissions, without the bits of its kind.
    pub mode: u32,
    /// Its owner's number.
    pub user: u32,
    /// Its group's number.
    pub group: u32,
    /// Its size in bytes.
    pub size: u64,
}

/// A file that is open for writing.
pub trait Opened {
    /// Writes all of `bytes` at the end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to `size` bytes.
    fn cut(&mut self, size: u64) -> io::Result<()>;
    /// Sets the permissions.
    fn set_mode(&mut self, mode: u32) -> io::Result<()>;
    /// Sets owner and group.
    fn set_owner(&mut self, user: u32, group: u32) -> io::Result<()>;
    /// Returns when the content is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is open for reading.
pub trait Readable: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> Readable for T {}

/// The calls beneath the file layer. Paths are absolute, beneath the root that the disk was opened with.
///
/// The last name of a path is never followed if it is a link; the directories before it are, as long as only the
/// machine's own administrator could have made the link.
pub trait Disk {
    /// What stands at the path, or nothing.
    fn look(&self, path: &Path) -> io::Result<Option<Entry>>;
    /// The whole content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Opens a file to be read piece by piece.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Readable>>;
    /// Where a link points.
    fn read_link(&self, path: &Path) -> io::Result<OsString>;
    /// The names in a directory, sorted.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;
    /// Makes a file that was not there.
    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn Opened>>;
    /// Opens a file that is there, to go on at its end.
    fn append(&self, path: &Path) -> io::Result<Box<dyn Opened>>;
    /// Gives what stands at `from` the name `to`; what stood there is gone.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file or a link.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes a directory.
    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Makes a symbolic link.
    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()>;
    /// Sets permissions and owner of a directory that is there.
    fn set_directory(&self, path: &Path, mode: u32, user: u32, group: u32) -> io::Result<()>;
    /// Sets the owner of a link itself.
    fn set_link_owner(&self, path: &Path, user: u32, group: u32) -> io::Result<()>;
    /// Returns when the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}
