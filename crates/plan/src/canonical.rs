//! The bytes of a plan.

mod json;
mod key;

use sha2::{Digest as _, Sha256};

use crate::{FORMAT, Plan};

/// Why bytes are no plan that this program can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFault {
    /// Not JSON, or not of this shape.
    Malformed(String),
    /// A format that this program does not know.
    Format {
        /// The plan's.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
}

impl std::fmt::Display for PlanFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(why) => write!(formatter, "this is no plan: {why}"),
            Self::Format { found, known } => {
                write!(formatter, "the plan has format {found}; this program knows formats up to {known}")
            }
        }
    }
}

impl std::error::Error for PlanFault {}

impl Plan {
    /// The canonical form: JSON without white space, keys sorted at every level, LF at the end. It is ASCII, so that it
    /// survives every carrier as it is: cloud-init changes other letters in a part that was compressed.
    pub fn to_json(&self) -> String {
        let mut text = ascii_json(json::sorted(self).unwrap_or_default());
        text.push('\n');
        text
    }

    /// The digest of the canonical form: SHA-256 in hex.
    pub fn digest(&self) -> String {
        sha256_hex(self.to_json().as_bytes())
    }

    /// Reads a plan back.
    pub fn from_json(bytes: &[u8]) -> Result<Self, PlanFault> {
        #[derive(serde::Deserialize)]
        struct Head {
            format: u32,
        }
        let malformed = |fault: serde_json::Error| PlanFault::Malformed(fault.to_string());
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.format > FORMAT {
            return Err(PlanFault::Format { found: head.format, known: FORMAT });
        }
        serde_json::from_slice(bytes).map_err(malformed)
    }
}

/// The canonical form of any part of a plan: ASCII JSON without white space, keys sorted at every level.
pub fn canonical_json<T: serde::Serialize>(value: &T) -> String {
    ascii_json(json::sorted(value).unwrap_or_default())
}

/// The same JSON with letters beyond ASCII, which stand in strings only, as escapes.
pub fn ascii_json(text: String) -> String {
    use std::fmt::Write as _;
    if text.is_ascii() {
        return text;
    }
    let mut escaped = String::with_capacity(text.len().saturating_mul(2));
    for letter in text.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// SHA-256 in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}
