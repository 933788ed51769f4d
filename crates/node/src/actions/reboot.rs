//! Reboots, where asked.

use std::path::Path;

use bringup_plan::Action;
use bringup_progress::{Failure, Success};
use bringup_spec::OsFamily;
use bringup_systemd::{Systemd, UpdateEngine};

use super::{Doing, Stopped, of_bus};
use crate::machine::Machine;
use crate::runtime_data;

/// Where distributions say that an update wants a reboot.
const REQUIRED: [&str; 2] = ["/run/reboot-required", "/var/run/reboot-required"];

/// Asks for a reboot if there is to be one; the course sees to it that it happens once.
pub(super) fn reboot(doing: &Doing<'_>, always: bool) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let files = doing.machine.files();
    let required = REQUIRED.iter().any(|path| matches!(files.disk().look(Path::new(path)), Ok(Some(_))));
    // Flatcar's engine says so itself, and no longer after the reboot.
    let required = required
        || (doing.plan.os == OsFamily::Flatcar
            && doing.plan.steps.iter().any(|step| matches!(step.action, Action::UpdateOs { .. }))
            && UpdateEngine::connect()?.status()?.needs_reboot());
    if runtime_data::needs_reboot(files, &Machine::boot()) {
        return Err(Stopped::Reboot { why: "the container runtime is another one now".to_owned() });
    }
    match (always, required) {
        (_, true) => Err(Stopped::Reboot { why: "an update of the system needs it".to_owned() }),
        (true, false) => Err(Stopped::Reboot { why: "the document asks for it".to_owned() }),
        (false, false) => Ok(Success::default()),
    }
}

/// Reboots the machine.
pub(crate) fn now(machine: &Machine) -> Result<(), Failure> {
    if !machine.is_itself() {
        return Ok(());
    }
    Systemd::connect().and_then(|mut systemd| systemd.reboot()).map_err(|fault| of_bus(&fault))
}
