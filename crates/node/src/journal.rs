//! The journal on the disk.

use std::collections::BTreeSet;
use std::path::Path;

use bringup_disk::{FileFault, Files, Owner, Wanted};
use bringup_progress::{Damage, Entry, JournalFault, Made, Record, State, Writer, compacted, decode};

use crate::places;

/// A journal that is larger is written anew in two lines.
const LARGE: u64 = 256 * 1024;

/// The journal.
#[derive(Debug)]
pub(crate) struct Journal<'d> {
    files: Files<'d>,
    writer: Writer,
    /// Lines that need not be on the disk yet.
    pending: String,
    pending_writer: Writer,
}

/// What was done, as far as it can be told without being in anybody's way.
pub(crate) fn look(files: Files<'_>) -> Option<State> {
    let bytes = files.read(Path::new(places::JOURNAL)).ok()??;
    Some(State::fold(&decode(&bytes).ok()?.records))
}

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalTrouble {
    #[error(transparent)]
    File(#[from] FileFault),
    #[error(transparent)]
    Content(#[from] JournalFault),
}

/// A journal that was opened.
#[derive(Debug)]
pub(crate) struct Opened<'d> {
    pub(crate) journal: Journal<'d>,
    pub(crate) state: State,
    pub(crate) damage: Option<Damage>,
    /// What was made once, and was removed since.
    pub(crate) retired: BTreeSet<Made>,
    /// Whether more was lost than a power cut takes: what was done may be unknown now.
    pub(crate) lost: bool,
}

impl<'d> Journal<'d> {
    /// Opens the journal. What a power cut has torn is cut off; what was changed is kept aside.
    pub(crate) fn open(files: Files<'d>) -> Result<Opened<'d>, JournalTrouble> {
        let path = Path::new(places::JOURNAL);
        let bytes = files.read(path)?.unwrap_or_default();
        let decoded = decode(&bytes)?;
        let mut writer = decoded.writer;
        let mut lost = false;
        if let Some(damage) = &decoded.damage {
            // A line that has its end was written by somebody; a power cut leaves less.
            let offset = usize::try_from(damage.offset).unwrap_or(usize::MAX);
            let whole_lines = bytes.get(offset..).is_some_and(|rest| rest.contains(&b'\n'));
            lost = damage.lost_records > 0 || whole_lines;
            if lost {
                let aside = path.with_extension("damaged");
                files.replace(&aside, private(&bytes))?;
            }
            files.cut(path, writer.length())?;
        } else if writer.length() > LARGE {
            writer = rewrite(files, &compacted(&decoded.records))?;
        }
        let state = State::fold(&decoded.records);
        let retired = decoded.records.iter().filter_map(|record| match &record.entry {
            Entry::Retired { made } => Some(made),
            _ => None,
        });
        let retired = retired.flatten().filter(|made| !state.knows(made)).cloned().collect();
        let pending_writer = writer.clone();
        let journal = Self { files, writer, pending: String::new(), pending_writer };
        Ok(Opened { journal, state, damage: decoded.damage, retired, lost })
    }

    /// Adds a record. With `sync` it is on the disk afterwards, together with all before it.
    pub(crate) fn add(&mut self, record: &Record, sync: bool) -> Result<(), JournalTrouble> {
        let (line, writer) = self.pending_writer.line(record)?;
        self.pending.push_str(&line);
        self.pending_writer = writer;
        if sync { self.flush() } else { Ok(()) }
    }

    /// Brings all records to the disk.
    pub(crate) fn flush(&mut self) -> Result<(), JournalTrouble> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let path = Path::new(places::JOURNAL);
        if let Err(fault) = self.files.append(path, self.pending.as_bytes(), 0o600) {
            // What has been written of it would break the chain for what follows.
            let _ = self.files.cut(path, self.writer.length());
            return Err(fault.into());
        }
        self.pending.clear();
        self.writer = self.pending_writer.clone();
        Ok(())
    }
}

fn rewrite(files: Files<'_>, records: &[Record]) -> Result<Writer, JournalTrouble> {
    let mut writer = Writer::default();
    let mut text = String::new();
    for record in records {
        let (line, next) = writer.line(record)?;
        text.push_str(&line);
        writer = next;
    }
    files.replace(Path::new(places::JOURNAL), private(text.as_bytes()))?;
    Ok(writer)
}

fn private(content: &[u8]) -> Wanted<'_> {
    Wanted { content, mode: 0o600, owner: Owner::ROOT }
}
