//! Asking again, for a while.

use std::time::{Duration, Instant};

use bringup_aws::retry::Policy;

use crate::machine::Machine;

/// How long somebody is ready to ask again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    policy: Policy,
    began: Instant,
    attempt: u32,
}

impl Patience {
    /// By this policy, and no longer than until then.
    pub(crate) fn new(policy: Policy, deadline: Instant) -> Self {
        let began = Instant::now();
        let left = milliseconds(deadline.saturating_duration_since(began));
        let deadline_ms = Some(policy.deadline_ms.map_or(left, |own| own.min(left)));
        Self { policy: Policy { deadline_ms, ..policy }, began, attempt: 0 }
    }

    /// How many tries have failed.
    pub(crate) fn failures(&self) -> u32 {
        self.attempt
    }

    /// Another question: its first try has not failed yet, but the time is the same.
    pub(crate) fn afresh(&mut self) {
        self.attempt = 0;
    }

    /// Waits for the next try; false, if there is none.
    pub(crate) fn wait(&mut self) -> bool {
        let spent = milliseconds(self.began.elapsed());
        let Some(wait) = self.policy.next_wait(self.attempt, spent, Machine::random()) else { return false };
        std::thread::sleep(Duration::from_millis(wait));
        self.attempt = self.attempt.saturating_add(1);
        true
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
