//! The two trees: what programs see, and what is on the platter. Nodes have numbers, as inodes do, so that a synced
//! content belongs to the file and not to its name.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::Loss;
use crate::{Entry, Kind};

const ROOT: u64 = 0;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, u64>),
    Link(PathBuf),
}

/// A file, a directory or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    body: Body,
    mode: u32,
    user: u32,
    group: u32,
}

impl Node {
    pub(super) fn file(mode: u32) -> Self {
        Self { body: Body::File(Vec::new()), mode, user: 0, group: 0 }
    }

    pub(super) fn directory(mode: u32) -> Self {
        Self { body: Body::Directory(BTreeMap::new()), mode, user: 0, group: 0 }
    }

    pub(super) fn link(target: &Path) -> Self {
        Self { body: Body::Link(target.to_owned()), mode: 0o777, user: 0, group: 0 }
    }

    pub(super) fn entry(&self) -> Entry {
        let (kind, size) = match &self.body {
            Body::File(bytes) => (Kind::File, bytes.len() as u64),
            Body::Directory(_) => (Kind::Directory, 0),
            Body::Link(_) => (Kind::Link, 0),
        };
        Entry { kind, mode: self.mode, user: self.user, group: self.group, size }
    }

    pub(super) fn content(&self) -> io::Result<&[u8]> {
        match &self.body {
            Body::File(bytes) => Ok(bytes),
            Body::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Body::Link(_) => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    pub(super) fn target(&self) -> io::Result<&Path> {
        match &self.body {
            Body::Link(target) => Ok(target),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    pub(super) fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
    }

    pub(super) fn set_owner(&mut self, user: u32, group: u32) {
        (self.user, self.group) = (user, group);
    }

    pub(super) fn extend(&mut self, more: &[u8]) -> io::Result<()> {
        self.bytes()?.extend_from_slice(more);
        Ok(())
    }

    pub(super) fn cut(&mut self, size: u64) -> io::Result<()> {
        self.bytes()?.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(())
    }

    fn bytes(&mut self) -> io::Result<&mut Vec<u8>> {
        match &mut self.body {
            Body::File(bytes) => Ok(bytes),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn names(&mut self) -> io::Result<&mut BTreeMap<OsString, u64>> {
        match &mut self.body {
            Body::Directory(names) => Ok(names),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}

/// What programs see and what is on the platter.
#[derive(Clone, Debug)]
pub(super) struct Trees {
    seen: BTreeMap<u64, Node>,
    durable: BTreeMap<u64, Node>,
    next: u64,
}

impl Default for Trees {
    fn default() -> Self {
        let root = BTreeMap::from([(ROOT, Node::directory(0o755))]);
        Self { seen: root.clone(), durable: root, next: 1 }
    }
}

impl Trees {
    /// The number of what stands at a path; links on the way are followed, the last name is not.
    pub(super) fn number(&self, path: &Path) -> io::Result<u64> {
        let mut here = ROOT;
        let mut so_far = PathBuf::from("/");
        for name in path.iter().skip(1) {
            if let Body::Link(target) = &self.node(here)?.body {
                so_far = so_far.parent().unwrap_or(Path::new("/")).join(target);
                here = self.number(&so_far)?;
            }
            let Body::Directory(names) = &self.node(here)?.body else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            here = *names.get(name).ok_or(io::ErrorKind::NotFound)?;
            so_far.push(name);
        }
        Ok(here)
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<&Node> {
        self.node(self.number(path)?)
    }

    pub(super) fn names(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        match &self.find(directory)?.body {
            Body::Directory(names) => Ok(names.keys().cloned().collect()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn node_mut(&mut self, number: u64) -> io::Result<&mut Node> {
        self.seen.get_mut(&number).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn node(&self, number: u64) -> io::Result<&Node> {
        self.seen.get(&number).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn siblings(&mut self, path: &Path) -> io::Result<&mut BTreeMap<OsString, u64>> {
        let parent = self.number(path.parent().unwrap_or(Path::new("/")))?;
        self.node_mut(parent)?.names()
    }

    pub(super) fn add(&mut self, path: &Path, node: Node) -> io::Result<u64> {
        let name = last(path)?.to_owned();
        let number = self.next;
        let siblings = self.siblings(path)?;
        if siblings.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        siblings.insert(name, number);
        self.next += 1;
        self.seen.insert(number, node);
        Ok(number)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (old, new) = (last(from)?.to_owned(), last(to)?.to_owned());
        let number = *self.siblings(from)?.get(&old).ok_or(io::ErrorKind::NotFound)?;
        if self.find(to).is_ok_and(|there| there.entry().kind == Kind::Directory) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.siblings(to)?.insert(new, number);
        if from != to {
            self.siblings(from)?.remove(&old);
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path, fits: impl Fn(Kind) -> bool) -> io::Result<()> {
        let node = self.find(path)?;
        if !fits(node.entry().kind) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if matches!(&node.body, Body::Directory(names) if !names.is_empty()) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let name = last(path)?.to_owned();
        self.siblings(path)?.remove(&name);
        Ok(())
    }

    /// Brings one node to the platter: a file's content, a directory's names. Links come with the names.
    pub(super) fn sync(&mut self, number: u64) -> io::Result<()> {
        let node = self.node(number)?.clone();
        if let Body::Directory(names) = &node.body {
            for child in names.values() {
                let Some(seen) = self.seen.get(child) else { continue };
                if matches!(seen.body, Body::Link(_)) {
                    self.durable.insert(*child, seen.clone());
                }
            }
        }
        self.durable.insert(number, node);
        Ok(())
    }

    /// What is left after a cut.
    pub(super) fn after_cut(&self, loss: Loss) -> Self {
        let mut left = match loss {
            Loss::Nothing => self.seen.clone(),
            Loss::Everything => self.durable.clone(),
            Loss::Content => self
                .seen
                .iter()
                .map(|(number, node)| {
                    let mut node = node.clone();
                    if let Body::File(bytes) = &mut node.body {
                        *bytes = match self.durable.get(number).map(|node| &node.body) {
                            Some(Body::File(synced)) => synced.clone(),
                            _ => Vec::new(),
                        };
                    }
                    (*number, node)
                })
                .collect(),
        };
        // A name may have reached the platter before the thing that it names: file systems show an empty file then.
        let mut missing = Vec::new();
        for node in left.values() {
            if let Body::Directory(names) = &node.body {
                missing.extend(names.values().filter(|number| !left.contains_key(number)).copied());
            }
        }
        for number in missing {
            let empty = match self.seen.get(&number).map(|node| &node.body) {
                Some(Body::Directory(_)) => Node::directory(0o755),
                _ => Node::file(0o600),
            };
            left.insert(number, empty);
        }
        Self { seen: left.clone(), durable: left, next: self.next }
    }

    pub(super) fn contents(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        self.walk(ROOT, Path::new("/"), &mut all);
        all
    }

    fn walk(&self, number: u64, path: &Path, all: &mut Vec<(PathBuf, String)>) {
        let Ok(node) = self.node(number) else { return };
        let what = match &node.body {
            Body::File(bytes) => format!("file {}", String::from_utf8_lossy(bytes)),
            Body::Directory(_) => "directory".to_owned(),
            Body::Link(target) => format!("link {}", target.display()),
        };
        all.push((path.to_owned(), format!("{:04o} {}:{} {what}", node.mode, node.user, node.group)));
        if let Body::Directory(names) = &node.body {
            for (name, child) in names {
                self.walk(*child, &path.join(name), all);
            }
        }
    }
}

fn last(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
