//! Reboots that happen, that do not, and that never end.

use std::collections::BTreeSet;

use bringup_plan::Plan;
use bringup_progress::Standing;
use serde_json::json;

use crate::machine::{End, Machine};
use crate::plans::{every_boot, gate, identify, plan, reboot, report, run, step};

#[test]
fn a_reboot_that_happened_is_done() {
    let plan = plan(&[identify(), reboot(), gate()]);
    let mut machine = Machine::new();
    assert!(matches!(machine.up(&plan), End::Reboots));
    assert!(matches!(machine.up(&plan), End::Done(_)));
    machine.reboot();
    assert!(matches!(machine.up(&plan), End::Done(_)));
    assert_eq!(machine.boots, 3);
}

#[test]
fn a_reboot_that_never_happened_is_told_and_asked_for_again_a_few_times() {
    let plan = plan(&[identify(), reboot(), gate()]);
    let mut machine = Machine { never_reboots: true, ..Machine::new() };
    for _ in 0..3 {
        assert!(matches!(machine.up(&plan), End::Reboots));
    }
    assert!(machine.events.iter().any(|event| event.why == "the machine was to reboot and never did"));
    let End::Stuck(status) = machine.up(&plan) else { panic!() };
    assert_eq!(status.standing, Standing::Paused);
    assert!(status.why.starts_with("the machine was rebooted 3 times for this plan"), "{}", status.why);
    assert!(!status.fix.is_empty());
    // Somebody does it by hand.
    machine.reboot();
    assert!(matches!(machine.up(&plan), End::Done(_)));
}

#[test]
fn a_step_that_asks_for_a_reboot_each_time_is_stopped() {
    let update = every_boot(step("update", "update", json!({"do": "updateOs"})));
    let steps = plan(&[identify(), update.clone(), gate()]);
    let mut machine = Machine::new();
    for _ in 0..3 {
        machine.always_asks = true;
        assert!(matches!(machine.up(&steps), End::Reboots));
    }
    let End::Stuck(status) = machine.up(&steps) else { panic!() };
    assert_eq!(status.standing, Standing::Paused);
    // Another plan counts afresh.
    let other = plan(&[identify(), update, gate(), crate::plans::report()]);
    assert!(matches!(machine.up(&other), End::Reboots));
}

/// A machine on which the program of the step `driver` asks for a reboot.
fn asking() -> Machine {
    Machine { asking: BTreeSet::from(["driver".to_owned()]), ..Machine::new() }
}

fn before_the_gate(on_failure: &str) -> Plan {
    plan(&[
        identify(),
        run("driver", "pre-install", 3, on_failure),
        run("next", "configure", 1, "pause"),
        gate(),
    ])
}

#[test]
fn a_program_that_asks_for_a_reboot_runs_once() {
    let behind = [
        identify(),
        gate(),
        run("driver", "post-install", 1, "continue"),
        run("next", "post-install", 1, "pause"),
        report(),
    ];
    for plan in [before_the_gate("pause"), before_the_gate("continue"), plan(&behind)] {
        let mut machine = asking();
        assert!(matches!(machine.up(&plan), End::Reboots));
        assert_eq!((machine.boots, machine.ran.get("next")), (2, None), "the next step has waited");
        assert_eq!(machine.words("driver"), ["started", "finished", "rebooting"]);
        assert!(matches!(machine.up(&plan), End::Done(_)));
        assert_eq!(machine.words("driver").get(3..), Some(["rebooted", "finished"].as_slice()));
        machine.reboot();
        assert!(matches!(machine.up(&plan), End::Done(_)));
        assert_eq!((machine.ran["driver"], machine.ran["next"], machine.boots), (1, 1, 3));
        assert_eq!(machine.words("driver").last(), Some(&"skipped"));
    }
}

#[test]
fn a_program_whose_reboot_never_happens_does_not_run_again() {
    let plan = before_the_gate("pause");
    let mut machine = Machine { never_reboots: true, ..asking() };
    for _ in 0..3 {
        assert!(matches!(machine.up(&plan), End::Reboots));
    }
    assert!(machine.events.iter().any(|event| event.why == "the machine was to reboot and never did"));
    let End::Stuck(status) = machine.up(&plan) else { panic!() };
    assert_eq!((status.standing, status.step.as_deref()), (Standing::Paused, Some("driver")));
    assert!(status.why.starts_with("the machine was rebooted 3 times for this plan"), "{}", status.why);
    assert_eq!((machine.ran["driver"], machine.ran.get("next")), (1, None));
    // Somebody does it by hand.
    machine.reboot();
    assert!(matches!(machine.up(&plan), End::Done(_)));
    assert_eq!((machine.ran["driver"], machine.ran["next"]), (1, 1));
}

#[test]
fn a_program_that_asks_on_every_boot_is_stopped() {
    let policy = |on_failure| [identify(), every_boot(run("driver", "pre-install", 1, on_failure)), gate()];
    let mut machine = asking();
    for _ in 0..3 {
        assert!(matches!(machine.up(&plan(&policy("pause"))), End::Reboots));
    }
    let End::Stuck(status) = machine.up(&plan(&policy("pause"))) else { panic!() };
    assert_eq!((status.standing, machine.ran["driver"]), (Standing::Paused, 4));
    // Where the node goes on without a step, it goes on without its reboot.
    let mut machine = asking();
    assert!(matches!(machine.up_through_reboots(&plan(&policy("continue"))), End::Done(_)));
    assert_eq!((machine.boots, machine.ran["driver"]), (4, 4));
}

/// Wherever the agent dies or the power goes: a program of which the success is on the disk does not run again, one that
/// was cut off does, and there is one reboot behind it.
#[test]
fn nothing_between_the_program_and_its_reboot_is_lost() {
    let plan = before_the_gate("pause");
    for (life, power) in (1..60).flat_map(|life| [(life, false), (life, true)]) {
        let mut machine = Machine { life: Some(life), ..asking() };
        let end = machine.up(&plan);
        machine.life = None;
        let cut = power && matches!(end, End::Died);
        let recorded = machine.successes.contains_key("driver");
        let begun = machine.ran.contains_key("driver");
        if cut {
            machine.power_cut();
        }
        assert!(matches!(machine.up_through_reboots(&plan), End::Done(_)), "{life}");
        assert!(machine.repeated.is_empty(), "{life}: {:?}", machine.repeated);
        let again = u32::from(cut && begun && !recorded);
        let lone = u32::from(cut && !recorded);
        assert_eq!((machine.ran["driver"], machine.boots), (1 + again, 2 + lone), "{life} {power}");
    }
}
