//! Waits until the node object exists.

use bringup_progress::{Failure, FailureKind, Success};

use super::{Doing, Stopped};

pub(super) fn wait(doing: &Doing<'_>, _kubeconfig: &str) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    Err(Failure::new(FailureKind::Permanent, "cannot ask for the node object yet", "").into())
}
