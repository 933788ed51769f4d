//! The journal's bytes: one line for each record, each line sealed and chained to the one before it.
//!
//! A line is sixteen hexadecimal digits, a blank, and the record as JSON. The digits are the head of the SHA-256 of the
//! digits before and the JSON: a line that is changed, lost, doubled or moved breaks the chain. Reading ends where the
//! chain ends:
//!
//! - A power cut leaves a **torn tail**: bytes after the last whole record that are no record. They were never
//!   acknowledged to anybody, and are cut off.
//! - Records behind a bad place are **not trusted**, even if they look whole. What was lost may be the line that says
//!   that the machine is another one now, or that a step was begun anew; a success that is credited wrongly leaves a node
//!   half configured in silence, one that is forgotten costs a step that is done again. It is reported as
//!   [`Damage::lost_records`], so that the agent can keep the damaged file and say so.

use bringup_plan::sha256_hex;

use crate::record::{Entry, FORMAT, Record};
use crate::state::State;

const SEAL: usize = 16;

/// Writes the lines of a journal: what the next one has to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    seal: String,
    length: u64,
}

impl Writer {
    /// How many bytes the journal has. A file that is longer has bytes of an append that failed: cut them off.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The line of a record, and the writer that follows it: take it once the bytes are on the disk.
    pub fn line(&self, record: &Record) -> Result<(String, Self), JournalFault> {
        let json = serde_json::to_string(record).map_err(|fault| JournalFault::Record(fault.to_string()))?;
        let seal = sealed(&self.seal, json.as_bytes());
        let line = format!("{seal} {json}\n");
        let length = self.length.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
        Ok((line, Self { seal, length }))
    }
}

/// A journal that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Its records, as far as they can be trusted.
    pub records: Vec<Record>,
    /// Writes what follows. The file is to be cut to its [`Writer::length`] first, if there is damage.
    pub writer: Writer,
    /// What is wrong behind them.
    pub damage: Option<Damage>,
}

/// What is wrong with a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// How many bytes are good.
    pub offset: u64,
    /// How many follow that are not.
    pub bytes: u64,
    /// How many of the lines that follow look like records: none after a power cut. If there are some, somebody or the
    /// disk has changed the file; keep it aside.
    pub lost_records: usize,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset, bytes, lost_records } = self;
        match lost_records {
            0 => write!(formatter, "the journal's last {bytes} bytes were torn off after byte {offset}"),
            _ => write!(
                formatter,
                "the journal is damaged after byte {offset}; {lost_records} records behind it are not trusted"
            ),
        }
    }
}

/// Why there is no journal to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalFault {
    /// A newer agent wrote it.
    Format {
        /// The journal's format.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// A record that cannot be written.
    Record(String),
}

impl std::fmt::Display for JournalFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format { found, known } => {
                write!(formatter, "the journal has format {found}; this program knows formats up to {known}")
            }
            Self::Record(why) => write!(formatter, "a record cannot be written: {why}"),
        }
    }
}

impl std::error::Error for JournalFault {}

/// Reads a journal, as far as it can be trusted. Any bytes will do.
pub fn decode(bytes: &[u8]) -> Result<Decoded, JournalFault> {
    let mut decoded = Decoded::default();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let Some((line, behind)) = rest.split_at_checked(end + 1) else { break };
        let Some((seal, json)) = parts(line.get(..end).unwrap_or_default()) else { break };
        if sealed(&decoded.writer.seal, json) != seal {
            break;
        }
        if let Some(found) = format_of(json).filter(|found| *found > FORMAT) {
            return Err(JournalFault::Format { found, known: FORMAT });
        }
        let Ok(record) = serde_json::from_slice::<Record>(json) else { break };
        // A journal that does not say whose it is, is nobody's.
        if decoded.records.is_empty() && !matches!(record.entry, Entry::Machine { .. }) {
            break;
        }
        decoded.records.push(record);
        seal.clone_into(&mut decoded.writer.seal);
        decoded.writer.length += u64::try_from(line.len()).unwrap_or_default();
        rest = behind;
    }
    if !rest.is_empty() {
        decoded.damage = Some(Damage {
            offset: decoded.writer.length,
            bytes: u64::try_from(rest.len()).unwrap_or(u64::MAX),
            lost_records: rest
                .split_inclusive(|byte| *byte == b'\n')
                .filter(|line| looks_like_a_record(line))
                .count(),
        });
    }
    Ok(decoded)
}

/// The same journal in two lines. Worth it when the file has grown so that reading it is felt at boot.
pub fn compacted(records: &[Record]) -> Vec<Record> {
    let state = State::fold(records);
    let (Some(identity), Some(last)) = (state.identity(), records.last()) else { return records.to_vec() };
    let line = |entry| Record { at_ms: last.at_ms, boot: last.boot.clone(), entry };
    vec![
        line(Entry::Machine { format: FORMAT, identity: identity.to_owned() }),
        line(Entry::Summary(Box::new(state))),
    ]
}

fn sealed(before: &str, json: &[u8]) -> String {
    let mut input = Vec::with_capacity(before.len() + json.len());
    input.extend_from_slice(before.as_bytes());
    input.extend_from_slice(json);
    let mut digits = sha256_hex(&input);
    digits.truncate(SEAL);
    digits
}

fn parts(line: &[u8]) -> Option<(&str, &[u8])> {
    let (seal, json) = line.split_at_checked(SEAL)?;
    Some((str::from_utf8(seal).ok()?, json.strip_prefix(b" ")?))
}

/// The format that a line announces: of a newer one, only this much may be readable.
fn format_of(json: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Head {
        is: String,
        format: u32,
    }
    serde_json::from_slice::<Head>(json).ok().filter(|head| head.is == "machine").map(|head| head.format)
}

fn looks_like_a_record(line: &[u8]) -> bool {
    // Without its end, it is a line that was being written.
    let json = line.strip_suffix(b"\n").and_then(parts).map(|(_, json)| json);
    json.is_some_and(|json| serde_json::from_slice::<Record>(json).is_ok())
}
