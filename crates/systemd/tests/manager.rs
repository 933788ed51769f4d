//! The manager, played by a stand-in at the other end of a socket: what is asked at once is answered as it comes.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "the test stands for the rest of the system")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use bringup_systemd::wire::{Kind, Message, Value};
use bringup_systemd::{Activity, BusFault, Connection, Question, Systemd};

/// What is known of the unit. `NRestarts` is left out: old versions refuse it.
fn known(name: &str) -> Option<Value> {
    let variant = |value| Some(Value::Variant(Box::new(value)));
    match name {
        "ActiveState" => variant(Value::text("active")),
        "SubState" => variant(Value::text("running")),
        "Job" => variant(Value::Structure(vec![Value::U32(0), Value::Path("/".to_owned())])),
        "InvocationID" => variant(Value::Array("y".to_owned(), vec![Value::Byte(0xab), Value::Byte(1)])),
        "Result" => variant(Value::text("success")),
        "MainPID" => variant(Value::U32(77)),
        "ExecMainCode" | "ExecMainStatus" => variant(Value::I32(0)),
        _ => None,
    }
}

fn answer(call: &Message) -> Message {
    let mut answer = Message::call(None, "/", "a.b", "C", Vec::new());
    (answer.path, answer.interface, answer.member) = (None, None, None);
    (answer.kind, answer.serial, answer.answers) = (Kind::Answer, call.serial, Some(call.serial));
    match call.member.as_deref() {
        Some("GetUnit") => answer.body = vec![Value::Path("/unit".to_owned())],
        _ => {
            if let Some(value) = known(call.body[1].as_text().unwrap()) {
                answer.body = vec![value];
            } else {
                (answer.kind, answer.error) = (Kind::Error, Some("x.UnknownProperty".to_owned()));
                answer.body = vec![Value::text("no such property")];
            }
        }
    }
    answer
}

fn signal() -> Vec<u8> {
    let mut signal = Message::call(None, "/", "a.b", "UnitNew", vec![Value::text("x")]);
    (signal.kind, signal.serial) = (Kind::Signal, 1);
    signal.to_bytes()
}

/// Plays with a manager that has heard all that was asked at once before it answers, from the last to the first, with news
/// before each answer. Gives what the test gives, and how many questions came each time.
fn played<T>(test: impl FnOnce(Connection) -> T) -> (T, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let manager = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut chunk = [0; 16384];
        let count = stream.read(&mut chunk).unwrap();
        assert!(chunk[..count].ends_with(b"BEGIN\r\n"));
        stream.write_all(b"OK 0123456789abcdef\r\n").unwrap();
        let mut asked = Vec::new();
        loop {
            let count = stream.read(&mut chunk).unwrap();
            if count == 0 {
                return asked;
            }
            let (mut at, mut answers) = (0, Vec::new());
            while at < count {
                let number = |from: usize| {
                    let bytes = chunk[at + from..at + from + 4].try_into().unwrap();
                    usize::try_from(u32::from_le_bytes(bytes)).unwrap()
                };
                let total = (16 + number(12)).next_multiple_of(8) + number(4);
                answers.push(answer(&Message::from_bytes(&chunk[at..at + total]).unwrap()).to_bytes());
                at += total;
            }
            asked.push(answers.len());
            for answer in answers.iter().rev() {
                stream.write_all(&signal()).unwrap();
                stream.write_all(answer).unwrap();
            }
        }
    });
    let given = test(Connection::peer(&socket).unwrap());
    (given, manager.join().unwrap())
}

#[test]
fn a_unit_is_asked_about_at_once() {
    let (state, asked) = played(|connection| Systemd::over(connection).state("kubelet.service").unwrap());
    let state = state.unwrap();
    assert_eq!((state.activity, state.main_process), (Activity::Active, Some(77)));
    assert_eq!((state.sub_state.as_str(), state.result.as_str()), ("running", "success"));
    assert_eq!((state.restarts, state.queued, state.invocation.as_str()), (None, false, "ab01"));
    assert_eq!(asked, [1, 9]);
}

#[test]
fn whether_it_still_runs_is_one_way_there_and_back() {
    let (process, asked) =
        played(|connection| Systemd::over(connection).active_process("kubelet.service").unwrap());
    assert_eq!(process, Some(77));
    assert_eq!(asked, [2]);
}

#[test]
fn each_answer_goes_to_its_question_and_no_news_is_lost() {
    let get = |name: &str| Question {
        destination: "d",
        path: "/unit",
        interface: "p",
        member: "Get",
        body: vec![Value::text("i"), Value::text(name)],
    };
    let (told, _) = played(|mut connection| {
        let second = Duration::from_secs(1);
        let answers = connection.ask(&[get("SubState"), get("Nothing"), get("MainPID")], second).unwrap();
        let mut news = 0;
        while news < 3 && connection.signal(std::time::Instant::now() + second).unwrap().is_some() {
            news += 1;
        }
        (answers, news)
    });
    let (answers, news) = told;
    let [sub_state, refused, process] = <[_; 3]>::try_from(answers).unwrap();
    assert_eq!(sub_state.unwrap()[0].clone().unwrapped(), Value::text("running"));
    assert!(matches!(refused, Err(BusFault::Error { name, .. }) if name == "x.UnknownProperty"));
    assert_eq!(process.unwrap()[0].clone().unwrapped(), Value::U32(77));
    assert_eq!(news, 3);
}
