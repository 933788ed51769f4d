//! Where the agent's own files are. What other programs rely on is in the contract; none of these moves.

/// The plan.
pub(crate) const PLAN: &str = "/etc/bringup/plan.json";
/// What was done.
pub(crate) const JOURNAL: &str = "/var/lib/bringup/journal";
/// That it worked.
pub(crate) const DONE: &str = "/var/lib/bringup/done.json";
/// That it did not, and why.
pub(crate) const FAILED: &str = "/var/lib/bringup/failed.json";
/// How it stands.
pub(crate) const STATUS: &str = "/run/bringup/status.json";
/// The same with what a program wrote, for root; there only while there is such a thing to tell.
pub(crate) const FULL_STATUS: &str = "/run/bringup/status-full.json";
/// What kubelet was last started with, until it is known how that ended.
pub(crate) const BEGUN: &str = "/run/bringup/kubelet-begun.json";
/// Keeps two agents apart.
pub(crate) const LOCK: &str = "/run/bringup/lock";
/// What programs said of their versions: the system may be another one at the next boot.
pub(crate) const VERSIONS: &str = "/run/bringup/versions";
/// Where operator's programs ask for a reboot: gone at each boot.
pub(crate) const REBOOT: &str = "/run/bringup/reboot";
/// Where operator's programs write.
pub(crate) const OUTPUT: &str = "/var/lib/bringup/output";
/// What stood where the agent wrote.
pub(crate) const ORIGINALS: &str = "/var/lib/bringup/originals";
/// Whose the data of the container runtime is.
pub(crate) const RUNTIME_DATA: &str = "/var/lib/bringup/runtime.json";
/// Which settings of kubelet's snap are the agent's.
pub(crate) const SNAP_SETTINGS: &str = "/var/lib/bringup/snap.json";
/// What is being fetched, each by its digest.
pub(crate) const FETCH: &str = "/var/lib/bringup/fetch";
