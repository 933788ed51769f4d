//! Starts kubelet and sees it healthy, and healthy for a while: one that dies seconds later has not started.

use std::time::{Duration, Instant};

use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::{Activity, Systemd, UnitState};

use super::{Doing, Stopped};
use crate::web;

const KUBELET: &str = "kubelet.service";
/// How long it must stay healthy.
const STEADY: Duration = Duration::from_secs(10);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Starts kubelet, or starts it anew if what it reads has changed, and waits until it has been healthy for a while.
pub(super) fn start(doing: &Doing<'_>, health: &str) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let deadline = Instant::now() + Duration::from_millis(doing.order.timeout_ms);
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    if doing.order.changed.is_empty() {
        systemd.start(KUBELET)?;
    } else {
        systemd.restart(KUBELET)?;
    }
    let mut healthy_since: Option<(Instant, Option<u32>)> = None;
    let mut last = String::from("it has not started");
    loop {
        let state = systemd.state(KUBELET)?;
        let answer = match &state {
            Some(state) if state.activity == Activity::Active && state.main_process.is_some() => {
                web::health(health)
            }
            _ => Err(describe(state.as_ref())),
        };
        let process = state.as_ref().and_then(|state| state.main_process);
        match (answer, healthy_since) {
            (Ok(()), Some((since, same))) if same == process => {
                if since.elapsed() >= STEADY {
                    return Ok(Success::default());
                }
            }
            (Ok(()), _) => healthy_since = Some((Instant::now(), process)),
            (Err(why), earlier) => {
                if let Some((since, _)) = earlier {
                    let lived = since.elapsed().as_secs();
                    return Err(failed(&format!("kubelet was healthy for {lived} s, and then {why}")).into());
                }
                last = why;
            }
        }
        if Instant::now() >= deadline {
            return Err(failed(&format!("kubelet is not healthy: {last}")).into());
        }
        systemd.news(Instant::now() + LOOK)?;
    }
}

fn failed(why: &str) -> Failure {
    let fix = "see `journalctl --unit kubelet.service`";
    Failure::new(FailureKind::Transient, why, fix)
}

fn describe(state: Option<&UnitState>) -> String {
    match state {
        None => "there is no `kubelet.service`".to_owned(),
        Some(state) if state.killed => {
            format!("it was ended by signal {} ({})", state.status, state.sub_state)
        }
        Some(state) if state.result == "exit-code" => {
            format!("it ended with code {} ({})", state.status, state.sub_state)
        }
        Some(state) => format!("it is {} ({})", state.sub_state, state.result),
    }
}
