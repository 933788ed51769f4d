//! MIME messages: read as Python's `email` reads them, written so that every reader agrees.

mod headers;
mod read;
mod write;

pub use headers::Headers;
pub use read::{Body, Entity, MimeBomb, Payload, read};
pub use write::{OutPart, write_multipart};

/// Whether cloud-init takes the bytes for a MIME message: it looks for `mime-version:` in the first 4096 of them.
pub fn is_mime(bytes: &[u8]) -> bool {
    let head = bytes.get(..4096).unwrap_or(bytes);
    let wanted = b"mime-version:";
    head.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}
