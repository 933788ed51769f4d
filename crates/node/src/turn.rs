//! Which of two agents goes first, where one finds the other at work.
//!
//! What leads up to the gate comes before what follows it: a changed plan is followed although the agent after the gate
//! still waits for something. Who calls the agent by hand comes before both units. The unit whose agent gives way is
//! stopped; its programs run on in units of their own, and the journal knows where to go on.

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_plan::GATE_FILE;
use bringup_progress::Range;
use bringup_spec::Phase;
use bringup_systemd::{Activity, BusFault, Systemd};

use crate::gate::AFTER;
use crate::lock::{Lock, LockFault};
use crate::machine::Machine;
use crate::teller::Teller;

const BEFORE: &str = "bringup.service";

/// How long an agent may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose turn it is.
#[derive(Debug)]
pub(crate) enum Turn {
    /// This agent's.
    Mine(Lock),
    /// Another agent is at work that has opened the gate in this boot: all that this one was to do is done. The unit of this
    /// one must not fail, or kubelet, which requires it, would never start.
    Done,
}

/// Takes the lock, from another agent where that has to give way.
pub(crate) fn take(machine: &Machine, range: Range) -> Result<Turn, LockFault> {
    match Lock::take(machine) {
        Err(LockFault::Taken) if machine.is_itself() => {}
        taken => return taken.map(Turn::Mine),
    }
    for unit in giving_way(range) {
        // Without a manager to ask, the lock decides.
        if let Err(fault) = stop(unit) {
            Teller::note(&format!("cannot stop `{unit}`: {fault}"));
        }
    }
    match Lock::take(machine) {
        Err(LockFault::Taken) if leads_to_gate(range) && is_open(machine) => Ok(Turn::Done),
        taken => taken.map(Turn::Mine),
    }
}

/// The units whose agents give way to one with this range.
fn giving_way(range: Range) -> &'static [&'static str] {
    match (range.from, range.until) {
        (None, None) => &[AFTER, BEFORE],
        (None, Some(_)) => &[AFTER],
        (Some(_), _) => &[],
    }
}

fn leads_to_gate(range: Range) -> bool {
    range.from.is_none() && range.until.is_some_and(|until| until <= Phase::Gate)
}

/// The file is absent at every boot.
fn is_open(machine: &Machine) -> bool {
    machine.files().read(Path::new(GATE_FILE)).is_ok_and(|found| found.is_some())
}

fn stop(unit: &str) -> Result<(), BusFault> {
    let mut systemd = Systemd::connect()?;
    let runs = systemd.state(unit)?.is_some_and(|state| {
        matches!(state.activity, Activity::Active | Activity::Activating) || state.queued
    });
    if !runs {
        return Ok(());
    }
    Teller::note(&format!("`{unit}` gives way"));
    systemd.subscribe()?;
    let job = systemd.stop(unit)?;
    let _ = systemd.job_end(&job, Instant::now() + PATIENCE)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use bringup_progress::Range;
    use bringup_spec::Phase;

    use super::{AFTER, BEFORE, giving_way, leads_to_gate};

    #[test]
    fn what_leads_to_the_gate_comes_before_what_follows_it() {
        let by_hand = Range { from: None, until: None };
        let before = Range { from: None, until: Some(Phase::Gate) };
        let after = Range { from: Some(Phase::Gate), until: None };
        assert_eq!(giving_way(by_hand), [AFTER, BEFORE]);
        assert_eq!(giving_way(before), [AFTER]);
        assert!(giving_way(after).is_empty());
        assert_eq!([by_hand, before, after].map(leads_to_gate), [false, true, false]);
    }
}
