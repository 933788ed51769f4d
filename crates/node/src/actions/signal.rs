//! Tells others how it ended.

use std::collections::BTreeMap;

use bringup_plan::Plan;
use bringup_progress::{Failed, Failure, FailureKind, Success};
use bringup_spec::{SecretSource, SignalKind, Text};

use super::{Doing, Stopped};
use crate::knowledge::Knowledge;
use crate::machine::Machine;

/// Tells that it worked.
pub(super) fn success(
    _doing: &Doing<'_>,
    kind: SignalKind,
    _target: &BTreeMap<String, Text>,
    _token: Option<&SecretSource>,
) -> Result<Success, Stopped> {
    Err(Failure::new(FailureKind::Permanent, format!("cannot signal `{kind}` yet"), "").into())
}

/// Tells everybody whom success would be told that it did not.
pub(crate) fn failure(_machine: &Machine, _plan: &Plan, _knowledge: &Knowledge<'_>, _failed: &Failed) {}
