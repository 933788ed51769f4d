//! What the agent wrote down of a boot that was cut, and could not tell any more.
//!
//! Its events go through the system's journal, and the last of them are lost with the power. Its own journal is on the disk
//! before anything else happens.

use std::collections::BTreeMap;

use bringup_progress::Event;
use serde_json::Value;

/// What is written down is told at once.
const AT_ONCE_MS: u64 = 20;

/// Events of the last boot that an agent's journal tells of and that were not `seen`; `boot` is what they are told as.
/// One that was lost before others were seen, with an agent that was killed, is no end of the story: it is left out.
pub(crate) fn untold(journal: &str, seen: &[&Event], boot: usize) -> Vec<Event> {
    let records: Vec<Value> =
        journal.lines().filter_map(|line| serde_json::from_str(line.split_once(' ')?.1).ok()).collect();
    let own = |record: &Value| record.get("boot").cloned();
    let last = records.last().and_then(own);
    let mut told: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for event in seen.iter().filter(|event| event.actor == "agent") {
        told.entry((&event.step, &event.event)).or_default().push(event.at_ms);
    }
    let latest = seen.iter().filter(|event| event.actor == "agent").map(|event| event.at_ms).max();
    let mut found = Vec::new();
    // The last ones first: of several attempts the later ones are those that were seen.
    for record in records.iter().rev().filter(|record| own(record) == last) {
        let word = |name: &str| record.get(name).and_then(Value::as_str);
        let (Some(step), Some(event)) = (word("step"), word("outcome").and_then(event)) else { continue };
        // The gate's end has a word of its own.
        let words = if event == "finished" { [event, "opened"] } else { [event, event] };
        let at_ms = record.get("at_ms").and_then(Value::as_u64).unwrap_or_default();
        // What was told long before it was written down is an earlier attempt's.
        let is_told =
            |times: &Vec<u64>| times.last().is_some_and(|time| time.saturating_add(AT_ONCE_MS) >= at_ms);
        let known = words.into_iter().find(|word| told.get(&(step, *word)).is_some_and(is_told));
        if let Some(times) = known.and_then(|word| told.get_mut(&(step, word))) {
            times.pop();
            continue;
        }
        if latest.is_some_and(|latest| at_ms < latest) {
            continue;
        }
        found.push(Event {
            at_ms,
            boot: boot.to_string(),
            actor: "agent".to_owned(),
            step: step.to_owned(),
            event: event.to_owned(),
            why: String::new(),
        });
    }
    found.reverse();
    found
}

/// The event that a record's outcome is told as, if it has one of its own.
fn event(outcome: &str) -> Option<&'static str> {
    match outcome {
        "started" => Some("started"),
        "succeeded" => Some("finished"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(boot: &str, step: &str, outcome: &str) -> String {
        format!(
            "00 {{\"at_ms\":7,\"boot\":\"{boot}\",\"is\":\"step\",\"step\":\"{step}\",\"outcome\":\"{outcome}\"}}\n"
        )
    }

    fn seen(step: &str, event: &str) -> Event {
        let [step, event] = [step, event].map(str::to_owned);
        Event { at_ms: 7, boot: "2".to_owned(), actor: "agent".to_owned(), step, event, why: String::new() }
    }

    #[test]
    fn what_the_agent_could_not_tell_any_more_is_told_once() {
        let journal = [
            record("a", "drivers", "started"),
            "00 {\"at_ms\":7,\"boot\":\"b\",\"is\":\"plan\",\"digest\":\"00\"}\n".to_owned(),
            record("b", "drivers", "started"),
            record("b", "drivers", "started"),
            record("b", "drivers", "succeeded"),
            record("b", "gate", "started"),
            "00 {\"torn".to_owned(),
        ];
        let told = [seen("drivers", "started"), seen("drivers", "failed")];
        let found = untold(&journal.concat(), &told.iter().collect::<Vec<_>>(), 2);
        let words: Vec<_> = found.iter().map(|event| (event.step.as_str(), event.event.as_str())).collect();
        assert_eq!(words, [("drivers", "started"), ("drivers", "finished"), ("gate", "started")]);
        assert!(found.iter().all(|event| event.boot == "2" && event.at_ms == 7 && event.actor == "agent"));
    }

    /// An agent that was killed had begun a step, and could not tell; the next one did.
    #[test]
    fn what_an_agent_lost_before_another_one_told_more_is_no_end() {
        let journal =
            [record("b", "kubelet", "started"), record("b", "kubelet", "started").replace(":7", ":9")];
        let told = [Event { at_ms: 9, ..seen("kubelet", "started") }];
        let journal = journal.concat() + &record("b", "kubelet", "succeeded").replace(":7", ":9");
        let found = untold(&journal, &told.iter().collect::<Vec<_>>(), 1);
        let words: Vec<_> = found.iter().map(|event| (event.at_ms, event.event.as_str())).collect();
        assert_eq!(words, [(9, "finished")]);
    }

    /// The second agent of a boot learns the facts again, and was cut off before it could tell that it had.
    #[test]
    fn an_earlier_attempt_that_was_told_is_not_taken_for_a_later_one() {
        let at = |record: String, at_ms: u64| record.replace(":7", &format!(":{at_ms}"));
        let journal = [
            record("b", "identify", "started"),
            record("b", "identify", "succeeded"),
            at(record("b", "identify", "started"), 500),
            at(record("b", "identify", "succeeded"), 503),
            at(record("b", "kubelet", "started"), 503),
        ];
        let again = Event { at_ms: 500, ..seen("identify", "started") };
        let told = [seen("identify", "started"), seen("identify", "finished"), again];
        let found = untold(&journal.concat(), &told.iter().collect::<Vec<_>>(), 1);
        let words: Vec<_> = found.iter().map(|event| (event.step.as_str(), event.event.as_str())).collect();
        assert_eq!(words, [("identify", "finished"), ("kubelet", "started")]);
    }

    #[test]
    fn an_open_gate_is_its_steps_end() {
        let journal = [record("b", "gate", "started"), record("b", "gate", "succeeded")].concat();
        let told = [seen("gate", "started"), seen("gate", "opened")];
        assert_eq!(untold(&journal, &told.iter().collect::<Vec<_>>(), 1), []);
    }
}
