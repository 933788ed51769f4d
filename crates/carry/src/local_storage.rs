//! The disks of an instance, which nodeadm sees to by itself: behind all that cloud-init runs, on every boot.

use bringup_plan::{Action, Plan, Step};
use bringup_yaml::Value;

/// The program of EKS' images that nodeadm has this done by.
const PROGRAM: &str = "/usr/bin/setup-local-disks";

/// The program's words for the ways, and nodeadm's.
const STRATEGIES: [(&str, &str); 3] = [("raid0", "RAID0"), ("raid10", "RAID10"), ("mount", "Mount")];

/// The program's flags for what is not to be on the disks, and nodeadm's words.
const WITHOUT: [(&str, &str); 3] =
    [("--no-bind-pods-logs", "PodLogs"), ("--no-bind-containerd", "Containerd"), ("--no-bind-soci", "SOCI")];

/// The step that nodeadm takes over, and `localStorage` of its NodeConfig in the place of it.
///
/// None where a step comes behind it that nodeadm would then be too late for, or where nodeadm has no word for it.
pub(crate) fn local_storage(plan: &Plan) -> Option<(&Step, Value)> {
    let gate = plan.steps.iter().position(|step| matches!(step.action, Action::OpenGate { .. }));
    let before = plan.steps.get(..gate.unwrap_or(plan.steps.len()))?;
    let last = before.iter().rev().find(|step| matches!(step.action, Action::Run { .. }))?;
    Some((last, setting(last).filter(|_| last.every_boot)?))
}

fn setting(step: &Step) -> Option<Value> {
    let Action::Run { command, environment, .. } = &step.action else { return None };
    let words: Vec<&str> = command.iter().map(|word| word.as_literal()).collect::<Option<_>>()?;
    let [PROGRAM, strategy, flags @ ..] = words.as_slice() else { return None };
    let known = |table: &[(&str, &'static str)], word: &str| {
        table.iter().find(|(known, _)| *known == word).map(|(_, theirs)| *theirs)
    };
    let mut storage = Value::map([("strategy", known(&STRATEGIES, strategy)?)]);
    let mut without = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--dir" => storage.set("mountPath", *flags.next()?),
            other => without.push(known(&WITHOUT, other)?),
        }
    }
    if !without.is_empty() {
        storage.set("disabledMounts", Value::list(without));
    }
    environment.is_empty().then_some(storage)
}
