//! Whether what was seen agrees with the order that was promised.

use std::collections::BTreeMap;

use bringup_plan::Plan;
use bringup_progress::Event;
use bringup_spec::Phase;

/// Events in the order in which they happened: a journal that is busy hears of a unit before it hears what the agent has said
/// earlier.
pub(crate) fn as_it_happened(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| (event.boot.parse::<usize>().unwrap_or_default(), event.at_ms));
    events
}

/// What a list of events says against what was promised: kubelet starts after the gate has opened, and once in a boot
/// unless it ended in between; the agent does its steps in the plan's order and one at a time; all before the gate are
/// done when it opens; the document's own assertions hold.
pub(crate) fn disagreements(events: &[Event], plan: Option<&Plan>) -> Vec<String> {
    let mut against = Vec::new();
    let mut boots: BTreeMap<usize, Vec<&Event>> = BTreeMap::new();
    for event in events {
        boots.entry(event.boot.parse().unwrap_or_default()).or_default().push(event);
    }
    for (boot, events) in boots {
        let mut found = Vec::new();
        if let Some(plan) = plan {
            kubelet(&events, &mut found);
            steps(&events, plan, &mut found);
            for assertion in &plan.order {
                asserted(&events, assertion, plan, &mut found);
            }
        }
        against.extend(found.into_iter().map(|text| format!("boot {boot}: {text}")));
    }
    against
}

fn kubelet(events: &[&Event], against: &mut Vec<String>) {
    // Nobody can tell what came first in one millisecond.
    let is_open = |at_ms| {
        let mut until_then = events.iter().take_while(|event| event.at_ms <= at_ms);
        until_then.any(|event| event.actor == "agent" && event.event == "opened")
    };
    let mut runs = false;
    for event in events.iter().filter(|event| event.actor == "kubelet.service") {
        match event.event.as_str() {
            "started" => {
                if !is_open(event.at_ms) {
                    against.push("kubelet started before the gate opened".to_owned());
                }
                if runs {
                    against.push("kubelet was started twice".to_owned());
                }
                runs = true;
            }
            "stopped" | "failed" | "exited" => runs = false,
            _ => {}
        }
    }
}

/// Whether a word ends an attempt at a step.
fn settles(event: &str) -> bool {
    !matches!(event, "started" | "adopted" | "resumed" | "retrying" | "paused")
}

fn steps(events: &[&Event], plan: &Plan, against: &mut Vec<String>) {
    let places: BTreeMap<&str, usize> = plan.steps.iter().map(|step| step.name.as_str()).zip(0..).collect();
    let mut under_way: Option<&str> = None;
    let mut last = 0;
    let mut settled = std::collections::BTreeSet::new();
    for event in events.iter().filter(|event| event.actor == "agent") {
        if event.event == "began" {
            // Another agent, which goes through the plan from the beginning.
            (under_way, last) = (None, 0);
        }
        let Some(place) = places.get(event.step.as_str()).copied() else { continue };
        let name = event.step.as_str();
        if event.event == "started" {
            if let Some(other) = under_way.filter(|other| *other != name) {
                against.push(format!("`{name}` began while `{other}` was under way"));
            }
            if place < last {
                against.push(format!("`{name}` began after a step that follows it in the plan"));
            }
            (under_way, last) = (Some(name), place);
        } else if settles(&event.event) {
            under_way = None;
        }
        if matches!(event.event.as_str(), "finished" | "skipped" | "continued" | "rebooted") {
            settled.insert(name);
        }
        if event.event == "opened" {
            settled.insert(name);
            // Some steps are another node's.
            let due = plan.steps.iter().take(place);
            let due = due.filter(|step| step.phase < Phase::Gate && !step.elected_only && !step.others_only);
            let missing = due.filter(|step| !settled.contains(step.name.as_str()));
            against.extend(missing.map(|step| format!("the gate opened before `{}` was done", step.name)));
        }
    }
}

/// When something begins, and when it has settled.
#[derive(Default)]
struct Span {
    begins: Option<usize>,
    settles: Option<usize>,
    well: bool,
}

/// The span of a unit, a step or a phase in a boot, by places in the list of events.
fn span(events: &[&Event], name: &str, plan: &Plan) -> Span {
    // systemd tells of a unit by its first name.
    let unit = plan.units.iter().find(|unit| unit.aliases.iter().any(|alias| alias == name));
    let name = unit.map_or(name, |unit| unit.name.as_str());
    let phase = |step: &str| plan.steps.iter().find(|own| own.name == step).map(|own| own.phase.to_string());
    let hook = |step: &str| step.strip_prefix("hook:") == Some(name);
    let mut span = Span::default();
    for (place, event) in events.iter().enumerate() {
        let unit = event.actor == name;
        let step =
            event.actor == "agent" && !event.step.is_empty() && (event.step == name || hook(&event.step));
        let phase = event.actor == "agent" && phase(&event.step).as_deref() == Some(name);
        if !(unit || step || phase) {
            continue;
        }
        let word = event.event.as_str();
        if unit && matches!(word, "starting" | "started") || !unit && word == "started" {
            span.begins.get_or_insert(place);
        }
        let settled = if unit { matches!(word, "started" | "failed") } else { settles(word) };
        // A phase has settled with its last step.
        if settled && (phase || span.settles.is_none()) {
            span.settles = Some(place);
            span.well = !matches!(word, "failed" | "timed-out" | "gave-up");
        }
    }
    span
}

fn asserted(events: &[&Event], assertion: &str, plan: &Plan, against: &mut Vec<String>) {
    let words: Vec<&str> = assertion.split_whitespace().collect();
    let (first, second, well) = match words.as_slice() {
        [first, "before", second] => (*first, *second, false),
        [first, "succeeds", "before", second] => (*first, *second, true),
        [one, "eventually", "active"] => {
            // A boot that was cut short says nothing about what would have come.
            let cut = events.iter().any(|event| event.actor == "lab" && event.event == "power-cut");
            if !cut && span(events, one, plan).settles.is_none() {
                against.push(format!("`{assertion}` does not hold"));
            }
            return;
        }
        [one, "never", "while", "not", "network-online"] => ("network-online.target", *one, false),
        _ => return,
    };
    let (before, after) = (span(events, first, plan), span(events, second, plan));
    let Some(begins) = after.begins else { return };
    if before.settles.is_none_or(|settles| settles > begins) || (well && !before.well) {
        against.push(format!("`{assertion}` does not hold"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"generic",
            "os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname","maxPods":{"fixed":110},"units":[],
            "order":["driver succeeds before kubelet.service"],
            "steps":[
            {"name":"driver","phase":"pre-install","action":{"do":"run","command":["/bin/true"]}},
            {"name":"gate","phase":"gate","action":{"do":"openGate","environment":{},"queueKubelet":true}},
            {"name":"kubelet","phase":"kubelet","action":{"do":"startKubelet","health":"http://127.0.0.1:1/"}}]}"#;
        serde_json::from_str(text).unwrap()
    }

    /// `BOOT ACTOR STEP EVENT`, a line each; `-` for no step.
    fn told(text: &str) -> Vec<String> {
        let event = |(at_ms, line): (u64, &str)| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let [boot, actor, step, event] = words.try_into().unwrap();
            Event { at_ms, boot, actor, step: step.replace('-', ""), event, why: String::new() }
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        disagreements(&(0..).zip(lines).map(event).collect::<Vec<_>>(), Some(&plan()))
    }

    #[test]
    fn a_unit_answers_to_all_its_names() {
        let mut plan = plan();
        let unit = r#"[{"name":"bringup.service","content":"","enabled":true,"placedBy":"carrier","aliases":["kops-configuration.service"]}]"#;
        plan.units = serde_json::from_str(unit).unwrap();
        plan.order = vec!["kops-configuration.service before kubelet.service".to_owned()];
        let event = |actor: &str, event: &str| Event {
            at_ms: 0,
            boot: "1".to_owned(),
            actor: actor.to_owned(),
            step: String::new(),
            event: event.to_owned(),
            why: String::new(),
        };
        let mut events = vec![
            event("bringup.service", "starting"),
            event("bringup.service", "started"),
            event("agent", "opened"),
            event("kubelet.service", "started"),
        ];
        assert!(disagreements(&events, Some(&plan)).is_empty());
        events.swap(1, 3);
        let told = disagreements(&events, Some(&plan));
        assert!(told.contains(&format!("boot 1: `{}` does not hold", plan.order[0])), "{told:?}");
    }

    const GOOD: &str = "1 agent - began
        1 agent driver started
        1 agent driver finished
        1 agent gate started
        1 agent gate opened
        1 kubelet.service - started
        1 agent - began
        1 agent kubelet started
        1 agent kubelet finished";

    #[test]
    fn the_order_of_the_plan_agrees_in_each_boot() {
        assert!(told(GOOD).is_empty());
        let again = GOOD
            .replace("1 ", "2 ")
            .replace("2 agent driver started\n", "")
            .replace("driver finished", "driver skipped");
        assert!(told(&format!("{GOOD}\n{again}")).is_empty(), "{again}");
    }

    #[test]
    fn kubelet_before_the_gate_is_told() {
        let early = format!("1 kubelet.service - started\n1 kubelet.service - stopped\n{GOOD}");
        assert_eq!(
            told(&early),
            [
                "boot 1: kubelet started before the gate opened",
                "boot 1: `driver succeeds before kubelet.service` does not hold"
            ]
        );
    }

    /// Units tell systemd's journal by one socket and the agent by another, and each of them waits while it is busy.
    #[test]
    fn what_was_heard_late_happened_when_it_was_said() {
        let heard = |gate: u64, kubelet: u64| {
            let event = |at_ms: u64, actor: &str, step: &str, event: &str| Event {
                at_ms,
                boot: "1".to_owned(),
                actor: actor.to_owned(),
                step: step.to_owned(),
                event: event.to_owned(),
                why: String::new(),
            };
            let events = [
                event(1, "agent", "driver", "started"),
                event(2, "agent", "driver", "finished"),
                event(kubelet, "kubelet.service", "", "started"),
                event(3, "agent", "gate", "started"),
                event(gate, "agent", "gate", "opened"),
            ];
            disagreements(&as_it_happened(&events), Some(&plan()))
        };
        assert!(heard(4, 5).is_empty() && heard(4, 4).is_empty());
        assert_eq!(heard(5, 4), ["boot 1: kubelet started before the gate opened"]);
    }

    #[test]
    fn two_starts_of_one_kubelet_are_told() {
        let twice = format!("{GOOD}\n1 kubelet.service - started");
        assert_eq!(told(&twice), ["boot 1: kubelet was started twice"]);
        let again = format!("{GOOD}\n1 kubelet.service - exited\n1 kubelet.service - started");
        assert!(told(&again).is_empty());
    }

    #[test]
    fn steps_out_of_order_are_told() {
        let text = "1 agent - began
            1 agent gate started
            1 agent gate opened
            1 agent driver started";
        assert_eq!(
            told(text),
            [
                "boot 1: the gate opened before `driver` was done",
                "boot 1: `driver` began after a step that follows it in the plan"
            ]
        );
    }

    #[test]
    fn a_step_that_begins_while_another_is_under_way_is_told() {
        let text = "1 agent driver started
            1 agent gate started";
        assert_eq!(told(text), ["boot 1: `gate` began while `driver` was under way"]);
    }
}
