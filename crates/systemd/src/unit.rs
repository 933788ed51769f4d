//! What the manager knows of a unit.

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nothing, and it may.
    Inactive,
    /// It is being started.
    Activating,
    /// It runs, or has run and counts as running.
    Active,
    /// It is being stopped.
    Deactivating,
    /// It has failed.
    Failed,
    /// Something that this program does not know.
    Other,
}

impl Activity {
    pub(crate) fn read(text: &str) -> Self {
        match text {
            "inactive" => Self::Inactive,
            "activating" => Self::Activating,
            "active" | "reloading" | "refreshing" => Self::Active,
            "deactivating" => Self::Deactivating,
            "failed" => Self::Failed,
            _ => Self::Other,
        }
    }
}

/// What the manager knows of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitState {
    /// What it does.
    pub activity: Activity,
    /// The finer state, such as `running`, `exited`, `auto-restart`.
    pub sub_state: String,
    /// How it ended: `success`, `exit-code`, `signal`, `timeout` and so on.
    pub result: String,
    /// The main process, if there is one.
    pub main_process: Option<u32>,
    /// The code or the signal with which the main process ended.
    pub status: i32,
    /// Whether `status` is a signal.
    pub killed: bool,
    /// How often it was started again; unknown to old versions.
    pub restarts: Option<u32>,
    /// Whether the manager has yet to do something about it: one whose start is queued is still what it was before.
    pub queued: bool,
    /// The number of its present or last run.
    pub invocation: String,
}
