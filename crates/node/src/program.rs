//! Programs, each as a unit of its own.
//!
//! The unit has the name of the step. It outlives the agent; whoever comes next finds it by its name and waits for its
//! end, so that no program runs twice at a time. Its end is kept until it has been recorded.

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::{Owner, Wanted};
use bringup_plan::{AGENT, step_unit};
use bringup_progress::{Failure, FailureKind};
use bringup_systemd::{Activity, BusFault, Systemd, Transient, UnitState};

use crate::actions::Stopped;
use crate::machine::Machine;
use crate::output;

/// Units that are gone at the next boot.
const RUNTIME_UNITS: &str = "/run/systemd/system";

/// How the units of all steps begin.
const STEP_UNITS: &str = "bringup-step-";

/// How long the end of a program is waited for that is told to stop.
const LONGEST_STOP: Duration = Duration::from_secs(90);

/// A program that is run on behalf of a step.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// The step.
    pub(crate) step: &'a str,
    /// The program and its arguments; no shell sees them.
    pub(crate) command: Vec<String>,
    /// Its whole environment, `NAME=value`.
    pub(crate) environment: Vec<String>,
    /// Its working directory.
    pub(crate) directory: Option<String>,
    /// When it has to be through.
    pub(crate) deadline: Instant,
    /// The step's digest, where the manager is to keep a success until [`forget`] says that it is recorded.
    pub(crate) kept_for: Option<&'a str>,
}

/// Runs a program and waits for its end. One of this step that still runs is waited for first.
pub(crate) fn run(machine: &Machine, program: Program<'_>) -> Result<(), Stopped> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    let unit = step_unit(program.step);
    if systemd.state(&unit)?.is_some_and(|state| is_under_way(&state)) {
        // How it went does not matter: what it did is done again, or found done.
        let _ = end(&mut systemd, &unit, machine, program.step, program.deadline, false);
    }
    let output = output::fresh(machine, program.step)?;
    clear(&mut systemd, &unit)?;
    let left = program.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let transient = Transient {
        description: description(program.step, program.kept_for),
        command: program.command,
        environment: program.environment,
        directory: program.directory,
        output: Some(output),
        timeout: Some(left),
    };
    match systemd.start_transient(&unit, &transient) {
        Err(fault) if fault.is("PropertyReadOnly") => {
            start_by_file(&mut systemd, machine, &unit, &transient)?;
        }
        started => started.map(|_| ())?,
    }
    end(&mut systemd, &unit, machine, program.step, program.deadline, program.kept_for.is_some())
}

/// A manager that cannot be told everything over the bus (before systemd 240) reads it from a file.
fn start_by_file(
    systemd: &mut Systemd,
    machine: &Machine,
    unit: &str,
    transient: &Transient,
) -> Result<(), Stopped> {
    let output = transient.output.iter().flat_map(|path| ["--output".to_owned(), path.clone()]);
    let starter: Vec<String> =
        [AGENT.to_owned(), "exec".to_owned()].into_iter().chain(output).chain(["--".to_owned()]).collect();
    let text = transient.unit_file(&starter);
    let path = Path::new(RUNTIME_UNITS).join(unit);
    let wanted = Wanted { content: text.as_bytes(), mode: 0o600, owner: Owner::ROOT };
    machine.files().replace(&path, wanted)?;
    systemd.reload()?;
    systemd.start(unit)?;
    Ok(())
}

/// What the unit says that it is. By the digest the program of another plan is told apart.
fn description(step: &str, digest: Option<&str>) -> String {
    let digest = digest.map(|digest| format!(", {digest}")).unwrap_or_default();
    format!("Step {step} of bringing this machine up{digest}")
}

/// Waits for the end of a step's program that an agent has left behind; none if there is no trace of it. A success is kept.
pub(crate) fn join(
    machine: &Machine,
    step: &str,
    digest: &str,
    deadline: Instant,
) -> Option<Result<(), Stopped>> {
    let unit = step_unit(step);
    let looked = || -> Result<Option<Systemd>, BusFault> {
        let mut systemd = Systemd::connect()?;
        systemd.subscribe()?;
        let there = |state: UnitState| state.activity != Activity::Inactive || state.queued;
        let there = systemd.state(&unit)?.is_some_and(there)
            && systemd.description(&unit)? == description(step, Some(digest));
        Ok(there.then_some(systemd))
    };
    match looked() {
        Ok(None) => None,
        Ok(Some(mut systemd)) => Some(end(&mut systemd, &unit, machine, step, deadline, true)),
        Err(fault) => Some(Err(fault.into())),
    }
}

/// Clears the unit of a program away whose success is recorded, unless it has left others running: they stay in it, as they
/// would behind a script of cloud-init. A unit that stays is cleared before it is needed again.
pub(crate) fn forget(step: &str) {
    let cleared = || -> Result<(), BusFault> {
        let mut systemd = Systemd::connect()?;
        systemd.subscribe()?;
        let unit = step_unit(step);
        let group = systemd.control_group(&unit)?;
        if has_processes(Path::new("/sys/fs/cgroup"), &group) { Ok(()) } else { clear(&mut systemd, &unit) }
    };
    let _ = cleared();
}

/// Ends the programs of all steps that still run, and clears all of their units away, of whichever plan.
pub(crate) fn forget_all(machine: &Machine) -> Result<(), BusFault> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    for unit in systemd.named(STEP_UNITS)? {
        if systemd.state(&unit)?.is_some_and(|state| is_under_way(&state)) {
            let job = systemd.stop(&unit)?;
            systemd.job_end(&job, Instant::now() + LONGEST_STOP)?;
        }
        clear(&mut systemd, &unit)?;
    }
    let files = machine.files();
    let folder = Path::new(RUNTIME_UNITS);
    let ours = |name: &std::ffi::OsString| name.to_str().is_some_and(|name| name.starts_with(STEP_UNITS));
    let mut removed = false;
    for name in files.disk().list(folder).unwrap_or_default().into_iter().filter(ours) {
        // A folder of somebody's drop-ins stays.
        removed |= files.remove(&folder.join(name)).is_ok();
    }
    if removed {
        systemd.reload()?;
    }
    Ok(())
}

/// A unit that the manager has not come to yet is inactive, and its result is `success`: that is no end.
fn is_under_way(state: &UnitState) -> bool {
    state.queued || matches!(state.activity, Activity::Activating | Activity::Deactivating)
}

/// Whether there are processes in a control group, by the trees that are there: one for all, or the manager's own beside others.
fn has_processes(trees: &Path, group: &str) -> bool {
    let group = group.trim_start_matches('/');
    let listed = |tree: &str| std::fs::read_to_string(trees.join(tree).join(group).join("cgroup.procs"));
    let is_of_some = |tree: &str| listed(tree).is_ok_and(|listed| !listed.trim().is_empty());
    // The top of a tree is nobody's.
    !group.is_empty() && ["", "unified", "systemd"].into_iter().any(is_of_some)
}

/// Waits for the end of a program, and clears its unit away once its result is known, but for a success that is kept.
fn end(
    systemd: &mut Systemd,
    unit: &str,
    machine: &Machine,
    step: &str,
    deadline: Instant,
    kept: bool,
) -> Result<(), Stopped> {
    // The manager itself ends what takes too long; this is for managers that cannot.
    let latest = deadline + Duration::from_secs(10);
    let state = loop {
        output::thin(machine, step);
        match systemd.state(unit)? {
            Some(state) if !is_under_way(&state) => break state,
            Some(_) if Instant::now() >= latest => {
                systemd.stop(unit)?;
                return Err(Stopped::TimedOut { tail: output::tail(machine, step) });
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
    output::settle(machine, step);
    let result = judge(&state, step, || output::tail(machine, step));
    if result.is_err() || !kept {
        clear(systemd, unit)?;
    }
    result
}

fn judge(state: &UnitState, step: &str, tail: impl Fn() -> String) -> Result<(), Stopped> {
    if state.activity == Activity::Active || state.result == "success" {
        return Ok(());
    }
    let why = match state.result.as_str() {
        "timeout" => return Err(Stopped::TimedOut { tail: tail() }),
        // Somebody has added commands to the unit.
        "exit-code" | "signal" | "core-dump" if let Some(helper) = &state.helper => helper.to_string(),
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
    let fix = format!("see what it wrote, in `{}`, and mend what it complains of", output::path(step));
    Err(Failure::new(FailureKind::Transient, why, fix).with_tail(tail()).into())
}

/// Forgets a unit that has ended.
fn clear(systemd: &mut Systemd, unit: &str) -> Result<(), BusFault> {
    let Some(state) = systemd.state(unit)? else { return Ok(()) };
    if state.activity == Activity::Active {
        let job = systemd.stop(unit)?;
        systemd.job_end(&job, Instant::now() + Duration::from_secs(30))?;
    }
    systemd.forget_failure(unit)
}

#[cfg(test)]
mod tests {
    use bringup_systemd::{Activity, HelperEnd, UnitState};

    use super::{has_processes, is_under_way, judge};
    use crate::actions::Stopped;

    fn state(activity: Activity, result: &str, status: i32) -> UnitState {
        UnitState {
            activity,
            sub_state: String::new(),
            result: result.to_owned(),
            main_process: None,
            status,
            killed: false,
            helper: None,
            restarts: Some(0),
            queued: false,
            invocation: String::new(),
        }
    }

    #[test]
    fn a_program_that_the_manager_has_not_come_to_has_not_ended() {
        let fresh = state(Activity::Inactive, "success", 0);
        assert!(is_under_way(&UnitState { queued: true, ..fresh.clone() }));
        assert!(!is_under_way(&fresh));
        assert!(is_under_way(&state(Activity::Activating, "success", 0)));
        assert!(!is_under_way(&state(Activity::Active, "success", 0)));
        assert!(!is_under_way(&state(Activity::Failed, "exit-code", 3)));
    }

    #[test]
    fn what_a_program_leaves_is_found_in_its_control_group() {
        let trees = tempfile::tempdir().unwrap();
        let lists = |tree: &str, listed: &str| {
            let group = trees.path().join(tree).join("system.slice/a.service");
            std::fs::create_dir_all(&group).unwrap();
            std::fs::write(group.join("cgroup.procs"), listed).unwrap();
        };
        let found = || has_processes(trees.path(), "/system.slice/a.service");
        assert!(!found());
        lists("systemd", "");
        assert!(!found());
        lists("systemd", "812\n");
        assert!(found());
        lists("systemd", "");
        lists("", "812\n813\n");
        assert!(found());
        std::fs::write(trees.path().join("cgroup.procs"), "1\n").unwrap();
        assert!(!has_processes(trees.path(), ""));
    }

    #[test]
    fn how_a_program_ended_is_told() {
        let why = |result: &str, status: i32| match judge(
            &state(Activity::Failed, result, status),
            "a",
            String::new,
        ) {
            Err(Stopped::Failed(failure)) => failure.why,
            Err(Stopped::TimedOut { .. }) => "timed out".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(why("exit-code", 3), "it ended with code 3");
        assert!(why("exit-code", 203).starts_with("the program cannot be started"));
        assert_eq!(why("signal", 9), "it was ended by signal 9");
        assert_eq!(why("oom-kill", 9), "it was ended because memory ran out");
        assert_eq!(why("timeout", 15), "timed out");
        assert!(judge(&state(Activity::Active, "success", 0), "a", String::new).is_ok());
    }

    #[test]
    fn who_failed_in_the_place_of_a_program_is_named() {
        let helper = |status, killed| HelperEnd {
            setting: "ExecStartPre",
            program: "/opt/check".to_owned(),
            status,
            killed,
        };
        for (result, helper, how) in [
            ("exit-code", helper(4, false), "ended with code 4"),
            ("signal", helper(9, true), "was ended by signal 9"),
        ] {
            let state = UnitState { helper: Some(helper), ..state(Activity::Failed, result, 0) };
            let Err(Stopped::Failed(failure)) = judge(&state, "a", String::new) else { panic!("no failure") };
            assert_eq!(failure.why, format!("`/opt/check`, a command of `ExecStartPre=` of its unit, {how}"));
        }
    }

    #[test]
    fn whoever_has_to_mend_a_program_is_told_where_its_output_is() {
        let failed = state(Activity::Failed, "exit-code", 3);
        let Err(Stopped::Failed(failure)) = judge(&failed, "a/b", || "no disk\n".to_owned()) else {
            panic!("no failure")
        };
        assert_eq!(
            (failure.fix.as_str(), failure.tail.as_str()),
            (
                "see what it wrote, in `/var/lib/bringup/output/a_b`, and mend what it complains of",
                "no disk\n"
            )
        );
    }
}
