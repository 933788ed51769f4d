//! Which of two agents goes first, where one finds the other at work.
//!
//! What leads up to the gate comes before what follows it: a changed plan is followed although the agent after the gate
//! still waits for something. Where the gate is open for the same plan, nobody is in anybody's way: whoever starts kubelet,
//! as kubeadm does, starts the unit that leads to the gate once more. Who calls the agent by hand comes before both units. An
//! agent that gives way is killed, which harms nothing: its programs run on in units of their own, and the journal knows
//! where to go on. Its unit is started again by the manager and waits for its turn, so that somebody goes on wherever the
//! other one ends.

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_plan::GATE_FILE;
use bringup_progress::Range;
use bringup_spec::Phase;
use bringup_systemd::{BusFault, Systemd};
use rustix::process::{Pid, Signal, kill_process};

use crate::gate::{AFTER, BEFORE};
use crate::lock::{Holder, Lock, LockFault};
use crate::machine::Machine;
use crate::teller::Teller;

/// How long an agent that was killed may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often who waits looks whether it is its turn.
const LOOK: Duration = Duration::from_millis(100);

/// Whose turn it is.
#[derive(Debug)]
pub(crate) enum Turn {
    /// This agent's.
    Mine(Lock),
    /// This agent's, after another one: what was read before may be out of date.
    MineAtLast(Lock),
    /// Another agent is at work that has opened the gate in this boot, for the same plan: all that this one was to do is done.
    /// The unit of this one ends well: whoever looks at it is to see that the gate was reached.
    Done,
}

/// Takes the lock, from another agent where that has to give way, and after another one where this one has to.
///
/// `is_followed` says whether what was followed last is the plan that this one would follow.
pub(crate) fn take(
    machine: &Machine,
    range: Range,
    is_followed: impl Fn() -> bool,
) -> Result<Turn, LockFault> {
    match Lock::take(machine) {
        Err(LockFault::Taken) if machine.is_itself() => {}
        taken => return taken.map(Turn::Mine),
    }
    let is_done = || is_a_units(range) && is_open(machine) && is_followed();
    if is_done() {
        return Ok(Turn::Done);
    }
    let gave_way = end_other(range);
    let deadline = match (waits(range), gave_way) {
        (true, _) => None,
        (false, true) => Some(Instant::now() + PATIENCE),
        (false, false) => Some(Instant::now()),
    };
    if deadline.is_none() && !gave_way {
        Teller::note("another agent is at work: waiting for it");
    }
    loop {
        match Lock::take(machine) {
            Err(LockFault::Taken) => {}
            taken => return taken.map(Turn::MineAtLast),
        }
        if is_done() {
            return Ok(Turn::Done);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(LockFault::Taken);
        }
        std::thread::sleep(LOOK);
    }
}

/// Ends the agent that has the lock, if that is one of a unit that gives way.
fn end_other(range: Range) -> bool {
    let Holder::Process(holder) = Lock::holder() else { return false };
    let gives_way = |unit: &&&str| {
        // Without a manager to ask, the lock decides.
        let process =
            process(unit).inspect_err(|fault| Teller::note(&format!("cannot ask about `{unit}`: {fault}")));
        process.is_ok_and(|process| process == Some(holder))
    };
    let Some(unit) = giving_way(range).iter().find(gives_way) else { return false };
    Teller::note(&format!("the agent of `{unit}` gives way"));
    i32::try_from(holder)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|holder| kill_process(holder, Signal::KILL).is_ok())
}

fn process(unit: &str) -> Result<Option<u32>, BusFault> {
    Ok(Systemd::connect()?.state(unit)?.and_then(|state| state.main_process))
}

/// The units whose agents give way to one with this range.
fn giving_way(range: Range) -> &'static [&'static str] {
    match (range.from, range.until) {
        // What leads to the gate is a unit's own.
        (None, Some(Phase::Gate)) => &[AFTER],
        (None, _) => &[AFTER, BEFORE],
        (Some(_), _) => &[],
    }
}

/// Whether an agent with this range waits for its turn, however long that takes: the ranges of units. A person is told.
fn waits(range: Range) -> bool {
    range.from.is_some() || range.until == Some(Phase::Gate)
}

/// Whether it leads to the gate as the unit does: who asks for less, or for more, is a person and wants to see it done.
fn is_a_units(range: Range) -> bool {
    range.from.is_none() && range.until == Some(Phase::Gate)
}

/// The file is absent at every boot.
fn is_open(machine: &Machine) -> bool {
    machine.files().read(Path::new(GATE_FILE)).is_ok_and(|found| found.is_some())
}

#[cfg(test)]
mod tests {
    use bringup_progress::Range;
    use bringup_spec::Phase;

    use super::{AFTER, BEFORE, giving_way, is_a_units, waits};

    #[test]
    fn what_leads_to_the_gate_comes_before_what_follows_it() {
        let by_hand = Range { from: None, until: None };
        let before = Range { from: None, until: Some(Phase::Gate) };
        let after = Range { from: Some(Phase::Gate), until: None };
        assert_eq!(giving_way(by_hand), [AFTER, BEFORE]);
        assert_eq!(giving_way(Range { from: None, until: Some(Phase::Runtime) }), [AFTER, BEFORE]);
        assert_eq!(giving_way(before), [AFTER]);
        assert!(giving_way(after).is_empty());
        let part = Range { from: None, until: Some(Phase::Configure) };
        assert_eq!([by_hand, part, before, after].map(is_a_units), [false, false, true, false]);
        assert_eq!([by_hand, before, after].map(waits), [false, true, true]);
    }
}
