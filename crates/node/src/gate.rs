//! The gate: kubelet may start.

use std::collections::BTreeMap;
use std::path::Path;

use bringup_disk::{Change, FileFault, Files, Owner, Wanted};
use bringup_facts::environment_file;
use bringup_plan::{Action, GATE_FILE, Plan, Step};
use bringup_spec::Text;
use bringup_systemd::{BusFault, Systemd};

use crate::machine::Machine;

/// What leads to the gate.
pub(crate) const BEFORE: &str = "bringup.service";
/// What follows the gate.
pub(crate) const AFTER: &str = "bringup-after.service";
/// What holds kubelet back. One that is set before it starts is not queued with the gate: then this is, so that whoever
/// starts kubelet later does not start the agent with it.
const GATE: &str = "bringup-gate.target";

/// Publishes the gate file by one rename.
pub(crate) fn open(files: &Files<'_>, environment: &BTreeMap<String, Text>) -> Result<Change, FileFault> {
    let content = content(environment);
    files.replace(
        Path::new(GATE_FILE),
        Wanted { content: content.as_bytes(), mode: 0o600, owner: Owner::ROOT },
    )
}

/// Queues kubelet and what follows the gate, without waiting for them. What runs already is left alone.
///
/// Whoever finds the gate open queues them, too: a job may have been taken back meanwhile, or have failed while there was no
/// gate yet.
pub(crate) fn queue(machine: &Machine, plan: &Plan) -> Result<(), BusFault> {
    if !machine.is_itself() {
        return Ok(());
    }
    let queues = |step: &Step| matches!(step.action, Action::OpenGate { queue_kubelet: true, .. });
    let mut systemd = Systemd::connect()?;
    let kubelet = plan.kubelet_unit();
    if plan.steps.iter().any(queues) {
        systemd.start(&kubelet)?;
    } else if kubelet != "kubelet.service" {
        systemd.start(GATE)?;
    }
    match systemd.start(AFTER) {
        // Without a carrier that has placed it, whoever opened the gate goes on by itself.
        Err(fault) if fault.is("NoSuchUnit") => Ok(()),
        started => started.map(|_| ()),
    }
}

/// Queues a unit that goes on where this agent ends.
pub(crate) fn go_on(unit: &str) -> Result<(), BusFault> {
    Systemd::connect()?.start(unit).map(|_| ())
}

/// What the gate file says.
pub(crate) fn content(environment: &BTreeMap<String, Text>) -> String {
    environment_file(
        environment.iter().map(|(name, value)| (name.as_str(), value.as_literal().unwrap_or_default())),
    )
}
