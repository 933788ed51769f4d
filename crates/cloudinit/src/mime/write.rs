//! A multipart message that comes out the same from the same parts, and that every reader reads alike.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::transfer::base64_lines;

/// A part to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutPart<'part> {
    /// Its file name. cloud-init sorts scripts by it and lets the last of equal names win: the caller numbers them.
    pub name: &'part str,
    /// Its media type, such as `text/x-shellscript`.
    pub content_type: &'part str,
    /// Its content.
    pub body: &'part [u8],
}

/// The message, with every part in base64.
///
/// - Base64 always: cloud-init loses a part with a letter outside ASCII in any other encoding, whatever the header says.
/// - The boundary is a digest of the parts. It holds `=_`, which no base64 line can, so no body can hold it.
/// - Lines end in LF: Python's `email` (cloud-init, all versions) and Go's `mime/multipart` (nodeadm) read both ends,
///   cloud-init's own `make-mime` writes LF, and a CR on each line is a byte that counts against the platform's limit.
pub fn write_multipart(parts: &[OutPart<'_>]) -> Vec<u8> {
    let boundary = boundary_of(parts);
    let mut message = String::new();
    let _ = write!(message, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n");
    for part in parts {
        let _ = write!(
            message,
            "--{boundary}\nContent-Type: {}\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"{}\"\n\n",
            header_text(part.content_type),
            quoted(part.name),
        );
        message.push_str(&base64_lines(part.body));
    }
    let _ = writeln!(message, "--{boundary}--");
    message.into_bytes()
}

fn boundary_of(parts: &[OutPart<'_>]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        for field in [part.name.as_bytes(), part.content_type.as_bytes(), part.body] {
            digest.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(field);
        }
    }
    let mut boundary = String::from("=_");
    for byte in digest.finalize().iter().take(12) {
        let _ = write!(boundary, "{byte:02x}");
    }
    boundary
}

/// Header fields are one line of printable ASCII; whatever else a caller passes must not start a field of its own.
fn header_text(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '_' }).collect()
}

fn quoted(name: &str) -> String {
    header_text(name).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::{OutPart, write_multipart};
    use crate::mime::{is_mime, read};

    /// Read back by Python 3.11's `email` and by cloud-init 22.4.2's own walk, which found both parts with these names.
    #[test]
    fn the_bytes_are_these() {
        let parts = [
            OutPart { name: "010-agent.sh", content_type: "text/x-shellscript", body: b"#!/bin/sh\ntrue\n" },
            OutPart {
                name: "020-user.yaml",
                content_type: "text/cloud-config",
                body: b"#cloud-config\n{}\n",
            },
        ];
        let text = String::from_utf8(write_multipart(&parts)).unwrap();
        let boundary = text.split('"').nth(1).unwrap().to_owned();
        assert_eq!(boundary.len(), 26);
        let expected = format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n\
             --{boundary}\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=\"010-agent.sh\"\n\nIyEvYmluL3NoCnRydWUK\n\
             --{boundary}\nContent-Type: text/cloud-config\nContent-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=\"020-user.yaml\"\n\nI2Nsb3VkLWNvbmZpZwp7fQo=\n\
             --{boundary}--\n"
        );
        assert_eq!(text, expected);
        assert_eq!(write_multipart(&parts), text.into_bytes());
    }

    #[test]
    fn another_content_has_another_boundary_and_names_cannot_break_out() {
        let part = OutPart { name: "a\"\nX: y", content_type: "text/plain", body: b"" };
        let other = OutPart { body: b"x", ..part };
        let (one, two) = (write_multipart(&[part]), write_multipart(&[other]));
        assert_ne!(one.get(..90), two.get(..90));
        let entity = read(std::str::from_utf8(&one).unwrap()).unwrap();
        let inner = entity.walk()[1].clone();
        assert_eq!(inner.headers.filename().as_deref(), Some("a\"_X: y"));
        assert_eq!(inner.headers.get("X"), None);
        assert!(is_mime(&one));
    }
}
