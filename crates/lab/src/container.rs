//! One boot of a container.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::LabFault;
use crate::network::Network;

/// Mounts the layers, a tree of control groups of its own, and boots. The arguments are: the root below, the run's
/// folder, the network, and what else systemd-nspawn is told. Systemd-nspawn must not be the first process of the
/// namespace, and wants a marker of systemd in `/run`.
const BOOT: &str = r#"set -eu
lower=$1 folder=$2 network=$3
shift 3
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
mount -t proc proc /proc
touch "$folder/network"
mount --bind "/run/netns/$network" "$folder/network"
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd
mount -t cgroup2 cgroup2 /sys/fs/cgroup
SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --register=no --keep-unit --network-namespace-path="$folder/network" --capability=CAP_NET_ADMIN --resolv-conf=off \
    --boot --directory="$folder/root" --console=pipe "$@" >"$folder/console" 2>&1 </dev/null
"#;

/// A container that runs.
#[derive(Debug)]
pub(crate) struct Container {
    child: Child,
    group: std::path::PathBuf,
}

impl Container {
    /// Boots the layers in `folder` over `lower`; `more` are further arguments of systemd-nspawn.
    pub(crate) fn boot(
        lower: &Path,
        folder: &Path,
        network: &Network,
        more: &[String],
    ) -> Result<Self, LabFault> {
        for part in ["upper", "work", "root"] {
            let path = folder.join(part);
            std::fs::create_dir_all(&path).map_err(LabFault::file("make", &path))?;
        }
        let group = groups().join(network.name());
        std::fs::create_dir_all(&group).map_err(LabFault::file("make", &group))?;
        let join = format!("echo $$ >{}/cgroup.procs && exec \"$@\"", group.display());
        let child = Command::new("sh")
            .args(["-c", &join, "sh", "unshare", "--mount", "--cgroup", "--pid", "--fork", "--kill-child"])
            .args(["--propagation", "private", "sh", "-c", BOOT, "sh"])
            .args([lower, folder])
            .arg(network.name())
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

    /// Cuts the power: every process ends at once, nothing is written any more.
    pub(crate) fn cut(&mut self) {
        let kill = self.group.join("cgroup.kill");
        if std::fs::write(&kill, "1").is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
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

fn groups() -> &'static Path {
    // A machine that still has both trees keeps the new one below the old ones.
    let unified = Path::new("/sys/fs/cgroup/unified");
    if unified.is_dir() { unified } else { Path::new("/sys/fs/cgroup") }
}

fn remove_groups(group: &Path) {
    let Ok(entries) = std::fs::read_dir(group) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_groups(&entry.path());
        }
    }
    let _ = std::fs::remove_dir(group);
}
