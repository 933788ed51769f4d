//! `bringup-node reset`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bringup_disk::Files;
use bringup_plan::{Action, GATE_FILE, InstallSource, Plan};
use bringup_progress::{Entry, Made, Record, State, decode};
use bringup_systemd::{BusFault, Systemd};

use crate::actions::{Stopped, retire};
use crate::arguments::Reset;
use crate::ended::Ended;
use crate::journal::{Journal, JournalTrouble, Opened};
use crate::lock::{Holder, Lock, LockFault};
use crate::machine::Machine;
use crate::snapd::Snapd;
use crate::teller::Teller;
use crate::{kept, originals, places, plan_file, program};

/// Units that would bring everything back, or stand in the way; those that are waited for first.
///
/// Kubelet requires the gate, and is stopped with it.
const UNITS: [&str; 3] = ["bringup-after.service", "bringup.service", "bringup-gate.target"];
/// How long the stop of a unit is waited for.
const LONGEST_STOP: Duration = Duration::from_mins(2);

/// Undoes what was done.
pub(crate) fn execute(options: &Reset) -> Ended {
    match begin(options) {
        Ok(ended) => ended,
        Err((ended, why)) => {
            Teller::note(&why);
            ended
        }
    }
}

fn begin(options: &Reset) -> Result<Ended, (Ended, String)> {
    let root = &options.place.root;
    let wrong = |why: String| (Ended::Wrong, why);
    let failed = |why: String| (Ended::No, why);
    let machine =
        Machine::open(root).map_err(|fault| wrong(format!("cannot open `{}`: {fault}", root.display())))?;
    let files = machine.files();
    let bytes = files.read(Path::new(places::JOURNAL)).map_err(|fault| wrong(fault.to_string()))?;
    let Some(bytes) = bytes else {
        say("nothing was done here\n");
        return Ok(Ended::Well);
    };
    // What is told of the plan is told if it is there; what is undone is what the journal says.
    let plan = plan_file::read(&files, Path::new(places::PLAN)).ok();
    let state = State::fold(&decode(&bytes).map_err(|fault| wrong(fault.to_string()))?.records);
    let made = state.made();
    let original = |made: &Made| originals::is_kept(files, Path::new(&made.path()));
    let back: BTreeSet<&Made> = made.iter().filter(|made| original(made)).collect();
    say(&page(&made, &back, &left(&state, &made, plan.as_ref())));
    if !options.yes && !agreed() {
        say("nothing was changed\n");
        return Ok(Ended::No);
    }
    // A person who is at work is not interrupted; nothing is stopped then.
    let mut lock = match Lock::take(&machine) {
        Ok(lock) => Some(lock),
        Err(LockFault::Taken) if machine.is_itself() && is_a_units() => None,
        Err(fault @ LockFault::Taken) => return Err((Ended::NotYet, fault.to_string())),
        Err(fault) => return Err(failed(fault.to_string())),
    };
    if machine.is_itself() {
        stop(plan.as_ref()).map_err(|fault| failed(fault.to_string()))?;
        program::forget_all(&machine).map_err(|fault| failed(fault.to_string()))?;
        if let Some(snap) = plan.as_ref().and_then(Plan::kubelet_snap) {
            let snapd = Snapd::new(snap, files, Instant::now() + LONGEST_STOP);
            snapd.take_away().map_err(|stopped| match stopped {
                Stopped::Failed(failure) => failed(failure.why),
                _ => failed("snapd is not through with the settings of kubelet's snap".to_owned()),
            })?;
        }
    }
    if lock.is_none() {
        lock = Some(Lock::take(&machine).map_err(|fault| match fault {
            LockFault::Taken => (Ended::NotYet, fault.to_string()),
            _ => failed(fault.to_string()),
        })?);
    }
    let remove = |path: &Path| files.remove(path).map_err(|fault| failed(fault.to_string()));
    remove(Path::new(GATE_FILE))?;
    retire::remove(&machine, &made).map_err(|failure| failed(failure.why))?;
    given_back(files, &made).map_err(|fault| failed(fault.to_string()))?;
    for path in kept::paths(&state, plan.as_ref()) {
        // What stood there before all is back already; else what was last known to work comes back.
        if back.iter().any(|made| Path::new(&made.path()) == path) {
            remove(&kept::old(&path))?;
        } else {
            kept::restore(files, &path).map_err(|fault| failed(fault.to_string()))?;
        }
        kept::forget(files, &path).map_err(|fault| failed(fault.to_string()))?;
    }
    for folder in [places::OUTPUT, places::FETCH] {
        for name in files.disk().list(Path::new(folder)).unwrap_or_default() {
            remove(&Path::new(folder).join(name))?;
        }
        let _ = files.disk().remove_directory(Path::new(folder));
    }
    for path in [
        places::STATUS,
        places::FULL_STATUS,
        places::BEGUN,
        places::DONE,
        places::FAILED,
        places::RUNTIME_DATA,
        places::SNAP_SETTINGS,
    ] {
        remove(Path::new(path))?;
    }
    // Last: whoever is interrupted begins anew with all that was made still known.
    remove(Path::new(places::JOURNAL))?;
    drop(lock);
    say(&answer(&hollow(files, &made)));
    Ok(Ended::Well)
}

/// Notes that nothing of ours is there any more, and forgets what stood there before: in this order, so that nobody takes what
/// was put back for ours.
fn given_back(files: Files<'_>, made: &BTreeSet<Made>) -> Result<(), JournalTrouble> {
    let Opened { mut journal, retired, .. } = Journal::open(files)?;
    if !made.is_empty() {
        let entry = Entry::Retired { made: made.clone() };
        journal.add(&Record { at_ms: Machine::now_ms(), boot: Machine::boot(), entry }, true)?;
    }
    for gone in made.iter().chain(&retired) {
        originals::forget(files, Path::new(&gone.path()))?;
    }
    Ok(())
}

/// Whether the agent that has the lock is that of a unit, which can be stopped.
fn is_a_units() -> bool {
    let Holder::Process(holder) = Lock::holder() else { return false };
    let process = |unit: &str| Systemd::connect()?.state(unit).map(|state| state?.main_process);
    UNITS.iter().any(|unit| process(unit).is_ok_and(|process| process == Some(holder)))
}

/// Stops the agent and kubelet, and waits for their end.
fn stop(plan: Option<&Plan>) -> Result<(), BusFault> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    let handed = plan.iter().flat_map(|plan| &plan.steps).filter_map(|step| step.handed_to.as_ref());
    let handed = handed.flat_map(|to| [to.path.as_str(), to.service.as_str()]);
    let kubelet = plan.map_or_else(|| "kubelet.service".to_owned(), Plan::kubelet_unit);
    for unit in handed.chain(UNITS).chain([kubelet.as_str()]) {
        if systemd.state(unit)?.is_some() {
            let job = systemd.stop(unit)?;
            systemd.job_end(&job, Instant::now() + LONGEST_STOP)?;
            // An agent that is ended has failed, as far as its unit knows.
            systemd.forget_failure(unit)?;
        }
    }
    Ok(())
}

/// What cannot be undone.
fn left(state: &State, made: &BTreeSet<Made>, plan: Option<&Plan>) -> Vec<String> {
    let done = |name: &str| state.step(name).is_some();
    let steps = plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
    steps
        .iter()
        .filter(|step| done(&step.name))
        .filter_map(|step| match &step.action {
            Action::Run { .. } => Some(format!("what the program of `{}` did", step.name)),
            Action::Install { source: InstallSource::Package { package }, .. } => {
                Some(format!("the package `{package}`"))
            }
            Action::UpdateOs { .. } => Some("the update of the operating system".to_owned()),
            Action::SetKernelArguments { .. } => Some("the kernel's arguments".to_owned()),
            Action::SetSysctls { .. } => Some("kernel settings, until the next boot".to_owned()),
            Action::TrustAuthorities { bundle } => Some(format!("authorities in `{bundle}`")),
            Action::KeepAddresses { host, path } => Some(format!("addresses of `{host}` in `{path}`")),
            Action::StartUnit { unit, .. } if !made.contains(&Made::Unit(unit.clone())) => {
                Some(format!("`{unit}`, which goes on running, and what runs in it"))
            }
            Action::StartKubelet { snap: Some(snap), .. } => {
                Some(format!("what the snap `{}` is set to, and pods that still run", snap.name))
            }
            Action::StartKubelet { .. } => {
                Some("pods that still run, and what kubelet keeps in `/var/lib/kubelet`".to_owned())
            }
            _ => None,
        })
        .chain([
            "directories that were made on the way to a file, which it does not tell from others".to_owned(),
            "the plan and the units that its carrier placed".to_owned(),
        ])
        .collect()
}

fn page(made: &BTreeSet<Made>, back: &BTreeSet<&Made>, left: &[String]) -> String {
    let mut text = String::from("stops kubelet, shuts the gate and removes\n");
    for thing in made.iter().filter(|thing| !back.contains(thing)) {
        let _ = match thing {
            Made::Directory(path) => writeln!(text, "  {path}/, if nothing else is in it"),
            other => writeln!(text, "  {}", other.path()),
        };
    }
    text.push_str("  the journal and the results\n");
    if !back.is_empty() {
        text.push_str("puts back what stood there before\n");
    }
    for thing in back {
        let _ = writeln!(text, "  {}", thing.path());
    }
    text.push_str("leaves\n");
    for what in left {
        let _ = writeln!(text, "  {what}");
    }
    text
}

/// Directories above what was removed in which there is nothing now, or only others of these.
fn hollow(files: Files<'_>, made: &BTreeSet<Made>) -> BTreeSet<PathBuf> {
    let gone = made.iter().map(Made::path).chain([places::JOURNAL.to_owned()]);
    let above: BTreeSet<PathBuf> = gone
        .flat_map(|path| Path::new(&path).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>())
        .filter(|folder| folder.parent().is_some())
        .collect();
    let mut hollow = BTreeSet::new();
    // What is within a directory comes after it.
    for folder in above.into_iter().rev() {
        let names = files.disk().list(&folder);
        if names.is_ok_and(|names| names.iter().all(|name| hollow.contains(&folder.join(name)))) {
            hollow.insert(folder);
        }
    }
    hollow
}

fn answer(hollow: &BTreeSet<PathBuf>) -> String {
    let mut text = String::from("done\n");
    if !hollow.is_empty() {
        text.push_str("nothing is left in these, which may have been there before\n");
    }
    for folder in hollow {
        let _ = writeln!(text, "  {}/", folder.display());
    }
    text
}

fn agreed() -> bool {
    say("go on? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
