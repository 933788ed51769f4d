//! `user:group` to numbers, by the root's own `/etc/passwd` and `/etc/group`: no name service is asked, as the
//! machine may have none yet.

use std::path::Path;

use crate::{Disk, FileFault};

/// Who owns a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

/// An owner that cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum OwnerFault {
    /// The user or the group is not there.
    #[error("the {what} `{name}` is not in `{file}`")]
    Unknown {
        /// `user` or `group`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Where it was looked up.
        file: &'static str,
    },
    /// The file of users or groups cannot be read.
    #[error(transparent)]
    File(#[from] FileFault),
}

impl Owner {
    /// The administrator.
    pub const ROOT: Self = Self { user: 0, group: 0 };

    /// Finds `user:group` or `user`, by names or numbers.
    pub fn find(disk: &dyn Disk, text: &str) -> Result<Self, OwnerFault> {
        let (user, group) = text.split_once(':').unwrap_or((text, ""));
        let (user, own_group) = match user {
            "root" | "" => (0, Some(0)),
            name => match name.parse() {
                Ok(number) => (number, None),
                Err(_) => number(disk, "user", "/etc/passwd", name)?,
            },
        };
        let group = match group {
            "root" => 0,
            "" => own_group.unwrap_or(0),
            name => match name.parse() {
                Ok(number) => number,
                Err(_) => number(disk, "group", "/etc/group", name)?.0,
            },
        };
        Ok(Self { user, group })
    }
}

/// The number of a name, and of the user's own group where the file tells it.
fn number(
    disk: &dyn Disk,
    what: &'static str,
    file: &'static str,
    name: &str,
) -> Result<(u32, Option<u32>), OwnerFault> {
    let bytes = match disk.read(Path::new(file)) {
        Ok(bytes) => bytes,
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(fault) => return Err(FileFault::of("read", Path::new(file))(fault).into()),
    };
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            if fields.next() != Some(name) {
                return None;
            }
            let number = fields.nth(1)?.parse().ok()?;
            Some((number, fields.next().and_then(|group| group.parse().ok())))
        })
        .ok_or_else(|| OwnerFault::Unknown { what, name: name.to_owned(), file })
}
