//! Opens the gate and queues kubelet.

use std::collections::BTreeMap;

use bringup_plan::GATE_FILE;
use bringup_progress::Success;
use bringup_spec::Text;

use super::{Doing, Stopped, files};
use crate::gate;

/// Publishes the gate file, and queues kubelet and what follows without waiting for them.
///
/// Both jobs wait for this very process to end, or to say that it is ready, which it does once the gate is recorded and told:
/// waiting for them here would be for ever.
pub(super) fn open(doing: &Doing<'_>, environment: &BTreeMap<String, Text>) -> Result<Success, Stopped> {
    let change = gate::open(&doing.machine.files(), environment)?;
    gate::queue(doing.machine, doing.plan)?;
    Ok(files::changed(GATE_FILE, change))
}
