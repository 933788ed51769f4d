//! A disk in memory that forgets, at a power cut, what was not synced.
//!
//! Two trees are kept: what programs see, and what is on the platter. A sync of a file brings its content over, a sync of
//! a directory its names. At a cut, each thing that was not synced is kept or dropped as [`Loss`] says: file systems
//! promise neither.

mod tree;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::{Disk, Entry, Kind, Opened, Readable};
use tree::{Node, Trees};

/// What becomes of things that were not synced when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All of them are gone.
    Everything,
    /// Names are kept, the content of their files is gone: the empty files that people find after a crash.
    Content,
    /// Nothing is gone: the disk was quicker than the cut.
    Nothing,
}

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    trees: Trees,
    /// Calls that change something, so far.
    calls: u64,
    /// The call at which the power goes.
    cut_at: Option<u64>,
    /// How many bytes fit, if not any number.
    room: Option<u64>,
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many calls have changed something.
    pub fn calls(&self) -> u64 {
        self.state.borrow().calls
    }

    /// The power goes at the call with this number: it and all later ones fail.
    pub fn cut_at(&self, call: u64) {
        self.state.borrow_mut().cut_at = Some(call);
    }

    /// No more than this many bytes fit on the disk from now on.
    pub fn set_room(&self, bytes: Option<u64>) {
        self.state.borrow_mut().room = bytes;
    }

    /// The machine starts again: what the cut has left is all there is.
    #[must_use]
    pub fn after_cut(&self, loss: Loss) -> Self {
        let state = self.state.borrow();
        let disk = Self::new();
        disk.state.borrow_mut().trees = state.trees.after_cut(loss);
        disk
    }

    /// Every path with its mode, owner and content or target, sorted: for comparing two disks.
    pub fn contents(&self) -> Vec<(PathBuf, String)> {
        self.state.borrow().trees.contents()
    }

    fn changing<T>(&self, change: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let state = &mut *self.state.borrow_mut();
        state.calls += 1;
        if state.cut_at.is_some_and(|at| state.calls >= at) {
            return Err(io::Error::other("the power is gone"));
        }
        change(state)
    }
}

impl Disk for SimulatedDisk {
    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        match self.state.borrow().trees.find(path) {
            Ok(node) => Ok(Some(node.entry())),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.state.borrow().trees.find(path)?.content().map(<[u8]>::to_vec)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Readable>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn read_link(&self, path: &Path) -> io::Result<OsString> {
        self.state.borrow().trees.find(path)?.target().map(|target| target.as_os_str().to_owned())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.state.borrow().trees.names(directory)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn Opened>> {
        let number = self.changing(|state| state.trees.add(path, Node::file(mode)))?;
        Ok(Box::new(OpenedNode { disk: self.clone(), number }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn Opened>> {
        let state = self.state.borrow();
        let number = state.trees.number(path)?;
        state.trees.find(path)?.content()?;
        Ok(Box::new(OpenedNode { disk: self.clone(), number }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.changing(|state| state.trees.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.changing(|state| state.trees.remove(path, |kind| kind != Kind::Directory))
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.changing(|state| state.trees.remove(path, |kind| kind == Kind::Directory))
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.changing(|state| state.trees.add(path, Node::directory(mode)).map(|_| ()))
    }

    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        self.changing(|state| state.trees.add(path, Node::link(target)).map(|_| ()))
    }

    fn set_directory(&self, path: &Path, mode: u32, user: u32, group: u32) -> io::Result<()> {
        self.changing(|state| {
            let number = state.trees.number(path)?;
            let node = state.trees.node_mut(number)?;
            node.set_mode(mode);
            node.set_owner(user, group);
            Ok(())
        })
    }

    fn set_link_owner(&self, path: &Path, user: u32, group: u32) -> io::Result<()> {
        self.changing(|state| {
            let number = state.trees.number(path)?;
            state.trees.node_mut(number)?.set_owner(user, group);
            Ok(())
        })
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.changing(|state| {
            let number = state.trees.number(directory)?;
            state.trees.sync(number)
        })
    }
}

struct OpenedNode {
    disk: SimulatedDisk,
    number: u64,
}

impl Opened for OpenedNode {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let number = self.number;
        self.disk.changing(|state| {
            if let Some(room) = &mut state.room {
                let Some(left) = room.checked_sub(bytes.len() as u64) else {
                    return Err(io::ErrorKind::StorageFull.into());
                };
                *room = left;
            }
            state.trees.node_mut(number)?.extend(bytes)
        })
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        let number = self.number;
        self.disk.changing(|state| state.trees.node_mut(number)?.cut(size))
    }

    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        let number = self.number;
        self.disk.changing(|state| {
            state.trees.node_mut(number)?.set_mode(mode);
            Ok(())
        })
    }

    fn set_owner(&mut self, user: u32, group: u32) -> io::Result<()> {
        let number = self.number;
        self.disk.changing(|state| {
            state.trees.node_mut(number)?.set_owner(user, group);
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        let number = self.number;
        self.disk.changing(|state| state.trees.sync(number))
    }
}
