//! The Debian root that everything is tried on: made once, kept, never written to.

use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::LabFault;
use crate::fault::run;

/// What is in it: an image as clouds have it, without a kernel.
const PACKAGES: &[&str] =
    &["ca-certificates", "cloud-init", "curl", "dbus", "iproute2", "kmod", "systemd", "systemd-sysv", "udev"];
/// Manuals and translations are most of the bytes and none of the behaviour.
const LEFT_OUT: &[&str] = &["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*"];
/// What a node that joins a cluster needs beside, and what the cluster needs.
const KUBERNETES: &[&str] = &["containerd", "containernetworking-plugins", "etcd-server", "runc"];
const SUITE: &str = "bookworm";
/// Goes up when what is made of the same packages changes.
const RECIPE: u32 = 2;

/// A Debian root that is made once and kept.
#[derive(Clone, Debug)]
pub struct Bench {
    root: PathBuf,
}

impl Bench {
    /// The bench in this cache, made now if it is not there; `say` hears how far it is.
    pub fn prepare(cache: &Path, say: &mut dyn FnMut(u64)) -> Result<Self, LabFault> {
        Self::with(cache, &format!("{SUITE}-{RECIPE}"), &[], say)
    }

    /// The bench for trials with a real kubelet: containerd, etcd and plugins for pods' networks are in it.
    pub fn prepare_for_kubernetes(cache: &Path, say: &mut dyn FnMut(u64)) -> Result<Self, LabFault> {
        Self::with(cache, &format!("{SUITE}-kubernetes-{RECIPE}"), KUBERNETES, say)
    }

    fn with(cache: &Path, name: &str, more: &[&str], say: Say<'_>) -> Result<Self, LabFault> {
        let folder = cache.join("lab");
        std::fs::create_dir_all(&folder).map_err(LabFault::file("make", &folder))?;
        let root = folder.join(name);
        let lock_path = folder.join(format!("{name}.lock"));
        let lock = std::fs::File::create(&lock_path).map_err(LabFault::file("make", &lock_path))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|errno| LabFault::file("lock", &lock_path)(errno.into()))?;
        if !root.is_dir() {
            make(&root, more, say)?;
        }
        Ok(Self { root })
    }

    /// The version of containerd in the bench for a real kubelet.
    pub const CONTAINERD: &str = "1.6";

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Packages are fetched, then unpacked: how many there are in all, with what they depend on.
const PACKAGES_IN_ALL: usize = 190;
const LOOK: std::time::Duration = std::time::Duration::from_millis(200);

/// Hears how much of the root is there, in thousandths.
pub(crate) type Say<'a> = &'a mut dyn FnMut(u64);

/// How much of a root is there.
fn share(partial: &Path) -> u64 {
    let count = |folder: &str, end: &str| {
        let entries = std::fs::read_dir(partial.join(folder)).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(end)).count()
    };
    let (fetched, unpacked) = (count("var/cache/apt/archives", ".deb"), count("var/lib/dpkg/info", ".list"));
    let share = fetched.max(unpacked).saturating_add(unpacked) * 1000 / (2 * PACKAGES_IN_ALL);
    u64::try_from(share).unwrap_or_default().min(999)
}

fn make(root: &Path, more: &[&str], say: Say<'_>) -> Result<(), LabFault> {
    let partial = root.with_extension("partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(LabFault::file("remove", &partial))?;
    }
    let include = format!("--include={}", [PACKAGES, more].concat().join(","));
    let excluded: Vec<String> =
        LEFT_OUT.iter().map(|path| format!("--dpkgopt=path-exclude={path}")).collect();
    let target = partial.display().to_string();
    let mut arguments = vec!["--quiet", "--variant=minbase", include.as_str()];
    arguments.extend(excluded.iter().map(String::as_str));
    arguments.extend([SUITE, target.as_str()]);
    let ended = std::thread::scope(|scope| {
        let making = scope.spawn(|| run("mmdebstrap", &arguments));
        while !making.is_finished() {
            say(share(&partial));
            std::thread::sleep(LOOK);
        }
        making.join()
    });
    ended.unwrap_or(Err(LabFault::Interrupted))?;
    std::fs::rename(&partial, root).map_err(LabFault::file("rename", &partial))
}
