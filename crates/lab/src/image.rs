//! What the lab lays over the Debian root before a boot.

use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::address::Address;
use crate::authority::Authority;
use crate::kernel::Touched;
use crate::stand_in::{
    KUBELET, KUBELET_UNIT, Misbehaviour, PACKET_FILTER, RUNTIME_UNIT, SNAP, docker, expected,
    joins_by_kubeadm, kubeadm, runtime, snapd,
};
use crate::{Instance, Kubernetes, LabFault, Subject, Way, Wishes};
use crate::{hindrance, image_units};

/// The name of a machine that no cloud gives one.
pub(crate) const HOST: &str = "node1";

const RUNTIME_PATH: &str = "/usr/bin/containerd";
const RUNTIME_UNIT_PATH: &str = "/usr/lib/systemd/system/containerd.service";

/// What the programs of the machine trust.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// What follows it in the bundle is the lab's.
const MARK: &str = "# The lab's own.\n";

/// The layer over the root: what is written stays in it from boot to boot.
#[derive(Debug)]
pub(crate) struct Layer {
    path: PathBuf,
}

impl Layer {
    /// In this directory.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// A path of the machine as it is here.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        // The root has its programs beneath /usr, and links to them.
        let path = path.trim_start_matches('/');
        let path = match path.split_once('/') {
            Some((top @ ("bin" | "sbin" | "lib"), rest)) => format!("usr/{top}/{rest}"),
            _ => path.to_owned(),
        };
        self.path.join(path)
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), LabFault> {
        let path = self.path(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(LabFault::file("make", parent))?;
        }
        std::fs::write(&path, content).map_err(LabFault::file("write", &path))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
            .map_err(LabFault::file("write", &path))
    }

    fn link(&self, path: &str, target: &str) -> Result<(), LabFault> {
        let path = self.path(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(LabFault::file("make", parent))?;
        }
        let _ = std::fs::remove_file(&path);
        symlink(target, &path).map_err(LabFault::file("link", &path))
    }

    /// Lays what a machine has from its first boot on.
    pub(crate) fn found(&self, way: Way) -> Result<(), LabFault> {
        // A machine on its very first boot enables what Ignition says; images that cloud-init finds have been booted.
        let number: &[u8] = if way == Way::Ignition { b"uninitialized\n" } else { b"" };
        self.write("/etc/machine-id", number, 0o444)?;
        self.write("/var/log/journal/.lab", b"", 0o644)?;
        // Nobody sits at the console: there is no one to ask, and no one to log in.
        for unit in ["systemd-firstboot.service", "console-getty.service"] {
            self.link(&format!("/etc/systemd/system/{unit}"), "/dev/null")?;
        }
        // Debian enables whatever it finds on a first boot; systems for nodes do not.
        self.write("/etc/systemd/system-preset/80-lab.preset", b"disable *\n", 0o644)
    }

    /// Lays everything that a subject needs; what an earlier boot has made of the rest stays.
    pub(crate) fn prepare(
        &self,
        subject: &Subject,
        wishes: &Wishes,
        authority: Option<&Authority>,
        lower: &Path,
    ) -> Result<(), LabFault> {
        self.seed(subject, &wishes.instance)?;
        self.kernel(subject, &wishes.instance)?;
        if let Some(agent) = &subject.agent {
            self.copy("/opt/bringup/bin/bringup-node", agent, 0o755)?;
        }
        self.software(subject, wishes)?;
        image_units::lay(self, subject)?;
        self.hosts(subject, wishes.kubernetes.as_deref())?;
        if let Some(authority) = authority {
            self.trust(authority, lower)?;
        }
        let grips = hindrance::grips(subject.plan.as_ref(), &wishes.hindrances)?;
        hindrance::lay(self, &grips)?;
        for (path, given) in &subject.files {
            self.write(path, &given.bytes()?, given.mode())?;
        }
        Ok(())
    }

    fn copy(&self, path: &str, file: &Path, mode: u32) -> Result<(), LabFault> {
        let bytes = std::fs::read(file).map_err(LabFault::file("read", file))?;
        self.write(path, &bytes, mode)
    }

    /// Kubelet and the runtime, or what stands in for them.
    fn software(&self, subject: &Subject, wishes: &Wishes) -> Result<(), LabFault> {
        let version = |software: &str| subject.plan.as_ref().and_then(|plan| expected(plan, software));
        if wishes.is_real() {
            self.uncover_runtime()?;
            // The root has it for the cluster, which runs beside the machine and not in it.
            self.link("/etc/systemd/system/etcd.service", "/dev/null")?;
        } else {
            let runtime_version = version("containerd").unwrap_or_else(|| "2.0.0".to_owned());
            self.write(RUNTIME_PATH, runtime(&runtime_version).as_bytes(), 0o755)?;
            self.write(RUNTIME_UNIT_PATH, RUNTIME_UNIT.as_bytes(), 0o644)?;
            if subject.stands_for.is_some() {
                let (path, program) = PACKET_FILTER;
                self.write(path, program.as_bytes(), 0o755)?;
            }
            for (path, content, mode) in subject.plan.as_ref().and_then(docker).into_iter().flatten() {
                self.write(path, content.as_bytes(), mode)?;
            }
            if let Some(snap) = &subject.kubelet_snap {
                for (path, content, mode) in snapd(snap) {
                    self.write(&path, content.as_bytes(), mode)?;
                }
                let place = "/etc/systemd/system/sockets.target.wants/snapd.socket";
                self.link(place, "/usr/lib/systemd/system/snapd.socket")?;
                if subject.needs_snap() {
                    let (path, program) = SNAP;
                    self.write(path, program.as_bytes(), 0o755)?;
                }
            }
            if subject.plan.as_ref().is_some_and(joins_by_kubeadm) {
                let program = kubeadm(&version("kubeadm").unwrap_or_else(|| "1.33.0".to_owned()));
                self.write("/usr/bin/kubeadm", program.as_bytes(), 0o755)?;
            }
        }
        let mut unit = KUBELET_UNIT.to_owned();
        if let Some(kubelet) = wishes.real_kubelet() {
            self.copy("/usr/bin/kubelet", &kubelet, 0o755)?;
            unit = unit.replace(" (stand-in)", "");
        } else {
            self.write("/usr/bin/kubelet", KUBELET.as_bytes(), 0o755)?;
            let version = version("kubelet").unwrap_or_else(|| "1.33.0".to_owned());
            self.write("/lab/kubelet.json", wishes.misbehaviour.wishes(&version).as_bytes(), 0o644)?;
        }
        self.write("/usr/lib/systemd/system/kubelet.service", unit.as_bytes(), 0o644)?;
        if wishes.misbehaviour == Misbehaviour::StartsEarly {
            let place = "/etc/systemd/system/multi-user.target.wants/kubelet.service";
            self.link(place, "/usr/lib/systemd/system/kubelet.service")?;
        }
        Ok(())
    }

    /// Takes an earlier boot's stand-in for the runtime away, so that the root's own is seen.
    fn uncover_runtime(&self) -> Result<(), LabFault> {
        let unit = self.path(RUNTIME_UNIT_PATH);
        if std::fs::read(&unit).is_ok_and(|text| text == RUNTIME_UNIT.as_bytes()) {
            for path in [self.path(RUNTIME_PATH), unit] {
                std::fs::remove_file(&path).map_err(LabFault::file("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Adds the run's own authority to those that the machine trusts, in the place of an earlier run's.
    fn trust(&self, authority: &Authority, lower: &Path) -> Result<(), LabFault> {
        let own = self.path(BUNDLE);
        let path = if own.exists() { own } else { lower.join(BUNDLE.trim_start_matches('/')) };
        let bundle = std::fs::read_to_string(&path).map_err(LabFault::file("read", &path))?;
        let others = bundle.split_once(MARK).map_or(bundle.as_str(), |(others, _)| others);
        self.write(BUNDLE, format!("{others}{MARK}{}", authority.pem()).as_bytes(), 0o644)
    }

    /// Where cloud-init finds its user-data.
    fn seed(&self, subject: &Subject, instance: &Instance) -> Result<(), LabFault> {
        let source = match subject.way {
            Way::Ec2 => {
                "datasource_list: [Ec2]\ndatasource: {Ec2: {strict_id: false, timeout: 5, max_wait: 60, metadata_urls: [\"http://169.254.169.254:80\"]}}\n"
            }
            Way::NoCloud => "datasource_list: [NoCloud, None]\n",
            Way::Ignition => {
                self.write("/etc/selinux/config", b"SELINUX=disabled\nSELINUXTYPE=none\n", 0o644)?;
                return self.write("/etc/cloud/cloud-init.disabled", b"", 0o644);
            }
        };
        // The root has neither translations nor a server for secure shells.
        let settings = format!("{source}network: {{config: disabled}}\nlocale: false\nssh_genkeytypes: []\n");
        self.write("/etc/cloud/cloud.cfg.d/99-lab.cfg", settings.as_bytes(), 0o644)?;
        if subject.way == Way::NoCloud {
            let seed = "/var/lib/cloud/seed/nocloud";
            let about = format!("{{instance-id: {}, local-hostname: {HOST}}}\n", instance.id);
            self.write(&format!("{seed}/user-data"), &subject.carrier, 0o600)?;
            self.write(&format!("{seed}/meta-data"), about.as_bytes(), 0o644)?;
        }
        Ok(())
    }

    /// Lays files over what a plan would change of this machine's own kernel.
    fn kernel(&self, subject: &Subject, instance: &Instance) -> Result<(), LabFault> {
        let touched = subject.plan.as_ref().map(Touched::by).unwrap_or_default();
        let instance = subject.is_on_aws().then_some(instance);
        self.write("/lab/kernel", touched.script(instance).as_bytes(), 0o755)?;
        let unit = "[Unit]\nDescription=What the lab lays over the kernel\nDefaultDependencies=no\n\
                    Before=sysinit.target systemd-sysctl.service systemd-modules-load.service cloud-init-local.service\n\
                    Conflicts=shutdown.target\n\n\
                    [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/lab/kernel\n";
        self.write("/etc/systemd/system/lab-kernel.service", unit.as_bytes(), 0o644)?;
        self.link("/etc/systemd/system/sysinit.target.wants/lab-kernel.service", "../lab-kernel.service")
    }

    /// Hosts of served URLs are this very machine; the API server's has an address of its own.
    fn hosts(&self, subject: &Subject, cluster: Option<&Kubernetes>) -> Result<(), LabFault> {
        let mut hosts = String::from("127.0.0.1 localhost\n::1 localhost\n");
        if let Some((name, address)) = cluster.and_then(Kubernetes::name) {
            let _ = writeln!(hosts, "{address} {name}");
        }
        let proxies = subject.proxies();
        let urls = subject.served.iter().map(|(url, _)| url).chain(&proxies);
        for address in urls.filter_map(|url| Address::of(url)) {
            if address.host.parse::<std::net::IpAddr>().is_err() {
                let _ = writeln!(hosts, "127.0.0.1 {}", address.host);
            }
        }
        self.write("/etc/hosts", hosts.as_bytes(), 0o644)?;
        // Other names are asked for where nobody answers, and at once.
        self.write("/etc/resolv.conf", b"nameserver 127.0.0.1\noptions timeout:1 attempts:1\n", 0o644)
    }
}
