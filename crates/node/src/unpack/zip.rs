//! Zips, by their central directory. No more of the format is known than release archives use: stored and deflated
//! members, no encryption, nothing beyond 4 GiB.

use std::io::{self, Read, SeekFrom};
use std::path::Path;

use bringup_disk::Readable;
use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::tree::Tree;
use super::{ArchiveFault, broken};

/// The end of the central directory, without its comment.
const END: usize = 22;
/// The longest comment.
const COMMENT: u64 = 0xffff;
/// A central directory that is larger is no archive of programs.
const LARGEST_DIRECTORY: u64 = 32 * 1024 * 1024;
/// No link is longer.
const LONGEST_TARGET: u64 = 4096;

const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FILE: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

struct Member {
    name: String,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    /// Kind and permissions as Unix has them; zero where the archive comes from elsewhere.
    mode: u32,
    header: u64,
}

/// Shows what is in a zip.
pub(super) fn walk(mut archive: Box<dyn Readable>, tree: &mut dyn Tree) -> Result<(), ArchiveFault> {
    for member in members(&mut archive)? {
        let name = Path::new(&member.name);
        let permissions = |default| if member.mode == 0 { default } else { member.mode & 0o7777 };
        if member.name.ends_with('/') {
            tree.directory(name, permissions(0o755))?;
            continue;
        }
        let mut content = content(&mut archive, &member)?;
        match member.mode & KIND {
            LINK => {
                let mut target = String::new();
                let read = content.take(LONGEST_TARGET).read_to_string(&mut target);
                read.map_err(|fault| broken(&fault))?;
                tree.link(name, Path::new(&target))?;
            }
            0 | FILE => tree.file(name, &mut content, permissions(0o644))?,
            DIRECTORY => tree.directory(name, permissions(0o755))?,
            _ => {
                return Err(ArchiveFault::Unsound(format!(
                    "`{}` is neither a file nor a directory nor a link",
                    member.name.escape_debug()
                )));
            }
        }
    }
    Ok(())
}

fn odd(why: &str) -> ArchiveFault {
    ArchiveFault::Unsound(format!("it is broken: {why}"))
}

fn members(archive: &mut dyn Readable) -> Result<Vec<Member>, ArchiveFault> {
    let io = |fault: io::Error| broken(&fault);
    let length = archive.seek(SeekFrom::End(0)).map_err(io)?;
    let start = length.saturating_sub(COMMENT + END as u64);
    let tail = bytes(archive, start, length - start)?;
    let end = (0..=tail.len().saturating_sub(END))
        .rev()
        .filter_map(|at| tail.get(at..at + END))
        .find(|end| end.starts_with(b"PK\x05\x06"))
        .ok_or_else(|| odd("it has no directory"))?;
    let (count, size, offset) = (word(end, 10), long(end, 12), long(end, 16));
    if count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff {
        return Err(ArchiveFault::Unsound(
            "it is larger than 4 GiB, or has more than 65534 members".to_owned(),
        ));
    }
    if u64::from(size) > LARGEST_DIRECTORY {
        return Err(odd("its directory is too large"));
    }
    let directory = bytes(archive, offset.into(), size.into())?;
    let mut rest = directory.as_slice();
    let mut members = Vec::new();
    for _ in 0..count {
        let cut = || odd("its directory ends too early");
        let head = rest.get(..46).filter(|head| head.starts_with(b"PK\x01\x02")).ok_or_else(cut)?;
        let (name, extra, comment) = (word(head, 28), word(head, 30), word(head, 32));
        let name_end = 46 + usize::from(name);
        let name = rest.get(46..name_end).ok_or_else(cut)?;
        let name = std::str::from_utf8(name).map_err(|_| odd("a name is no text"))?.to_owned();
        if word(head, 8) & 1 != 0 {
            return Err(ArchiveFault::Unsound(format!("`{}` is encrypted", name.escape_debug())));
        }
        let unix = word(head, 4) >> 8 == 3;
        members.push(Member {
            name,
            method: word(head, 10),
            crc: long(head, 16),
            packed: long(head, 20).into(),
            size: long(head, 24).into(),
            mode: if unix { long(head, 38) >> 16 } else { 0 },
            header: long(head, 42).into(),
        });
        rest = rest.get(name_end + usize::from(extra) + usize::from(comment)..).ok_or_else(cut)?;
    }
    Ok(members)
}

fn content<'a>(
    archive: &'a mut Box<dyn Readable>,
    member: &Member,
) -> Result<Box<dyn Read + 'a>, ArchiveFault> {
    let head = bytes(archive, member.header, 30)?;
    if !head.starts_with(b"PK\x03\x04") {
        return Err(odd("a member is not where the directory says"));
    }
    let start = member.header + 30 + u64::from(word(&head, 26)) + u64::from(word(&head, 28));
    archive.seek(SeekFrom::Start(start)).map_err(|fault| broken(&fault))?;
    let packed = archive.take(member.packed);
    let content: Box<dyn Read + 'a> = match member.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(packed)),
        _ => {
            let name = member.name.escape_debug();
            return Err(ArchiveFault::Unsound(format!("`{name}` is compressed in a way that is not known")));
        }
    };
    Ok(Box::new(Whole { content, sum: Crc::new(), size: 0, wanted: (member.size, member.crc) }))
}

/// Content that must have the size and the sum that the directory says.
struct Whole<R> {
    content: R,
    sum: Crc,
    size: u64,
    wanted: (u64, u32),
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(into)?;
        self.sum.update(into.get(..count).unwrap_or_default());
        self.size += count as u64;
        let ended = count == 0 && !into.is_empty();
        if self.size > self.wanted.0 || (ended && (self.size, self.sum.sum()) != self.wanted) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a member is not what the directory says",
            ));
        }
        Ok(count)
    }
}

fn bytes(archive: &mut dyn Readable, start: u64, length: u64) -> Result<Vec<u8>, ArchiveFault> {
    archive.seek(SeekFrom::Start(start)).map_err(|fault| broken(&fault))?;
    let mut bytes = Vec::new();
    archive.take(length).read_to_end(&mut bytes).map_err(|fault| broken(&fault))?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(odd("it ends too early")) }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |pair| pair.iter().rev().fold(0, |sum, byte| sum << 8 | u16::from(*byte)))
}

fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| four.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}
