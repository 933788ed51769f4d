//! Programs of the operator, each as a unit of its own.
//!
//! The unit has the name of the step. It outlives the agent; whoever comes next finds it by its name and waits for its
//! end, so that no program runs twice at a time. Its end is kept until it has been recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::{Owner, Wanted};
use bringup_plan::{Action, Step};
use bringup_progress::{Adopted, Failure, FailureKind, Order, Success};
use bringup_spec::Text;
use bringup_systemd::{Activity, Systemd, Transient, UnitState};

use super::{Doing, Stopped, of_bus};
use crate::machine::Machine;
use crate::places;

/// How much of a program's output is kept.
const KEPT: usize = 64 * 1024;
/// How much of it is shown.
const SHOWN: usize = 2 * 1024;

/// A program of the operator.
pub(super) struct Program<'a> {
    pub(super) command: &'a [Text],
    pub(super) environment: &'a BTreeMap<String, Text>,
    pub(super) directory: Option<&'a str>,
    pub(super) wait_for: &'a [String],
}

/// Runs a program and waits for its end.
pub(super) fn run(doing: &Doing<'_>, program: &Program<'_>) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let deadline = Instant::now() + Duration::from_millis(doing.order.timeout_ms);
    wait_for(doing, program.wait_for, deadline)?;
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    let unit = unit_name(&doing.step.name);
    let output = output(doing.machine, &doing.step.name)?;
    clear(&mut systemd, &unit)?;
    let literal = |text: &Text| text.as_literal().unwrap_or_default().to_owned();
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let transient = Transient {
        description: format!("Step {} of bringing this machine up", doing.step.name),
        command: program.command.iter().map(literal).collect(),
        environment: environment(doing, program.environment),
        directory: program.directory.map(str::to_owned),
        output: Some(output.clone()),
        timeout: Some(left),
    };
    systemd.start_transient(&unit, &transient)?;
    end(&mut systemd, &unit, doing.machine, &doing.step.name, deadline)
}

/// What became of the program of an agent that died.
pub(crate) fn adopt(machine: &Machine, step: &Step, order: &Order) -> Adopted {
    if !machine.is_itself() || !matches!(step.action, Action::Run { .. }) {
        return Adopted::Nothing;
    }
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms);
    let looked = Systemd::connect().and_then(|mut systemd| {
        systemd.subscribe()?;
        let there = systemd.state(&unit_name(&step.name))?;
        Ok((systemd, there))
    });
    match looked {
        Ok((_, None)) => Adopted::Nothing,
        Ok((_, Some(state))) if state.activity == Activity::Inactive => Adopted::Nothing,
        Ok((mut systemd, Some(_))) => {
            match end(&mut systemd, &unit_name(&step.name), machine, &step.name, deadline) {
                Ok(success) => Adopted::Succeeded(success),
                Err(Stopped::Failed(failure)) => Adopted::Failed(failure),
                Err(Stopped::TimedOut { tail } | Stopped::Reboot { why: tail }) => Adopted::Failed(
                    Failure::new(FailureKind::Transient, "it took longer than it may", "").with_tail(tail),
                ),
            }
        }
        Err(fault) => Adopted::Failed(of_bus(&fault)),
    }
}

/// Waits for the end of a program, and clears its unit away once its result is known.
fn end(
    systemd: &mut Systemd,
    unit: &str,
    machine: &Machine,
    step: &str,
    deadline: Instant,
) -> Result<Success, Stopped> {
    // The manager itself ends what takes too long; this is for managers that cannot.
    let latest = deadline + Duration::from_secs(10);
    let state = loop {
        cap(machine, step);
        match systemd.state(unit)? {
            Some(state) if !matches!(state.activity, Activity::Activating | Activity::Deactivating) => {
                break state;
            }
            Some(_) if Instant::now() >= latest => {
                systemd.stop(unit)?;
                return Err(Stopped::TimedOut { tail: tail(machine, step) });
            }
            Some(_) => {
                // News of any unit wakes us; without news, the output is looked after.
                systemd.news((Instant::now() + Duration::from_secs(5)).min(latest))?;
            }
            None => {
                return Err(Failure::new(
                    FailureKind::Transient,
                    "its unit is gone, and its result with it",
                    "",
                )
                .into());
            }
        }
    };
    cap(machine, step);
    let result = judge(&state, || tail(machine, step));
    clear(systemd, unit)?;
    result
}

fn judge(state: &UnitState, tail: impl Fn() -> String) -> Result<Success, Stopped> {
    if state.activity == Activity::Active || state.result == "success" {
        return Ok(Success::default());
    }
    let why = match state.result.as_str() {
        "timeout" => return Err(Stopped::TimedOut { tail: tail() }),
        "exit-code" => match state.status {
            203 => {
                "the program cannot be started: is it there and executable, with its interpreter?".to_owned()
            }
            200 => "its working directory is not there".to_owned(),
            209 => "its output cannot be written".to_owned(),
            code => format!("it ended with code {code}"),
        },
        "signal" | "core-dump" => format!("it was ended by signal {}", state.status),
        "oom-kill" => "it was ended because memory ran out".to_owned(),
        other => format!("it could not be run ({other})"),
    };
    Err(Failure::new(FailureKind::Transient, why, "").with_tail(tail()).into())
}

/// Forgets a unit that has ended.
fn clear(systemd: &mut Systemd, unit: &str) -> Result<(), Stopped> {
    let Some(state) = systemd.state(unit)? else { return Ok(()) };
    if state.activity == Activity::Active {
        let job = systemd.stop(unit)?;
        systemd.job_end(&job, Instant::now() + Duration::from_secs(30))?;
    }
    Ok(systemd.forget_failure(unit)?)
}

/// Waits until paths exist.
fn wait_for(doing: &Doing<'_>, paths: &[String], deadline: Instant) -> Result<(), Stopped> {
    let missing = || {
        paths.iter().find(|path| !matches!(doing.machine.files().disk().look(Path::new(path)), Ok(Some(_))))
    };
    while let Some(path) = missing() {
        if Instant::now() >= deadline {
            return Err(Failure::new(
                FailureKind::Transient,
                format!("`{path}`, which it waits for, is not there"),
                "put it there; the agent goes on by itself",
            )
            .into());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Nothing of ours is in it but what is documented.
fn environment(doing: &Doing<'_>, own: &BTreeMap<String, Text>) -> Vec<String> {
    let mut variables: BTreeMap<String, String> = doing.plan.environment.clone();
    variables.insert("BRINGUP_CLUSTER".to_owned(), doing.plan.cluster.clone());
    variables.insert("BRINGUP_GROUP".to_owned(), doing.plan.group.clone());
    variables.insert("BRINGUP_STEP".to_owned(), doing.step.name.clone());
    variables.insert("BRINGUP_PHASE".to_owned(), doing.step.phase.to_string());
    variables.insert("BRINGUP_ATTEMPT".to_owned(), doing.order.attempt.to_string());
    if let Ok(name) = doing.knowledge.with(|known| known.node_name()) {
        variables.insert("BRINGUP_NODE_NAME".to_owned(), name);
    }
    for (name, value) in own {
        variables.insert(name.clone(), value.as_literal().unwrap_or_default().to_owned());
    }
    variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// The name of a step's unit.
fn unit_name(step: &str) -> String {
    let mut name = String::from("bringup-step-");
    for byte in step.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "\\x{byte:02x}");
            }
        }
    }
    name.push_str(".service");
    name
}

fn output_path(step: &str) -> String {
    let plain: String =
        step.chars().map(|letter| if letter == '/' || letter.is_control() { '_' } else { letter }).collect();
    format!("{}/{plain}", places::OUTPUT)
}

/// An empty file for a program's output.
fn output(machine: &Machine, step: &str) -> Result<String, Stopped> {
    let path = output_path(step);
    machine.files().replace(Path::new(&path), Wanted { content: b"", mode: 0o600, owner: Owner::ROOT })?;
    Ok(path)
}

/// Keeps the file of a program that writes much from growing: its first half is dropped.
fn cap(machine: &Machine, step: &str) {
    let path = output_path(step);
    let path = Path::new(&path);
    let files = machine.files();
    let large = files.disk().look(path).ok().flatten().is_some_and(|entry| entry.size > 2 * KEPT as u64);
    if large && let Ok(Some(bytes)) = files.read(path) {
        let kept = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default().to_vec();
        // In place, as the program has the file open; what it adds meanwhile may be lost, nothing else.
        if files.cut(path, 0).is_ok() {
            let _ = files.append(path, &kept, 0o600);
        }
    }
}

/// The last lines of a program's output.
fn tail(machine: &Machine, step: &str) -> String {
    let bytes = machine.files().read(Path::new(&output_path(step))).ok().flatten().unwrap_or_default();
    let start = bytes.len().saturating_sub(SHOWN);
    let text = String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned();
    match (start, text.split_once('\n')) {
        // A line that was cut in two says the wrong thing.
        (1.., Some((_, whole))) => whole.to_owned(),
        _ => text,
    }
}
