//! The machine: its disk, its clocks, its chance.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use bringup_disk::{Files, RealDisk};

use crate::runtime_data::mount_points;

/// This machine, or a directory that stands for it.
#[derive(Debug)]
pub(crate) struct Machine {
    root: PathBuf,
    disk: RealDisk,
}

impl Machine {
    /// Beneath this root.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.to_owned(), disk: RealDisk::open(root)? })
    }

    /// Its files.
    pub(crate) fn files(&self) -> Files<'_> {
        Files::on(&self.disk)
    }

    /// A file that only root may open, to be locked or to have holes made in it; made if it is not there.
    pub(crate) fn private(&self, path: &Path) -> io::Result<std::fs::File> {
        self.disk.private(path)
    }

    /// Whether this is the machine itself: units can be started and programs run.
    pub(crate) fn is_itself(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where something is mounted, as this machine names it.
    pub(crate) fn mount_points(&self) -> io::Result<Vec<PathBuf>> {
        let root = self.root.canonicalize()?;
        let all = mount_points(&std::fs::read_to_string("/proc/self/mountinfo")?);
        let inside = |path: &PathBuf| path.strip_prefix(&root).ok().map(|path| Path::new("/").join(path));
        Ok(all.iter().filter_map(inside).collect())
    }

    /// Where a path of the machine is for a test that looks at it from outside.
    #[cfg(test)]
    pub(crate) fn outside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The kernel's number of this boot.
    pub(crate) fn boot() -> String {
        let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        read.map_or_else(|_| "unknown".to_owned(), |id| id.trim().to_owned())
    }

    /// Milliseconds since 1970, as the clock stands.
    pub(crate) fn now_ms() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Milliseconds since the machine started.
    pub(crate) fn up_ms() -> u64 {
        let since = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(since.tv_sec).unwrap_or_default();
        let rest = u64::try_from(since.tv_nsec).unwrap_or_default() / 1_000_000;
        seconds.saturating_mul(1000).saturating_add(rest)
    }

    /// Any number.
    pub(crate) fn random() -> u64 {
        let mut bytes = [0; 8];
        // Early in a boot there may be no chance yet; the clock is good enough to spread machines out.
        match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK) {
            Ok(8) => u64::from_le_bytes(bytes),
            _ => Self::now_ms().wrapping_mul(6_364_136_223_846_793_005),
        }
    }
}
