//! The phases of kubeadm that can be skipped. kubeadm refuses a name that its command does not have, so that each command
//! gets only its own.

use bringup_kubelet::Minor;

use crate::codes;
use crate::context::Context;

/// Phases of `kubeadm init`, with the first minor that has them.
const INIT: [(&str, u16); 14] = [
    ("preflight", 0),
    ("certs", 0),
    ("kubeconfig", 0),
    ("etcd", 0),
    ("control-plane", 0),
    ("kubelet-start", 0),
    ("wait-control-plane", 0),
    ("upload-config", 0),
    ("upload-certs", 0),
    ("mark-control-plane", 0),
    ("bootstrap-token", 0),
    ("kubelet-finalize", 17),
    ("addon", 0),
    ("show-join-command", 26),
];

/// Phases of `kubeadm join`, with the first minor that has them.
const JOIN: [(&str, u16); 8] = [
    ("preflight", 0),
    ("control-plane-prepare", 0),
    ("check-etcd", 0),
    ("kubelet-start", 0),
    ("etcd-join", 31),
    ("kubelet-wait-bootstrap", 31),
    ("control-plane-join", 0),
    ("wait-control-plane", 30),
];

/// A command of kubeadm.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Command {
    Init,
    Join,
}

fn has(command: Command, minor: Minor, phase: &str) -> bool {
    let phases: &[(&str, u16)] = if command == Command::Init { &INIT } else { &JOIN };
    let first = phase.split('/').next().unwrap_or(phase);
    phases.iter().any(|(name, since)| *name == first && *since <= minor.0)
}

/// The phases that the operator wants this command to skip.
pub(super) fn skipped<'a>(context: &Context<'a>, command: Command) -> Vec<&'a str> {
    let all = context.spec.join.kubeadm.as_ref().map(|kubeadm| kubeadm.skip_phases.as_slice());
    let minor = context.kubeadm;
    all.unwrap_or_default().iter().map(String::as_str).filter(|phase| has(command, minor, phase)).collect()
}

/// Phases that neither command has.
pub(super) fn check(context: &mut Context<'_>) {
    let Some(kubeadm) = &context.spec.join.kubeadm else { return };
    let minor = context.kubeadm;
    for (index, phase) in kubeadm.skip_phases.iter().enumerate() {
        if has(Command::Init, minor, phase) || has(Command::Join, minor, phase) {
            continue;
        }
        let known = INIT.iter().chain(&JOIN).filter(|(_, since)| *since <= minor.0).map(|(name, _)| *name);
        let hint = bringup_diag::closest(phase, known).map_or_else(
            || "`kubeadm init --help` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let path = Context::spec_path(["join", "kubeadm", "skipPhases"]).index(index);
        context.error(codes::KUBEADM_PHASE, &path, format!("kubeadm {minor} has no phase `{phase}`"), hint);
    }
}
