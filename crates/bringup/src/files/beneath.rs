//! Files that a document refers to: only what lies beneath one directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use bringup_plan::{LocalEntry, LocalFile, LocalFiles};

use super::reason;

/// A single file larger than this belongs behind a URL.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;
/// More files than this in one directory are a mistake (`src: .` in a home directory).
const MOST_FILES: usize = 10_000;

/// The directory that nothing leads out of.
struct Root<'a> {
    /// Its real path.
    path: PathBuf,
    /// What a person calls it.
    shown: &'a str,
}

/// What stands behind each reference, looked up beneath `root`, which findings call `shown`.
pub(crate) fn local_files<'a>(
    root: &Path,
    shown: &str,
    references: impl IntoIterator<Item = &'a str>,
) -> LocalFiles {
    let canonical = fs::canonicalize(root).map(|path| Root { path, shown });
    let entries = references.into_iter().map(|reference| {
        let entry = match &canonical {
            Ok(root) => entry(root, reference).unwrap_or_else(LocalEntry::Refused),
            Err(fault) => LocalEntry::Refused(format!("cannot read `{}`: {}", root.display(), reason(fault))),
        };
        (reference.to_owned(), entry)
    });
    LocalFiles { entries: entries.collect() }
}

fn entry(root: &Root<'_>, reference: &str) -> Result<LocalEntry, String> {
    let path = resolved(root, reference)?;
    let metadata = fs::metadata(&path).map_err(|fault| reason(&fault))?;
    if !metadata.is_dir() {
        return file(&path).map(LocalEntry::File);
    }
    let mut found = BTreeMap::new();
    walk(root, &path, "", &mut found)?;
    Ok(LocalEntry::Directory(found))
}

/// The real path of a reference, which lies beneath `root` (itself a real path).
fn resolved(root: &Root<'_>, reference: &str) -> Result<PathBuf, String> {
    let relative = Path::new(reference);
    if relative.components().any(|component| !matches!(component, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("it leads out of {}", root.shown));
    }
    let path = fs::canonicalize(root.path.join(relative)).map_err(|fault| reason(&fault))?;
    if path.starts_with(&root.path) { Ok(path) } else { Err(format!("a link leads out of {}", root.shown)) }
}

fn file(path: &Path) -> Result<LocalFile, String> {
    // Asked before opening: opening a pipe would wait for its writer.
    let metadata = fs::metadata(path).map_err(|fault| reason(&fault))?;
    if !metadata.is_file() {
        return Err("it is neither a regular file nor a directory".to_owned());
    }
    let opened = fs::File::open(path).map_err(|fault| reason(&fault))?;
    let mut bytes = Vec::new();
    opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|fault| reason(&fault))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(format!("it is larger than {} MiB; use `urls` and `sha256`", LARGEST_FILE / 1024 / 1024));
    }
    Ok(LocalFile { bytes, executable: metadata.permissions().mode() & 0o100 != 0 })
}

fn walk(
    root: &Root<'_>,
    directory: &Path,
    prefix: &str,
    found: &mut BTreeMap<String, LocalFile>,
) -> Result<(), String> {
    for name in super::listing(directory).map_err(|fault| fault.to_string())? {
        let relative = format!("{prefix}{name}");
        let within = |why: String| format!("`{relative}`: {why}");
        let path = directory.join(&name);
        let metadata = fs::symlink_metadata(&path).map_err(|fault| within(reason(&fault)))?;
        if metadata.is_dir() {
            walk(root, &path, &format!("{relative}/"), found)?;
            continue;
        }
        let real = fs::canonicalize(&path).map_err(|fault| within(reason(&fault)))?;
        if !real.starts_with(&root.path) {
            return Err(within(format!("a link leads out of {}", root.shown)));
        }
        if found.len() >= MOST_FILES {
            return Err(format!("it holds more than {MOST_FILES} files"));
        }
        found.insert(relative.clone(), file(&real).map_err(within)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use bringup_plan::LocalEntry;

    use super::local_files;

    fn refused(root: &std::path::Path, reference: &str) -> String {
        match local_files(root, "here", [reference]).entries.remove(reference) {
            Some(LocalEntry::Refused(why)) => why,
            other => panic!("{reference} gave {other:?}"),
        }
    }

    #[test]
    fn what_leads_out_of_the_directory_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let root = outside.path().join("files");
        std::fs::create_dir_all(root.join("tree")).unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("../../secret", root.join("tree/out")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for reference in ["../secret", "tree/../../secret", "/etc/passwd"] {
            assert!(refused(&root, reference).starts_with("it leads out of"), "{reference}");
        }
        assert!(refused(&root, "out").starts_with("a link leads out of"));
        assert!(refused(&root, "tree").starts_with("`out`: a link leads out of"));
        assert_eq!(refused(&root, "missing"), "no such file or directory");
        assert!(!refused(&root, "loop").is_empty());
    }

    #[test]
    fn special_files_are_refused_without_waiting_for_them() {
        assert_eq!(
            refused(std::path::Path::new("/dev"), "null"),
            "it is neither a regular file nor a directory"
        );
    }

    #[test]
    fn files_and_directories_beneath_are_read_with_their_mode() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("tree/deep")).unwrap();
        std::fs::write(root.path().join("tree/deep/run.sh"), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(
            root.path().join("tree/deep/run.sh"),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        symlink("tree/deep/run.sh", root.path().join("link")).unwrap();
        let files = local_files(root.path(), "here", ["link", "./tree"]);
        let Some(LocalEntry::File(file)) = files.entries.get("link") else { panic!("{files:?}") };
        assert!(file.executable);
        let Some(LocalEntry::Directory(tree)) = files.entries.get("./tree") else { panic!("{files:?}") };
        assert_eq!(tree.keys().collect::<Vec<_>>(), ["deep/run.sh"]);
    }
}
