//! What the agent says while it works: lines for the journal of the system and the console, a status for the manager.

use std::cell::RefCell;
use std::io::Write as _;

use bringup_progress::{Event, Standing, Status, line};
use bringup_systemd::notify::notify;

/// Tells what happens.
#[derive(Debug)]
pub(crate) struct Teller {
    socket: Option<std::ffi::OsString>,
    events_as_json: bool,
    /// What the console was last told to wait for.
    paused: RefCell<Option<String>>,
}

impl Teller {
    /// As the environment of the process asks for: below systemd, events are lines of JSON.
    pub(crate) fn new() -> Self {
        Self {
            socket: std::env::var_os("NOTIFY_SOCKET"),
            events_as_json: std::env::var_os("JOURNAL_STREAM").is_some(),
            paused: RefCell::new(None),
        }
    }

    /// Tells nobody.
    pub(crate) fn silent() -> Self {
        Self { socket: None, events_as_json: false, paused: RefCell::new(None) }
    }

    /// Tells an event.
    pub(crate) fn event(&self, event: &Event) {
        let text = if self.events_as_json {
            serde_json::to_string(event).unwrap_or_default()
        } else {
            let Event { step, event, why, .. } = event;
            let (step, event) = (if step.is_empty() { "agent" } else { step }, event);
            if why.is_empty() { format!("{step}: {event}") } else { format!("{step}: {event}: {why}") }
        };
        let _ = writeln!(std::io::stderr().lock(), "{text}");
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
        let _ = writeln!(std::io::stderr().lock(), "bringup-node: {text}");
    }
}
