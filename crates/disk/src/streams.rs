//! Files that are too large to be held in memory.

use std::io::{self, Read};
use std::path::Path;

use crate::files::beside;
use crate::{Change, FileFault, Files, Kind, Opened, Owner};

/// How much is held in memory at a time.
const PIECE: usize = 64 * 1024;

/// Why a stream did not become a file.
#[derive(Debug, thiserror::Error)]
pub enum StreamFault {
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The stream cannot be read.
    #[error("{0}")]
    Source(io::Error),
}

impl Files<'_> {
    /// Writes a file from a stream, whole or not at all: [`Files::replace`] for content of any size.
    pub fn replace_from(
        &self,
        path: &Path,
        source: &mut dyn Read,
        mode: u32,
        owner: Owner,
    ) -> Result<Change, StreamFault> {
        self.replace_from_after(path, source, mode, owner, &mut || Ok(()))
    }

    /// The same, with something that is done when the new content is on the disk and about to take the old one's place:
    /// not if they are alike.
    pub fn replace_from_after(
        &self,
        path: &Path,
        source: &mut dyn Read,
        mode: u32,
        owner: Owner,
        replacing: &mut dyn FnMut() -> Result<(), FileFault>,
    ) -> Result<Change, StreamFault> {
        let before = self.disk().look(path).map_err(FileFault::of("look at", path))?;
        self.make_parents(path)?;
        let temporary = beside(path);
        self.clear(&temporary)?;
        let abandon = |fault: StreamFault| {
            // A temporary file that cannot be finished only takes up the room that is missing.
            let _ = self.disk().remove(&temporary);
            fault
        };
        let mut file = self.disk().create(&temporary, 0o600).map_err(FileFault::of("write", &temporary))?;
        let size = pour(&temporary, file.as_mut(), source).map_err(abandon)?;
        if let Some(entry) = before
            && entry.kind == Kind::File
            && (entry.mode, entry.user, entry.group) == (mode, owner.user, owner.group)
            && entry.size == size
            && self.are_alike(path, &temporary).unwrap_or(false)
        {
            self.clear(&temporary)?;
            return Ok(Change::None);
        }
        finish(file.as_mut(), mode, owner)
            .map_err(|fault| abandon(FileFault::of("write", &temporary)(fault).into()))?;
        replacing().map_err(|fault| abandon(fault.into()))?;
        self.publish(&temporary, path)?;
        Ok(if before.is_some() { Change::Changed } else { Change::Made })
    }

    /// Gives a whole file that stands elsewhere its mode, its owner and its name.
    pub fn move_in(&self, from: &Path, to: &Path, mode: u32, owner: Owner) -> Result<(), FileFault> {
        self.make_parents(to)?;
        let finished = self.disk().append(from).and_then(|mut file| finish(file.as_mut(), mode, owner));
        finished.map_err(FileFault::of("write", from))?;
        match self.disk().rename(from, to) {
            Ok(()) => return self.sync_parent(to),
            // Another file system: the content has to be copied there.
            Err(fault) if fault.kind() == io::ErrorKind::CrossesDevices => {}
            Err(fault) => return Err(FileFault::of("write", to)(fault)),
        }
        let mut source = self.disk().open(from).map_err(FileFault::of("read", from))?;
        self.replace_from(to, &mut source, mode, owner).map_err(|fault| match fault {
            StreamFault::File(fault) => fault,
            StreamFault::Source(fault) => FileFault::of("read", from)(fault),
        })?;
        self.remove(from).map(|_| ())
    }

    /// Gives a file that is there this mode and this owner.
    pub fn settle(&self, path: &Path, mode: u32, owner: Owner) -> Result<Change, FileFault> {
        let entry = self.disk().look(path).map_err(FileFault::of("look at", path))?;
        if entry.is_some_and(|entry| (entry.mode, entry.user, entry.group) == (mode, owner.user, owner.group))
        {
            return Ok(Change::None);
        }
        let settled = self.disk().append(path).and_then(|mut file| finish(file.as_mut(), mode, owner));
        settled.map_err(FileFault::of("set the permissions of", path))?;
        Ok(Change::Changed)
    }

    fn are_alike(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let (mut one, mut other) = (self.disk().open(one)?, self.disk().open(other)?);
        let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
        loop {
            let left = read(&mut one, &mut left)?;
            let Some(right) = right.get_mut(..left.len()) else { return Ok(false) };
            if let Err(fault) = other.read_exact(right) {
                return if fault.kind() == io::ErrorKind::UnexpectedEof { Ok(false) } else { Err(fault) };
            }
            if left != right {
                return Ok(false);
            }
            if left.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// Writes all that a stream has, and says how much that was.
fn pour(path: &Path, file: &mut dyn Opened, source: &mut dyn Read) -> Result<u64, StreamFault> {
    let mut piece = vec![0; PIECE];
    let mut size = 0;
    loop {
        let bytes = match read(source, &mut piece).map_err(StreamFault::Source)? {
            [] => return Ok(size),
            bytes => bytes,
        };
        file.write(bytes).map_err(FileFault::of("write", path))?;
        size += bytes.len() as u64;
    }
}

/// The owner first: changing it may clear bits of the mode.
fn finish(file: &mut dyn Opened, mode: u32, owner: Owner) -> io::Result<()> {
    file.set_owner(owner.user, owner.group)?;
    file.set_mode(mode)?;
    file.sync()
}

/// What one read brings; nothing at the end.
fn read<'p>(source: &mut dyn Read, piece: &'p mut [u8]) -> io::Result<&'p [u8]> {
    loop {
        match source.read(piece) {
            Ok(count) => return Ok(piece.get(..count).unwrap_or_default()),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
}
