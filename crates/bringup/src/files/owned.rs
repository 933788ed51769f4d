//! Directories that a build fills: what an earlier build left there goes, what is not ours stays.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Doing, FileError, Readers};

/// Lists the files of a directory that are ours.
const MARKER: &str = ".bringup-build.json";

#[derive(Default, Serialize, Deserialize)]
struct Marker {
    /// Names of files in the same directory, never paths.
    files: BTreeSet<String>,
}

/// Makes `directory` hold these files: writes them, and removes what an earlier call wrote and this one does not.
///
/// Whatever no call has written stays as it is, and a file of the same name that is not ours is an error.
pub(crate) fn fill(directory: &Path, files: &[(&str, &[u8])], readers: Readers) -> Result<(), FileError> {
    super::make_directory(directory)?;
    let before = marked(directory);
    let now: BTreeSet<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    for name in now.difference(&before) {
        let path = directory.join(name);
        if super::exists(&path) {
            let why = "a file that no build has written stands there; move it away or choose another `-o`";
            return Err(FileError { doing: Doing::Write, path, why: why.to_owned(), hint: None });
        }
    }
    // Listed before they are written: killed in between, the next build still knows that they are ours.
    let both: BTreeSet<String> = before.union(&now).cloned().collect();
    mark(directory, both, readers)?;
    for (name, bytes) in files {
        super::replace(&directory.join(name), bytes, readers)?;
    }
    let mut stale = before.difference(&now).peekable();
    if stale.peek().is_none() {
        return Ok(());
    }
    for name in stale {
        let path = directory.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            fs::remove_file(&path).map_err(|fault| FileError::new(Doing::Write, &path, &fault))?;
        }
    }
    mark(directory, now, readers)
}

/// Empties the directories in `parent` that an earlier build filled, but for those in `keep`; what is not ours stays.
pub(crate) fn prune(parent: &Path, keep: &BTreeSet<&str>) -> Result<(), FileError> {
    for name in super::listing(parent)?.into_iter().filter(|name| !keep.contains(name.as_str())) {
        let directory = parent.join(name);
        // A link is somebody else's, wherever it leads.
        let is_directory = fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_dir());
        if !is_directory || marked(&directory).is_empty() {
            continue;
        }
        fill(&directory, &[], Readers::Owner)?;
        let marker = directory.join(MARKER);
        fs::remove_file(&marker).map_err(|fault| FileError::new(Doing::Write, &marker, &fault))?;
        match fs::remove_dir(&directory) {
            Err(fault) if fault.kind() != ErrorKind::DirectoryNotEmpty => {
                return Err(FileError::new(Doing::Write, &directory, &fault));
            }
            _ => {}
        }
    }
    Ok(())
}

fn mark(directory: &Path, files: BTreeSet<String>, readers: Readers) -> Result<(), FileError> {
    let text = serde_json::to_string(&Marker { files }).unwrap_or_default();
    super::replace(&directory.join(MARKER), format!("{text}\n").as_bytes(), readers)
}

/// The names that the directory's marker lists; a marker that was tampered with lists nothing.
fn marked(directory: &Path) -> BTreeSet<String> {
    let marker: Option<Marker> =
        fs::read(directory.join(MARKER)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let is_name = |name: &String| !name.contains('/') && name != ".." && name != "." && !name.is_empty();
    marker.unwrap_or_default().files.into_iter().filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::{MARKER, fill};
    use crate::files::Readers;

    #[test]
    fn stale_files_go_and_foreign_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path().join("gpu");
        fill(&group, &[("plan.json", b"1"), ("ignition.json", b"1")], Readers::Owner).unwrap();
        std::fs::write(group.join("notes.txt"), "mine").unwrap();
        fill(&group, &[("plan.json", b"2")], Readers::Owner).unwrap();
        assert_eq!(super::super::listing(&group).unwrap(), [MARKER, "notes.txt", "plan.json"]);
        assert_eq!(std::fs::read(group.join("plan.json")).unwrap(), b"2");
    }

    #[test]
    fn a_foreign_file_of_the_same_name_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("plan.json"), "mine").unwrap();
        assert!(fill(directory.path(), &[("plan.json", b"2")], Readers::Owner).is_err());
        assert_eq!(std::fs::read(directory.path().join("plan.json")).unwrap(), b"mine");
    }

    #[test]
    fn a_marker_cannot_point_outside() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path().join("gpu");
        std::fs::create_dir(&group).unwrap();
        std::fs::write(directory.path().join("victim"), "x").unwrap();
        std::fs::write(group.join(MARKER), r#"{"files": ["../victim", ".."]}"#).unwrap();
        fill(&group, &[], Readers::Owner).unwrap();
        assert!(directory.path().join("victim").exists());
    }
}
