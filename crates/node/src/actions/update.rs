//! Updates the operating system.

use bringup_progress::{Failure, FailureKind, Success};

use super::{Doing, Stopped};

pub(super) fn update(_doing: &Doing<'_>, _hold: &[String]) -> Result<Success, Stopped> {
    Err(Failure::new(FailureKind::Permanent, "cannot update the system yet", "").into())
}
