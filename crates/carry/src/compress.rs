//! Compression that gives the same bytes everywhere.

use std::io::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, GzBuilder};

/// Gzip's byte for an unknown operating system.
const UNKNOWN_OS: u8 = 255;
/// Where the byte for the operating system stands in a gzip header.
const OS_OFFSET: usize = 9;

/// The bytes in gzip, without a time or a name in the header.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder =
        GzBuilder::new().mtime(0).operating_system(UNKNOWN_OS).write(Vec::new(), Compression::best());
    // Writing into a vector cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
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

    use super::{gzip, gzip_strong};

    #[test]
    fn headers_hold_neither_time_nor_system() {
        let text = b"one two one two one two one two\n".repeat(20);
        // RFC 1952: magic, deflate, no flags, no time; byte 9 is the system.
        for packed in [gzip(&text), gzip_strong(&text)] {
            assert_eq!(packed.get(..8), Some(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0][..]));
            assert_eq!(packed.get(9), Some(&255));
            assert_eq!(gunzip(&packed), Ok(text.clone()));
        }
    }
}
