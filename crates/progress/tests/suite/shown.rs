//! What others see: text and JSON, held against the schemas.

use bringup_progress::{AtWork, Event, FailureKind, Happened, SCHEMAS, Standing, line, page};
use serde_json::Value;

use crate::machine::{Answer, End, Machine};
use crate::plans::{file, identify, plan, run};

fn schema(name: &str) -> Value {
    let (_, text) = SCHEMAS.into_iter().find(|(known, _)| *known == name).expect("a schema");
    serde_json::from_str(text).expect("JSON")
}

/// What does not fit: as much of JSON Schema as ours use.
fn fault(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.strip_prefix('#')?).expect("a definition");
        return fault(root, target, value, path);
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return (!words.contains(value)).then(|| format!("{path}: {value}"));
    }
    match schema.get("type").and_then(Value::as_str).expect("a type") {
        "string" => (!value.is_string()).then(|| format!("{path}: {value}")),
        "integer" => (!value.is_u64()).then(|| format!("{path}: {value}")),
        "array" => value
            .as_array()
            .expect("a list")
            .iter()
            .find_map(|item| fault(root, &schema["items"], item, &format!("{path}[]"))),
        "object" => {
            let (value, known) = (value.as_object().expect("an object"), &schema["properties"]);
            for name in schema["required"].as_array().expect("names") {
                if !value.contains_key(name.as_str().expect("a name")) {
                    return Some(format!("{path} lacks {name}"));
                }
            }
            value.iter().find_map(|(key, value)| match known.get(key) {
                Some(schema) => fault(root, schema, value, &format!("{path}.{key}")),
                None => Some(format!("{path}.{key} is unknown")),
            })
        }
        other => Some(format!("{path}: type {other}")),
    }
}

fn fits(name: &str, value: &impl serde::Serialize) {
    let schema = schema(name);
    let value = serde_json::to_value(value).unwrap();
    assert_eq!(fault(&schema, &schema, &value, name), None);
}

fn unlucky(on_failure: &str, attempts: u32) -> (Machine, End) {
    let steps = [
        identify(),
        file("/etc/a", "fetch", "x"),
        run("driver", "pre-install", attempts, on_failure),
        run("last", "post-install", 1, "pause"),
    ];
    let mut machine = Machine::answering("driver", &vec![Answer::Fails(FailureKind::Transient); 9]);
    machine.most_waits = 3;
    let end = machine.up(&plan(&steps));
    (machine, end)
}

#[test]
fn everything_that_is_written_fits_its_schema() {
    for (on_failure, attempts) in [("pause", 2), ("give-up", 2), ("continue", 1), ("retry", 1)] {
        let (machine, end) = unlucky(on_failure, attempts);
        machine.statuses.iter().for_each(|status| fits("status", status));
        machine.events.iter().for_each(|event| fits("event", event));
        match end {
            End::Done(done) => fits("done", &done),
            End::GaveUp(failed, _) => fits("failed", &failed),
            End::Stuck(status) => fits("status", &status),
            end => panic!("{end:?}"),
        }
    }
}

#[test]
fn the_schemas_words_are_the_types_words() {
    let status = schema("status");
    let phases: Vec<&str> = bringup_spec::Phase::ALL.iter().map(|phase| phase.word()).collect();
    assert_eq!(status["$defs"]["phase"]["enum"], serde_json::json!(phases));
    let pattern = |word: &str| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
    assert!(Happened::ALL.iter().all(|word| pattern(word.word())));
    for standing in [
        Standing::Running,
        Standing::Waiting,
        Standing::Paused,
        Standing::Rebooting,
        Standing::HandedOver,
        Standing::GaveUp,
        Standing::Done,
    ] {
        assert_eq!(serde_json::to_value(standing).unwrap(), standing.word());
        assert!(
            status["properties"]["standing"]["enum"].as_array().unwrap().contains(&standing.word().into())
        );
    }
}

#[test]
fn an_event_is_what_the_contract_says() {
    let event = Event::of_agent(7, "b", "driver", Happened::GaveUp, "no luck");
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"at_ms":7,"boot":"b","actor":"agent","step":"driver","event":"gave-up","why":"no luck"}"#
    );
}

#[test]
fn a_paused_node_says_what_to_mend() {
    let (_, end) = unlucky("pause", 1);
    let End::Stuck(mut status) = end else { panic!() };
    status.next_try_at_ms = Some(10_000);
    assert_eq!(
        line(&status),
        "paused at step 3 of 4: driver: no luck; to mend: try luck; it is tried again by itself, at the latest every 30 s"
    );
    assert_eq!(
        page(&status, 5_500, AtWork::Somebody),
        "lab/workers on one
paused at step 3 of 4: driver
  why: no luck
  fix: try luck; it is tried again by itself, at the latest every 30 s
  next try: in 5 s
  | a
  | b

done      identify      identify
done      fetch         file:/etc/a
paused    pre-install   driver
          post-install  last
"
    );
    assert!(page(&status, 20_000, AtWork::Somebody).contains("  next try: now\n"));
    let left = page(&status, 5_500, AtWork::Nobody);
    assert!(left.contains("  no agent is at work on it now; `bringup-node up` goes on\n"), "{left}");
    assert!(!left.contains("next try") && left.contains("begun     pre-install   driver\n"), "{left}");
}

#[test]
fn other_ends_are_told() {
    let (machine, _) = unlucky("give-up", 2);
    assert_eq!(line(machine.statuses.last().unwrap()), "gave up at step 3 of 4: driver (attempt 2): no luck");
    let (machine, _) = unlucky("continue", 1);
    let last = machine.statuses.last().unwrap();
    assert_eq!(line(last), "done, but for what failed and was passed over: driver");
    assert!(page(last, 0, AtWork::Nobody).ends_with(
        "\n\ndone      identify      identify\ndone      fetch         file:/etc/a\nfailed    pre-install   driver: no luck\ndone      post-install  last\n"
    ));
    let (machine, _) = unlucky("retry", 1);
    assert!(
        line(machine.statuses.last().unwrap())
            .starts_with("step 3 of 4: driver (attempt 4) failed and is tried again")
    );
}

#[test]
fn a_programs_output_cannot_move_the_cursor() {
    let (_, end) = unlucky("pause", 1);
    let End::Stuck(mut status) = end else { panic!() };
    status.tail = "\u{1b}[2Jx\r\n".to_owned();
    status.why = "a\nb".to_owned();
    assert!(!page(&status, 0, AtWork::Somebody).contains('\u{1b}'));
    assert!(line(&status).contains("a b"));
}
