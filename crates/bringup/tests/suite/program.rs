//! Runs the program and compares what it says with files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the tests.
pub(crate) fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The program, in a folder, without colour.
pub(crate) fn bringup(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bringup"));
    command.current_dir(folder).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs it to the end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    bringup(folder).args(arguments).output().expect("the program starts")
}

/// Standard output as text.
pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Standard error as text.
pub(crate) fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Whether expectations are to be written instead of compared.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// The folders beneath `tests/NAME`, sorted.
pub(crate) fn cases(name: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(tests().join(name))
        .expect("the cases are there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Compares a text with a file, or writes the file; a difference is added to `faults`.
pub(crate) fn compare(path: &Path, text: &[u8], faults: &mut Vec<String>) {
    if updating() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(path, text).expect("the expectation can be written");
        return;
    }
    let expected = std::fs::read(path).unwrap_or_default();
    if expected != text {
        let (expected, found) = (String::from_utf8_lossy(&expected), String::from_utf8_lossy(text));
        let diff = similar::TextDiff::from_lines(&*expected, &*found);
        let diff: String =
            diff.unified_diff().header("expected", "found").to_string().chars().take(3000).collect();
        faults.push(format!("{}\n{diff}", path.display()));
    }
}

/// Every regular file beneath a folder, by relative path.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("beneath").to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).expect("readable"));
            }
        }
    }
    found
}

/// The files beside a document, as a build would load them.
pub(crate) fn local_files(folder: &Path) -> bringup_plan::LocalFiles {
    use bringup_plan::{LocalEntry, LocalFile, LocalFiles};
    use std::os::unix::fs::PermissionsExt as _;
    let mut files = LocalFiles::default();
    for (name, bytes) in tree(folder) {
        let executable =
            std::fs::metadata(folder.join(&name)).expect("there").permissions().mode() & 0o100 != 0;
        let file = LocalFile { bytes, executable };
        if let Some((directory, rest)) = name.split_once('/') {
            let entry = files
                .entries
                .entry(directory.to_owned())
                .or_insert_with(|| LocalEntry::Directory(BTreeMap::new()));
            if let LocalEntry::Directory(inside) = entry {
                inside.insert(rest.to_owned(), file.clone());
            }
        }
        files.entries.insert(name, LocalEntry::File(file));
    }
    files
}
