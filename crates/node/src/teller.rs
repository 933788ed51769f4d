//! What the agent says while it works: lines for the journal of the system and the console, a status for the manager.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;

use bringup_progress::{Event, Standing, Status, line};
use bringup_systemd::journal;
use bringup_systemd::notify::notify;

use crate::machine::Machine;

/// Tells what happens.
#[derive(Debug)]
pub(crate) struct Teller {
    socket: Option<std::ffi::OsString>,
    ear: Ear,
    /// What the console was last told to wait for.
    paused: RefCell<Option<String>>,
}

/// Who hears of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ear {
    /// The system's journal, which gets all that the process writes: lines of JSON.
    Journal,
    /// A person.
    Person,
    /// A person, and the journal too: what was done by hand belongs to the machine's story.
    PersonAndJournal,
}

impl Teller {
    /// As the environment of the process asks for.
    pub(crate) fn of(machine: &Machine) -> Self {
        let ear = match (writes_to_journal(), machine.is_itself()) {
            (true, _) => Ear::Journal,
            (false, true) => Ear::PersonAndJournal,
            (false, false) => Ear::Person,
        };
        Self { socket: std::env::var_os("NOTIFY_SOCKET"), ear, paused: RefCell::new(None) }
    }

    /// Tells an event.
    pub(crate) fn event(&self, event: &Event) {
        let for_journal = || serde_json::to_string(event).unwrap_or_default();
        let text = match self.ear {
            Ear::Journal => for_journal(),
            Ear::Person | Ear::PersonAndJournal => for_person(event),
        };
        say(text);
        if self.ear == Ear::PersonAndJournal {
            journal::tell(Path::new(journal::SOCKET), "bringup-node", &for_journal());
        }
    }

    /// Tells the manager how it stands; and the console, once, what the operator is waited for.
    pub(crate) fn status(&self, status: &Status) {
        let text = line(status);
        notify(self.socket.as_deref(), &format!("STATUS={text}"));
        let paused = (status.standing == Standing::Paused).then_some(text);
        if *self.paused.borrow() != paused {
            if let Some(text) = &paused {
                Self::note(text);
            }
            self.paused.replace(paused);
        }
    }

    /// Tells the manager that the gate is open, which ends the start of a unit of type notify.
    pub(crate) fn ready(&self) {
        notify(self.socket.as_deref(), "READY=1");
    }

    /// Tells what has no event of its own.
    pub(crate) fn note(text: &str) {
        say(format!("bringup-node: {text}"));
    }
}

/// A line at once: nobody else's comes between its pieces.
fn say(mut line: String) {
    line.push('\n');
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Whether what this process writes goes to the journal. Who starts it may have led that elsewhere, and left the variable.
fn writes_to_journal() -> bool {
    let Some(stream) = std::env::var_os("JOURNAL_STREAM") else { return false };
    let found = rustix::fs::fstat(std::io::stderr());
    found.is_ok_and(|found| stream.to_str() == Some(&format!("{}:{}", found.st_dev, found.st_ino)))
}

fn for_person(event: &Event) -> String {
    let Event { step, event, why, .. } = event;
    let step = if step.is_empty() { "agent" } else { step };
    if why.is_empty() { format!("{step}: {event}") } else { format!("{step}: {event}: {why}") }
}
