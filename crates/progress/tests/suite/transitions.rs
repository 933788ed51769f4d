//! Every stage with everything that can happen: what is legal, and what is refused.

use bringup_plan::{Plan, Step};
use bringup_progress::{
    Adopted, Course, Effect, Entry, FORMAT, Failure, FailureKind, Happening, Known, Outcome, Range, Record,
    StageName, State, Success, Surroundings, Work, digest,
};
use serde_json::json;

use crate::plans::{gate, plan, run, step, with};

struct Facts<'a>(&'a Plan);

impl Known for Facts<'_> {
    fn digest(&self, step: &Step) -> Result<String, Failure> {
        Ok(digest(&step.action, self.0))
    }

    fn elected(&self) -> Result<bool, Failure> {
        Err(failure(FailureKind::Operator))
    }
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "no luck", "try luck")
}

fn happenings() -> Vec<(&'static str, Happening)> {
    let success = Success::default;
    vec![
        ("begun", Happening::Begun { again: false }),
        ("succeeded", Happening::Succeeded(success())),
        ("failed", Happening::Failed(failure(FailureKind::Transient))),
        ("timed out", Happening::TimedOut { tail: String::new() }),
        ("time passed", Happening::TimePassed),
        ("mended", Happening::Mended),
        ("reboot asked", Happening::RebootAsked { why: String::new() }),
        ("adopted success", Happening::Adopted(Adopted::Succeeded(success()))),
        ("adopted failure", Happening::Adopted(Adopted::Failed(failure(FailureKind::Transient)))),
        ("adopted nothing", Happening::Adopted(Adopted::Nothing)),
    ]
}

/// What may happen in each stage, and where it leads: the step is the only one, with two attempts.
const LEGAL: &[(StageName, &[(&str, StageName)])] = &[
    (StageName::Fresh, &[("begun", StageName::Doing)]),
    (
        StageName::Doing,
        &[
            ("succeeded", StageName::Done),
            ("failed", StageName::Waiting),
            ("timed out", StageName::Waiting),
            ("reboot asked", StageName::Rebooting),
        ],
    ),
    (
        StageName::Adopting,
        &[
            ("timed out", StageName::Waiting),
            ("adopted success", StageName::Done),
            ("adopted failure", StageName::Waiting),
            ("adopted nothing", StageName::Doing),
        ],
    ),
    (
        StageName::Retiring,
        &[("succeeded", StageName::Doing), ("failed", StageName::Waiting), ("timed out", StageName::Waiting)],
    ),
    (StageName::Waiting, &[("time passed", StageName::Doing), ("mended", StageName::Doing)]),
    (StageName::Paused, &[("time passed", StageName::Doing), ("mended", StageName::Doing)]),
    (StageName::Rebooting, &[("failed", StageName::Waiting)]),
    (StageName::HandedOver, &[("failed", StageName::Waiting)]),
    (StageName::GivenUp, &[]),
    (StageName::Done, &[]),
];

fn work(plan: &Plan, outcome: Outcome) -> Record {
    let step = &plan.steps[0];
    let entry = Entry::Step(Work {
        step: step.name.clone(),
        digest: digest(&step.action, plan),
        attempt: 1,
        outcome,
    });
    Record { at_ms: 0, boot: "b".to_owned(), entry }
}

/// The records before, and the happenings that lead to a stage.
fn way(stage: StageName, plan: &Plan) -> (Vec<Record>, Vec<Happening>) {
    let head = Entry::Machine { format: FORMAT, identity: "one".to_owned() };
    let head = Record { at_ms: 0, boot: "b".to_owned(), entry: head };
    let begun = Happening::Begun { again: false };
    let started = Outcome::Started { makes: [].into() };
    match stage {
        StageName::Fresh => (vec![], vec![]),
        StageName::Doing | StageName::HandedOver => (vec![], vec![begun]),
        StageName::Adopting => (vec![head, work(plan, started)], vec![begun]),
        StageName::Retiring => {
            let makes = [bringup_progress::Made::File("/etc/old".to_owned())].into();
            let gone = Work {
                step: "old".to_owned(),
                digest: String::new(),
                attempt: 1,
                outcome: Outcome::Started { makes },
            };
            (vec![head, Record { at_ms: 0, boot: "b".to_owned(), entry: Entry::Step(gone) }], vec![begun])
        }
        StageName::Waiting => (vec![], vec![begun, Happening::Failed(failure(FailureKind::Transient))]),
        StageName::Paused => (vec![], vec![begun, Happening::Failed(failure(FailureKind::Operator))]),
        StageName::Rebooting => (vec![], vec![begun, Happening::RebootAsked { why: String::new() }]),
        StageName::GivenUp => (vec![head, work(plan, Outcome::GaveUp { why: String::new() })], vec![begun]),
        StageName::Done => (vec![], vec![begun, Happening::Succeeded(Success::default())]),
    }
}

#[test]
fn every_edge_is_legal_or_refused() {
    let hook = run("hook", "post-install", 2, "pause");
    let to = json!({"path": "hook.path", "service": "hook.service", "done": "/done"});
    let (own, handed) = (plan(std::slice::from_ref(&hook)), plan(&[with(hook, "handedTo", to)]));
    let mut edges = 0;
    for (stage, legal) in LEGAL {
        let plan = if *stage == StageName::HandedOver { &handed } else { &own };
        let facts = Facts(plan);
        let around = Surroundings { at_ms: 1, up_ms: 1, random: 1, known: &facts };
        for (name, happening) in happenings() {
            let (records, happened) = way(*stage, plan);
            let course = Course::new(plan, Range::default(), State::fold(&records), "one", "b");
            let mut course = course.handing_over();
            for before in happened {
                course.advance(before, &around).expect("the way to the stage is legal");
            }
            assert_eq!(course.stage(), *stage);
            let before = format!("{course:?}");
            let expected = legal.iter().find(|(word, _)| *word == name).map(|(_, to)| *to);
            match (course.advance(happening.clone(), &around), expected) {
                (Ok(effects), Some(to)) => {
                    assert_eq!(course.stage(), to, "{name} in {stage:?}");
                    let published =
                        effects.iter().filter(|effect| matches!(effect, Effect::Publish(_))).count();
                    assert_eq!(published, 1, "{name} in {stage:?}");
                }
                (Err(refusal), None) => {
                    assert_eq!((refusal.stage, &refusal.happening), (*stage, &happening));
                    assert_eq!(format!("{course:?}"), before, "a refusal changes nothing");
                }
                (result, expected) => panic!("{name} in {stage:?}: {result:?}, expected {expected:?}"),
            }
            edges += 1;
        }
    }
    assert_eq!(edges, 100);
}

#[test]
fn removing_asks_for_no_reboot() {
    // In the table above `Retiring` shares its insides with `Doing`; this edge must be refused all the same.
    let plan = plan(&[run("hook", "post-install", 2, "pause")]);
    let facts = Facts(&plan);
    let around = Surroundings { at_ms: 1, up_ms: 1, random: 1, known: &facts };
    let (records, _) = way(StageName::Retiring, &plan);
    let mut course = Course::new(&plan, Range::default(), State::fold(&records), "one", "b");
    course.advance(Happening::Begun { again: false }, &around).unwrap();
    let refusal = course.advance(Happening::RebootAsked { why: String::new() }, &around).unwrap_err();
    assert_eq!(refusal.stage, StageName::Retiring);
}

#[test]
fn what_cannot_be_decided_pauses_before_anything_is_done() {
    let plan =
        plan(&[with(step("x", "configure", json!({"do": "report"})), "electedOnly", json!(true)), gate()]);
    let facts = Facts(&plan);
    let around = Surroundings { at_ms: 1, up_ms: 1, random: 1, known: &facts };
    let mut course = Course::new(&plan, Range::default(), State::default(), "one", "b");
    let effects = course.advance(Happening::Begun { again: false }, &around).unwrap();
    assert_eq!(course.stage(), StageName::Paused);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Do(_))));
    course.advance(Happening::TimePassed, &around).unwrap();
    assert_eq!(course.stage(), StageName::Paused);
}

#[test]
fn what_is_done_is_recorded_before_and_after() {
    let plan = plan(&[run("hook", "pre-install", 1, "pause")]);
    let facts = Facts(&plan);
    let around = Surroundings { at_ms: 1, up_ms: 1, random: 1, known: &facts };
    let mut course = Course::new(&plan, Range::default(), State::default(), "one", "b");
    let words = |effects: &[Effect]| -> Vec<String> {
        effects
            .iter()
            .map(|effect| match effect {
                Effect::Record { record, sync: true } => match &record.entry {
                    Entry::Step(work) => {
                        let outcome = serde_json::to_value(&work.outcome).unwrap();
                        format!("record {}", outcome["outcome"].as_str().unwrap())
                    }
                    Entry::Machine { .. } => "record machine".to_owned(),
                    Entry::Plan { .. } => "record plan".to_owned(),
                    entry => format!("{entry:?}"),
                },
                Effect::Tell(event) => format!("tell {}", event.event),
                Effect::Publish(status) => format!("publish {}", status.standing.word()),
                Effect::Do(order) => format!("do {} {}", order.step, order.attempt),
                Effect::Report(_) => "report".to_owned(),
                Effect::Done => "done".to_owned(),
                effect => format!("{effect:?}"),
            })
            .collect()
    };
    let effects = course.advance(Happening::Begun { again: false }, &around).unwrap();
    assert_eq!(
        words(&effects),
        [
            "tell began",
            "record machine",
            "record plan",
            "record started",
            "tell started",
            "publish running",
            "do hook 1"
        ]
    );
    let effects = course.advance(Happening::Succeeded(Success::default()), &around).unwrap();
    assert_eq!(
        words(&effects),
        ["record succeeded", "report", "tell finished", "tell arrived", "publish done", "done"]
    );
}

#[test]
fn a_long_reason_is_cut_for_the_journal_and_whole_in_the_status() {
    let plan = plan(&[run("hook", "pre-install", 1, "pause")]);
    let facts = Facts(&plan);
    let around = Surroundings { at_ms: 1, up_ms: 1, random: 1, known: &facts };
    let mut course = Course::new(&plan, Range::default(), State::default(), "one", "b");
    course.advance(Happening::Begun { again: false }, &around).unwrap();
    // Three bytes each: 2048 falls into one of them.
    let why = "…".repeat(1000);
    let failed = Happening::Failed(Failure::new(FailureKind::Operator, why.clone(), ""));
    let effects = course.advance(failed, &around).unwrap();
    let reason = effects.iter().find_map(|effect| match effect {
        Effect::Record { record: Record { entry: Entry::Step(work), .. }, .. } => match &work.outcome {
            Outcome::Failed { why, .. } => Some(why.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(reason, Some("…".repeat(682)));
    assert_eq!(course.status(&around).why, why);
}
