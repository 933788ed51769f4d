//! Against a stand-in on a socket that answers as snapd does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bringup_disk::{Files, SimulatedDisk};
use bringup_plan::Snap;
use bringup_progress::FailureKind;
use bringup_spec::Text;

use super::Snapd;
use crate::actions::Stopped;

/// Answers one request after the other and says what was asked.
struct StandIn {
    folder: tempfile::TempDir,
    asked: JoinHandle<Vec<String>>,
}

impl StandIn {
    fn new(answers: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let asked = std::thread::spawn(move || answers.iter().map(|answer| one(&listener, answer)).collect());
        Self { folder, asked }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn asked(self) -> Vec<String> {
        self.asked.join().unwrap()
    }
}

/// One request, as `METHOD PATH BODY`. Every other answer is in chunks, as snapd's longer ones are.
fn one(listener: &UnixListener, answer: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    reader.read_line(&mut head).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    if !answer.is_empty() {
        let size = answer.len();
        if size.is_multiple_of(2) {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n{answer}").unwrap();
        } else {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n{answer}\r\n0\r\n\r\n"
            )
            .unwrap();
        }
    }
    let words: Vec<&str> = head.split_whitespace().take(2).collect();
    format!("{} {}", words.join(" "), String::from_utf8(body).unwrap()).trim_end().to_owned()
}

const ACCEPTED: &str = r#"{"type":"async","status-code":202,"status":"Accepted","result":null,"change":"7"}"#;
const DOING: &str = r#"{"type":"sync","result":{"id":"7","ready":false,"status":"Doing","tasks":[{"status":"Doing","summary":"Run configure hook"}]}}"#;
const DONE: &str = r#"{"type":"sync","result":{"id":"7","ready":true,"status":"Done"}}"#;

fn snap() -> Snap {
    let settings = [("node-ip".to_owned(), Text::literal("10.0.0.1"))].into_iter().collect();
    Snap { name: "kubelet-eks".to_owned(), service: "daemon".to_owned(), settings, aliases: [].into() }
}

fn brought_up(stand_in: &StandIn, runs: bool, anew: bool, seconds: u64) -> Result<(), Stopped> {
    let disk = SimulatedDisk::new();
    let (snap, files) = (snap(), Files::on(&disk));
    let deadline = Instant::now() + Duration::from_secs(seconds);
    Snapd { socket: stand_in.socket(), snap: &snap, files, deadline }.bring_up(runs, anew)
}

fn is(settings: &str) -> String {
    format!(r#"{{"type":"sync","result":{settings}}}"#)
}

const SET: &str = r#"PUT /v2/snaps/kubelet-eks/conf {"node-ip":"10.0.0.1"}"#;
const ASK: &str = "GET /v2/snaps/kubelet-eks/conf";
const LOOK: &str = "GET /v2/changes/7";
const START: &str = r#"POST /v2/apps {"action":"start","names":["kubelet-eks"]}"#;
const STOP: &str = r#"POST /v2/apps {"action":"stop","names":["kubelet-eks"]}"#;

#[test]
fn a_snap_is_set_and_started_once_and_each_change_is_waited_for() {
    let stand_in = StandIn::new(&[&is("{}"), ACCEPTED, DOING, DONE, ACCEPTED, DONE]);
    brought_up(&stand_in, false, false, 60).unwrap();
    assert_eq!(stand_in.asked(), [ASK, SET, LOOK, LOOK, START, LOOK]);
}

#[test]
fn a_snap_that_is_set_already_is_only_started_and_one_that_runs_is_left_alone() {
    let so = is(r#"{"node-ip":"10.0.0.1","image":"own"}"#);
    let stand_in = StandIn::new(&[&so, ACCEPTED, DONE]);
    brought_up(&stand_in, false, false, 60).unwrap();
    assert_eq!(stand_in.asked(), [ASK, START, LOOK]);
    let stand_in = StandIn::new(&[&so]);
    brought_up(&stand_in, true, false, 60).unwrap();
    assert_eq!(stand_in.asked(), [ASK]);
}

#[test]
fn a_snap_that_runs_stops_before_it_is_set_anew() {
    let stand_in =
        StandIn::new(&[&is(r#"{"node-ip":"10.0.0.9"}"#), ACCEPTED, DONE, ACCEPTED, DONE, ACCEPTED, DONE]);
    brought_up(&stand_in, true, false, 60).unwrap();
    assert_eq!(stand_in.asked(), [ASK, STOP, LOOK, SET, LOOK, START, LOOK]);
}

/// What one plan has set, the next one unsets if it does not have it; also if the one in between never came to its end.
#[test]
fn settings_that_no_plan_has_any_more_are_unset() {
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    let with = |names: &[&str]| {
        let settings = names.iter().map(|name| ((*name).to_owned(), Text::literal("1"))).collect();
        Snap { settings, ..snap() }
    };
    let asked = |snap: &Snap, is_set: &str, end: &str| {
        let stand_in = StandIn::new(&[&is(is_set), ACCEPTED, end]);
        let deadline = Instant::now() + Duration::from_mins(1);
        let snapd = Snapd { socket: stand_in.socket(), snap, files, deadline };
        let done = snapd.unlike().and_then(|unlike| snapd.set(unlike)).is_ok();
        (done, stand_in.asked()[1].strip_prefix("PUT /v2/snaps/kubelet-eks/conf ").unwrap().to_owned())
    };
    let set = |body: &str| (true, body.to_owned());
    assert_eq!(asked(&with(&["a", "b"]), r#"{"b":1,"image":"own"}"#, DONE), set(r#"{"a":1}"#));
    let failed = r#"{"type":"sync","result":{"ready":true,"status":"Error","err":"no"}}"#;
    let (done, _) = asked(&with(&["a", "c"]), r#"{"a":1,"b":1,"image":"own"}"#, failed);
    assert!(!done);
    // `b` was so already, and is the image's.
    let now = r#"{"a":1,"b":1,"c":1,"image":"own"}"#;
    assert_eq!(asked(&with(&["d"]), now, DONE), set(r#"{"a":null,"c":null,"d":1}"#));
    let stand_in = StandIn::new(&[&is(r#"{"b":1,"d":1,"image":"own"}"#), ACCEPTED, DONE]);
    let (snap, deadline) = (with(&["d"]), Instant::now() + Duration::from_mins(1));
    Snapd { socket: stand_in.socket(), snap: &snap, files, deadline }.take_away().unwrap();
    assert_eq!(stand_in.asked(), [ASK, r#"PUT /v2/snaps/kubelet-eks/conf {"d":null}"#, LOOK]);
    // Nothing is the agent's any more, and nobody is asked.
    let nowhere = PathBuf::from("/nowhere/snapd.socket");
    Snapd { socket: nowhere, snap: &snap, files, deadline }.take_away().unwrap();
}

/// Names come first, once; what cannot be given holds nobody up, and what was given goes with a reset.
#[test]
fn programs_are_given_names_and_they_are_taken_away() {
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    let aliases = [("kubectl", "kubectl-eks.kubectl"), ("kubelet", "kubelet-eks.kubelet")];
    let aliases = aliases.map(|(alias, program)| (alias.to_owned(), program.to_owned())).into();
    let snap = Snap { aliases, settings: [].into(), ..snap() };
    let deadline = Instant::now() + Duration::from_mins(1);
    let names = "GET /v2/aliases";
    let post = |body: &str| format!("POST /v2/aliases {body}");
    let kubectl = post(r#"{"action":"alias","alias":"kubectl","app":"kubectl","snap":"kubectl-eks"}"#);
    let kubelet = post(r#"{"action":"alias","alias":"kubelet","app":"kubelet","snap":"kubelet-eks"}"#);
    let absent = r#"{"type":"error","result":{"message":"snap \"kubectl-eks\" is not installed","kind":"snap-not-found"}}"#;
    let stand_in = StandIn::new(&[&is("{}"), absent, ACCEPTED, DONE, &is("{}"), ACCEPTED, DONE]);
    Snapd { socket: stand_in.socket(), snap: &snap, files, deadline }.bring_up(false, false).unwrap();
    assert_eq!(stand_in.asked(), [names, &kubectl, &kubelet, LOOK, ASK, START, LOOK]);
    let busy = r#"{"type":"error","result":{"message":"busy","kind":"snap-change-conflict"}}"#;
    let stand_in = StandIn::new(&[&is("{}"), busy]);
    let stopped = Snapd { socket: stand_in.socket(), snap: &snap, files, deadline }.bring_up(true, false);
    assert!(matches!(stopped, Err(Stopped::Failed(_))), "what will pass is waited for");
    assert_eq!(stand_in.asked().len(), 2);
    let stand_in = StandIn::new(&[absent, ACCEPTED, DONE]);
    Snapd { socket: stand_in.socket(), snap: &snap, files, deadline }.take_away().unwrap();
    let unalias = [("kubectl", "kubectl-eks"), ("kubelet", "kubelet-eks")]
        .map(|(alias, snap)| post(&format!(r#"{{"action":"unalias","alias":"{alias}","snap":"{snap}"}}"#)));
    assert_eq!(stand_in.asked(), [unalias[0].as_str(), &unalias[1], LOOK]);
    let nowhere = PathBuf::from("/nowhere/snapd.socket");
    Snapd { socket: nowhere, snap: &snap, files, deadline }.take_away().unwrap();
}

#[test]
fn what_snapd_says_against_it_is_heeded() {
    let failed = r#"{"type":"sync","result":{"ready":true,"status":"Error","err":"cannot perform the following tasks:\n- Run configure hook (no)"}}"#;
    let absent = r#"{"type":"error","result":{"message":"snap \"kubelet-eks\" is not installed","kind":"snap-not-found"}}"#;
    let busy = r#"{"type":"error","result":{"message":"busy","kind":"snap-change-conflict"}}"#;
    for (answers, kind, why) in [
        (
            vec![is("{}"), ACCEPTED.to_owned(), failed.to_owned()],
            FailureKind::Transient,
            "- Run configure hook (no)",
        ),
        (vec![is("{}"), absent.to_owned()], FailureKind::Operator, "is not installed"),
        (vec![is("{}"), busy.to_owned()], FailureKind::Transient, "snapd refuses: busy"),
        (vec![String::new()], FailureKind::Transient, "snapd does not answer"),
    ] {
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let stand_in = StandIn::new(&answers);
        let Err(Stopped::Failed(failure)) = brought_up(&stand_in, false, false, 60) else { panic!("{why}") };
        assert!(failure.kind == kind && failure.why.contains(why), "{failure:?}");
        assert_eq!(stand_in.asked().len(), answers.len());
    }
}

#[test]
fn a_change_that_does_not_end_is_let_go_at_the_deadline() {
    // No time at all: one look, and the change is let go.
    let stand_in = StandIn::new(&[&is("{}"), ACCEPTED, DOING, DOING]);
    let stopped = brought_up(&stand_in, false, false, 0);
    assert!(
        matches!(&stopped, Err(Stopped::TimedOut { tail }) if tail.contains("configure hook")),
        "{stopped:?}"
    );
    assert_eq!(stand_in.asked()[2..], [LOOK, r#"POST /v2/changes/7 {"action":"abort"}"#]);
}

#[test]
fn a_change_outlives_a_restart_of_snapd() {
    let stand_in = StandIn::new(&[&is("{}"), ACCEPTED, "", DONE, ACCEPTED, DONE]);
    brought_up(&stand_in, false, false, 60).unwrap();
    assert_eq!(stand_in.asked()[1..4], [SET, LOOK, LOOK]);
}
