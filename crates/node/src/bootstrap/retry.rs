//! How often EKS is asked again: as `--aws-api-retry-attempts` says, with the script's own waits between. Within an attempt a
//! cluster that is coming is waited for, as `aws eks wait cluster-active` does.

use std::time::Duration;

use bringup_progress::{Failure, FailureKind};

use crate::cluster::Seen;
use crate::machine::Machine;
use crate::teller::Teller;

/// How often a cluster that is coming is looked at within an attempt, and how long it is left alone between.
const LOOKS: u32 = 40;
const BETWEEN: Duration = Duration::from_secs(30);

/// Asks until there is an answer, nothing can come of it any more, or the attempts are used up: one, and so many again.
pub(super) fn asked<T>(
    again: u32,
    wait: impl Fn(Duration),
    mut ask: impl FnMut() -> Result<Seen<T>, Failure>,
) -> Result<T, Failure> {
    let (mut attempt, mut looks) = (0, 0);
    loop {
        let failure = match ask() {
            Ok(Seen::There(found)) => return Ok(found),
            Ok(Seen::Coming(failure)) => {
                looks += 1;
                if looks < LOOKS {
                    if looks == 1 {
                        Teller::note(&format!("{}: waiting for it", failure.why));
                    }
                    wait(BETWEEN);
                    continue;
                }
                failure
            }
            Err(failure) => failure,
        };
        // Rights may be on their way to a role that is as young as the machine.
        if failure.kind == FailureKind::Permanent || attempt >= again {
            return Err(failure);
        }
        looks = 0;
        Teller::note(&failure.why);
        wait(time(attempt, Machine::random()));
        attempt += 1;
        Teller::note(&format!("attempt {attempt} of {again}"));
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
        let ended: Result<(), Failure> = asked::<()>(
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

    /// EKS takes ten minutes to make a cluster; the script's waiter looks 40 times, every 30 seconds, and is begun anew as
    /// often as calls are.
    #[test]
    fn a_cluster_that_is_coming_is_waited_for_without_using_up_attempts() {
        let (asks, waits) = (Cell::new(0), RefCell::new(Vec::new()));
        let coming_for = |looks: u32, again: u32| {
            asks.set(0);
            waits.borrow_mut().clear();
            asked(
                again,
                |time| waits.borrow_mut().push(time.as_secs()),
                || {
                    asks.set(asks.get() + 1);
                    Ok(if asks.get() > looks {
                        Seen::There(())
                    } else {
                        Seen::Coming(failure(FailureKind::Transient))
                    })
                },
            )
        };
        assert!(coming_for(20, 0).is_ok());
        assert_eq!(*waits.borrow(), [30; 20]);
        assert!(coming_for(40, 0).is_err());
        assert_eq!(asks.get(), 40);
        assert!(coming_for(41, 1).is_ok());
        assert_eq!(waits.borrow().len(), 41);
        assert!((11..=20).contains(&waits.borrow()[39]), "{waits:?}");
    }

    #[test]
    fn what_will_not_pass_is_asked_for_once() {
        for (kind, most) in [(FailureKind::Permanent, 1), (FailureKind::Operator, 4)] {
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
            assert_eq!(asks.get(), most);
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
                if asks.get() < 3 {
                    Err(failure(FailureKind::Transient))
                } else {
                    Ok(Seen::There(asks.get()))
                }
            },
        );
        assert_eq!(ended.unwrap(), 3);
    }
}
