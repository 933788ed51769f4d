//! One event, everywhere: the agent's log, a timeline, a counterexample.

use serde::{Deserialize, Serialize};

/// Something that happened, as everybody writes and reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    /// When: milliseconds since 1970, or since the start of whatever a timeline shows.
    pub at_ms: u64,
    /// The boot in which it happened: the kernel's boot id, or a number in a timeline.
    pub boot: String,
    /// Who did it: `agent`, `kubelet.service`, `cloud-init`.
    pub actor: String,
    /// The step that it belongs to; empty where there is none.
    pub step: String,
    /// What happened, one word: [`Happened`] for the agent's own.
    pub event: String,
    /// Why, for people; empty where there is nothing to say.
    pub why: String,
}

macro_rules! words {
    ($($(#[doc = $about:literal])+ $variant:ident = $word:literal,)*) => {
        /// What the agent says of a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Happened {
            $($(#[doc = $about])+ $variant,)*
        }

        impl Happened {
            /// Every word.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// As it stands in an event.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// The agent began its work.
    Began = "began",
    /// An attempt began.
    Started = "started",
    /// It succeeded.
    Finished = "finished",
    /// There was nothing to do.
    Skipped = "skipped",
    /// An attempt failed.
    Failed = "failed",
    /// An attempt took too long and was ended.
    TimedOut = "timed-out",
    /// The next attempt follows after a wait.
    Retrying = "retrying",
    /// It waits for the operator.
    Paused = "paused",
    /// What it waited for is mended.
    Resumed = "resumed",
    /// It failed and the course goes on without it.
    Continued = "continued",
    /// The course stopped for good.
    GaveUp = "gave-up",
    /// A program that may have outlived its agent is looked for.
    Adopted = "adopted",
    /// The machine is about to reboot.
    Rebooting = "rebooting",
    /// The machine has rebooted as asked.
    Rebooted = "rebooted",
    /// Units of another name do it; the course goes on once they have.
    HandedOver = "handed-over",
    /// The gate is open.
    Opened = "opened",
    /// Something that an earlier plan made was removed.
    Retired = "retired",
    /// The journal was damaged.
    Damaged = "damaged",
    /// A process was killed.
    Killed = "killed",
    /// All that was asked for is done.
    Arrived = "arrived",
}

impl std::fmt::Display for Happened {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word())
    }
}

impl Event {
    /// An event of the agent.
    pub fn of_agent(at_ms: u64, boot: &str, step: &str, event: Happened, why: &str) -> Self {
        Self {
            at_ms,
            boot: boot.to_owned(),
            actor: "agent".to_owned(),
            step: step.to_owned(),
            event: event.word().to_owned(),
            why: why.to_owned(),
        }
    }
}
