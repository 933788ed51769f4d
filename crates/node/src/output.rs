//! What programs write: a file for each step, of which the end is kept.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use bringup_disk::{FileFault, Owner, Wanted};
use rustix::fs::FallocateFlags;

use crate::machine::Machine;
use crate::places;

/// How much is kept.
const KEPT: u64 = 64 * 1024;
/// How much of it is shown.
const SHOWN: u64 = 2 * 1024;
/// Room is given back in whole blocks of the disk.
const BLOCK: u64 = 4096;

/// Where the output of a step's program is kept.
pub(crate) fn path(step: &str) -> String {
    format!("{}/{}", places::OUTPUT, file_name(step))
}

/// The name of a step as one of a file.
pub(crate) fn file_name(step: &str) -> String {
    step.chars().map(|letter| if letter == '/' || letter.is_control() { '_' } else { letter }).collect()
}

/// An empty file.
pub(crate) fn fresh(machine: &Machine, step: &str) -> Result<String, FileFault> {
    let path = path(step);
    machine.files().replace(Path::new(&path), Wanted { content: b"", mode: 0o600, owner: Owner::ROOT })?;
    Ok(path)
}

/// Gives back the room of all but the end of a file that a program still writes to. The file keeps its length, so that
/// nothing that is added meanwhile is lost; where the file system cannot do this, it grows until the program ends.
pub(crate) fn thin(machine: &Machine, step: &str) {
    let size = size(machine, step);
    let room = size.saturating_sub(KEPT) / BLOCK * BLOCK;
    if room < KEPT {
        return;
    }
    if let Ok(file) = machine.private(Path::new(&path(step))) {
        let _ = rustix::fs::fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, room);
    }
}

/// Keeps only the end of the file of a program that has ended.
pub(crate) fn settle(machine: &Machine, step: &str) {
    if size(machine, step) > 2 * KEPT {
        let (files, path) = (machine.files(), path(step));
        let content = last(machine, step, KEPT);
        let _ = files
            .replace(Path::new(&path), Wanted { content: &content, mode: 0o600, owner: Owner::ROOT })
            .map(|_| ());
    }
}

/// All that a program has written, as far as it is kept.
pub(crate) fn written(machine: &Machine, step: &str) -> String {
    String::from_utf8_lossy(&last(machine, step, 2 * KEPT)).into_owned()
}

/// The last lines of a program's output.
pub(crate) fn tail(machine: &Machine, step: &str) -> String {
    let text = String::from_utf8_lossy(&last(machine, step, SHOWN)).into_owned();
    match text.split_once('\n') {
        // A line that was cut in two says the wrong thing.
        Some((_, whole)) if size(machine, step) > SHOWN => whole.to_owned(),
        _ => text,
    }
}

fn size(machine: &Machine, step: &str) -> u64 {
    let entry = machine.files().disk().look(Path::new(&path(step))).ok().flatten();
    entry.map_or(0, |entry| entry.size)
}

/// The last bytes of the file; the whole of it may be larger than memory.
fn last(machine: &Machine, step: &str, count: u64) -> Vec<u8> {
    let start = size(machine, step).saturating_sub(count);
    let mut bytes = Vec::new();
    let read = machine.files().disk().open(Path::new(&path(step))).and_then(|mut file| {
        file.seek(SeekFrom::Start(start))?;
        file.take(count).read_to_end(&mut bytes)
    });
    if read.is_err() {
        bytes.clear();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::{KEPT, fresh, settle, tail, thin, written};
    use crate::machine::Machine;

    #[test]
    fn the_end_is_kept_and_nothing_that_comes_meanwhile_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        let path = machine.outside(std::path::Path::new("/var/lib/bringup/output/hook"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        let mut program = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        for line in 0..100_000 {
            writeln!(program, "line {line}").unwrap();
            if line % 10_000 == 0 {
                thin(&machine, "hook");
            }
        }
        program.sync_all().unwrap();
        thin(&machine, "hook");
        let metadata = path.metadata().unwrap();
        assert!(metadata.len() > 1_000_000, "the program has the file open: it keeps its length");
        assert!(metadata.blocks() * 512 < 4 * KEPT, "{} blocks", metadata.blocks());
        writeln!(program, "the end").unwrap();
        assert!(tail(&machine, "hook").ends_with("line 99998\nline 99999\nthe end\n"));
        assert!(tail(&machine, "hook").starts_with("line "));
        settle(&machine, "hook");
        assert_eq!(path.metadata().unwrap().len(), KEPT);
        assert!(written(&machine, "hook").ends_with("the end\n"));
        assert_eq!(tail(&machine, "nothing"), "");
    }

    /// Whoever may write to a folder on the way could make holes in any file else.
    #[test]
    fn no_link_leads_to_a_file_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let theirs = elsewhere.path().join("hook");
        std::fs::write(&theirs, vec![b'x'; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("var")).unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        std::fs::create_dir_all(elsewhere.path().join("lib/bringup/output")).unwrap();
        std::fs::hard_link(&theirs, elsewhere.path().join("lib/bringup/output/hook")).unwrap();
        // Within the root, where the link leads to nothing, there is a file of the same name.
        let inside = folder.path().join(elsewhere.path().strip_prefix("/").unwrap());
        std::fs::create_dir_all(inside.join("lib/bringup/output")).unwrap();
        std::fs::write(inside.join("lib/bringup/output/hook"), vec![b'y'; 1 << 20]).unwrap();
        thin(&machine, "hook");
        assert_eq!(std::fs::read(&theirs).unwrap(), vec![b'x'; 1 << 20]);
        assert!(std::fs::read(inside.join("lib/bringup/output/hook")).unwrap().starts_with(&[0]));
    }

    #[test]
    fn short_output_is_shown_whole() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(folder.path()).unwrap();
        if rustix::process::geteuid().is_root() {
            let path = fresh(&machine, "a/b").unwrap();
            assert_eq!(path, "/var/lib/bringup/output/a_b");
            std::fs::write(machine.outside(std::path::Path::new(&path)), "one\ntwo").unwrap();
            settle(&machine, "a/b");
            assert_eq!(
                (tail(&machine, "a/b").as_str(), written(&machine, "a/b").as_str()),
                ("one\ntwo", "one\ntwo")
            );
        }
    }
}
