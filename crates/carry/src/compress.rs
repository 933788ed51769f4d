//! Compression that gives the same bytes everywhere.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compress, Compression, Crc, FlushCompress};

/// Gzip's byte for an unknown operating system.
const UNKNOWN_OS: u8 = 255;
/// Where the byte for the operating system stands in a gzip header.
const OS_OFFSET: usize = 9;
/// RFC 1952: the magic number, deflate, no flags, no time, compressed well, no system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, UNKNOWN_OS];

/// The bytes in gzip, without a time or a name in the header.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    Packer::new(Compression::best()).gzip(bytes)
}

/// Compresses one thing after another: most of the effort on a small one is to make the tables anew.
pub(crate) struct Packer {
    compress: Compress,
}

impl Packer {
    pub(crate) fn new(level: Compression) -> Self {
        Self { compress: Compress::new(level, false) }
    }

    /// The bytes in gzip, without a time or a name in the header.
    pub(crate) fn gzip(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.compress.reset();
        // Stored blocks, the worst case, add five bytes to each 32 KiB.
        let room = bytes.len().saturating_add(bytes.len() / 1000).saturating_add(64);
        let mut packed = Vec::with_capacity(room);
        packed.extend(HEADER);
        // With room for the worst case there is nothing that could fail.
        let _ = self.compress.compress_vec(bytes, &mut packed, FlushCompress::Finish);
        let mut checksum = Crc::new();
        checksum.update(bytes);
        packed.extend(checksum.sum().to_le_bytes());
        packed.extend(checksum.amount().to_le_bytes());
        packed
    }
}

/// The bytes in the smallest gzip that we can make: a few per cent less than [`gzip`], for many times its effort.
pub fn gzip_strong(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let outcome = zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, bytes, &mut packed);
    if outcome.is_err() {
        return gzip(bytes);
    }
    // zopfli names Unix; one header for both says nothing about the machine that compressed.
    if let Some(os) = packed.get_mut(OS_OFFSET) {
        *os = UNKNOWN_OS;
    }
    packed
}

/// The bytes in base64 on one line, LF at the end: for interfaces that take user-data so.
pub fn base64_text(bytes: &[u8]) -> String {
    let mut text = BASE64_STANDARD.encode(bytes);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use bringup_cloudinit::gunzip::gunzip;

    use flate2::Compression;

    use super::{Packer, gzip, gzip_strong};

    #[test]
    fn headers_hold_neither_time_nor_system() {
        let text = b"one two one two one two one two\n".repeat(20);
        // RFC 1952: magic, deflate, no flags, no time; byte 9 is the system.
        let mut packer = Packer::new(Compression::best());
        let first = packer.gzip(b"something else first");
        assert_eq!(gunzip(&first), Ok(b"something else first".to_vec()));
        assert_eq!(packer.gzip(&text), gzip(&text));
        for packed in [gzip(&text), gzip_strong(&text)] {
            assert_eq!(packed.get(..8), Some(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0][..]));
            assert_eq!(packed.get(9), Some(&255));
            assert_eq!(gunzip(&packed), Ok(text.clone()));
        }
    }

    #[test]
    fn what_does_not_compress_is_kept_whole() {
        let mut state = 7_u32;
        let noise: Vec<u8> = (0..200_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            })
            .collect();
        assert_eq!(gunzip(&gzip(&noise)), Ok(noise));
        assert_eq!(gunzip(&gzip(b"")), Ok(Vec::new()));
    }
}
