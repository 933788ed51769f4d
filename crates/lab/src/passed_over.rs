//! What failed on a machine without keeping it from coming up.

use std::collections::BTreeSet;

use bringup_progress::Event;
use serde::Serialize;

use crate::container::AGENT_UNITS;
use crate::ended;

/// So many lines of what a program wrote are shown.
const LINES: usize = 10;

/// What failed: ours, or somebody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A step, without which the agent went on, or the script that runs the steps without it.
    Step,
    /// A unit that nobody of ours waits for.
    Unit,
}

/// Something that failed, and that the machine went on without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// In which boot.
    pub boot: String,
    /// What it is.
    pub kind: Kind,
    /// The step or the unit.
    pub what: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The last lines of what it wrote; of the last boot that it was begun in only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

impl PassedOver {
    /// For people: what failed, and why.
    fn told(&self) -> String {
        let Self { what, why, .. } = self;
        let passed = if self.kind == Kind::Step { " and was passed over" } else { "" };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        format!("`{what}` failed{passed}{why}")
    }
}

/// What failed, in one clause for people; none where nothing did.
pub(crate) fn in_one(passed: &[PassedOver]) -> Option<String> {
    let (steps, units): (Vec<_>, Vec<_>) = passed.iter().partition(|one| one.kind == Kind::Step);
    let clauses: Vec<String> = [steps, units].iter().filter_map(|kind| clause(kind)).collect();
    (!clauses.is_empty()).then(|| clauses.join(", and "))
}

/// What failed of one kind.
fn clause(passed: &[&PassedOver]) -> Option<String> {
    if let [one] = passed {
        return Some(one.told());
    }
    let is_step = passed.first()?.kind == Kind::Step;
    let mut names: Vec<String> = Vec::new();
    for one in passed {
        let name = format!("`{}`", one.what);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (last, others) = names.split_last()?;
    if others.is_empty() {
        let passed_over = if is_step { " and was passed over" } else { "" };
        return Some(format!("{last} failed{passed_over} in {} boots", passed.len()));
    }
    let passed_over = if is_step { " and were passed over" } else { "" };
    Some(format!("{} and {last} failed{passed_over}", others.join(", ")))
}

/// The last lines of what a program wrote.
pub(crate) fn end(written: &str) -> String {
    let lines: Vec<&str> = written.lines().collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n")
}

/// What failed in each boot and was gone on without, by what happened, in its order. A step counts until it is done in the same
/// boot, a unit until it is started again. What a reboot ends may well fail.
pub(crate) fn of(events: &[Event]) -> Vec<PassedOver> {
    let mut boots: Vec<&str> = Vec::new();
    for event in events {
        if !boots.contains(&event.boot.as_str()) {
            boots.push(&event.boot);
        }
    }
    let mut passed = Vec::new();
    for boot in boots {
        let own: Vec<&Event> = events.iter().filter(|event| event.boot == boot).collect();
        steps(&own, &mut passed);
        units(&own, &mut passed);
    }
    passed
}

fn steps(events: &[&Event], passed: &mut Vec<PassedOver>) {
    let earlier = passed.len();
    for event in events.iter().filter(|event| !event.step.is_empty() && event.actor != "lab") {
        // The second agent of a boot passes by with the reason of the first.
        let is_passed = match event.event.as_str() {
            "continued" => true,
            "skipped" => !event.why.is_empty(),
            "finished" => false,
            _ => continue,
        };
        let known = passed.iter().skip(earlier).position(|one| one.what == event.step);
        match (known, is_passed) {
            (None, true) => passed.push(PassedOver {
                boot: event.boot.clone(),
                kind: Kind::Step,
                what: event.step.clone(),
                why: event.why.clone(),
                tail: String::new(),
            }),
            (Some(place), false) => drop(passed.remove(earlier + place)),
            _ => {}
        }
    }
}

fn units(events: &[&Event], passed: &mut Vec<PassedOver>) {
    let reboots = events.iter().position(|event| event.actor == "agent" && event.event == "rebooting");
    let own: Vec<&Event> = events.iter().take(reboots.unwrap_or(events.len())).copied().collect();
    let failed: BTreeSet<&str> = ended::failed_units(own.iter().copied());
    // What runs on behalf of a step shows in it.
    let theirs =
        failed.into_iter().filter(|unit| !unit.starts_with("bringup-step-") && !AGENT_UNITS.contains(unit));
    for unit in theirs {
        let last = |word| own.iter().rev().find(|event| event.actor == unit && event.event == word);
        let exited = || last("exited").filter(|event| !event.why.is_empty());
        let Some(failed) = last("failed") else { continue };
        // Not every message of systemd's has the result.
        let why = match (failed.why.as_str(), exited()) {
            ("", Some(exited)) => format!("its program ended with status {}", exited.why),
            (why, _) => why.to_owned(),
        };
        passed.push(PassedOver {
            boot: failed.boot.clone(),
            kind: Kind::Unit,
            what: unit.to_owned(),
            why,
            tail: String::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BOOT ACTOR STEP EVENT WHY…`, a line each; `-` for no step.
    fn found(text: &str) -> Vec<PassedOver> {
        let event = |(at_ms, line): (u64, &str)| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let mut next = || words.next().unwrap();
            let [boot, actor, step, event] = [next(), next(), next(), next()];
            let step = if step == "-" { String::new() } else { step };
            Event { at_ms, boot, actor, step, event, why: words.collect::<Vec<_>>().join(" ") }
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        of(&(0..).zip(lines).map(event).collect::<Vec<_>>())
    }

    fn told(text: &str) -> Vec<String> {
        found(text).iter().map(|one| format!("{}: {}", one.boot, one.told())).collect()
    }

    const BOOT: &str = "1 agent drivers started
        1 agent drivers failed it ended with code 127
        1 bringup-step-drivers.service - failed exit-code
        1 agent drivers continued it ended with code 127
        1 agent gate opened
        1 agent - began
        1 agent kubelet finished";

    #[test]
    fn a_step_that_the_agent_went_on_without_is_told_of_each_boot_once() {
        let first = "1: `drivers` failed and was passed over: it ended with code 127";
        assert_eq!(told(BOOT), [first]);
        let second_agent = "1 agent drivers skipped it ended with code 127";
        assert_eq!(told(&format!("{BOOT}\n{second_agent}")), [first]);
        let again = BOOT.replace("1 agent", "2 agent").replace("127", "3");
        assert_eq!(
            told(&format!("{BOOT}\n{again}")),
            [first, "2: `drivers` failed and was passed over: it ended with code 3"]
        );
    }

    #[test]
    fn what_is_done_after_all_was_not_passed_over() {
        assert!(told("1 agent drivers skipped").is_empty(), "it was done before");
        assert!(
            told("1 agent drivers skipped\n1 agent drivers failed x\n1 agent drivers finished").is_empty()
        );
        assert!(told(&format!("{BOOT}\n1 agent drivers finished")).is_empty());
        assert_eq!(told(&format!("{BOOT}\n2 agent drivers finished")).len(), 1, "another boot is another");
    }

    #[test]
    fn a_unit_of_the_operators_that_failed_is_told() {
        let units = "1 theirs.service - failed exit-code
            1 silent.service - exited 100
            1 silent.service - failed
            1 again.service - failed exit-code
            1 again.service - started
            1 bringup.service - failed signal
            1 bringup-step-drivers.service - failed exit-code
            1 agent report rebooting
            1 late.service - failed exit-code";
        assert_eq!(
            told(units),
            [
                "1: `silent.service` failed: its program ended with status 100",
                "1: `theirs.service` failed: exit-code"
            ]
        );
    }

    #[test]
    fn one_clause_names_them_all() {
        let clause = |text: &str| in_one(&found(text));
        assert_eq!(clause(""), None);
        assert_eq!(clause(BOOT).unwrap(), "`drivers` failed and was passed over: it ended with code 127");
        let twice = format!("{BOOT}\n{}", BOOT.replace("1 agent", "2 agent"));
        assert_eq!(clause(&twice).unwrap(), "`drivers` failed and was passed over in 2 boots");
        let steps = format!("{BOOT}\n1 agent more continued x\n1 agent last continued x");
        assert_eq!(clause(&steps).unwrap(), "`drivers`, `more` and `last` failed and were passed over");
        let units = format!("{BOOT}\n1 theirs.service - failed exit-code");
        assert_eq!(
            clause(&units).unwrap(),
            "`drivers` failed and was passed over: it ended with code 127, and `theirs.service` failed: exit-code"
        );
    }
}
