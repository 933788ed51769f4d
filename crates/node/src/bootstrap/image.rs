//! What the image has, as far as a call looks at it.

use std::net::ToSocketAddrs as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_aws::partition;
use bringup_plan::AGENT;
use bringup_plan::bootstrap::{Image, Instance};
use bringup_spec::Architecture;
use bringup_spec::bootstrap_flags::BootstrapRequest;

use super::outpost_host;
use crate::actions::Stopped;
use crate::machine::Machine;
use crate::program::{self, Program};
use crate::software::{software, version_in};
use crate::{originals, output};

const KUBELET_CONFIG: &str = "/etc/kubernetes/kubelet/kubelet-config.json";

/// Programs of the image may be in any of these.
const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/bin"];

/// Looks at the image.
pub(super) fn look(
    machine: &Machine,
    request: &BootstrapRequest,
    instance: &Instance,
) -> Result<Image, String> {
    let eyes = Eyes { machine };
    let containerd_config = match &request.containerd_config_file {
        Some(path) => Some(eyes.given(path)?),
        None => eyes.read("/etc/eks/containerd/containerd-config.toml")?,
    };
    let before = originals::place(Path::new(KUBELET_CONFIG)).display().to_string();
    let gpu = "/etc/eks/bootstrap-gpu.sh";
    let programs = FOLDERS.iter().map(|folder| format!("{folder}/setup-local-disks"));
    let host = outpost_host(request, instance);
    Ok(Image {
        kubelet_version: kubelet_version(&eyes)?,
        architecture: architecture(),
        kubelet_config: eyes.read(KUBELET_CONFIG)?,
        kubelet_config_before: eyes.read(&before)?,
        extra_args: eyes.read("/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf")?,
        kubelet_unit: eyes.read("/etc/eks/containerd/kubelet-containerd.service")?,
        sandbox_unit: eyes.read("/etc/eks/containerd/sandbox-image.service")?,
        containerd_config,
        docker_config: eyes.read("/etc/docker/daemon.json")?,
        max_pods: eyes.read("/etc/eks/eni-max-pods.txt")?,
        bpf_unit: eyes.read("/etc/systemd/system/sys-fs-bpf.mount")?,
        bpf_mounted: machine.is_itself() && bpf_mounted(),
        gpu_helper: eyes.is_program(gpu).then(|| gpu.to_owned()),
        local_disks: programs.into_iter().find(|path| eyes.is_program(path)),
        hosts: if host.is_some() { eyes.read("/etc/hosts")? } else { None },
        api_addresses: host.filter(|_| machine.is_itself()).map(|host| addresses(&host)).unwrap_or_default(),
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

/// In the image's own file, else as kubelet says it.
fn kubelet_version(eyes: &Eyes<'_>) -> Result<Option<String>, String> {
    let Some(kubelet) = software("kubelet") else { return Ok(None) };
    if let Some(path) = kubelet.version_file
        && let Some(said) = eyes.read(path)?
        && let Some(version) = version_in(&said)
    {
        return Ok(Some(version));
    }
    if !eyes.machine.is_itself() {
        return Ok(None);
    }
    let path = kubelet.programs.iter().find(|path| eyes.is_program(path));
    let path =
        path.ok_or_else(|| format!("kubelet is not there: none of {}", kubelet.programs.join(", ")))?;
    let step = "kubelet-version";
    let program = Program {
        step,
        command: [path].into_iter().chain(kubelet.arguments).map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: None,
        deadline: Instant::now() + Duration::from_mins(1),
        kept_for: None,
    };
    program::run(eyes.machine, program).map_err(|stopped| match stopped {
        Stopped::Failed(failure) => failure.why,
        Stopped::TimedOut { .. } | Stopped::Reboot { .. } => "kubelet does not say its version".to_owned(),
    })?;
    Ok(version_in(&output::written(eyes.machine, step)))
}

fn architecture() -> Option<Architecture> {
    match rustix::system::uname().machine().to_bytes() {
        b"x86_64" => Some(Architecture::X86_64),
        b"aarch64" => Some(Architecture::Aarch64),
        _ => None,
    }
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
    if !eyes.machine.is_itself() || eyes.is_program(AGENT) {
        return Some(AGENT.to_owned());
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
