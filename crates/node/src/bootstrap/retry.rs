//! How often EKS is asked again: as `--aws-api-retry-attempts` says, with the script's own waits between.

use std::time::Duration;

use bringup_progress::{Failure, FailureKind};

use crate::machine::Machine;
use crate::teller::Teller;

/// Asks until there is an answer, nothing can come of it any more, or the attempts are used up: one, and so many again.
pub(super) fn asked<T>(
    again: u32,
    wait: impl Fn(Duration),
    mut ask: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut attempt = 0;
    loop {
        match ask() {
            Err(failure) if failure.kind == FailureKind::Transient && attempt < again => {
                Teller::note(&failure.why);
                wait(time(attempt, Machine::random()));
                attempt += 1;
                Teller::note(&format!("attempt {attempt} of {again}"));
            }
            result => return result,
        }
    }
}

/// Ten seconds, twenty, forty; and one to ten more, so that machines that fail together do not come back together.
fn time(attempt: u32, random: u64) -> Duration {
    let seconds = 5_u64.checked_shl(attempt.saturating_add(1).min(10)).unwrap_or(u64::MAX);
    Duration::from_secs(seconds.saturating_add(1 + random % 10))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn failure(kind: FailureKind) -> Failure {
        Failure::new(kind, "no", "")
    }

    #[test]
    fn what_may_pass_is_asked_for_again_and_no_more_often_than_said() {
        let (asks, waits) = (Cell::new(0), RefCell::new(Vec::new()));
        let ended: Result<(), Failure> = asked(
            3,
            |time| waits.borrow_mut().push(time.as_secs()),
            || {
                asks.set(asks.get() + 1);
                Err(failure(FailureKind::Transient))
            },
        );
        assert!(ended.is_err());
        assert_eq!(asks.get(), 4);
        for (wait, least) in waits.borrow().iter().zip([10, 20, 40]) {
            assert!((least + 1..=least + 10).contains(wait), "{wait}");
        }
        assert_eq!(waits.borrow().len(), 3);
    }

    #[test]
    fn what_will_not_pass_is_asked_for_once() {
        for kind in [FailureKind::Permanent, FailureKind::Operator] {
            let asks = Cell::new(0);
            let ended: Result<(), Failure> = asked(
                3,
                |_| {},
                || {
                    asks.set(asks.get() + 1);
                    Err(failure(kind))
                },
            );
            assert!(ended.is_err());
            assert_eq!(asks.get(), 1);
        }
    }

    #[test]
    fn an_answer_ends_it() {
        let asks = Cell::new(0);
        let ended = asked(
            3,
            |_| {},
            || {
                asks.set(asks.get() + 1);
                if asks.get() < 3 { Err(failure(FailureKind::Transient)) } else { Ok(asks.get()) }
            },
        );
        assert_eq!(ended.unwrap(), 3);
    }
}
