//! How long to wait before the next try.

/// When to try again, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The longest first wait, in milliseconds.
    pub base_ms: u64,
    /// By how much each wait may be longer than the one before.
    pub factor: u32,
    /// What no wait exceeds, in milliseconds.
    pub cap_ms: u64,
    /// When to stop, in milliseconds since the first try; never, if there is none.
    pub deadline_ms: Option<u64>,
}

impl Policy {
    /// For the metadata service: near, quick, and with a limit of requests.
    pub const METADATA: Self = Self { base_ms: 100, factor: 2, cap_ms: 5_000, deadline_ms: Some(120_000) };

    /// For the services of AWS.
    pub const SERVICE: Self = Self { base_ms: 500, factor: 2, cap_ms: 20_000, deadline_ms: Some(300_000) };

    /// How long to wait in milliseconds after the try of this number, counted from 0, has failed; none, if it was the
    /// last. `spent_ms` says how long ago the first began. `random` is any number: half of the wait depends on it, so
    /// that a thousand nodes that boot together do not ask together.
    pub fn next_wait(&self, attempt: u32, spent_ms: u64, random: u64) -> Option<u64> {
        let left = self.deadline_ms.map_or(Some(u64::MAX), |deadline| deadline.checked_sub(spent_ms))?;
        if left == 0 {
            return None;
        }
        let most = u64::from(self.factor)
            .checked_pow(attempt)
            .and_then(|growth| self.base_ms.checked_mul(growth))
            .map_or(self.cap_ms, |wait| wait.min(self.cap_ms));
        let least = most - most / 2;
        let wait = least + random % (most / 2 + 1);
        // The last try comes at the deadline, not a whole wait before it.
        Some(wait.min(left))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POLICY: Policy = Policy { base_ms: 100, factor: 2, cap_ms: 1_000, deadline_ms: Some(10_000) };

    #[test]
    fn waits_double_up_to_the_cap() {
        let least: Vec<_> = (0..6).map(|attempt| POLICY.next_wait(attempt, 0, 0).unwrap()).collect();
        assert_eq!(least, [50, 100, 200, 400, 500, 500]);
        let most: Vec<_> = [50, 100, 200, 400, 500, 500]
            .iter()
            .zip(0..)
            .map(|(random, attempt)| POLICY.next_wait(attempt, 0, *random).unwrap())
            .collect();
        assert_eq!(most, [100, 200, 400, 800, 1_000, 1_000]);
    }

    #[test]
    fn the_last_try_is_at_the_deadline() {
        assert_eq!(POLICY.next_wait(9, 9_900, 0), Some(100));
        assert_eq!(POLICY.next_wait(9, 10_000, 0), None);
        assert_eq!(POLICY.next_wait(9, 99_999, 0), None);
        assert_eq!(Policy { deadline_ms: None, ..POLICY }.next_wait(u32::MAX, u64::MAX, 500), Some(1_000));
    }

    proptest! {
        #[test]
        fn every_wait_keeps_its_bounds(attempt: u32, spent: u64, random: u64, base: u64, factor: u32, cap: u64, deadline: Option<u64>) {
            let policy = Policy { base_ms: base, factor, cap_ms: cap, deadline_ms: deadline };
            if let Some(wait) = policy.next_wait(attempt, spent, random) {
                prop_assert!(wait <= cap);
                prop_assert!(deadline.is_none_or(|deadline| spent.saturating_add(wait) <= deadline));
            }
        }
    }
}
