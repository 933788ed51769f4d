//! Power cuts and kills at the moment in which a step begins, or a unit starts.
//!
//! A unit's start is in the system's journal, and is acted upon where that is read. A step of the agent's is looked for here:
//! the agent writes down that a step begins before it does anything for it. That is what is waited for here: its log
//! goes through the system's journal and is late by more than most steps take.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bringup_progress::Event;
use serde_json::Value;

use crate::container::{Switch, killed_units};

/// The agent's journal.
pub(crate) const JOURNAL: &str = "/var/lib/bringup/journal";
/// How often it is looked at: steps take milliseconds.
const LOOK: Duration = Duration::from_micros(500);

/// What was done to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intervention {
    /// The power was cut.
    Cut,
    /// The agent was killed.
    Kill,
}

/// What was done, when, and at which step or unit.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) what: Intervention,
    pub(crate) step: String,
    pub(crate) at_ms: u64,
}

/// Steps and units at which to intervene; each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) cuts: Vec<String>,
    pub(crate) kills: Vec<String>,
}

impl Wanted {
    /// Takes out what was done at a step; says whether it was wanted.
    pub(crate) fn take(&mut self, step: &str, what: Intervention) -> bool {
        let list = match what {
            Intervention::Cut => &mut self.cuts,
            Intervention::Kill => &mut self.kills,
        };
        let place = list.iter().position(|name| name == step);
        place.map(|place| list.remove(place)).is_some()
    }

    /// What is wanted at a step or a unit; the power goes first.
    pub(crate) fn at(&self, step: &str) -> Option<Intervention> {
        let names = |list: &[String]| list.iter().any(|name| name == step);
        let kill = || names(&self.kills).then_some(Intervention::Kill);
        names(&self.cuts).then_some(Intervention::Cut).or_else(kill)
    }

    /// What has not been done, as it was asked for.
    pub(crate) fn left(&self) -> Vec<String> {
        let cuts = self.cuts.iter().map(|step| format!("--power-cut {step}"));
        cuts.chain(self.kills.iter().map(|step| format!("--kill {step}"))).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.kills.is_empty()
    }
}

/// Kills that came too late, by their places among the events: the unit that was to be killed as it started has started all
/// the same.
pub(crate) fn late_kills(events: &[Event]) -> Vec<usize> {
    let is_late = |(place, kill): (usize, &Event)| {
        let own =
            |event: &&Event| event.boot == kill.boot && event.actor == kill.step && event.event != "starting";
        let next = events.iter().skip(place).find(own);
        let killed =
            kill.actor == "lab" && kill.event == "killed" && killed_units().any(|unit| unit == kill.step);
        (killed && next.is_some_and(|next| next.event == "started")).then_some(place)
    };
    events.iter().enumerate().filter_map(is_late).collect()
}

/// Watches the agent's journal and intervenes, until there is nothing more to do or the value is dropped.
#[derive(Debug)]
pub(crate) struct Intervening {
    done: Receiver<Done>,
}

impl Intervening {
    /// From what the journal at this path has now.
    pub(crate) fn start(journal: PathBuf, switch: Switch, mut wanted: Wanted) -> Self {
        let (sender, done) = channel();
        let mut tail = Tail::from_now_on(journal);
        std::thread::spawn(move || {
            while !wanted.is_empty() && switch.is_on() {
                for step in tail.begun() {
                    let Some(what) = wanted.at(&step) else { continue };
                    let done = match what {
                        Intervention::Cut => switch.off(),
                        Intervention::Kill => switch.kill_agent(),
                    };
                    if !done {
                        continue;
                    }
                    wanted.take(&step, what);
                    let gone = sender.send(Done { what, step, at_ms: now_ms() }).is_err();
                    if gone || what == Intervention::Cut {
                        return;
                    }
                }
                std::thread::sleep(LOOK);
            }
        });
        Self { done }
    }

    /// What was done since it was asked last; the first is waited for so long.
    pub(crate) fn done(&self, wait: Duration) -> Vec<Done> {
        self.done.recv_timeout(wait).into_iter().chain(self.done.try_iter()).collect()
    }
}

/// The time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The end of a journal that grows.
#[derive(Debug)]
struct Tail {
    path: PathBuf,
    read: u64,
}

impl Tail {
    fn from_now_on(path: PathBuf) -> Self {
        let read = length(&path);
        Self { path, read }
    }

    /// Steps that have begun since it was asked last.
    fn begun(&mut self) -> Vec<String> {
        let length = length(&self.path);
        if length < self.read {
            // It was written anew, in fewer lines.
            self.read = length;
        }
        if length == self.read {
            return Vec::new();
        }
        let mut bytes = Vec::new();
        let read = std::fs::File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut bytes)
        });
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if read.is_err() {
            return Vec::new();
        }
        self.read += u64::try_from(whole).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).into_owned();
        text.lines().filter_map(begins).collect()
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |status| status.len())
}

/// The step whose beginning a line of the journal records.
fn begins(line: &str) -> Option<String> {
    let (_, json) = line.split_once(' ')?;
    let record: Value = serde_json::from_str(json).ok()?;
    let word = |name: &str| record.get(name).and_then(Value::as_str);
    (word("outcome")? == "started").then(|| word("step").map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn line(step: &str, outcome: &str) -> String {
        format!("00 {{\"is\":\"step\",\"step\":\"{step}\",\"outcome\":\"{outcome}\"}}\n")
    }

    #[test]
    fn only_what_is_new_and_whole_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(line("a", "started").as_bytes()).unwrap();
        let mut tail = Tail::from_now_on(file.path().to_owned());
        let next = line("b", "started");
        let (half, rest) = next.split_at(20);
        file.write_all(line("a", "succeeded").as_bytes()).unwrap();
        file.write_all(half.as_bytes()).unwrap();
        assert_eq!(tail.begun(), Vec::<String>::new());
        file.write_all(rest.as_bytes()).unwrap();
        assert_eq!(tail.begun(), ["b"]);
        assert_eq!(tail.begun(), Vec::<String>::new());
    }

    #[test]
    fn a_kill_of_a_unit_that_has_started_all_the_same_came_too_late() {
        let late = |words: &[(&str, &str, &str)]| {
            let event = |(actor, step, event): &(&str, &str, &str)| Event {
                at_ms: 0,
                boot: "1".to_owned(),
                actor: (*actor).to_owned(),
                step: (*step).to_owned(),
                event: (*event).to_owned(),
                why: String::new(),
            };
            late_kills(&words.iter().map(event).collect::<Vec<_>>())
        };
        let unit = "bringup-steps.service";
        let (starting, killed) = ((unit, "", "starting"), ("lab", unit, "killed"));
        let (exited, failed, started) = ((unit, "", "exited"), (unit, "", "failed"), (unit, "", "started"));
        assert_eq!(late(&[starting, killed, started]), [1]);
        assert!(late(&[starting, killed, exited, failed]).is_empty());
        assert!(late(&[starting, killed, exited, starting, started]).is_empty(), "it was started again");
        assert!(late(&[starting, killed]).is_empty());
        // What is killed there is the agent.
        let (theirs, kubelet) = (("lab", "kubelet.service", "killed"), ("kubelet.service", "", "started"));
        assert!(late(&[theirs, kubelet]).is_empty());
    }

    #[test]
    fn each_is_done_once_in_whatever_order_they_were_written() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut wanted = Wanted { cuts: names("c a b"), kills: names("b") };
        let mut done = Vec::new();
        for step in ["a", "b", "b", "b", "d"] {
            if let Some(what) = wanted.at(step) {
                assert!(wanted.take(step, what));
                done.push((step, what));
            }
        }
        let (cut, kill) = (Intervention::Cut, Intervention::Kill);
        assert_eq!(done, [("a", cut), ("b", cut), ("b", kill)]);
        assert_eq!(wanted.left(), ["--power-cut c"]);
        assert!(!wanted.is_empty());
    }
}
