//! Killed anywhere, cut from power anywhere, run again: the same end.

use std::collections::BTreeMap;

use bringup_plan::{Action, Plan};
use bringup_progress::{Entry, Outcome, State, Work, compacted, decode};
use proptest::prelude::*;

use crate::machine::{Answer, End, Machine};
use crate::plans::{file, identify, plan, worker};

const FAILS: Answer = Answer::Fails(bringup_progress::FailureKind::Transient);

static WHOLE: std::sync::OnceLock<Machine> = std::sync::OnceLock::new();

fn unlucky() -> Machine {
    let mut machine = Machine::answering("driver", &[FAILS, Answer::Hangs]);
    machine.answers.insert("hook".to_owned(), [FAILS].into());
    machine
}

/// How often each step is recorded as succeeded, by step, digest and boot.
fn successes(machine: &Machine) -> BTreeMap<(String, String, String), u32> {
    let mut count = BTreeMap::new();
    for record in machine.records() {
        if let Entry::Step(Work { step, digest, outcome: Outcome::Succeeded(_), .. }) = record.entry {
            *count.entry((step, digest, record.boot)).or_default() += 1;
        }
    }
    count
}

fn programs(machine: &Machine) -> BTreeMap<&str, u32> {
    machine.ran.iter().map(|(step, times)| (step.as_str(), *times)).collect()
}

fn straight(plan: &Plan) -> Machine {
    let mut machine = unlucky();
    assert!(matches!(machine.up_through_reboots(plan), End::Done(_)));
    machine
}

#[test]
fn killed_at_every_tick_and_run_again_each_program_runs_once() {
    let plan = plan(&worker());
    let whole = straight(&plan);
    // `check` is for every boot, and there are two.
    assert_eq!(programs(&whole), BTreeMap::from([("check", 2), ("driver", 1), ("hook", 1)]));
    let mut points = 0;
    for life in 0.. {
        let mut machine = unlucky();
        machine.life = Some(life);
        let mut died = false;
        for _ in 0..5 {
            match machine.up(&plan) {
                End::Died => {
                    died = true;
                    machine.life = None;
                }
                End::Reboots => {}
                End::Done(_) => break,
                end => panic!("killed after {life} ticks: {end:?}"),
            }
        }
        assert_eq!(machine.tree, whole.tree, "killed after {life} ticks");
        assert_eq!(programs(&machine), programs(&whole), "killed after {life} ticks");
        for ((step, _, boot), times) in successes(&machine) {
            // Facts are learned by every agent anew.
            assert!(
                times == 1 || step == "identify",
                "{step} {times} times in {boot}, killed after {life} ticks"
            );
        }
        if !died {
            break;
        }
        points += 1;
    }
    assert!(points > 60, "{points}");
}

#[test]
fn killed_at_every_tick_what_stood_there_before_is_kept_and_never_our_own() {
    let first = plan(&[identify(), file("/etc/a", "fetch", "1"), file("/etc/b", "fetch", "1")]);
    let second = plan(&[identify(), file("/etc/a", "fetch", "2"), file("/etc/b", "fetch", "2")]);
    let image = BTreeMap::from([("/etc/a".to_owned(), "of the image".to_owned())]);
    for (life, _) in (0..).zip(0..200) {
        let mut machine = Machine { tree: image.clone(), life: Some(life), ..Machine::new() };
        let died = matches!(machine.up(&first), End::Died);
        machine.life = None;
        machine.up(&first);
        machine.up(&second);
        assert_eq!(machine.tree.get("/etc/a").map(String::as_str), Some("2"));
        assert_eq!(machine.originals, image, "killed after {life} ticks");
        if !died {
            assert!(life > 10, "{life}");
            return;
        }
    }
    panic!("it does not end");
}

#[test]
fn cut_from_power_at_every_tick_and_booted_again_each_success_is_recorded_once() {
    let plan = plan(&worker());
    let whole = straight(&plan);
    let mut all_lost = 0;
    // Killed before: what another agent has begun must reach the disk no less.
    for killed in [None, Some(30), Some(45), Some(60), Some(100)] {
        for life in 0.. {
            let mut machine = unlucky();
            if killed.is_some() {
                machine.life = killed;
                machine.up(&plan);
            }
            machine.life = Some(life);
            let mut died = false;
            for _ in 0..5 {
                match machine.up(&plan) {
                    End::Died => {
                        died = true;
                        machine.life = None;
                        machine.power_cut();
                    }
                    End::Reboots => {}
                    End::Done(_) => break,
                    end => panic!("killed after {killed:?}, cut after {life} ticks: {end:?}"),
                }
            }
            assert_eq!(machine.tree, whole.tree, "killed after {killed:?}, cut after {life} ticks");
            let when = format!("killed after {killed:?}, cut after {life} ticks");
            // A program whose success was recorded is not run again: the record survives the cut that follows at once.
            assert_eq!(machine.repeated, [], "{when}");
            for step in ["driver", "hook", "reboot", "report"] {
                assert_eq!(machine.successes.get(step), Some(&1), "{step}, {when}");
            }
            // A file that is written twice is the same file: its success may go with the power, once for each cut, and only
            // as long as nothing follows it that is not just as harmless.
            let lost = machine.lost.iter().filter(|step| *step == "file:/opt/driver").count();
            let times = machine.successes.get("file:/opt/driver").copied().unwrap_or_default();
            assert_eq!(usize::try_from(times), Ok(1 + lost), "{when}");
            for step in &machine.lost {
                let step = plan.steps.iter().find(|known| known.name == *step).expect("a step of the plan");
                let harmless = matches!(step.action, Action::WriteFile { .. } | Action::LearnFacts);
                assert!(harmless || step.every_boot, "{} was lost, {when}", step.name);
            }
            all_lost += lost;
            if !died {
                break;
            }
        }
    }
    assert!(all_lost > 0, "no cut has taken the record of a file with it");
}

#[test]
fn from_every_prefix_of_the_journal_the_same_steps_succeed() {
    let plan = plan(&worker());
    let whole = straight(&plan);
    let names = |machine: &Machine| -> Vec<String> {
        let state = State::fold(&machine.records());
        state
            .steps()
            .filter(|(_, step)| step.done_for(&step.digest))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let ends: Vec<usize> = whole
        .journal
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(index, _)| index + 1)
        .collect();
    assert_eq!(ends.len(), whole.records().len());
    for end in std::iter::once(0).chain(ends) {
        let mut machine = Machine { boots: 7, ..whole.clone() };
        machine.journal.truncate(end);
        assert!(matches!(machine.up_through_reboots(&plan), End::Done(_)), "from {end}");
        assert_eq!(names(&machine), names(&whole), "from {end}");
        assert_eq!(machine.tree, whole.tree, "from {end}");
    }
}

#[test]
fn a_second_boot_repeats_only_what_every_boot_repeats_and_needs_no_sync() {
    let plan = plan(&worker());
    let mut machine = straight(&plan);
    machine.reboot();
    let (before, synced) = (machine.records().len(), machine.synced);
    machine.events.clear();
    assert!(matches!(machine.up(&plan), End::Done(_)));
    let started: Vec<String> = machine.records()[before..]
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Step(Work { step, outcome: Outcome::Started { .. }, .. }) => Some(step.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(started, ["identify", "check", "containerd.service", "gate", "kubelet"]);
    assert_eq!(machine.synced, synced);
    assert_eq!(machine.words("driver"), ["skipped"]);
    // The same boot again: not even those, but for the facts, which nobody remembers.
    let before = machine.records().len();
    assert!(matches!(machine.up(&plan), End::Done(_)));
    assert_eq!(machine.records().len(), before + 2);
}

#[test]
fn a_compacted_journal_folds_to_the_same_state() {
    let plan = plan(&worker());
    let records = straight(&plan).records();
    for end in 1..=records.len() {
        let short = compacted(&records[..end]);
        assert_eq!(short.len(), 2);
        assert_eq!(State::fold(&short), State::fold(&records[..end]), "of {end}");
        let mut writer = decode(b"").unwrap().writer;
        let mut bytes = String::new();
        for record in &short {
            let (line, next) = writer.line(record).unwrap();
            bytes.push_str(&line);
            writer = next;
        }
        assert_eq!(decode(bytes.as_bytes()).unwrap().records, short);
    }
}

proptest! {
    /// Whatever fails, and however often the agent dies: it ends, each program that is not for every boot succeeds at
    /// most once, and the tree is the same.
    #[test]
    fn any_luck_ends_the_same(
        lives in proptest::collection::vec(0_usize..90, 0..6),
        cuts in proptest::collection::vec(any::<bool>(), 6),
        luck in proptest::collection::vec((0_usize..12, 0_u8..4), 0..10),
    ) {
        let steps = worker();
        let plan = plan(&steps);
        let whole = WHOLE.get_or_init(|| straight(&plan));
        let mut machine = Machine::new();
        for (index, kind) in luck {
            let name = plan.steps[index].name.clone();
            // Giving up and going on without are other ends.
            if ["driver", "hook", "reboot"].contains(&name.as_str()) {
                continue;
            }
            machine.answers.entry(name).or_default().push_back(match kind {
                0 => Answer::Hangs,
                1 => Answer::Fails(bringup_progress::FailureKind::Permanent),
                2 => Answer::Fails(bringup_progress::FailureKind::Operator),
                _ => FAILS,
            });
        }
        let mut lives = lives.into_iter();
        let mut cuts = cuts.into_iter();
        machine.life = lives.next();
        let mut ended = false;
        for _ in 0..20 {
            match machine.up(&plan) {
                End::Died => {
                    machine.life = lives.next();
                    if cuts.next() == Some(true) {
                        machine.power_cut();
                    }
                }
                End::Reboots => {}
                End::Done(_) => { ended = true; break }
                end => prop_assert!(false, "{end:?}"),
            }
        }
        prop_assert!(ended);
        prop_assert_eq!(&machine.tree, &whole.tree);
        for step in ["driver", "hook", "report"] {
            prop_assert_eq!(machine.successes.get(step), Some(&1));
        }
        prop_assert_eq!(&machine.repeated, &[]);
    }
}
