//! Flatcar's update engine, played by a stand-in at the other end of a private socket: its words are those of
//! `com.coreos.update1`, its answers what a real engine would say in that order.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "the test stands for the rest of the system")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bringup_systemd::wire::{Kind, Message, Value};
use bringup_systemd::{UpdateEngine, Updated};

const MANAGER: &str = "com.coreos.update1.Manager";

/// A bus with an engine on it: how it stands first, and what it says once it is asked for an update.
struct StandIn {
    folder: PathBuf,
    thread: Option<std::thread::JoinHandle<Vec<String>>>,
}

impl StandIn {
    fn new(name: &str, first: &'static str, then: &'static [&'static str]) -> Self {
        let folder = std::env::temp_dir().join(format!("bringup-update-{}-{name}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let listener = UnixListener::bind(folder.join("bus")).unwrap();
        let thread = std::thread::spawn(move || play(&listener.accept().unwrap().0, first, then));
        Self { folder, thread: Some(thread) }
    }

    fn update(&mut self, time: Duration) -> (Updated, Vec<String>) {
        let mut engine = UpdateEngine::at(&self.folder.join("bus")).unwrap();
        let ended = engine.update(Instant::now() + time).unwrap();
        drop(engine);
        (ended, self.thread.take().unwrap().join().unwrap())
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Plays until the other side has gone; the methods that were called.
fn play(mut stream: &UnixStream, first: &'static str, then: &[&'static str]) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut called = Vec::new();
    let mut begun = false;
    let mut now = first;
    let mut serial = 0;
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk).unwrap_or(0);
        if count == 0 {
            return called;
        }
        bytes.extend_from_slice(&chunk[..count]);
        if !begun && bytes.ends_with(b"BEGIN\r\n") {
            bytes.clear();
            begun = true;
            stream.write_all(b"OK 0123456789abcdef\r\n").unwrap();
        }
        while begun && bytes.len() >= 16 {
            let number = |at: usize| {
                usize::try_from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
            };
            let total = (16 + number(12)).next_multiple_of(8) + number(4);
            if bytes.len() < total {
                break;
            }
            let call = Message::from_bytes(&bytes.drain(..total).collect::<Vec<u8>>()).unwrap();
            let member = call.member.clone().unwrap();
            let body = match member.as_str() {
                "GetStatus" => status(now),
                "Hello" => vec![Value::text(":1.7")],
                _ => Vec::new(),
            };
            serial += 1;
            let answer = Message {
                kind: Kind::Answer,
                serial,
                answers: Some(call.serial),
                destination: None,
                path: None,
                interface: None,
                member: None,
                error: None,
                body,
            };
            stream.write_all(&answer.to_bytes()).unwrap();
            if member == "AttemptUpdate" {
                for word in then {
                    now = word;
                    serial += 1;
                    let mut news =
                        Message::call(None, "/com/coreos/update1", MANAGER, "StatusUpdate", status(word));
                    news.kind = Kind::Signal;
                    news.serial = serial;
                    stream.write_all(&news.to_bytes()).unwrap();
                }
            }
            called.push(member);
        }
    }
}

fn status(word: &str) -> Vec<Value> {
    let operation = format!("UPDATE_STATUS_{word}");
    vec![Value::I64(0), Value::Double(0.5), Value::text(operation), Value::text("4081.2.0"), Value::I64(512)]
}

const SOON: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

fn failed(during: &str) -> Updated {
    Updated::Failed { during: format!("UPDATE_STATUS_{during}") }
}

#[test]
fn an_update_is_followed_until_it_needs_a_reboot() {
    let way = &[
        "CHECKING_FOR_UPDATE",
        "UPDATE_AVAILABLE",
        "DOWNLOADING",
        "DOWNLOADING",
        "VERIFYING",
        "FINALIZING",
        "UPDATED_NEED_REBOOT",
    ];
    let (ended, called) = StandIn::new("whole", "IDLE", way).update(LONG);
    assert_eq!(ended, Updated::NeedsReboot { version: "4081.2.0".to_owned() });
    // It listens before it asks: what comes at once is heard.
    assert_eq!(called, ["Hello", "AddMatch", "GetStatus", "AttemptUpdate"]);
}

#[test]
fn where_there_is_no_update_it_is_current() {
    let (ended, _) = StandIn::new("none", "IDLE", &["CHECKING_FOR_UPDATE", "IDLE"]).update(LONG);
    assert_eq!(ended, Updated::Current);
}

#[test]
fn one_that_waits_for_its_reboot_is_not_asked_for_again() {
    let (ended, called) = StandIn::new("waits", "UPDATED_NEED_REBOOT", &[]).update(LONG);
    assert_eq!(ended, Updated::NeedsReboot { version: "4081.2.0".to_owned() });
    assert!(!called.contains(&"AttemptUpdate".to_owned()), "{called:?}");
}

#[test]
fn errors_are_heeded() {
    let way = &["CHECKING_FOR_UPDATE", "DOWNLOADING", "REPORTING_ERROR_EVENT", "IDLE"];
    assert_eq!(StandIn::new("error", "IDLE", way).update(LONG).0, failed("DOWNLOADING"));
    // One that was at work and is idle has not told all.
    let way = &["CHECKING_FOR_UPDATE", "UPDATE_AVAILABLE", "DOWNLOADING", "IDLE"];
    assert_eq!(StandIn::new("silent", "IDLE", way).update(LONG).0, failed("DOWNLOADING"));
    let way = &["CHECKING_FOR_UPDATE", "REPORTING_ERROR_EVENT"];
    assert_eq!(StandIn::new("check", "IDLE", way).update(LONG).0, failed("CHECKING_FOR_UPDATE"));
}

#[test]
fn what_hangs_ends_with_the_deadline() {
    let way = &["CHECKING_FOR_UPDATE", "DOWNLOADING"];
    let (ended, _) = StandIn::new("hangs", "IDLE", way).update(SOON);
    assert_eq!(ended, Updated::Late { during: "UPDATE_STATUS_DOWNLOADING".to_owned() });
}

#[test]
fn one_that_is_at_work_already_is_followed() {
    let (ended, called) = StandIn::new("busy", "DOWNLOADING", &[]).update(SOON);
    assert_eq!(ended, Updated::Late { during: "UPDATE_STATUS_DOWNLOADING".to_owned() });
    assert!(!called.contains(&"AttemptUpdate".to_owned()), "{called:?}");
}
