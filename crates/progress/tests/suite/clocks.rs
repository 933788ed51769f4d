//! Clocks that jump: what is decided does not follow them.

use bringup_progress::{FailureKind, Standing, page};

use crate::machine::{Answer, End, Machine};
use crate::plans::{file, gate, identify, plan, run, step};

/// Clocks that stand, run backwards, and jump by centuries.
const CLOCKS: [fn(u64) -> u64; 5] = [
    |_| 0,
    |_| u64::MAX,
    |time| 4_000_000_000_000 - time,
    |time| time.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    |time| if time % 2000 == 0 { 0 } else { 4_000_000_000_000 },
];

fn unlucky() -> Machine {
    let passing = Answer::Fails(FailureKind::Transient);
    let mut machine = Machine::answering("hook", &vec![passing.clone(); 6]);
    machine.answers.insert("fetch".to_owned(), vec![passing; 4].into());
    machine
}

#[test]
fn a_clock_that_jumps_changes_no_wait_and_no_outcome() {
    let fetch = step(
        "fetch",
        "fetch",
        serde_json::json!({"do": "fetch", "urls": ["https://a.example/x"], "sha256": "00", "path": "/x", "mode": "0644",
            "owner": "root:root", "unpack": "no"}),
    );
    let plan = plan(&[
        identify(),
        fetch,
        file("/etc/a", "fetch", "1"),
        run("hook", "pre-install", 2, "pause"),
        gate(),
    ]);
    let mut straight = unlucky();
    assert!(matches!(straight.up(&plan), End::Done(_)));
    assert!(straight.waits.len() > 8, "{:?}", straight.waits);
    for clock in CLOCKS {
        let mut machine = Machine { wall: Some(clock), ..unlucky() };
        assert!(matches!(machine.up(&plan), End::Done(_)));
        assert_eq!((&machine.waits, &machine.tree), (&straight.waits, &straight.tree));
        for step in ["fetch", "hook"] {
            assert_eq!(machine.words(step), straight.words(step), "{step}");
        }
        // Between two boots.
        for (wall, back) in [(None, Some(clock)), (Some(clock), None)] {
            let mut machine = Machine { wall, ..unlucky() };
            machine.up(&plan);
            machine.reboot();
            machine.wall = back;
            assert!(matches!(machine.up(&plan), End::Done(_)));
            assert_eq!(machine.ran, straight.ran);
        }
        // What is shown of it is no panic, and no wait of centuries is believed.
        let paused = machine.statuses.iter().rfind(|status| status.standing == Standing::Paused).unwrap();
        for now in [0, 1, 4_000_000_000_000, u64::MAX] {
            let shown = page(paused, now, bringup_progress::AtWork::Somebody);
            assert!(shown.contains("why: no luck"), "{shown}");
        }
    }
}
