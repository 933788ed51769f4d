//! Archives: what is in them comes out, and nothing of them leads out.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;
use tar::EntryType;

use crate::agent::Node;
use crate::fetch::digest;

/// A member: kind, name, target of a link, content, mode.
type Member<'a> = (EntryType, &'a str, &'a str, &'a str, u32);

const FILE: EntryType = EntryType::Regular;
const DIRECTORY: EntryType = EntryType::Directory;
const LINK: EntryType = EntryType::Symlink;

/// Names are written as they are: the crate's own way refuses those that matter here.
fn tarball(members: &[Member<'_>]) -> Vec<u8> {
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(packer);
    for (kind, name, target, content, mode) in members {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Made by Python's `zipfile`: a deflated program, a stored text, a link, a directory and a comment.
const ZIP: &str = "UEsDBBQAAAAAAIMYIlwAAAAAAAAAAAAAAAAEAAAAYmluL1BLAwQUAAAACACDGCJcN1tq1iYAAAAQJwAACAAAAGJpbi90b29s7cSxCQAACAOw3VuFLv0f7xCSIU12KkmSJEmSJEmSJEmSJEnS7w5QSwMEFAAAAAAAgxgiXAWmoeUIAAAACAAAAAwAAABzaGFyZS9yZWFkbWVyZWFkIG1lClBLAwQUAAAAAACDGCJc0T7zIAQAAAAEAAAACQAAAGJpbi9hbGlhc3Rvb2xQSwECFAMUAAAAAACDGCJcAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAA7UEAAAAAYmluL1BLAQIUAxQAAAAIAIMYIlw3W2rWJgAAABAnAAAIAAAAAAAAAAAAAADtgSIAAABiaW4vdG9vbFBLAQIUAxQAAAAAAIMYIlwFpqHlCAAAAAgAAAAMAAAAAAAAAAAAAACggW4AAABzaGFyZS9yZWFkbWVQSwECFAMUAAAAAACDGCJc0T7zIAQAAAAEAAAACQAAAAAAAAAAAAAA/6GgAAAAYmluL2FsaWFzUEsFBgAAAAAEAAQA2QAAAMsAAAAPAG1hZGUgYnkgemlwZmlsZQ==";

fn zip() -> Vec<u8> {
    BASE64_STANDARD.decode(ZIP).unwrap()
}

fn node(archive: &[u8], kind: &str) -> Node {
    let node = Node::new(&[(
        "unpack",
        json!({
            "do": "fetch", "urls": ["file:///mnt/archive"], "sha256": digest(archive), "path": "/opt/tools",
            "mode": "0755", "owner": "root:root", "unpack": kind,
        }),
    )]);
    node.write("/mnt/archive", archive);
    node
}

fn mode(node: &Node, path: &str) -> u32 {
    std::fs::metadata(node.path(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_tarball_comes_out_as_it_went_in() {
    let archive = tarball(&[
        (DIRECTORY, "./", "", "", 0o700),
        (DIRECTORY, "./bin", "", "", 0o750),
        (FILE, "./bin/tool", "", "tool", 0o4755),
        (FILE, "share/doc/readme", "", "read me", 0o640),
        (EntryType::Link, "bin/again", "bin/tool", "", 0o755),
        (LINK, "bin/alias", "tool", "", 0o777),
        (LINK, "share/tool", "../bin/tool", "", 0o777),
        (LINK, "inside", "/opt/tools/bin", "", 0o777),
    ]);
    let node = node(&archive, "tar.gz");
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(node.read("/opt/tools/bin/tool").unwrap(), b"tool");
    assert_eq!(node.read("/opt/tools/bin/again").unwrap(), b"tool");
    assert_eq!(node.read("/opt/tools/share/tool").unwrap(), b"tool");
    // Nothing runs as somebody else.
    assert_eq!(mode(&node, "/opt/tools/bin/tool"), 0o755);
    assert_eq!(mode(&node, "/opt/tools/share/doc/readme"), 0o640);
    assert_eq!((mode(&node, "/opt/tools"), mode(&node, "/opt/tools/bin")), (0o755, 0o750));
    assert_eq!(std::fs::read_dir(node.path("/var/lib/bringup/fetch")).unwrap().count(), 0);
    // What the journal says was made can be taken back.
    let journal = String::from_utf8(node.read("/var/lib/bringup/journal").unwrap()).unwrap();
    for made in [
        r#"{"file":"/opt/tools/bin/tool"}"#,
        r#"{"link":"/opt/tools/bin/alias"}"#,
        r#"{"directory":"/opt/tools/bin"}"#,
    ] {
        assert!(journal.contains(made), "{made}: {journal}");
    }
}

#[test]
fn a_tarball_of_gnu_tar_comes_out() {
    let holder = tempfile::tempdir().unwrap();
    let long = "a-directory-with-a-name-that-is-much-longer-than-what-the-old-headers-hold".repeat(2);
    std::fs::create_dir_all(holder.path().join("in").join(&long)).unwrap();
    std::fs::write(holder.path().join("in").join(&long).join("file"), "content").unwrap();
    let made =
        std::process::Command::new("tar").arg("-C").arg(holder.path()).args(["-czf", "-", "in"]).output();
    let node = node(&made.unwrap().stdout, "tar.gz");
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(node.read(&format!("/opt/tools/in/{long}/file")).unwrap(), b"content");
}

#[test]
fn a_zip_comes_out_as_it_went_in() {
    let node = node(&zip(), "zip");
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(node.read("/opt/tools/bin/alias").unwrap(), b"tool\n".repeat(2000));
    assert_eq!(node.read("/opt/tools/share/readme").unwrap(), b"read me\n");
    assert_eq!((mode(&node, "/opt/tools/bin/tool"), mode(&node, "/opt/tools/share/readme")), (0o755, 0o640));
}

#[test]
fn nothing_leads_out_and_nothing_of_such_an_archive_is_put_in_place() {
    let good = (FILE, "first", "", "x", 0o644);
    let attacks: &[(&str, Vec<Member<'_>>)] = &[
        ("dots", vec![(FILE, "../evil", "", "x", 0o644)]),
        ("dots inside", vec![(FILE, "a/../../evil", "", "x", 0o644)]),
        ("absolute", vec![(FILE, "/etc/evil", "", "x", 0o644)]),
        ("directory with dots", vec![(DIRECTORY, "../evil", "", "", 0o755)]),
        ("absolute link", vec![(LINK, "link", "/etc/passwd", "", 0o777)]),
        ("link to a neighbour", vec![(LINK, "link", "/opt/tools-of-others", "", 0o777)]),
        ("link upwards", vec![(LINK, "link", "../evil", "", 0o777)]),
        ("link far upwards", vec![(LINK, "a/link", "../../evil", "", 0o777)]),
        ("write through a link", vec![(LINK, "a", "b", "", 0o777), (FILE, "a/evil", "", "x", 0o644)]),
        (
            "link upwards behind another link",
            vec![(LINK, "a/b", ".", "", 0o777), (LINK, "link", "a/b/../../evil", "", 0o777)],
        ),
        ("hard link to outside", vec![(EntryType::Link, "link", "/etc/passwd", "", 0o644)]),
        ("hard link with dots", vec![(EntryType::Link, "link", "../evil", "", 0o644)]),
        ("hard link to a link", vec![(LINK, "a", "b", "", 0o777), (EntryType::Link, "link", "a", "", 0o644)]),
        ("device", vec![(EntryType::Char, "null", "", "", 0o666)]),
        ("pipe", vec![(EntryType::Fifo, "pipe", "", "", 0o666)]),
    ];
    for (name, members) in attacks {
        let members: Vec<Member<'_>> = std::iter::once(good).chain(members.iter().copied()).collect();
        let node = node(&tarball(&members), "tar.gz");
        node.write("/opt/evil", "as it was");
        let run = node.up();
        assert_eq!(run.kind, "permanent", "{name}: {}", run.said());
        assert!(run.why().contains("is not unpacked"), "{name}: {}", run.why());
        assert_eq!(std::fs::read_dir(node.path("/opt/tools")).unwrap().count(), 0, "{name}");
        assert_eq!(node.read("/opt/evil").unwrap(), b"as it was", "{name}");
        assert_eq!(node.read("/etc/evil"), None, "{name}");
    }
}

/// The same bytes elsewhere in the archive: names of one length are exchanged.
fn exchanged(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = zip();
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from.as_bytes())).collect();
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

#[test]
fn zips_that_lead_out_or_are_broken_are_refused() {
    let mut target = zip();
    let at = target.windows(13).position(|bytes| bytes == b"bin/aliastool").unwrap() + 9;
    target[at..at + 4].copy_from_slice(b"/etc");
    let mut sum = flate2::Crc::new();
    sum.update(b"/etc");
    let entry = target.windows(9).rposition(|bytes| bytes == b"bin/alias").unwrap() - 46;
    target[entry + 16..entry + 20].copy_from_slice(&sum.sum().to_le_bytes());
    let mut encrypted = zip();
    let at = encrypted.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    encrypted[at + 8] |= 1;
    let mut torn = zip();
    torn.truncate(300);
    let mut changed = zip();
    let at = changed.windows(7).position(|bytes| bytes == b"read me").unwrap();
    changed[at] = b'b';
    for (name, archive, said) in [
        ("dots", exchanged("share/readme", "../re/readme"), "leads out"),
        ("absolute", exchanged("share/readme", "/hare/readme"), "leads out"),
        ("link", target, "leads out"),
        ("encrypted", encrypted, "encrypted"),
        ("torn", torn, "has no directory"),
        ("changed", changed, "not what the directory says"),
        ("empty", Vec::new(), "has no directory"),
    ] {
        let node = node(&archive, "zip");
        let run = node.up();
        assert_eq!(run.kind, "permanent", "{name}: {}", run.said());
        assert!(run.why().contains(said), "{name}: {}", run.why());
        assert_eq!(std::fs::read_dir(node.path("/opt/tools")).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_torn_tarball_is_refused() {
    let archive = tarball(&[(FILE, "tool", "", &"tool".repeat(10_000), 0o755)]);
    for archive in [&archive[..archive.len() / 2], b"no archive at all".as_slice()] {
        let run = node(archive, "tar.gz").up();
        assert_eq!(run.kind, "permanent", "{}", run.said());
        assert!(run.why().contains("it is broken"), "{}", run.why());
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_replaced_and_directories_keep_their_modes() {
    let archive = tarball(&[(DIRECTORY, "bin", "", "", 0o777), (FILE, "bin/tool", "", "tool", 0o755)]);
    let node = node(&archive, "tar.gz");
    node.write("/etc/precious", "as it was");
    node.write("/opt/tools/bin/other", "");
    std::fs::set_permissions(node.path("/opt/tools/bin"), std::fs::Permissions::from_mode(0o711)).unwrap();
    symlink("/etc/precious", node.path("/opt/tools/bin/tool")).unwrap();
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(node.read("/etc/precious").unwrap(), b"as it was");
    assert_eq!(node.read("/opt/tools/bin/tool").unwrap(), b"tool");
    assert_eq!(mode(&node, "/opt/tools/bin"), 0o711);
}

/// Neither a download nor an archive is ever held in memory: there is less of that than either is large.
#[test]
fn memory_stays_small_while_much_is_fetched_and_unpacked() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let content = vec![7_u8; 40 * 1024 * 1024];
    let mut header = tar::Header::new_gnu();
    header.set_path("large").unwrap();
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    packer.write_all(header.as_bytes()).unwrap();
    packer.write_all(&content).unwrap();
    packer.write_all(&[0; 1024]).unwrap();
    let archive = packer.finish().unwrap();
    let server = crate::server::Server::http({
        let archive = archive.clone();
        move |asked| crate::server::Reply::file(asked, &archive)
    });
    let mut node = node(&archive, "tar.gz");
    node.step(
        0,
        "action",
        json!({
            "do": "fetch", "urls": [server.url("/archive")], "sha256": digest(&archive), "path": "/opt/tools",
            "mode": "0755", "owner": "root:root", "unpack": "tar.gz",
        }),
    );
    node.step(
        0,
        "policy",
        json!({"timeoutMs": 120_000, "attempts": 1, "backoffMs": 1, "onFailure": "give-up"}),
    );
    node.memory_kib = Some(10 * 1024);
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert!(node.read("/opt/tools/large").unwrap() == content);
}
