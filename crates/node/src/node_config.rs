//! A plan from NodeConfigs: files, directories and user-data, read and merged as nodeadm does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bringup_disk::{FileFault, Owner, Wanted};
use bringup_facts::Facts;
use bringup_plan::{Plan, nodeadm};
use bringup_progress::{Failure, State, decode};
use bringup_spec::Architecture;
use bringup_spec::nodeconfig::{self, NodeConfig, Unpacked};

use crate::actions::identify;
use crate::ended::Ended;
use crate::machine::Machine;
use crate::metadata::Metadata;
use crate::program::{self, Program};
use crate::software::{mark, software, version_in};
use crate::teller::Teller;
use crate::{output, places, plan_file};

/// Stands for the user-data that the metadata service gives.
const USER_DATA: &str = "imds://user-data";
/// Names of files in a directory that count.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];
/// What the environment calls the program that gives credentials for ECR, and where it is else.
const PROVIDER_VARIABLE: &str = "ECR_CREDENTIAL_PROVIDER_BIN_PATH";
const PROVIDER: &str = "/etc/eks/image-credential-provider/ecr-credential-provider";
const NVIDIA_RUNTIME: &str = "/usr/bin/nvidia-container-runtime";
const NVIDIA: &str = "0x10de";
const PAUSE_ARCHIVE: &str = "/etc/eks/pause.tar";
/// No program thinks longer about its own version.
const LONGEST_ANSWER: Duration = Duration::from_mins(1);
/// The metadata service may be late, but not for ever: the unit starts anew.
const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// A node that has come up before does not wait for what it knows already.
const SHORT_WAIT: Duration = Duration::from_secs(3);

/// Why there is no plan.
type Stop = (Ended, String);

/// The plan of this machine by the NodeConfigs of these sources, each laid over the ones before it.
pub(crate) fn plan(
    machine: &Machine,
    sources: &[String],
    given: Option<&Facts>,
    identity: &str,
) -> Result<Plan, Stop> {
    let mut whole: Option<NodeConfig> = None;
    for source in sources {
        let found = if source == USER_DATA {
            let kept = kept(machine, identity);
            match user_data(if kept.is_some() { SHORT_WAIT } else { LONGEST_WAIT }) {
                Ok(found) => found,
                // What it said in an earlier boot of this machine still holds.
                Err(failure) => {
                    return kept.ok_or((Ended::NotYet, told(&failure))).inspect(|_| {
                        Teller::note(&format!("{}: the plan of an earlier boot is followed", failure.why));
                    });
                }
            }
        } else {
            let path = source.strip_prefix("file://").unwrap_or(source);
            of_path(Path::new(path))?
        };
        whole = nodeconfig::merge(whole.into_iter().chain(found));
    }
    let Some(config) = whole else {
        return Err((Ended::Wrong, format!("there is no NodeConfig in `{}`", sources.join("`, `"))));
    };
    let place = sources.first().cloned().unwrap_or_default();
    let mut findings = nodeconfig::check(&config, &nodeconfig::beginning(&place));
    let mut plan = None;
    if !findings.has_errors() {
        let around = surroundings(machine, given)?;
        let compiled = nodeadm::compile(&config, &around);
        findings.append(compiled.findings);
        plan = compiled.plan;
    }
    for finding in &findings {
        Teller::note(&line(finding));
    }
    plan.ok_or((Ended::Wrong, "nothing was done".to_owned()))
}

/// Keeps the plan where all of the agent's commands look for it.
pub(crate) fn keep(machine: &Machine, plan: &Plan) -> Result<(), FileFault> {
    let text = plan.to_json();
    let wanted = Wanted { content: text.as_bytes(), mode: 0o600, owner: Owner::ROOT };
    machine.files().replace(Path::new(places::PLAN), wanted).map(|_| ())
}

/// The plan that was kept, if the journal says that it was this machine's.
fn kept(machine: &Machine, identity: &str) -> Option<Plan> {
    let journal = machine.files().read(Path::new(places::JOURNAL)).ok()??;
    let state = State::fold(&decode(&journal).ok()?.records);
    let own = state.identity() == Some(identity);
    plan_file::read(&machine.files(), Path::new(places::PLAN)).ok().filter(|_| own)
}

fn told(failure: &Failure) -> String {
    format!("user-data cannot be had: {}", failure.why)
}

/// What user-data says. nodeadm goes on without what is no NodeConfig: an operator may not mean it for this.
fn user_data(patience: Duration) -> Result<Option<NodeConfig>, Failure> {
    let deadline = Instant::now() + patience;
    let Some(bytes) = Metadata::new(true).user_data(deadline)? else { return Ok(None) };
    Ok(decoded("user-data", &bytes).unwrap_or_else(|(_, why)| {
        Teller::note(&format!("user-data is passed over: {why}"));
        None
    }))
}

/// What a file says, or all files of a directory by their names; none if the directory has none.
fn of_path(path: &Path) -> Result<Option<NodeConfig>, Stop> {
    let unreadable = |path: &Path, fault: &std::io::Error| {
        (Ended::Wrong, format!("cannot read `{}`: {fault}", path.display()))
    };
    if !path.is_dir() {
        let bytes = std::fs::read(path).map_err(|fault| unreadable(path, &fault))?;
        return decoded(&path.display().to_string(), &bytes);
    }
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in std::fs::read_dir(path).map_err(|fault| unreadable(path, &fault))? {
        let entry = entry.map_err(|fault| unreadable(path, &fault))?.path();
        let name = entry.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if !entry.is_dir() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.insert(entry);
        }
    }
    if files.is_empty() {
        Teller::note(&format!("there is no NodeConfig in `{}`", path.display()));
    }
    let mut configs = Vec::new();
    for file in files {
        configs.extend(of_path(&file)?);
    }
    Ok(nodeconfig::merge(configs))
}

/// The NodeConfig that bytes hold, whatever they are wrapped in. All that is wrong is told.
fn decoded(name: &str, bytes: &[u8]) -> Result<Option<NodeConfig>, Stop> {
    // On the node, cloud-init runs the scripts itself.
    let Unpacked { texts, mut findings, .. } = nodeconfig::unpack(name, bytes);
    let mut configs = Vec::new();
    for (name, text) in texts {
        let (read, more) = nodeconfig::read(&name, &text);
        configs.extend(read);
        findings.append(more);
    }
    for finding in &findings {
        Teller::note(&line(finding));
    }
    if findings.has_errors() {
        return Err((Ended::Wrong, format!("`{name}` cannot be used")));
    }
    Ok(nodeconfig::merge(configs))
}

/// A finding on one line.
pub(crate) fn line(finding: &nodeconfig::Finding) -> String {
    let place = finding.place.as_ref().map_or(String::new(), |place| {
        format!("{}:{}:{}: ", place.file, place.span.start.line, place.span.start.column)
    });
    let hint = finding.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
    format!("{place}{}: {} [{}]{hint}", finding.severity.word(), finding.message, finding.code.name)
}

/// What nodeadm would look at on this machine.
fn surroundings(machine: &Machine, given: Option<&Facts>) -> Result<nodeadm::Surroundings, Stop> {
    let there = |path: &str| matches!(machine.files().disk().look(Path::new(path)), Ok(Some(_)));
    let own = if machine.is_itself() { identify::counted() } else { Facts::default() };
    let facts = given.cloned().unwrap_or_default().or(own);
    let architecture =
        if std::env::consts::ARCH == "aarch64" { Architecture::Aarch64 } else { Architecture::X86_64 };
    Ok(nodeadm::Surroundings {
        kubelet_version: version(machine, "kubelet")?,
        containerd_version: version(machine, "containerd")?,
        architecture,
        cores: facts.cores,
        memory_mib: facts.memory_mib,
        nvidia_runtime: there(NVIDIA_RUNTIME),
        nvidia_device: has_nvidia_device(machine),
        credential_provider: std::env::var(PROVIDER_VARIABLE).unwrap_or_else(|_| PROVIDER.to_owned()),
        pause_archive: there(PAUSE_ARCHIVE),
    })
}

/// Devices are links into the kernel's tree; in a directory that stands for a machine, they are what they are.
fn has_nvidia_device(machine: &Machine) -> bool {
    let devices = Path::new("/sys/bus/pci/devices");
    let vendor = |name: &std::ffi::OsString| {
        let path = devices.join(name).join("vendor");
        if machine.is_itself() { std::fs::read(path) } else { machine.files().disk().read(&path) }
    };
    let is_theirs = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim() == NVIDIA;
    let names = machine.files().disk().list(devices).unwrap_or_default();
    names.iter().any(|name| vendor(name).is_ok_and(|bytes| is_theirs(&bytes)))
}

/// The version of a piece of software, as a file of the image tells it, or as the program itself does: once, as long as it
/// stays the same. Of a directory that stands for a machine, only the file can be asked.
pub(crate) fn version(machine: &Machine, name: &str) -> Result<String, Stop> {
    let Some(software) = software(name) else { return Ok(String::new()) };
    let file = software.version_file.unwrap_or_default();
    let read = machine.files().read(Path::new(file)).map_err(|fault| (Ended::NotYet, fault.to_string()))?;
    if let Some(found) = read.and_then(|bytes| version_in(&String::from_utf8_lossy(&bytes))) {
        return Ok(found);
    }
    if !machine.is_itself() {
        return Ok(String::new());
    }
    let there = |path: &&&str| matches!(machine.files().disk().look(Path::new(path)), Ok(Some(_)));
    let Some(path) = software.programs.iter().find(there) else {
        return Err((
            Ended::NotYet,
            format!("{name} is not there: none of {}", software.programs.join(", ")),
        ));
    };
    let step = format!("version-of-{name}");
    let known = Path::new(places::VERSIONS).join(name);
    let mark = mark(Path::new(path));
    if let Some(version) = mark.as_deref().and_then(|mark| said_before(machine, &known, mark)) {
        return Ok(version);
    }
    let program = Program {
        step: &step,
        command: [*path].iter().chain(software.arguments).map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: None,
        deadline: Instant::now() + LONGEST_ANSWER,
        kept_for: None,
    };
    program::run(machine, program)
        .map_err(|_| (Ended::NotYet, format!("{name} does not tell its version")))?;
    let version = version_in(&output::written(machine, &step))
        .ok_or_else(|| (Ended::NotYet, format!("{name} does not tell its version")))?;
    if let Some(mark) = mark {
        let content = format!("{mark}\n{version}\n");
        // Whoever cannot keep it asks again.
        let wanted = Wanted { content: content.as_bytes(), mode: 0o600, owner: Owner::ROOT };
        let _ = machine.files().replace(&known, wanted).map(|_| ());
    }
    Ok(version)
}

/// What a program said of its version when it was asked in this boot, if it is the same program still.
fn said_before(machine: &Machine, known: &Path, mark: &str) -> Option<String> {
    let bytes = machine.files().read(known).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let (asked, version) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    (asked == mark).then(|| version.to_owned())
}
