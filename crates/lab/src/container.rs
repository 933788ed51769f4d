//! One boot of a container.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bringup_plan::STEPS_UNIT;

use crate::LabFault;
use crate::fault::run;
use crate::network::Network;

/// Mounts the layers, a tree of control groups of its own, and boots. The arguments are: the root below, the folder of
/// the machine, the network, and what else systemd-nspawn is told. Systemd-nspawn must not be the first process of the
/// namespace, and wants a marker of systemd in `/run`.
const BOOT: &str = r#"set -eu
lower=$1 folder=$2 network=$3
shift 3
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" "$folder/merged"
touch "$folder/network"
mount --bind "$network" "$folder/network"
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd
mount -t cgroup2 cgroup2 /sys/fs/cgroup
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --register=no --keep-unit --network-namespace-path="$folder/network" --capability=CAP_NET_ADMIN --resolv-conf=off \
    --boot --directory="$folder/merged" --console=read-only "$@" >"$folder/console" 2>&1 </dev/null
"#;

/// The units in which the agent runs.
pub(crate) const AGENT_UNITS: [&str; 4] =
    ["bringup.service", "bringup-after.service", "bootkube.service", "tectonic.service"];

/// The units of which the processes are killed: the agent's, and what runs the steps without it.
pub(crate) fn killed_units() -> impl Iterator<Item = &'static str> {
    AGENT_UNITS.into_iter().chain([STEPS_UNIT])
}

/// A container that runs.
#[derive(Debug)]
pub(crate) struct Container {
    child: Child,
    group: PathBuf,
}

impl Container {
    /// Boots the layers in `folder` over `lower`; `more` are further arguments of systemd-nspawn.
    pub(crate) fn boot(
        lower: &Path,
        folder: &Path,
        network: &Network,
        more: &[String],
    ) -> Result<Self, LabFault> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let group = groups().join(format!("bringup-lab-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&group).map_err(LabFault::file("make", &group))?;
        let join = format!("echo $$ >{}/cgroup.procs && exec \"$@\"", group.display());
        // The container ends with the thread that starts it, and with nobody to clean up after it.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "sh", "-c", &join, "sh"])
            .args(["unshare", "--mount", "--cgroup", "--pid", "--fork", "--kill-child"])
            .args(["--propagation", "private", "sh", "-c", BOOT, "sh"])
            .args([lower, folder])
            .arg(network.file())
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(LabFault::system("start a container"))?;
        Ok(Self { child, group })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// What it said when it could not even start.
    pub(crate) fn complaint(&mut self) -> String {
        let mut said = String::new();
        if let Some(output) = self.child.stderr.as_mut() {
            let _ = output.read_to_string(&mut said);
        }
        said.trim().to_owned()
    }

    /// The first process of the container, as this machine numbers it.
    pub(crate) fn leader(&self) -> Option<u32> {
        let scope = named(&self.group, "init.scope").pop()?;
        let processes = std::fs::read_to_string(scope.join("cgroup.procs")).ok()?;
        processes.lines().next()?.parse().ok()
    }

    /// A file of the running container, be it in memory only.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(format!("/proc/{}/root{path}", self.leader()?)).ok()
    }

    /// Runs a program in it; what it prints is nothing if there is no container any more.
    fn run(&self, command: &[&str]) -> Result<String, LabFault> {
        let Some(leader) = self.leader() else { return Ok(String::new()) };
        let target = format!("--target={leader}");
        run("nsenter", &[&[target.as_str(), "--all"], command].concat())
    }

    /// Has its journal written to the disk. One that cannot is read as it is.
    pub(crate) fn write_journal(&self) {
        let _ = self.run(&["journalctl", "--sync"]);
    }

    /// Units that have failed, as systemd itself has it.
    pub(crate) fn failed_units(&self) -> Result<Vec<String>, LabFault> {
        let list = ["systemctl", "list-units", "--failed", "--plain", "--no-legend", "--no-pager"];
        let listed = self.run(&list)?;
        let names = listed.lines().filter_map(|line| line.split_whitespace().next());
        Ok(names.map(str::to_owned).collect())
    }

    /// Opens a shell in it, and waits until it is closed.
    pub(crate) fn shell(&self) -> Result<(), LabFault> {
        let Some(leader) = self.leader() else { return Ok(()) };
        let terminal = format!("TERM={}", std::env::var("TERM").unwrap_or_else(|_| "dumb".to_owned()));
        Command::new("nsenter")
            .args([format!("--target={leader}"), "--all".to_owned(), "--wdns=/root".to_owned()])
            .args(["env", "--ignore-environment", &terminal, "HOME=/root"])
            .args(["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "bash", "--login"])
            .status()
            .map(drop)
            .map_err(LabFault::system("open a shell in the container"))
    }

    /// What cuts its power and kills its agent, for another thread.
    pub(crate) fn switch(&self) -> Switch {
        Switch { group: self.group.clone() }
    }

    /// Cuts the power: every process ends at once, nothing is written any more.
    pub(crate) fn cut(&mut self) {
        self.switch().off();
        // One that has only just been started is not in its control group yet.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.switch().off();
        self.clear();
    }

    /// Removes the control groups once nothing is in them.
    fn clear(&self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.group.exists() && Instant::now() < deadline {
            remove_groups(&self.group);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.cut();
        } else {
            self.clear();
        }
    }
}

/// What cuts the power of a container, and kills its agent.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    group: PathBuf,
}

impl Switch {
    /// Whether there is a container.
    pub(crate) fn is_on(&self) -> bool {
        self.group.exists()
    }

    /// Ends every process at once. Says whether the kernel took it.
    pub(crate) fn off(&self) -> bool {
        std::fs::write(self.group.join("cgroup.kill"), "1").is_ok()
    }

    /// Kills the agent where it is, or what runs the steps without it. Says whether there was one.
    pub(crate) fn kill_agent(&self) -> bool {
        let units = killed_units().flat_map(|unit| named(&self.group, unit));
        units
            .filter(|unit| has_processes(unit) && std::fs::write(unit.join("cgroup.kill"), "1").is_ok())
            .count()
            > 0
    }
}

/// Removes control groups of labs that are gone.
pub(crate) fn remove_leftover_groups(prefix: &str) {
    let Ok(entries) = std::fs::read_dir(groups()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(prefix).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            remove_groups(&entry.path());
        }
    }
}

fn groups() -> &'static Path {
    // A machine that still has both trees keeps the new one below the old ones.
    let unified = Path::new("/sys/fs/cgroup/unified");
    if unified.is_dir() { unified } else { Path::new("/sys/fs/cgroup") }
}

fn subgroups(group: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(group) else { return Vec::new() };
    let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}

/// Whether there is anybody in a group: the kernel kills nobody just as willingly.
fn has_processes(group: &Path) -> bool {
    let events = std::fs::read_to_string(group.join("cgroup.events")).unwrap_or_default();
    events.lines().any(|line| line == "populated 1")
}

/// The groups of this name beneath another.
fn named(group: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for inner in subgroups(group) {
        if inner.file_name().is_some_and(|own| own == name) {
            found.push(inner);
        } else {
            found.extend(named(&inner, name));
        }
    }
    found
}

fn remove_groups(group: &Path) {
    for inner in subgroups(group) {
        remove_groups(&inner);
    }
    let _ = std::fs::remove_dir(group);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_killed_in_a_unit_that_has_ended() {
        let group = tempfile::tempdir().unwrap();
        let unit = group.path().join("system.slice").join(STEPS_UNIT);
        std::fs::create_dir_all(&unit).unwrap();
        let switch = Switch { group: group.path().to_owned() };
        assert!(!switch.kill_agent(), "no processes are told of");
        std::fs::write(unit.join("cgroup.events"), "populated 0\nfrozen 0\n").unwrap();
        assert!(!switch.kill_agent());
        std::fs::write(unit.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        assert!(switch.kill_agent());
    }
}
