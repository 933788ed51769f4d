//! What stood where the agent wrote for the first time: kept, so that it can be put back.
//!
//! Each original stands beneath `/var/lib/bringup/originals` at its own path, with its mode and owner. The first one is the
//! one: what stands there later is ours. Of a directory only mode and owner are kept, by a mark in its place: what is in it
//! is somebody else's, and stays.

use std::path::{Path, PathBuf};

use bringup_disk::{Entry, FileFault, Files, Kind, Owner, StreamFault, Wanted};

use crate::places;
use crate::teller::Teller;

/// What is larger is data, and would take up the room that it has twice.
const LARGEST: u64 = 512 * 1024 * 1024;

/// What stands for a directory in its place, with its mode and owner.
const MARK: &str = ".was-there";

/// Where the original of a path is kept.
pub(crate) fn place(path: &Path) -> PathBuf {
    Path::new(places::ORIGINALS).join(path.strip_prefix("/").unwrap_or(path))
}

/// Keeps what stands at a path, unless something is kept already.
pub(crate) fn keep(files: Files<'_>, path: &Path) -> Result<(), FileFault> {
    let Some(entry) = look(files, path)? else { return Ok(()) };
    let place = match entry.kind {
        Kind::File | Kind::Link => place(path),
        Kind::Directory => place(path).join(MARK),
        Kind::Other => return Ok(()),
    };
    if look(files, &place)?.is_some() {
        return Ok(());
    }
    if entry.size > LARGEST {
        Teller::note(&format!(
            "`{}` is too large to be kept; `reset` will not bring it back",
            path.display()
        ));
        return Ok(());
    }
    // What only root may read stays so, whatever was readable where it stood.
    files.make_directory(Path::new(places::ORIGINALS), 0o700, Owner::ROOT)?;
    if entry.kind == Kind::Directory {
        let wanted = Wanted { content: &[], mode: entry.mode, owner: owner(entry) };
        return files.replace(&place, wanted).map(|_| ());
    }
    copy(files, path, &place, entry)
}

/// Puts the original of a path back, if one is kept; says whether. It stays kept until [`forget`]: whoever dies before it is
/// known that it is back puts it back again, and does not take it for ours.
pub(crate) fn put_back(files: Files<'_>, path: &Path) -> Result<bool, FileFault> {
    let place = place(path);
    let Some(entry) = look(files, &place)? else { return Ok(false) };
    if entry.kind == Kind::Directory {
        let Some(mark) = look(files, &place.join(MARK))? else { return Ok(false) };
        files.make_directory(path, mark.mode, owner(mark))?;
    } else {
        copy(files, &place, path, entry)?;
    }
    Ok(true)
}

/// Forgets the original of a path, once it is known that nothing of ours is there any more.
pub(crate) fn forget(files: Files<'_>, path: &Path) -> Result<(), FileFault> {
    let mut place = place(path);
    if look(files, &place)?.is_some_and(|entry| entry.kind == Kind::Directory) {
        place.push(MARK);
    }
    if look(files, &place)?.is_some() {
        files.remove(&place)?;
    }
    for folder in place.ancestors().skip(1).take_while(|above| above.starts_with(places::ORIGINALS)) {
        match files.disk().remove_directory(folder) {
            Ok(()) => {}
            // Whoever was here before may have come as far as this.
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => {}
            // The first that holds something else ends it.
            Err(_) => break,
        }
    }
    Ok(())
}

/// Whether one is kept.
pub(crate) fn is_kept(files: Files<'_>, path: &Path) -> bool {
    let place = place(path);
    match look(files, &place) {
        Ok(Some(Entry { kind: Kind::Directory, .. })) => {
            matches!(look(files, &place.join(MARK)), Ok(Some(_)))
        }
        found => matches!(found, Ok(Some(_))),
    }
}

fn owner(entry: Entry) -> Owner {
    Owner { user: entry.user, group: entry.group }
}

fn look(files: Files<'_>, path: &Path) -> Result<Option<Entry>, FileFault> {
    let fault = |source| FileFault { doing: "look at", path: path.to_owned(), source };
    match files.disk().look(path) {
        // Something on the way is no directory, or leads nowhere: nothing can stand there, and whoever writes there is told.
        Err(source)
            if source.kind() == std::io::ErrorKind::NotADirectory
                || source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) =>
        {
            Ok(None)
        }
        found => found.map_err(fault),
    }
}

fn copy(files: Files<'_>, from: &Path, to: &Path, entry: Entry) -> Result<(), FileFault> {
    let read = |source| FileFault { doing: "read", path: from.to_owned(), source };
    if entry.kind == Kind::Link {
        let target = files.disk().read_link(from).map_err(read)?;
        return files.make_link(to, Path::new(&target)).map(|_| ());
    }
    let mut source = files.disk().open(from).map_err(read)?;
    files.replace_from(to, &mut source, entry.mode, owner(entry)).map(|_| ()).map_err(|fault| match fault {
        StreamFault::File(fault) => fault,
        StreamFault::Source(fault) => read(fault),
    })
}
