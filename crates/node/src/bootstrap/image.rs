//! What the image has, as far as a call looks at it.

use std::net::ToSocketAddrs as _;
use std::path::Path;

use bringup_aws::partition;
use bringup_plan::AGENT;
use bringup_plan::bootstrap::{self, Image, Instance};
use bringup_spec::Architecture;
use bringup_spec::bootstrap_flags::BootstrapRequest;
use bringup_systemd::Systemd;

use super::Outcome;
use crate::ended::Ended;
use crate::machine::Machine;
use crate::{node_config, originals};

const KUBELET_CONFIG: &str = "/etc/kubernetes/kubelet/kubelet-config.json";
const DOCKER_CONFIG: &str = "/etc/docker/daemon.json";

/// From this version on, systemd mounts a file system for BPF by itself.
const BPF_SINCE: u32 = 238;

/// Programs of the image may be in any of these.
const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/bin"];

/// Looks at the image.
pub(super) fn look(machine: &Machine, request: &BootstrapRequest, instance: &Instance) -> Outcome<Image> {
    let wrong = |why| (Ended::Wrong, why);
    let version = node_config::version(machine, "kubelet")?;
    let eyes = Eyes { machine };
    let containerd_config = match &request.containerd_config_file {
        _ if bootstrap::uses_docker(request, &version) => None,
        Some(path) => Some(eyes.given(path).map_err(wrong)?),
        None => eyes.read("/etc/eks/containerd/containerd-config.toml").map_err(wrong)?,
    };
    let before = |path: &str| originals::place(Path::new(path)).display().to_string();
    // What an earlier call has written there is none of the image's.
    let docker_config = match eyes.read(&before(DOCKER_CONFIG)).map_err(wrong)? {
        None => eyes.read(DOCKER_CONFIG).map_err(wrong)?,
        kept => kept,
    };
    let gpu = "/etc/eks/bootstrap-gpu.sh";
    let disks = FOLDERS.map(|folder| format!("{folder}/setup-local-disks"));
    // Beneath a root nothing is run, and programs need not be there.
    let disks = disks.into_iter().find(|path| !machine.is_itself() || eyes.is_program(path));
    Ok(Image {
        kubelet_version: Some(version).filter(|version| !version.is_empty()),
        architecture: architecture(),
        kubelet_config: eyes.read(KUBELET_CONFIG).map_err(wrong)?,
        kubelet_config_before: eyes.read(&before(KUBELET_CONFIG)).map_err(wrong)?,
        extra_args: eyes
            .read("/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf")
            .map_err(wrong)?,
        kubelet_unit: eyes.read("/etc/eks/containerd/kubelet-containerd.service").map_err(wrong)?,
        sandbox_unit: eyes.read("/etc/eks/containerd/sandbox-image.service").map_err(wrong)?,
        containerd_config,
        docker_config,
        max_pods: eyes.read("/etc/eks/eni-max-pods.txt").map_err(wrong)?,
        bpf_unit: eyes.read("/etc/systemd/system/sys-fs-bpf.mount").map_err(wrong)?,
        bpf_mounted: machine.is_itself() && bpf_mounted(),
        bpf_by_systemd: machine.is_itself() && systemd_version().is_some_and(|version| version >= BPF_SINCE),
        gpu_helper: eyes.is_program(gpu).then(|| gpu.to_owned()),
        local_disks: disks,
        fips_registry: machine.is_itself() && fips_registry(request, instance),
        agent: agent(&eyes),
    })
}

struct Eyes<'a> {
    machine: &'a Machine,
}

impl Eyes<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let bytes = self.machine.files().read(Path::new(path)).map_err(|fault| fault.to_string())?;
        bytes.map(|bytes| text(path, bytes)).transpose()
    }

    /// A file that the caller names: where the caller sees it, or on the machine that a directory stands for.
    fn given(&self, path: &str) -> Result<String, String> {
        if Path::new(path).is_absolute()
            && let Some(found) = self.read(path)?
        {
            return Ok(found);
        }
        let bytes = std::fs::read(path).map_err(|fault| format!("cannot read `{path}`: {fault}"))?;
        text(path, bytes)
    }

    fn is_program(&self, path: &str) -> bool {
        let entry = self.machine.files().disk().look(Path::new(path)).ok().flatten();
        entry.is_some_and(|entry| entry.mode & 0o111 != 0)
    }
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text"))
}

fn architecture() -> Option<Architecture> {
    match rustix::system::uname().machine().to_bytes() {
        b"x86_64" => Some(Architecture::X86_64),
        b"aarch64" => Some(Architecture::Aarch64),
        _ => None,
    }
}

fn systemd_version() -> Option<u32> {
    Systemd::connect().ok()?.version().ok().flatten()
}

/// Whether such a file system is mounted, or anything where it would be.
fn bpf_mounted() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next(), words.next());
        kind == Some("bpf") || place == Some("/sys/fs/bpf")
    })
}

/// The program that kubelet runs for a token: ours under its own name. One that answers to `bootstrap.sh` takes every word for
/// a call of the script.
fn agent(eyes: &Eyes<'_>) -> Option<String> {
    if eyes.is_program(AGENT) {
        return Some(AGENT.to_owned());
    }
    if !eyes.machine.is_itself() {
        return None;
    }
    let own = std::env::current_exe().ok()?;
    let path = own.to_str().filter(|path| !crate::is_script(Path::new(path)))?;
    Some(path.to_owned())
}

/// Whether this machine is in FIPS mode and the registry has a host for that.
fn fips_registry(request: &BootstrapRequest, instance: &Instance) -> bool {
    let enabled = std::fs::read_to_string("/proc/sys/crypto/fips_enabled").unwrap_or_default();
    if enabled.trim() != "1" {
        return false;
    }
    let (account, region) = match &request.pause_account {
        Some(account) => (account.as_str(), instance.region.as_str()),
        None => partition::registry_home(&instance.region),
    };
    let domain = partition::partition_of(&instance.region).domain;
    !addresses(&format!("{account}.dkr.ecr-fips.{region}.{domain}")).is_empty()
}

/// The addresses of a host, sorted.
fn addresses(host: &str) -> Vec<String> {
    let found = (host, 443).to_socket_addrs().map(|found| found.map(|address| address.ip()));
    let mut found: Vec<_> = found.map(Iterator::collect).unwrap_or_default();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|address| address.to_string()).collect()
}
