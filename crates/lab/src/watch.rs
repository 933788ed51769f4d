//! Reads a container's journal and makes events of what happened there.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use bringup_progress::Event;
use serde_json::Value;

use crate::LabFault;

/// The journal's own numbers for what becomes of units.
const UNIT_STARTING: &str = "7d4958e842da4a758f6c1cdc7b36dcc5";
const UNIT_STARTED: &str = "39f53479d3a045ac8e11786248231fbf";
const UNIT_FAILED: &str = "be02cf6855d2428ba40df7e9d022f03d";
const UNIT_STOPPED: &str = "9d1aaa27d60140bd96365438aad20286";
const UNIT_PROCESS_EXIT: &str = "98e322203f7a4ed290d09fe03c09fe15";

/// What runs the steps without the agent, as systemd calls it in the journal.
const STEPS_SCRIPT: &str = "bringup-steps";

const FOLLOW: &str = "follow the container's journal";

/// Follows a journal while it grows.
#[derive(Debug)]
pub(crate) struct Watch {
    journal: PathBuf,
    /// The last entry that was read, or was there before.
    cursor: Option<String>,
    /// Whether anything was read since.
    heard: bool,
    reader: Option<(Child, Receiver<String>)>,
}

impl Watch {
    /// Of the journal in this directory, from now on.
    pub(crate) fn from_now_on(journal: PathBuf) -> Result<Self, LabFault> {
        let mut watch = Self { journal, cursor: None, heard: false, reader: None };
        // An entry and not a time: who looks for a time while a journal is being moved to the disk passes over the first
        // entries of a boot.
        let last = watch.read(&["--lines=1"])?.pop();
        watch.cursor = last.map(|entry| entry.field("__CURSOR").to_owned());
        Ok(watch)
    }

    /// All that is there and was not read yet, at once: who follows a journal is told of it a quarter of a second late.
    pub(crate) fn rest(&mut self) -> Result<Vec<Entry>, LabFault> {
        self.stop();
        let entries = self.read(&[])?;
        if let Some(last) = entries.last() {
            self.cursor = Some(last.field("__CURSOR").to_owned());
        }
        Ok(entries)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("journalctl");
        command.arg("--directory").arg(&self.journal);
        command.args(["--output=json", "--no-pager", "--quiet"]).stdin(Stdio::null()).stderr(Stdio::null());
        if let Some(cursor) = &self.cursor {
            command.arg(format!("--after-cursor={cursor}"));
        }
        command
    }

    /// What is there to be read; nothing where there is no journal yet.
    fn read(&self, more: &[&str]) -> Result<Vec<Entry>, LabFault> {
        let done = self.command().args(more).output().map_err(LabFault::system(FOLLOW))?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok().map(Entry)).collect())
    }

    /// The next entry, or nothing in this time.
    pub(crate) fn next(&mut self, wait: Duration) -> Result<Option<Entry>, LabFault> {
        let Some((_, lines)) = &self.reader else {
            self.reader = Some(self.start()?);
            return Ok(None);
        };
        match lines.recv_timeout(wait) {
            Ok(line) => {
                let entry = serde_json::from_str(&line).ok().map(Entry);
                if let Some(entry) = &entry {
                    self.cursor = Some(entry.field("__CURSOR").to_owned());
                    self.heard = true;
                }
                Ok(entry)
            }
            Err(RecvTimeoutError::Timeout) => {
                // It does not see the file that a journal goes on in after a power cut, if that comes later than it.
                if !self.heard {
                    self.stop();
                }
                Ok(None)
            }
            // The reader ends where there is no journal yet.
            Err(RecvTimeoutError::Disconnected) => {
                self.stop();
                std::thread::sleep(wait);
                Ok(None)
            }
        }
    }

    fn start(&self) -> Result<(Child, Receiver<String>), LabFault> {
        let mut child = self
            .command()
            .args(["--follow", "--no-tail"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(LabFault::system(FOLLOW))?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok((child, lines))
    }

    fn stop(&mut self) {
        if let Some((mut child, _)) = self.reader.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

/// An entry of the journal.
#[derive(Clone, Debug)]
pub(crate) struct Entry(Value);

impl Entry {
    fn field(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The machine's own name for the boot that it belongs to.
    pub(crate) fn boot(&self) -> &str {
        self.field("_BOOT_ID")
    }

    /// What it says, if it says something that belongs in a timeline. `boot` is which boot of the trial it is.
    pub(crate) fn event(&self, boot: usize) -> Option<Event> {
        // When it was said; a journal that is busy writes it down later.
        let said = self.field("_SOURCE_REALTIME_TIMESTAMP").parse::<u64>();
        let at_ms = said.or_else(|_| self.field("__REALTIME_TIMESTAMP").parse()).ok()? / 1000;
        let message = self.field("MESSAGE");
        // The agent's own events are lines of JSON. A journal that is busy does not know any more whose process it was; what
        // systemd called it at its start it does.
        if ["_COMM", "SYSLOG_IDENTIFIER"].iter().any(|name| self.field(name) == "bringup-node")
            && let Ok(event) = serde_json::from_str::<Event>(message)
        {
            return Some(Event { boot: boot.to_string(), ..event });
        }
        // Where there is no agent, the script that runs the steps says little: `bringup_carry::step_runner`.
        let passed =
            message.strip_prefix("bringup: step ").and_then(|rest| rest.strip_suffix(" is passed over"));
        if let Some(step) = passed.filter(|_| self.field("SYSLOG_IDENTIFIER") == STEPS_SCRIPT) {
            return Some(Event {
                at_ms,
                boot: boot.to_string(),
                actor: "steps".to_owned(),
                step: step.to_owned(),
                event: "continued".to_owned(),
                why: String::new(),
            });
        }
        let unit = self.field("UNIT");
        if unit.is_empty() {
            return None;
        }
        let (word, why) = match self.field("MESSAGE_ID") {
            UNIT_STARTING => ("starting", ""),
            UNIT_STARTED => ("started", ""),
            UNIT_FAILED => ("failed", self.field("UNIT_RESULT")),
            UNIT_STOPPED => ("stopped", ""),
            UNIT_PROCESS_EXIT => ("exited", self.field("EXIT_STATUS")),
            _ => return None,
        };
        Some(Event {
            at_ms,
            boot: boot.to_string(),
            actor: usual(unit).to_owned(),
            step: String::new(),
            event: word.to_owned(),
            why: why.to_owned(),
        })
    }
}

/// The name of a unit as everybody else calls it: where kubelet is a snap, its usual name is another name of the snap's.
fn usual(unit: &str) -> &str {
    match unit.strip_prefix("snap.kubelet") {
        Some(rest) if rest.ends_with(".daemon.service") => "kubelet.service",
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_that_the_script_goes_on_without_is_heard_of() {
        let entry = |who: &str, message: &str| {
            let entry = json!({"__REALTIME_TIMESTAMP": "7000", "SYSLOG_IDENTIFIER": who, "MESSAGE": message});
            Entry(entry).event(1).map(|event| (event.actor, event.step, event.event, event.at_ms))
        };
        let [steps, drivers, continued] = ["steps", "drivers", "continued"].map(str::to_owned);
        let message = "bringup: step drivers is passed over";
        assert_eq!(entry("bringup-steps", message), Some((steps, drivers, continued, 7)));
        assert_eq!(entry("theirs", message), None);
        assert_eq!(entry("bringup-steps", "bringup: step drivers has failed, attempt 1"), None);
    }
}
