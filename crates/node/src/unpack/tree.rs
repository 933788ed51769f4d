//! What is in an archive: looked at first, put in place then.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use bringup_disk::{Change, FileFault, Files, Kind, Owner, StreamFault};
use bringup_progress::Made;

use super::{ArchiveFault, Care, Unpacked, broken};

/// Whoever is shown what is in an archive, member by member. Names are as the archive has them.
pub(super) trait Tree {
    fn directory(&mut self, name: &Path, mode: u32) -> Result<(), ArchiveFault>;
    fn file(&mut self, name: &Path, content: &mut dyn Read, mode: u32) -> Result<(), ArchiveFault>;
    fn link(&mut self, name: &Path, target: &Path) -> Result<(), ArchiveFault>;
    /// The same file under a second name.
    fn again(&mut self, name: &Path, of: &Path, mode: u32) -> Result<(), ArchiveFault>;
}

/// A member's name without dots. Empty for the directory itself.
fn inside(name: &Path) -> Result<PathBuf, ArchiveFault> {
    let mut plain = PathBuf::new();
    for component in name.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(unsound(name, "leads out of the directory"));
            }
        }
    }
    if plain.to_str().is_none_or(|text| text.contains(char::is_control)) {
        return Err(unsound(name, "is no name of letters"));
    }
    Ok(plain)
}

fn unsound(name: &Path, why: &str) -> ArchiveFault {
    ArchiveFault::Unsound(format!("`{}` {why}", name.display().to_string().escape_debug()))
}

/// Looks whether all of an archive stays inside.
pub(super) struct Checked<'a> {
    into: &'a Path,
    files: BTreeSet<PathBuf>,
    links: BTreeSet<PathBuf>,
}

impl<'a> Checked<'a> {
    pub(super) fn new(into: &'a Path) -> Self {
        Self { into, files: BTreeSet::new(), links: BTreeSet::new() }
    }

    /// Where files and links of the archive will stand.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().chain(&self.links).map(|name| self.into.join(name)).collect()
    }

    /// A member beneath a link of the same archive is written wherever that link points: nobody means that.
    fn place(&self, name: &Path) -> Result<PathBuf, ArchiveFault> {
        let plain = inside(name)?;
        if plain.ancestors().skip(1).any(|above| self.links.contains(above)) {
            return Err(unsound(name, "is beneath a link of the same archive"));
        }
        Ok(plain)
    }
}

impl Tree for Checked<'_> {
    fn directory(&mut self, name: &Path, _mode: u32) -> Result<(), ArchiveFault> {
        let plain = self.place(name)?;
        if self.links.contains(&plain) {
            return Err(unsound(name, "is a link and a directory"));
        }
        Ok(())
    }

    fn file(&mut self, name: &Path, content: &mut dyn Read, _mode: u32) -> Result<(), ArchiveFault> {
        let plain = self.place(name)?;
        if plain.as_os_str().is_empty() {
            return Err(unsound(name, "is no name of a file"));
        }
        io::copy(content, &mut io::sink()).map_err(|fault| broken(&fault))?;
        self.links.remove(&plain);
        self.files.insert(plain);
        Ok(())
    }

    /// A link may go up no further than to the top, and only before it goes down: what is down there may be a link itself,
    /// and `..` behind one is somewhere else than it seems.
    fn link(&mut self, name: &Path, target: &Path) -> Result<(), ArchiveFault> {
        let plain = self.place(name)?;
        let away = || unsound(name, "is a link that leads out of the directory");
        let relative =
            if target.is_absolute() { target.strip_prefix(self.into).map_err(|_| away())? } else { target };
        let depth = if target.is_absolute() { 0 } else { plain.components().count().saturating_sub(1) };
        let (mut up, mut down) = (0, false);
        for component in relative.components() {
            match component {
                Component::Normal(_) => down = true,
                Component::CurDir => {}
                Component::ParentDir if !down && up < depth => up += 1,
                _ => return Err(away()),
            }
        }
        if plain.as_os_str().is_empty() || target.as_os_str().is_empty() {
            return Err(away());
        }
        self.files.remove(&plain);
        self.links.insert(plain);
        Ok(())
    }

    fn again(&mut self, name: &Path, of: &Path, _mode: u32) -> Result<(), ArchiveFault> {
        let plain = self.place(name)?;
        if !self.files.contains(&self.place(of)?) {
            return Err(unsound(name, "is a second name of a file that is not in the archive"));
        }
        self.files.insert(plain);
        Ok(())
    }
}

/// Puts an archive in place that was found sound.
pub(super) struct Placed<'a> {
    files: Files<'a>,
    into: &'a Path,
    owner: Owner,
    care: &'a dyn Care,
    unpacked: Unpacked,
}

impl<'a> Placed<'a> {
    pub(super) fn new(files: Files<'a>, into: &'a Path, owner: Owner, care: &'a dyn Care) -> Self {
        Self { files, into, owner, care, unpacked: Unpacked::default() }
    }

    pub(super) fn unpacked(self) -> Unpacked {
        self.unpacked
    }

    fn place(&self, name: &Path) -> Result<(PathBuf, String), ArchiveFault> {
        let path = self.into.join(inside(name)?);
        let text = path.display().to_string();
        Ok((path, text))
    }

    fn note(&mut self, text: String, change: Change, made: fn(String) -> Made) {
        if change.is_any() {
            self.unpacked.changed.insert(text.clone());
        }
        self.unpacked.made.insert(made(text));
    }

    fn write(&mut self, name: &Path, content: &mut dyn Read, mode: u32) -> Result<(), ArchiveFault> {
        let (path, text) = self.place(name)?;
        // No archive brings programs that run as somebody else than who starts them.
        let replacing = &mut || self.care.replacing(&path);
        let written = self.files.replace_from_after(&path, content, mode & 0o777, self.owner, replacing);
        let change = written.map_err(|fault| match fault {
            StreamFault::File(fault) => ArchiveFault::File(fault),
            StreamFault::Source(fault) => broken(&fault),
        })?;
        self.note(text, change, Made::File);
        Ok(())
    }
}

impl Tree for Placed<'_> {
    fn directory(&mut self, name: &Path, mode: u32) -> Result<(), ArchiveFault> {
        let (path, text) = self.place(name)?;
        let look = self.files.disk().look(&path);
        let entry = look.map_err(|source| FileFault { doing: "look at", path: path.clone(), source })?;
        // One that is there has its mode and owner from somebody who knew why. So has a link to one.
        if entry.is_some_and(|entry| matches!(entry.kind, Kind::Directory | Kind::Link)) {
            return Ok(());
        }
        let change = self.files.make_directory(&path, mode & 0o777, self.owner)?;
        self.note(text, change, Made::Directory);
        Ok(())
    }

    fn file(&mut self, name: &Path, content: &mut dyn Read, mode: u32) -> Result<(), ArchiveFault> {
        self.write(name, content, mode)
    }

    fn link(&mut self, name: &Path, target: &Path) -> Result<(), ArchiveFault> {
        let (path, text) = self.place(name)?;
        let change = self.files.make_link(&path, target)?;
        self.note(text, change, Made::Link);
        Ok(())
    }

    fn again(&mut self, name: &Path, of: &Path, mode: u32) -> Result<(), ArchiveFault> {
        let (source, _) = self.place(of)?;
        let opened = self.files.disk().open(&source);
        let mut content = opened.map_err(|fault| FileFault { doing: "read", path: source, source: fault })?;
        self.write(name, &mut content, mode)
    }
}
