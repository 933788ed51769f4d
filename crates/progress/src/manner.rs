//! How failures of a step are met: as its policy says, or in the agent's own way.

use bringup_plan::{Action, Step};
use bringup_spec::OnFailure;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

/// The longest wait between two looks of a paused step at what it waits for.
pub const LONGEST_PROBE_MS: u64 = 30 * SECOND;

/// The longest wait between two attempts.
const LONGEST_BACKOFF_MS: u64 = 5 * MINUTE;

/// How failures of one step are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// How long one attempt may take.
    pub timeout_ms: u64,
    /// After how many failed attempts it is enough; none: after none, only the deadline counts.
    pub attempts: Option<u32>,
    /// How long after the first attempt it is enough.
    pub deadline_ms: Option<u64>,
    /// The wait before the second attempt; it doubles each time.
    pub backoff_ms: u64,
    /// The longest wait.
    pub longest_ms: u64,
    /// What happens then.
    pub then: OnFailure,
}

impl Manner {
    /// The manner of a step: its policy where it has one.
    pub fn of(step: &Step) -> Self {
        if let Some(policy) = &step.policy {
            return Self {
                timeout_ms: policy.timeout_ms,
                attempts: Some(policy.attempts.max(1)),
                deadline_ms: None,
                backoff_ms: policy.backoff_ms,
                longest_ms: LONGEST_BACKOFF_MS.max(policy.backoff_ms),
                then: policy.on_failure,
            };
        }
        match &step.action {
            // What is far away is often back soon: no count of attempts says when it is hopeless, only time does.
            Action::LearnFacts
            | Action::Fetch { .. }
            | Action::Signal { .. }
            | Action::KeepAddresses { .. }
            | Action::AwaitRegistration { .. } => Self::patient(10 * MINUTE, 10 * MINUTE),
            Action::Install { .. } | Action::UpdateOs { .. } => Self::patient(30 * MINUTE, 30 * MINUTE),
            // The boot loader looks through all disks for systems; a swap file is written whole.
            Action::Run { .. } | Action::SetKernelArguments { .. } | Action::SetSwap { .. } => {
                Self::brief(10 * MINUTE)
            }
            Action::StartUnit { .. } | Action::PlaceUnits => Self::brief(2 * MINUTE),
            Action::StartKubelet { .. } | Action::Reboot { .. } => Self::brief(5 * MINUTE),
            _ => Self::brief(MINUTE),
        }
    }

    /// The manner of removing what an earlier plan made.
    pub(crate) fn of_retiring() -> Self {
        Self::brief(2 * MINUTE)
    }

    fn patient(timeout_ms: u64, deadline_ms: u64) -> Self {
        Self { attempts: None, deadline_ms: Some(deadline_ms), ..Self::brief(timeout_ms) }
    }

    fn brief(timeout_ms: u64) -> Self {
        Self {
            timeout_ms,
            attempts: Some(3),
            deadline_ms: None,
            backoff_ms: SECOND,
            longest_ms: LONGEST_PROBE_MS,
            then: OnFailure::Pause,
        }
    }

    /// The wait after so many failures, between half and the whole of what doubling gives: machines that fail together
    /// must not come back together.
    pub(crate) fn wait(&self, failures: u32, random: u64) -> u64 {
        jittered(doubled(self.backoff_ms, failures).min(self.longest_ms), random)
    }
}

/// The wait before a paused step looks again for the `probe`th time.
pub(crate) fn probe_wait(probe: u32, random: u64) -> u64 {
    jittered(doubled(SECOND, probe).min(LONGEST_PROBE_MS), random)
}

fn doubled(base: u64, times: u32) -> u64 {
    let factor = 1_u64.checked_shl(times.saturating_sub(1)).unwrap_or(u64::MAX);
    base.saturating_mul(factor)
}

fn jittered(wait: u64, random: u64) -> u64 {
    let half = wait / 2;
    wait - random % (half + 1)
}
