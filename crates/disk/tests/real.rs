//! The real disk: nothing leads a write out of its root.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "the test looks at the disk from outside")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use bringup_disk::{Change, Disk as _, Files, Kind, Owner, RealDisk, Wanted};

fn own() -> Owner {
    Owner { user: rustix::process::geteuid().as_raw(), group: rustix::process::getegid().as_raw() }
}

fn wanted(content: &[u8]) -> Wanted<'_> {
    Wanted { content, mode: 0o600, owner: own() }
}

struct Place {
    holder: tempfile::TempDir,
    disk: RealDisk,
}

impl Place {
    fn new() -> Self {
        let holder = tempfile::tempdir().unwrap();
        std::fs::create_dir(holder.path().join("root")).unwrap();
        let disk = RealDisk::open(&holder.path().join("root")).unwrap();
        Self { holder, disk }
    }

    fn root(&self) -> std::path::PathBuf {
        self.holder.path().join("root")
    }
}

#[test]
fn a_file_is_made_with_its_mode_and_left_alone_when_it_is_right() {
    let place = Place::new();
    let path = Path::new("/etc/kubernetes/pki/ca.crt");
    let files = Files::on(&place.disk);
    assert_eq!(files.replace(path, Wanted { mode: 0o4750, ..wanted(b"1") }).unwrap(), Change::Made);
    let there = place.root().join("etc/kubernetes/pki/ca.crt");
    let before = std::fs::metadata(&there).unwrap();
    assert_eq!(before.permissions().mode() & 0o7777, 0o4750);
    assert_eq!(files.replace(path, Wanted { mode: 0o4750, ..wanted(b"1") }).unwrap(), Change::None);
    assert_eq!(std::fs::metadata(&there).unwrap().ino(), before.ino(), "not written again");
    assert_eq!(files.replace(path, wanted(b"1")).unwrap(), Change::Changed, "only the mode differs");
}

#[test]
fn dots_are_refused() {
    let place = Place::new();
    let fault = Files::on(&place.disk).replace(Path::new("/etc/../../escaped"), wanted(b"")).unwrap_err();
    assert_eq!(fault.to_string(), "cannot look at `/etc/../../escaped`: the path has `..` in it");
    assert!(!place.holder.path().join("escaped").exists());
}

#[test]
fn absolute_links_stay_within_the_root() {
    let place = Place::new();
    std::fs::create_dir(place.root().join("run")).unwrap();
    std::fs::create_dir(place.root().join("var")).unwrap();
    symlink("/run", place.root().join("var/run")).unwrap();
    symlink("../../../../..", place.root().join("up")).unwrap();
    let files = Files::on(&place.disk);
    files.replace(Path::new("/var/run/a"), wanted(b"a")).unwrap();
    files.replace(Path::new("/up/b"), wanted(b"b")).unwrap();
    assert_eq!(std::fs::read(place.root().join("run/a")).unwrap(), b"a");
    assert_eq!(std::fs::read(place.root().join("b")).unwrap(), b"b");
}

#[test]
fn a_link_that_others_could_have_made_is_refused() {
    let place = Place::new();
    let open = place.root().join("tmp");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o1777)).unwrap();
    std::fs::create_dir(place.root().join("etc")).unwrap();
    symlink("/etc", open.join("here")).unwrap();
    let fault = Files::on(&place.disk).replace(Path::new("/tmp/here/passwd"), wanted(b"")).unwrap_err();
    assert!(fault.to_string().contains("`here` is a link that others than root could have made"), "{fault}");
    assert!(!place.root().join("etc/passwd").exists());
}

#[test]
fn a_link_in_the_place_of_the_file_is_replaced_and_not_followed() {
    let place = Place::new();
    std::fs::write(place.holder.path().join("precious"), b"precious").unwrap();
    symlink(place.holder.path().join("precious"), place.root().join("file")).unwrap();
    let path = Path::new("/file");
    assert!(place.disk.read(path).is_err());
    Files::on(&place.disk).replace(path, wanted(b"new")).unwrap();
    assert_eq!(place.disk.look(path).unwrap().unwrap().kind, Kind::File);
    assert_eq!(std::fs::read(place.holder.path().join("precious")).unwrap(), b"precious");
    // A link in the place of the temporary file is no trap either.
    symlink(place.holder.path().join("precious"), place.root().join(".file.bringup-new")).unwrap();
    Files::on(&place.disk).replace(path, wanted(b"newer")).unwrap();
    assert_eq!(std::fs::read(place.holder.path().join("precious")).unwrap(), b"precious");
}

#[test]
fn a_loop_of_links_ends() {
    let place = Place::new();
    symlink("/b", place.root().join("a")).unwrap();
    symlink("/a", place.root().join("b")).unwrap();
    let fault = Files::on(&place.disk).replace(Path::new("/a/file"), wanted(b"")).unwrap_err();
    assert!(fault.to_string().contains("too many levels of symbolic links"), "{fault}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nobody() {
    let place = Place::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, place.root().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    assert_eq!(place.disk.read(Path::new("/pipe")).unwrap_err().to_string(), "it is not a file");
}

#[test]
fn owners_are_found_by_name_and_number() {
    let place = Place::new();
    std::fs::create_dir(place.root().join("etc")).unwrap();
    std::fs::write(place.root().join("etc/passwd"), "root:x:0:0::/:\nnobody:x:65534:65533::/:\n").unwrap();
    std::fs::write(place.root().join("etc/group"), "kube:x:77:\n").unwrap();
    let find = |text: &str| Owner::find(&place.disk, text).map_err(|fault| fault.to_string());
    assert_eq!(find("root:root"), Ok(Owner::ROOT));
    assert_eq!(find("nobody:kube"), Ok(Owner { user: 65534, group: 77 }));
    assert_eq!(find("nobody"), Ok(Owner { user: 65534, group: 65533 }));
    assert_eq!(find("12:13"), Ok(Owner { user: 12, group: 13 }));
    assert_eq!(find("nobody:wheel"), Err("the group `wheel` is not in `/etc/group`".to_owned()));
}

#[test]
fn a_stream_becomes_a_file_whole_or_not_at_all() {
    struct Broken(usize);
    impl std::io::Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Err(std::io::Error::other("cut off"));
            }
            let count = self.0.min(into.len());
            into[..count].fill(b'x');
            self.0 -= count;
            Ok(count)
        }
    }
    let place = Place::new();
    let files = Files::on(&place.disk);
    let path = Path::new("/opt/large");
    let large: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(files.replace_from(path, &mut large.as_slice(), 0o755, own()).unwrap(), Change::Made);
    assert_eq!(std::fs::read(place.root().join("opt/large")).unwrap(), large);
    assert_eq!(files.replace_from(path, &mut large.as_slice(), 0o755, own()).unwrap(), Change::None);
    assert!(matches!(
        files.replace_from(path, &mut Broken(100_000), 0o755, own()),
        Err(bringup_disk::StreamFault::Source(_))
    ));
    assert_eq!(std::fs::read(place.root().join("opt/large")).unwrap(), large);
    let mut other = large.clone();
    other[399_999] ^= 1;
    assert_eq!(files.replace_from(path, &mut other.as_slice(), 0o755, own()).unwrap(), Change::Changed);
    assert_eq!(files.settle(path, 0o755, own()).unwrap(), Change::None);
    assert_eq!(files.settle(path, 0o700, own()).unwrap(), Change::Changed);
    files.move_in(path, Path::new("/usr/bin/large"), 0o755, own()).unwrap();
    assert_eq!(std::fs::read(place.root().join("usr/bin/large")).unwrap(), other);
    let names = |directory: &str| place.disk.list(Path::new(directory)).unwrap();
    assert_eq!((names("/opt").len(), names("/usr/bin").len()), (0, 1));
}

#[test]
fn what_is_written_after_a_cut_stands_at_the_end() {
    let place = Place::new();
    let mut file = place.disk.create(Path::new("/file"), 0o600).unwrap();
    file.write(b"something else").unwrap();
    file.cut(4).unwrap();
    file.write(b"one").unwrap();
    assert_eq!(place.disk.read(Path::new("/file")).unwrap(), b"someone");
}

#[test]
fn what_is_private_is_a_file_that_only_its_owner_may_open() {
    let place = Place::new();
    let path = Path::new("/lock");
    let there = place.root().join("lock");
    let mode = || there.symlink_metadata().unwrap().permissions().mode() & 0o7777;
    place.disk.private(path).unwrap();
    assert_eq!(mode(), 0o600);
    // One that was made more openly is shut, and keeps what it holds.
    std::fs::write(&there, "kept").unwrap();
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o666)).unwrap();
    place.disk.private(path).unwrap();
    assert_eq!((mode(), std::fs::read_to_string(&there).unwrap().as_str()), (0o600, "kept"));
}

#[test]
fn what_is_no_file_is_not_opened_as_a_private_one() {
    let place = Place::new();
    let outside = place.holder.path().join("outside");
    std::fs::write(&outside, "").unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&outside, place.root().join("link")).unwrap();
    symlink("/elsewhere", place.root().join("dangling")).unwrap();
    std::fs::create_dir(place.root().join("folder")).unwrap();
    let pipe = place.root().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let refused = |name: &str| place.disk.private(Path::new(name)).unwrap_err().to_string();
    for name in ["/link", "/dangling", "/folder", "/pipe"] {
        assert_eq!(refused(name), "it is not a file", "{name}");
    }
    // With somebody at its other end, a pipe can be opened.
    let reader = std::fs::File::options().read(true).write(true).open(&pipe).unwrap();
    assert_eq!(refused("/pipe"), "it is not a file");
    drop(reader);
    assert_eq!(std::fs::metadata(&outside).unwrap().permissions().mode() & 0o7777, 0o644);
    assert!(!place.root().join("elsewhere").exists());
}

#[test]
fn an_empty_directory_gives_way_to_a_link_and_no_other_does() {
    let place = Place::new();
    let files = Files::on(&place.disk);
    let (path, target) = (Path::new("/opt/cni/bin"), Path::new("/usr/lib/cni"));
    let there = place.root().join("opt/cni/bin");
    std::fs::create_dir_all(there.join("of-somebody")).unwrap();
    let fault = files.make_link(path, target).unwrap_err();
    assert_eq!(fault.to_string(), "cannot write `/opt/cni/bin`: is a directory");
    assert!(there.join("of-somebody").is_dir());
    std::fs::remove_dir(there.join("of-somebody")).unwrap();
    assert_eq!(files.make_link(path, target).unwrap(), Change::Changed);
    assert_eq!(std::fs::read_link(&there).unwrap(), target);
    assert_eq!(place.disk.list(Path::new("/opt/cni")).unwrap(), ["bin"], "nothing else is left");
}
