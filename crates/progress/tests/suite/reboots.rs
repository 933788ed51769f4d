//! Reboots that happen, that do not, and that never end.

use bringup_progress::Standing;
use serde_json::json;

use crate::machine::{End, Machine};
use crate::plans::{every_boot, gate, identify, plan, reboot, step};

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
