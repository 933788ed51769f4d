//! Bytes to texts: base64, gzip and MIME undone, on the outside and in each part.

use std::io::Read as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Finding, Findings};

use super::beginning;
use super::mime::{self, MimeFault, Part, Parts};
use crate::codes;

/// User-data has at most 16 KiB; what unpacks to more than this is a bomb.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The type of a part that is a NodeConfig.
const MEDIA_TYPE: &str = "application/node.eks.aws";

/// The type of a part that is a script.
const SCRIPT_TYPE: &str = "text/x-shellscript";

/// The texts of NodeConfigs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Each with its name, `INPUT` or `INPUT#part`, in order.
    pub texts: Vec<(String, String)>,
    /// Shell scripts of a message, likewise: cloud-init runs them before nodeadm starts kubelet.
    pub scripts: Vec<(String, String)>,
    /// Further parts of a message, for cloud-init alone: name, type and text.
    pub others: Vec<(String, String, String)>,
    /// Scripts and further parts that are no text: name and type.
    pub unread: Vec<(String, String)>,
    /// Whether the last part of a message has no end: nodeadm refuses all of it, which is an error among the findings.
    pub unclosed: bool,
    /// Whether no empty line ends the header of a message: likewise.
    pub unended: bool,
    /// Whether the boundary of a message lacks the quotes that it needs: likewise.
    pub unquoted: bool,
    /// What was found.
    pub findings: Findings,
}

/// Takes bytes apart: the texts that nodeadm would read as NodeConfigs.
pub fn unpack(file: &str, bytes: &[u8]) -> Unpacked {
    let mut unpacked = Unpacked::default();
    let Some(bytes) = unpacked.plain(file, bytes) else { return unpacked };
    match mime::parts(&bytes) {
        None => unpacked.take(file.to_owned(), &bytes),
        Some(Err(MimeFault::NoBoundary)) => {
            let hint = "write `boundary=\"//\"` behind its type";
            unpacked.refuse(file, "this is multipart without a boundary", hint);
        }
        Some(Ok(Parts { all: parts, closed, ended, quoted })) => {
            if !quoted {
                unpacked.unquoted = true;
                let hint = "write it in quotes, such as `boundary=\"//\"`";
                unpacked.refuse(file, "the boundary of this message cannot stand without quotes", hint);
            }
            if !ended {
                unpacked.unended = true;
                let hint = "leave an empty line before the first part";
                unpacked.refuse(file, "the header of this message has no end", hint);
            }
            if !closed {
                unpacked.unclosed = true;
                let hint = "end the last part with `--BOUNDARY--`";
                unpacked.refuse(file, "the last part of this message has no end", hint);
            }
            let mut found = false;
            for (index, part) in parts.iter().enumerate() {
                if part.media_type == SCRIPT_TYPE {
                    unpacked.script(file, index, part);
                } else if part.media_type != MEDIA_TYPE {
                    unpacked.other(file, index, part);
                }
                if part.media_type != MEDIA_TYPE {
                    continue;
                }
                found = true;
                unpacked.part(file, index, part);
            }
            if !found {
                let hint = format!("give its part the type `{MEDIA_TYPE}`");
                unpacked.refuse(file, "no part of this message is a NodeConfig", hint);
            }
        }
    }
    unpacked
}

impl Unpacked {
    fn part(&mut self, file: &str, index: usize, part: &Part<'_>) {
        let (name, bytes) = named(file, index, part);
        if let Some(bytes) = self.plain(&name, &bytes) {
            self.take(name, &bytes);
        }
    }

    /// A script that is no text is nobody's to read: nodeadm passes it over.
    fn script(&mut self, file: &str, index: usize, part: &Part<'_>) {
        let (name, bytes) = named(file, index, part);
        match text_of(&name, bytes) {
            Some(text) => self.scripts.push((name, text)),
            None => self.unread.push((name, part.media_type.clone())),
        }
    }

    /// What is neither is cloud-init's own, unless it is no more than a text: that is known by its beginning.
    fn other(&mut self, file: &str, index: usize, part: &Part<'_>) {
        let (name, bytes) = named(file, index, part);
        let is_text = matches!(part.media_type.as_str(), "" | "text/plain");
        match text_of(&name, bytes) {
            Some(text) if is_text && text.starts_with("#!") => self.scripts.push((name, text)),
            Some(text) => self.others.push((name, part.media_type.clone(), text)),
            None => self.unread.push((name, part.media_type.clone())),
        }
    }

    fn take(&mut self, name: String, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.texts.push((name, text.to_owned())),
            Err(_) => self.refuse(&name, "this is no text", "write a NodeConfig in UTF-8"),
        }
    }

    /// The bytes with base64 and gzip undone, where they are so packed.
    fn plain(&mut self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let letters: Vec<u8> = bytes.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
        let decoded = BASE64_STANDARD.decode(letters).ok();
        let bytes = decoded.unwrap_or_else(|| bytes.to_vec());
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            return Some(bytes);
        }
        let mut whole = Vec::new();
        let read =
            flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(LARGEST + 1).read_to_end(&mut whole);
        if read.is_ok_and(|length| u64::try_from(length).is_ok_and(|length| length <= LARGEST)) {
            return Some(whole);
        }
        self.refuse(name, "this is compressed, but broken or far too large", "compress it anew with gzip");
        None
    }

    fn refuse(&mut self, name: &str, message: &str, hint: impl Into<String>) {
        self.findings.push(Finding::error(codes::NODECONFIG_SOURCE, message).at(beginning(name)).hint(hint));
    }
}

/// The text of a part. A short word may happen to be base64 of something; then it is the word.
fn text_of(name: &str, bytes: Vec<u8>) -> Option<String> {
    let plain = Unpacked::default().plain(name, &bytes);
    plain.and_then(|bytes| String::from_utf8(bytes).ok()).or_else(|| String::from_utf8(bytes).ok())
}

/// The name of a part, and what is in it.
fn named(file: &str, index: usize, part: &Part<'_>) -> (String, Vec<u8>) {
    let number = index.saturating_add(1);
    let name = part.name.clone().unwrap_or_else(|| format!("part-{number:03}"));
    let bytes = if part.quoted_printable { unquoted(part.body) } else { part.body.to_vec() };
    (format!("{file}#{name}"), bytes)
}

/// Quoted-printable undone; what is no escape stays as it is.
fn unquoted(body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'=' {
            whole.push(*first);
            continue;
        }
        if let Some(behind) = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")) {
            rest = behind;
            continue;
        }
        let escaped = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                whole.push(byte);
                rest = rest.get(2..).unwrap_or_default();
            }
            None => whole.push(b'='),
        }
    }
    whole
}
