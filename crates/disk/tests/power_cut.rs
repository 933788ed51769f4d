//! Whatever is cut, a file is the old one or the new one.

use std::path::Path;

use bringup_disk::{Change, Disk as _, Files, Loss, Owner, SimulatedDisk, Wanted};

const LOSSES: [Loss; 3] = [Loss::Everything, Loss::Content, Loss::Nothing];

fn wanted(content: &[u8]) -> Wanted<'_> {
    Wanted { content, mode: 0o640, owner: Owner { user: 7, group: 8 } }
}

/// Runs `work` on a prepared disk, cutting the power at each call in turn, and gives every disk that is left.
fn every_cut(
    prepare: impl Fn(&SimulatedDisk),
    work: impl Fn(&SimulatedDisk) -> bool,
    mut check: impl FnMut(u64, Loss, &SimulatedDisk),
) -> u64 {
    let whole = SimulatedDisk::new();
    prepare(&whole);
    let first = whole.calls();
    assert!(work(&whole), "the work succeeds when nothing is cut");
    let points = whole.calls() - first;
    for cut in 1..=points {
        for loss in LOSSES {
            let disk = SimulatedDisk::new();
            prepare(&disk);
            disk.cut_at(disk.calls() + cut);
            assert!(!work(&disk), "a cut at call {cut} of {points} must show");
            check(cut, loss, &disk.after_cut(loss));
        }
    }
    points
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one_at_every_cut() {
    let path = Path::new("/etc/kubernetes/kubelet/config.json");
    let prepare = |disk: &SimulatedDisk| {
        Files::on(disk).replace(path, wanted(b"old")).unwrap();
    };
    let points = every_cut(
        prepare,
        |disk| Files::on(disk).replace(path, wanted(b"new content")).is_ok(),
        |cut, loss, left| {
            let content = left.read(path).unwrap();
            assert!(content == b"old" || content == b"new content", "cut {cut}, {loss:?}: {content:?}");
            let entry = left.look(path).unwrap().unwrap();
            assert_eq!((entry.mode, entry.user, entry.group), (0o640, 7, 8), "cut {cut}, {loss:?}");
            // What was left over is no hindrance, and leaves nothing behind.
            Files::on(left).replace(path, wanted(b"new content")).unwrap();
            assert_eq!(left.read(path).unwrap(), b"new content");
            assert_eq!(left.list(path.parent().unwrap()).unwrap(), ["config.json"], "cut {cut}, {loss:?}");
        },
    );
    // create, write, owner, mode, sync, rename, sync of the directory, and the look for leftovers
    assert_eq!(points, 8);
}

#[test]
fn a_first_file_is_absent_or_whole_at_every_cut() {
    let path = Path::new("/a/b/c");
    every_cut(
        |_| {},
        |disk| Files::on(disk).replace(path, wanted(b"content")).is_ok(),
        |cut, loss, left| {
            if let Ok(content) = left.read(path) {
                assert_eq!(content, b"content", "cut {cut}, {loss:?}");
            }
            Files::on(left).replace(path, wanted(b"content")).unwrap();
        },
    );
}

#[test]
fn what_was_reported_done_is_there_after_the_cut() {
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    files.replace(Path::new("/x/file"), wanted(b"1")).unwrap();
    files.make_directory(Path::new("/x/directory"), 0o750, Owner::ROOT).unwrap();
    files.make_link(Path::new("/x/link"), Path::new("file")).unwrap();
    files.append(Path::new("/x/journal"), b"one\n", 0o600).unwrap();
    files.append(Path::new("/x/journal"), b"two\n", 0o600).unwrap();
    files.replace(Path::new("/x/gone"), wanted(b"")).unwrap();
    files.remove(Path::new("/x/gone")).unwrap();
    for loss in LOSSES {
        assert_eq!(disk.after_cut(loss).contents(), disk.contents(), "{loss:?}");
    }
}

#[test]
fn a_write_without_sync_is_lost_so_the_simulation_can_fail_us() {
    let disk = SimulatedDisk::new();
    let mut file = disk.create(Path::new("/file"), 0o600).unwrap();
    file.write(b"content").unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    assert_eq!(disk.after_cut(Loss::Everything).read(Path::new("/file")).unwrap(), b"");
    assert_eq!(disk.after_cut(Loss::Content).read(Path::new("/file")).unwrap(), b"");
    assert_eq!(disk.after_cut(Loss::Nothing).read(Path::new("/file")).unwrap(), b"content");
}

#[test]
fn a_full_disk_keeps_the_old_file_and_no_half_of_the_new_one() {
    let path = Path::new("/etc/file");
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    files.replace(path, wanted(b"old")).unwrap();
    disk.set_room(Some(3));
    let fault = files.replace(path, wanted(b"larger")).unwrap_err();
    assert!(fault.is_for_the_operator(), "{fault}");
    assert_eq!(disk.read(path).unwrap(), b"old");
    assert_eq!(disk.list(Path::new("/etc")).unwrap(), ["file"]);
    disk.set_room(None);
    assert_eq!(files.replace(path, wanted(b"larger")).unwrap(), Change::Changed);
}
