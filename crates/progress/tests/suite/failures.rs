//! Retry, pause, continue, give up.

use bringup_progress::{
    AtWork, Entry, FailureKind, Outcome, Range, Record, Standing, StepProgress, Work, line, page,
};
use bringup_spec::Phase;
use serde_json::json;

use crate::machine::{Answer, End, Machine};
use crate::plans::{file, gate, identify, kubelet, plan, report, run, step};

const TRANSIENT: Answer = Answer::Fails(FailureKind::Transient);
const PERMANENT: Answer = Answer::Fails(FailureKind::Permanent);
const OPERATOR: Answer = Answer::Fails(FailureKind::Operator);

fn hook(attempts: u32, on_failure: &str) -> bringup_plan::Plan {
    plan(&[
        identify(),
        run("hook", "pre-install", attempts, on_failure),
        run("next", "post-install", 1, "pause"),
    ])
}

#[test]
fn attempts_are_made_with_doubling_waits() {
    let mut machine = Machine::answering("hook", &[TRANSIENT, Answer::Hangs]);
    assert!(matches!(machine.up(&hook(3, "give-up")), End::Done(_)));
    assert_eq!(machine.waits.len(), 2);
    assert!((2500..=5000).contains(&machine.waits[0]), "{:?}", machine.waits);
    assert!((5000..=10_000).contains(&machine.waits[1]), "{:?}", machine.waits);
    assert_eq!(
        machine.words("hook"),
        ["started", "failed", "retrying", "started", "timed-out", "retrying", "started", "finished"]
    );
    let late = machine
        .statuses
        .iter()
        .find(|status| status.attempt == Some(2) && status.standing == Standing::Waiting);
    assert_eq!(late.map(|status| status.why.as_str()), Some("it took longer than 600 s"));
}

#[test]
fn giving_up_is_for_this_boot_unless_somebody_asks() {
    let plan = hook(2, "give-up");
    let mut machine = Machine::answering("hook", &[TRANSIENT, TRANSIENT]);
    let End::GaveUp(failed, known) = machine.up(&plan) else { panic!() };
    assert!(!known);
    assert_eq!((failed.step.as_str(), failed.attempts), ("hook", 2));
    assert_eq!(
        (failed.why.as_str(), failed.fix.as_str(), failed.tail.as_str()),
        ("no luck", "try luck", "a\nb\n")
    );
    assert_eq!(machine.statuses.last().map(|status| status.standing), Some(Standing::GaveUp));
    let End::GaveUp(failed, known) = machine.up(&plan) else { panic!() };
    assert!(known);
    assert_eq!((failed.why.as_str(), failed.attempts), ("no luck", 2));
    assert_eq!(machine.ran.get("hook"), None);
    let mut asked = machine.clone();
    assert!(matches!(asked.up_within(&plan, bringup_progress::Range::default(), true), End::Done(_)));
    machine.reboot();
    assert!(matches!(machine.up(&plan), End::Done(_)));
}

/// Whenever the agent dies on its way to the end, the next one comes to the same end: the report is there, others have heard
/// of it, and the step is not tried more often than it may be.
#[test]
fn an_end_that_an_agent_dies_at_is_the_next_ones() {
    for then in ["give-up", "continue"] {
        let plan = hook(2, then);
        let failing = || Machine::answering("hook", &[TRANSIENT, TRANSIENT, TRANSIENT, TRANSIENT]);
        let mut whole = failing();
        let end = std::mem::discriminant(&whole.up(&plan));
        let mut deaths = 0;
        for life in 0..whole.ticks {
            let mut machine = failing();
            machine.life = Some(life);
            assert!(matches!(machine.up(&plan), End::Died), "{then} {life}");
            deaths += 1;
            machine.life = None;
            assert_eq!(std::mem::discriminant(&machine.up(&plan)), end, "{then} {life}");
            let failed = |record: &Record| {
                matches!(&record.entry, Entry::Step(Work { outcome: Outcome::Failed { .. }, .. }))
            };
            assert_eq!(machine.records().into_iter().filter(failed).count(), 2, "{then} {life}");
            if then == "give-up" {
                let failed = machine.failed.as_ref().expect("a report");
                assert_eq!((failed.step.as_str(), failed.why.as_str()), ("hook", "no luck"), "{life}");
                assert!(machine.signalled > 0, "{life}");
                // Nobody is told again once it is known.
                let told = machine.signalled;
                assert!(matches!(machine.up(&plan), End::GaveUp(_, true)));
                assert_eq!(machine.signalled, told, "{life}");
            }
        }
        assert!(deaths > 10, "{deaths}");
    }
}

#[test]
fn a_permanent_failure_needs_no_second_attempt() {
    let mut machine = Machine::answering("hook", &[PERMANENT]);
    let End::GaveUp(failed, _) = machine.up(&hook(5, "give-up")) else { panic!() };
    assert_eq!(failed.attempts, 1);
}

#[test]
fn going_on_without_is_visible_and_tried_again_on_the_next_boot() {
    let plan = hook(1, "continue");
    let mut machine = Machine::answering("hook", &[TRANSIENT]);
    let End::Done(done) = machine.up(&plan) else { panic!() };
    assert_eq!(done.steps[1].progress, StepProgress::Continued);
    assert_eq!(done.steps[1].why, "no luck");
    let End::Done(done) = machine.up(&plan) else { panic!() };
    assert_eq!((done.steps[1].progress, done.steps[1].why.as_str()), (StepProgress::Continued, "no luck"));
    assert_eq!(machine.ran.get("hook"), None);
    machine.reboot();
    let End::Done(done) = machine.up(&plan) else { panic!() };
    assert_eq!(done.steps[1].progress, StepProgress::Done);
}

/// Two runs share a boot: one up to the gate, one behind it.
#[test]
fn what_one_run_went_on_without_the_next_one_still_shows() {
    let plan = plan(&[identify(), run("hook", "pre-install", 1, "continue"), gate(), kubelet(), report()]);
    let early = Range { from: None, until: Some(Phase::Gate) };
    let late = Range { from: Some(Phase::Kubelet), until: None };
    let mut machine = Machine::answering("hook", &[TRANSIENT]);
    let _ = machine.up_within(&plan, early, false);
    let End::Done(done) = machine.up_within(&plan, late, false) else { panic!() };
    assert_eq!((done.steps[1].progress, done.steps[1].why.as_str()), (StepProgress::Continued, "no luck"));
    let status = machine.statuses.last().unwrap();
    assert_eq!(line(status), "done, but for what failed and was passed over: hook");
    let page = page(status, 0, AtWork::Somebody);
    assert!(page.contains("failed    pre-install  hook: no luck\n"), "{page}");
    machine.reboot();
    let _ = machine.up_within(&plan, early, false);
    let End::Done(done) = machine.up_within(&plan, late, false) else { panic!() };
    assert_eq!((done.steps[1].progress, done.steps[1].why.as_str()), (StepProgress::Done, ""));
}

#[test]
fn a_pause_looks_again_with_growing_waits_writes_no_more_lines_and_goes_on_once_mended() {
    let answers = vec![TRANSIENT; 12];
    let mut machine = Machine::answering("hook", &answers);
    assert!(matches!(machine.up(&hook(2, "pause")), End::Done(_)));
    // One wait between the two attempts, then probes at 1, 2, 4, 8, 16, 30, 30… seconds, less at most half.
    let whole = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000];
    assert_eq!(machine.waits.len(), 1 + whole.len());
    for (wait, whole) in machine.waits[1..].iter().zip(whole) {
        assert!((whole / 2..=whole).contains(wait), "{wait} of {whole}");
    }
    let outcomes: Vec<String> = machine
        .records()
        .into_iter()
        .filter_map(|record| match record.entry {
            Entry::Step(work) if work.step == "hook" => {
                let outcome = serde_json::to_value(work.outcome).unwrap();
                outcome["outcome"].as_str().map(str::to_owned)
            }
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, ["started", "failed", "started", "failed", "paused", "succeeded"]);
    let words = machine.words("hook");
    assert_eq!(words[words.len() - 3..], ["paused", "resumed", "finished"]);
    let paused = machine.statuses.iter().rfind(|status| status.standing == Standing::Paused).unwrap();
    assert_eq!(
        (paused.why.as_str(), paused.fix.as_str(), paused.tail.as_str()),
        ("no luck", "try luck; it is tried again by itself, at the latest every 30 s", "a\nb\n")
    );
    // What only the operator can mend says so in its own words.
    let mut machine = Machine::answering("hook", &[OPERATOR]);
    assert!(matches!(machine.up(&hook(2, "pause")), End::Done(_)));
    let paused = machine.statuses.iter().rfind(|status| status.standing == Standing::Paused).unwrap();
    assert_eq!(paused.fix, "try luck");
}

#[test]
fn retrying_goes_on_for_ever_unless_the_machine_must_be_mended() {
    let mut machine = Machine::answering("hook", &vec![PERMANENT; 40]);
    assert!(matches!(machine.up(&hook(2, "retry")), End::Done(_)));
    assert_eq!(machine.waits.len(), 40);
    assert!(machine.waits.iter().all(|wait| *wait <= 300_000));
    assert!(!machine.words("hook").contains(&"paused"));
    let mut machine = Machine::answering("hook", &[OPERATOR]);
    assert!(matches!(machine.up(&hook(2, "retry")), End::Done(_)));
    assert!(machine.words("hook").contains(&"paused"));
}

#[test]
fn a_full_disk_pauses_at_once() {
    let plan = plan(&[identify(), file("/etc/a", "fetch", "x")]);
    let mut machine = Machine::answering("file:/etc/a", &[OPERATOR]);
    assert!(matches!(machine.up(&plan), End::Done(_)));
    assert_eq!(machine.words("file:/etc/a"), ["started", "failed", "paused", "resumed", "finished"]);
}

#[test]
fn a_fetch_is_retried_until_its_deadline_and_pauses_then() {
    let action = json!({"do": "fetch", "urls": ["https://a"], "sha256": "0", "path": "/opt/a", "mode": "0644", "owner": "root:root", "unpack": "no"});
    let plan = plan(&[identify(), step("fetch", "fetch", action)]);
    let mut machine = Machine::answering("fetch", &vec![TRANSIENT; 200]);
    machine.most_waits = 150;
    let End::Stuck(status) = machine.up(&plan) else { panic!() };
    assert_eq!(status.standing, Standing::Paused);
    let retries = machine.words("fetch").iter().filter(|word| **word == "retrying").count();
    let waited: u64 = machine.waits[..retries].iter().sum::<u64>() + retries as u64 * 1000;
    assert!((540_000..=640_000).contains(&waited), "{waited}");
}

#[test]
fn a_paused_agent_that_is_killed_pauses_again_at_the_first_failure() {
    let mut machine = Machine::answering("hook", &vec![TRANSIENT; 30]);
    machine.most_waits = 5;
    assert!(matches!(machine.up(&hook(2, "pause")), End::Stuck(_)));
    machine.events.clear();
    assert!(matches!(machine.up(&hook(2, "pause")), End::Stuck(_)));
    assert_eq!(machine.words("hook"), ["adopted", "started", "failed", "paused"]);
    // Nobody knows whether its program had been started.
    let adopted = machine.events.iter().find(|event| event.event == "adopted").unwrap();
    assert_eq!(
        adopted.why,
        "an agent had begun with it and died: its program may run, have ended, or not have been started"
    );
}
