//! Opens the gate and queues kubelet.

use std::collections::BTreeMap;

use bringup_plan::GATE_FILE;
use bringup_progress::Success;
use bringup_spec::Text;
use bringup_systemd::Systemd;

use super::{Doing, Stopped, files};

/// What follows the gate.
const AFTER: &str = "bringup-after.service";
const KUBELET: &str = "kubelet.service";

/// Publishes the gate file, queues kubelet and what follows without waiting for them, and says that it is done.
///
/// Both jobs wait for this very process to end, or to say that it is ready: waiting for them here would be for ever.
pub(super) fn open(
    doing: &Doing<'_>,
    environment: &BTreeMap<String, Text>,
    queue_kubelet: bool,
) -> Result<Success, Stopped> {
    let change = crate::gate::open(&doing.machine.files(), environment)?;
    if doing.machine.is_itself() {
        let mut systemd = Systemd::connect()?;
        if queue_kubelet {
            systemd.start(KUBELET)?;
        }
        systemd.start(AFTER)?;
        doing.teller.ready();
    }
    Ok(files::changed(GATE_FILE, change))
}
