//! Swap.

use bringup_progress::{Failure, FailureKind, Success};
use bringup_spec::SwapPolicy;

use super::{Doing, Stopped};

pub(super) fn set(
    _doing: &Doing<'_>,
    _policy: SwapPolicy,
    _size_mib: Option<u32>,
    _path: Option<&str>,
) -> Result<Success, Stopped> {
    Err(Failure::new(FailureKind::Permanent, "cannot set swap yet", "").into())
}
