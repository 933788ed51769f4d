//! Starts kubelet and sees it healthy, and healthy for a while: one that dies seconds later has not started.

mod begun;

use std::time::{Duration, Instant};

use bringup_plan::Snap;
use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::{Activity, Systemd, UnitState};

use super::{Doing, Stopped, units};
use crate::program::{self, Program};
use crate::snapd::Snapd;
use crate::web;
use crate::{kept, output};

/// How long it must stay healthy.
const STEADY: Duration = Duration::from_secs(10);
/// After so many starts by the manager it is taken to die each time.
const LOOP: u32 = 3;
const JOURNALCTL: &str = "/usr/bin/journalctl";
/// How often it is looked at until it is healthy.
const LOOK: Duration = Duration::from_millis(200);
/// How often afterwards: its end is heard of at once, by a signal of the manager.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Starts kubelet, or starts it anew if what it reads has changed, and waits until it has been healthy for a while.
pub(super) fn start(doing: &Doing<'_>, health: &str, snap: Option<&Snap>) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let files = doing.machine.files();
    let paths = kept::paths(doing.state, Some(doing.plan));
    if let Some(failure) = kept::interrupted(files, &paths) {
        return Err(restored(doing, failure)?.into());
    }
    if let Some(path) = paths.iter().find(|path| kept::has_failed(files, path)) {
        return Err(kept::set_aside(files, path).into());
    }
    let watched = watch(doing, health, snap);
    begun::forget(files)?;
    match watched {
        Ok(success) => {
            for path in &paths {
                kept::settle(files, path)?;
            }
            Ok(success)
        }
        Err(Stopped::Failed(failure)) => {
            let failure = failure.with_tail(log(doing));
            Err(restored(doing, failure)?.into())
        }
        Err(other) => Err(other),
    }
}

/// Puts old versions back where there are some, as they worked together, and starts what they belong to anew.
fn restored(doing: &Doing<'_>, failure: Failure) -> Result<Failure, Stopped> {
    let mut back = None;
    for installed in kept::installed(doing.state, doing.plan) {
        if let Some(path) = units::put_back(doing, &installed, &failure)? {
            back = Some(path);
        }
    }
    let Some(path) = back else { return Ok(failure) };
    Systemd::connect()?.restart(&doing.plan.kubelet_unit())?;
    Ok(kept::set_aside(doing.machine.files(), &path))
}

fn watch(doing: &Doing<'_>, health: &str, snap: Option<&Snap>) -> Result<Success, Stopped> {
    let deadline = doing.deadline();
    let unit = doing.plan.kubelet_unit();
    // A reload is told about unit by unit to whoever is connected; the next connection hears of kubelet only.
    units::reread(doing)?;
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    let anew = !doing.order.changed.is_empty();
    match snap {
        Some(snap) => {
            let runs = systemd.state(&unit)?.is_some_and(|state| state.activity != Activity::Inactive);
            Snapd::new(snap, doing.machine.files(), deadline).bring_up(runs, anew)?;
        }
        None if anew => {
            let (files, before) = (doing.machine.files(), systemd.state(&unit)?);
            // The agent before this one may have started it, and died.
            if !begun::has_read(files, &doing.order.changed, before.as_ref()) {
                begun::note(files, &doing.order.changed, before.as_ref())?;
                systemd.restart(&unit)?;
            }
        }
        None => drop(systemd.start(&unit)?),
    }
    let mut watch = Watch::default();
    let mut state: Option<UnitState> = None;
    loop {
        // While it is the same process and active, nothing else of it is new.
        let process = state.as_ref().and_then(|state| state.main_process);
        let same = watch.healthy.is_some() && process.is_some() && systemd.active_process(&unit)? == process;
        if !same {
            state = systemd.state(&unit)?;
        }
        let answer = match &state {
            Some(state) if state.activity == Activity::Active && state.main_process.is_some() => {
                web::health(health)
            }
            _ => Err(describe(&unit, state.as_ref())),
        };
        match watch.look(Instant::now(), state.as_ref(), answer) {
            Some(Ok(())) => return Ok(Success::default()),
            Some(Err(why)) => return Err(failed(&unit, &why).into()),
            None => {}
        }
        if Instant::now() >= deadline {
            return Err(failed(&unit, &format!("kubelet is not healthy: {}", watch.last)).into());
        }
        systemd.news(watch.next(Instant::now()))?;
    }
}

/// What was seen of kubelet so far.
#[derive(Debug, Default)]
struct Watch {
    /// Since when it has been healthy, and as which process.
    healthy: Option<(Instant, Option<u32>)>,
    /// How often the manager had started it again when it was first seen.
    restarts: Option<u32>,
    /// What was wrong last.
    last: String,
    /// How it ended last, if it did.
    ended: Option<String>,
}

impl Watch {
    /// When to look again, if nothing is heard of it.
    fn next(&self, now: Instant) -> Instant {
        match self.healthy {
            Some((since, _)) => (now + LOOK_AGAIN).min(since + STEADY).max(now),
            None => now + LOOK,
        }
    }

    /// Takes in what is seen now, and says how it ended if it did.
    fn look(
        &mut self,
        now: Instant,
        state: Option<&UnitState>,
        answer: Result<(), String>,
    ) -> Option<Result<(), String>> {
        let process = state.and_then(|state| state.main_process);
        let restarts = state.and_then(|state| state.restarts).unwrap_or_default();
        let before = *self.restarts.get_or_insert(restarts);
        match (answer, self.healthy) {
            (Ok(()), None) => self.healthy = Some((now, process)),
            (Ok(()), Some((since, same))) if same == process => {
                if now.saturating_duration_since(since) >= STEADY {
                    return Some(Ok(()));
                }
            }
            (answer, Some((since, _))) => {
                let lived = now.saturating_duration_since(since).as_secs();
                let then = answer.err().unwrap_or_else(|| "it ended and was started again".to_owned());
                return Some(Err(format!("kubelet was healthy for {lived} s, and then {then}")));
            }
            (Err(why), None) => {
                if state.is_some_and(|state| state.result != "success") {
                    self.ended = Some(why.clone());
                }
                self.last = why;
            }
        }
        // The manager sets its count back to zero when somebody starts the unit anew.
        let again = restarts.saturating_sub(if restarts < before { 0 } else { before });
        if self.healthy.is_none() && again >= LOOP {
            let why = self.ended.as_ref().unwrap_or(&self.last);
            return Some(Err(format!("kubelet was started again {again} times; {why}")));
        }
        None
    }
}

/// The last lines of kubelet's log.
fn log(doing: &Doing<'_>) -> String {
    let unit = doing.plan.kubelet_unit();
    let command = [JOURNALCTL, "--unit", &unit, "--boot", "--lines", "30", "--output", "cat", "--no-pager"];
    let program = Program {
        step: &doing.step.name,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: None,
        deadline: Instant::now() + Duration::from_secs(20),
        kept_for: None,
    };
    // A log that cannot be had must not hide why it was asked for.
    match program::run(doing.machine, program) {
        Ok(()) => output::tail(doing.machine, &doing.step.name),
        Err(_) => String::new(),
    }
}

fn failed(unit: &str, why: &str) -> Failure {
    let fix = format!("see `journalctl --unit {unit}`");
    Failure::new(FailureKind::Transient, why, fix)
}

fn describe(unit: &str, state: Option<&UnitState>) -> String {
    match state {
        None => format!("there is no `{unit}`"),
        Some(UnitState { helper: Some(helper), sub_state, .. }) => format!("{helper} ({sub_state})"),
        Some(state) if state.killed => {
            format!("it was ended by signal {} ({})", state.status, state.sub_state)
        }
        Some(state) if state.result == "exit-code" => {
            format!("it ended with code {} ({})", state.status, state.sub_state)
        }
        Some(state) => format!("it is {} ({})", state.sub_state, state.result),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bringup_systemd::{Activity, UnitState};

    use super::Watch;

    fn state(process: Option<u32>, restarts: u32) -> UnitState {
        UnitState {
            activity: if process.is_some() { Activity::Active } else { Activity::Activating },
            sub_state: "running".to_owned(),
            result: if process.is_some() { "success" } else { "exit-code" }.to_owned(),
            main_process: process,
            status: 0,
            killed: false,
            helper: None,
            restarts: Some(restarts),
            queued: false,
            invocation: String::new(),
        }
    }

    fn after(seconds: u64) -> Instant {
        // One beginning for all tests of this process.
        static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *BEGIN.get_or_init(Instant::now) + Duration::from_secs(seconds)
    }

    #[test]
    fn one_that_stays_healthy_has_started() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(after(0), Some(&state(None, 0)), Err("no".to_owned())), None);
        assert_eq!(watch.look(after(1), Some(&state(Some(7), 0)), Ok(())), None);
        assert_eq!(watch.look(after(10), Some(&state(Some(7), 0)), Ok(())), None);
        assert_eq!(watch.look(after(11), Some(&state(Some(7), 0)), Ok(())), Some(Ok(())));
    }

    #[test]
    fn one_that_dies_seconds_later_has_not() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(after(0), Some(&state(Some(7), 0)), Ok(())), None);
        let ended = watch.look(after(4), Some(&state(None, 0)), Err("it ended with code 1".to_owned()));
        assert_eq!(ended, Some(Err("kubelet was healthy for 4 s, and then it ended with code 1".to_owned())));
    }

    #[test]
    fn one_that_died_between_two_looks_has_not() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(after(0), Some(&state(Some(7), 0)), Ok(())), None);
        let ended = watch.look(after(5), Some(&state(Some(8), 1)), Ok(()));
        assert_eq!(
            ended,
            Some(Err("kubelet was healthy for 5 s, and then it ended and was started again".to_owned()))
        );
    }

    #[test]
    fn one_that_dies_again_and_again_is_not_waited_for() {
        let mut watch = Watch::default();
        let dead = || Err("it ended with code 255".to_owned());
        assert_eq!(watch.look(after(0), Some(&state(None, 5)), dead()), None);
        assert_eq!(watch.look(after(1), Some(&state(None, 7)), dead()), None);
        // One that has just been started says less than one that has just died.
        assert_eq!(watch.look(after(1), Some(&state(Some(9), 7)), Err("no answer".to_owned())), None);
        let ended = watch.look(after(2), Some(&state(Some(10), 8)), Err("no answer".to_owned()));
        assert_eq!(ended, Some(Err("kubelet was started again 3 times; it ended with code 255".to_owned())));
    }
}
