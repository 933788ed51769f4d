//! Whether there is nothing more to see in a boot, and what it came to.

use std::collections::BTreeSet;
use std::time::Duration;

use bringup_plan::{Action, Plan, STEPS_UNIT};
use bringup_progress::Event;

use crate::Verdict;
use crate::container::AGENT_UNITS;

/// How long kubelet must have been healthy.
const STEADY: Duration = Duration::from_secs(10);
/// Once kubelet is healthy, an agent that says nothing for so long waits for an API server that there is not.
const QUIET: Duration = Duration::from_secs(3);

/// An agent that has given up and does not end in so long is not waited for any longer.
const LAST_WORDS: Duration = Duration::from_secs(70);

/// An agent that has paused looks again after 1, 2, 4, 8 and 16 seconds; by then what mends itself soon has done so.
const PATIENCE_WITH_A_PAUSE: Duration = Duration::from_secs(35);

/// Whether the agent has paused and has looked again often enough, in vain: nobody is there to mend anything.
pub(crate) fn is_stuck(events: &[&Event], quiet: Duration) -> bool {
    let last = events.iter().rev().find(|event| event.actor == "agent");
    quiet >= PATIENCE_WITH_A_PAUSE && last.is_some_and(|last| last.event == "paused")
}

/// What a boot of one of our plans came to, by the agent's own events. It says that kubelet's step has finished when
/// kubelet was active and healthy for ten seconds. What follows needs an API server: where there is none, the trial ends
/// with the first step that cannot go on. `quiet` is how long the agent has said nothing.
pub(crate) fn by_agent(events: &[&Event], plan: &Plan, quiet: Duration) -> Option<Verdict> {
    let own: Vec<&Event> = events.iter().filter(|event| event.actor == "agent").copied().collect();
    let kubelet = kubelets_step(plan);
    let healthy = healthy_since(&own, kubelet);
    let is_end =
        |event: &&Event| matches!(event.event.as_str(), "arrived" | "paused" | "retrying" | "gave-up");
    let arrivals = own.iter().filter(|event| event.event == "arrived").count();
    match (healthy, kubelet) {
        (Some(_), _) if quiet >= QUIET => Some(Verdict::CameUp),
        (Some(at), _) => own.get(at..)?.iter().any(is_end).then_some(Verdict::CameUp),
        // The first arrival is at the gate, the second at the end.
        (None, None) if arrivals >= 2 => Some(Verdict::CameUp),
        (None, _) => has_given_up(events, quiet).then_some(Verdict::Failed),
    }
}

/// Whether kubelet was healthy for ten seconds, by the agent's own word, whatever else it is at.
pub(crate) fn kubelet_is_healthy(events: &[&Event], plan: &Plan) -> bool {
    healthy_since(events, kubelets_step(plan)).is_some()
}

/// The step that starts kubelet.
fn kubelets_step(plan: &Plan) -> Option<&str> {
    let starts = |action: &Action| matches!(action, Action::StartKubelet { .. });
    plan.steps.iter().find(|step| starts(&step.action)).map(|step| step.name.as_str())
}

/// The place of the agent's word that kubelet is healthy.
fn healthy_since(events: &[&Event], kubelet: Option<&str>) -> Option<usize> {
    let kubelet = kubelet?;
    events.iter().position(|event| {
        event.actor == "agent"
            && event.step == kubelet
            && matches!(event.event.as_str(), "finished" | "skipped")
    })
}

/// Whether the agent has given up and has ended, and nobody has started it again since. In between it tells those who
/// wait for its signals.
fn has_given_up(events: &[&Event], quiet: Duration) -> bool {
    let turn = |event: &&Event| event.actor == "agent" && matches!(event.event.as_str(), "began" | "gave-up");
    let Some(last) = events.iter().rposition(turn) else { return false };
    let mut after = events.iter().skip(last);
    let gave_up = after.next().is_some_and(|event| event.event == "gave-up");
    let ends = |event: &&Event| {
        AGENT_UNITS.contains(&event.actor.as_str())
            && matches!(event.event.as_str(), "exited" | "failed" | "stopped")
    };
    gave_up && (after.any(ends) || quiet >= LAST_WORDS)
}

/// Whether kubelet has ended and was not started again.
pub(crate) fn kubelet_has_ended(events: &[&Event]) -> bool {
    let mut own = events.iter().rev().filter(|event| event.actor == "kubelet.service");
    let last = own.find(|event| matches!(event.event.as_str(), "started" | "stopped" | "failed"));
    last.is_some_and(|last| last.event != "started")
}

/// Units that have failed and were not started again since.
pub(crate) fn failed_units<'a>(events: impl Iterator<Item = &'a Event>) -> BTreeSet<&'a str> {
    let mut failed = BTreeSet::new();
    for event in events.filter(|event| event.actor.contains('.')) {
        match event.event.as_str() {
            "failed" => failed.insert(event.actor.as_str()),
            "started" => failed.remove(event.actor.as_str()),
            _ => false,
        };
    }
    failed
}

/// What is waited for in a boot and has not been seen yet: each a step or a unit, and what happens to it. A step that was done
/// before, and is passed by, has finished.
pub(crate) fn unseen<'a>(events: &[&Event], until: &'a [(String, String)]) -> Vec<&'a (String, String)> {
    let is_it = |event: &Event, what: &str| {
        event.event == what || (what == "finished" && event.event == "skipped" && event.why.is_empty())
    };
    let seen = |(who, what): &(String, String)| {
        events.iter().any(|event| (event.step == *who || event.actor == *who) && is_it(event, what))
    };
    until.iter().filter(|one| !seen(one)).collect()
}

/// What is known of a machine that nobody of ours follows step by step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// Whether cloud-init runs on it.
    pub(crate) cloud_init: bool,
    /// Whether its carrier is one that starts kubelet: it has not come up before kubelet has.
    pub(crate) expects_kubelet: bool,
    /// For how long kubelet has been healthy.
    pub(crate) healthy: Option<Duration>,
}

/// What a boot without our agent came to: its goal reached and no failed unit; and where it starts kubelet, or is to start
/// it, kubelet healthy for a while.
pub(crate) fn by_units(events: &[&Event], known: Units) -> Option<Verdict> {
    let mut starting = BTreeSet::new();
    let mut settled = BTreeSet::new();
    for event in events.iter().filter(|event| event.actor.contains('.')) {
        let unit = event.actor.as_str();
        match event.event.as_str() {
            "starting" => {
                starting.insert(unit);
            }
            "failed" | "started" => {
                starting.remove(unit);
                settled.insert(unit);
            }
            _ => {}
        }
    }
    let last = if known.cloud_init { "cloud-init.target" } else { "multi-user.target" };
    let reached = settled.contains("multi-user.target") && settled.contains(last);
    if !reached || !starting.is_empty() {
        return None;
    }
    // Our agent, which such a carrier may call, starts kubelet when it gets there.
    let last = events.iter().rev().find(|event| event.actor == "agent");
    let at_work = last.is_some_and(|last| !matches!(last.event.as_str(), "arrived" | "gave-up" | "paused"));
    if at_work && !settled.contains("kubelet.service") {
        return None;
    }
    let failed = failed_units(events.iter().copied());
    // A carrier of ours may have come as it is, without a word of what is in it.
    let expects_kubelet = known.expects_kubelet || settled.contains(STEPS_UNIT);
    let runs = settled.contains("kubelet.service") && !kubelet_has_ended(events);
    let steady = known.healthy.is_some_and(|healthy| healthy >= STEADY);
    match (failed.is_empty(), expects_kubelet || settled.contains("kubelet.service")) {
        (false, _) => Some(Verdict::Failed),
        (true, true) if !steady || (expects_kubelet && !runs) => None,
        (true, _) => Some(Verdict::CameUp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"generic",
            "os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname","maxPods":{"fixed":110},"units":[],
            "steps":[{"name":"kubelet","phase":"kubelet","action":{"do":"startKubelet","health":"http://127.0.0.1:1/"}}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn events(list: &[(&str, &str, &str)]) -> Vec<Event> {
        let event = |(actor, step, event): &(&str, &str, &str)| Event {
            at_ms: 0,
            boot: "1".to_owned(),
            actor: (*actor).to_owned(),
            step: (*step).to_owned(),
            event: (*event).to_owned(),
            why: String::new(),
        };
        list.iter().map(event).collect()
    }

    fn after(list: &[(&'static str, &'static str)]) -> Option<Verdict> {
        // Units have a dot in their names.
        let told = |(who, event): &(&'static str, &'static str)| match who.split_once('.') {
            Some(_) => (*who, "", *event),
            None => ("agent", *who, *event),
        };
        let list: Vec<_> = list.iter().map(told).collect();
        by_agent(&events(&list).iter().collect::<Vec<_>>(), &plan(), Duration::ZERO)
    }

    #[test]
    fn an_agent_that_waits_for_an_api_server_is_not_waited_for() {
        let quiet = |list: &[(&str, &str, &str)]| {
            by_agent(&events(list).iter().collect::<Vec<_>>(), &plan(), Duration::from_secs(3))
        };
        assert_eq!(quiet(&[("agent", "kubelet", "started")]), None);
        let healthy = [("agent", "kubelet", "finished"), ("agent", "registered", "started")];
        assert_eq!(quiet(&healthy), Some(Verdict::CameUp));
    }

    #[test]
    fn arriving_at_the_gate_is_not_the_end() {
        assert_eq!(after(&[("gate", "opened"), ("", "arrived")]), None);
        assert_eq!(after(&[("", "arrived"), ("kubelet", "finished")]), None);
        assert_eq!(
            after(&[("", "arrived"), ("kubelet", "finished"), ("", "arrived")]),
            Some(Verdict::CameUp)
        );
    }

    /// What is waited for may be seen between kubelet's end and the agent's arrival.
    #[test]
    fn kubelet_is_healthy_before_the_agent_has_arrived() {
        let healthy = |list: &[(&str, &str, &str)]| {
            kubelet_is_healthy(&events(list).iter().collect::<Vec<_>>(), &plan())
        };
        let done = [("agent", "kubelet", "finished"), ("agent", "report", "skipped")];
        assert!(healthy(&done) && after(&[("kubelet", "finished"), ("report", "skipped")]).is_none());
        assert!(!healthy(&[("agent", "kubelet", "started")]));
        assert!(!healthy(&[("lab", "kubelet", "finished")]));
    }

    #[test]
    fn a_pause_is_the_end_only_once_kubelet_is_healthy() {
        assert_eq!(after(&[("sysctls", "paused")]), None, "it may be mended");
        assert_eq!(after(&[("kubelet", "finished"), ("registered", "paused")]), Some(Verdict::CameUp));
        assert_eq!(after(&[("kubelet", "skipped"), ("registered", "paused")]), Some(Verdict::CameUp));
    }

    #[test]
    fn a_step_that_is_passed_by_as_done_has_finished() {
        let until = [("report", "finished"), ("drivers", "finished"), ("x.target", "started")];
        let until = until.map(|(who, what)| (who.to_owned(), what.to_owned()));
        let left = |list: &[(&str, &str, &str)]| {
            let events = events(list);
            let unseen = unseen(&events.iter().collect::<Vec<_>>(), &until);
            unseen.into_iter().map(|(who, _)| who.clone()).collect::<Vec<_>>()
        };
        assert_eq!(left(&[]), ["report", "drivers", "x.target"]);
        let seen =
            [("agent", "report", "skipped"), ("x.target", "", "started"), ("agent", "drivers", "failed")];
        assert_eq!(left(&seen), ["drivers"]);
        let failed = Event {
            why: "it ended with code 1".to_owned(),
            ..events(&[("agent", "drivers", "skipped")]).remove(0)
        };
        let drivers = [("drivers".to_owned(), "finished".to_owned())];
        assert_eq!(unseen(&[&failed], &drivers).len(), 1, "it failed earlier in the boot");
    }

    #[test]
    fn a_pause_that_lasts_is_the_end() {
        let stuck = |list: &[(&str, &str, &str)], seconds| {
            is_stuck(&events(list).iter().collect::<Vec<_>>(), Duration::from_secs(seconds))
        };
        let paused = ("agent", "hook", "paused");
        let others = ("multi-user.target", "", "started");
        assert!(stuck(&[paused, others], 35));
        assert!(!stuck(&[paused, others], 34), "it may mend itself");
        assert!(!stuck(&[paused, ("agent", "hook", "resumed")], 35));
        assert!(!stuck(&[], 35));
    }

    #[test]
    fn giving_up_before_kubelet_is_a_failure() {
        let end = [("hook", "failed"), ("hook", "gave-up"), ("bringup.service", "failed")];
        assert_eq!(after(&end), Some(Verdict::Failed));
        assert_eq!(after(&end[..2]), None, "it has yet to tell those who wait for it");
        let list = events(&[("agent", "hook", "gave-up")]);
        let late = by_agent(&list.iter().collect::<Vec<_>>(), &plan(), Duration::from_secs(70));
        assert_eq!(late, Some(Verdict::Failed));
        assert_eq!(after(&[("kubelet", "finished"), ("last", "gave-up")]), Some(Verdict::CameUp));
    }

    #[test]
    fn an_agent_that_somebody_starts_again_has_not_given_up() {
        assert_eq!(after(&[("hook", "gave-up"), ("", "began"), ("hook", "started")]), None);
        let again = [("hook", "gave-up"), ("", "began"), ("kubelet", "finished"), ("", "arrived")];
        assert_eq!(after(&again), Some(Verdict::CameUp));
    }

    #[test]
    fn a_kubelet_that_somebody_stops_has_ended_until_it_is_started_again() {
        let ended = |words: &[&'static str]| {
            let list: Vec<_> = words.iter().map(|word| ("kubelet.service", "", *word)).collect();
            kubelet_has_ended(&events(&list).iter().collect::<Vec<_>>())
        };
        assert!(!ended(&[]) && !ended(&["starting", "started"]));
        assert!(ended(&["started", "stopped"]) && ended(&["started", "exited", "failed"]));
        assert!(!ended(&["started", "stopped", "starting", "started"]));
    }

    #[test]
    fn somebody_elses_machine_is_up_when_its_goal_is_reached_and_nothing_has_failed() {
        let units = |list: &[(&str, &str)], healthy: Option<u64>| {
            let list: Vec<_> = list.iter().map(|(unit, event)| (*unit, "", *event)).collect();
            let events = events(&list);
            let healthy = healthy.map(Duration::from_secs);
            let known = Units { cloud_init: true, expects_kubelet: false, healthy };
            by_units(&events.iter().collect::<Vec<_>>(), known)
        };
        let goal = [("multi-user.target", "started"), ("cloud-init.target", "started")];
        assert_eq!(units(&goal[..1], None), None);
        assert_eq!(units(&goal, None), Some(Verdict::CameUp));
        let with = |more: &[(&'static str, &'static str)]| [&goal[..], more].concat();
        assert_eq!(units(&with(&[("a.service", "starting")]), None), None);
        assert_eq!(units(&with(&[("bringup-steps.service", "started")]), None), None, "it starts kubelet");
        assert_eq!(units(&with(&[("a.service", "failed")]), None), Some(Verdict::Failed));
        assert_eq!(units(&with(&[("agent", "started")]), None), None);
        assert_eq!(units(&with(&[("agent", "started"), ("agent", "arrived")]), None), Some(Verdict::CameUp));
        assert_eq!(units(&with(&[("kubelet.service", "started")]), Some(9)), None);
        assert_eq!(units(&with(&[("kubelet.service", "started")]), Some(10)), Some(Verdict::CameUp));
    }

    #[test]
    fn a_machine_that_is_to_start_kubelet_is_not_up_before_kubelet_is_healthy() {
        let units = |list: &[(&str, &str)], healthy: Option<u64>| {
            let goal = [("multi-user.target", "started"), ("cloud-init.target", "started")];
            let list: Vec<_> = goal.iter().chain(list).map(|(unit, event)| (*unit, "", *event)).collect();
            let healthy = healthy.map(Duration::from_secs);
            let known = Units { cloud_init: true, expects_kubelet: true, healthy };
            by_units(&events(&list).iter().collect::<Vec<_>>(), known)
        };
        let (steps, kubelet) = ("bringup-steps.service", "kubelet.service");
        assert_eq!(units(&[], None), None, "nobody has begun with the steps");
        assert_eq!(units(&[(steps, "starting")], None), None);
        assert_eq!(units(&[(steps, "starting"), (steps, "started")], None), None);
        assert_eq!(units(&[(steps, "started"), (kubelet, "started")], Some(9)), None);
        assert_eq!(units(&[(steps, "started"), (kubelet, "started")], Some(10)), Some(Verdict::CameUp));
        assert_eq!(
            units(&[(kubelet, "started")], Some(10)),
            Some(Verdict::CameUp),
            "it may be enabled itself"
        );
        assert_eq!(units(&[(kubelet, "started"), (kubelet, "stopped")], Some(10)), None);
        assert_eq!(units(&[(steps, "starting"), (steps, "failed")], None), Some(Verdict::Failed));
    }
}
