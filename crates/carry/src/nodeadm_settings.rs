//! What nodeadm sees to by itself, in its own words: the disks of an instance behind all that cloud-init runs, on every boot;
//! name servers, and what containers start from, before it.

use bringup_plan::{Action, Content, Plan, Step};
use bringup_spec::nodeconfig::base_runtime_spec;
use bringup_yaml::Value;

use crate::nodeadm_pulls::is_import;

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
    let last =
        before.iter().rev().find(|step| matches!(step.action, Action::Run { .. }) && !is_import(step))?;
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

/// nodeadm's drop-in of systemd-resolved, and the command that has it read.
const RESOLUTION: &str = "/etc/systemd/resolved.conf.d/40-eks.conf";
const READ_AGAIN: [&str; 3] = ["/usr/bin/systemctl", "restart", "systemd-resolved.service"];

/// Where nodeadm writes what containers start from.
const BASE_SPEC: &str = "/etc/containerd/base-runtime-spec.json";

/// The text of a file that is known before boot.
fn file<'a>(plan: &'a Plan, wanted: &str) -> Option<&'a str> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. } if path == wanted => text.as_literal(),
        _ => None,
    })
}

/// `network` of a NodeConfig in the place of the drop-in, if it says no more than that can.
pub(crate) fn network(plan: &Plan) -> Option<Value> {
    let mut lines = file(plan, RESOLUTION)?.lines();
    lines.next().filter(|line| *line == "[Resolve]")?;
    let mut network = Value::Map(Vec::new());
    for line in lines {
        let (key, words) = line.split_once('=')?;
        let theirs = match key {
            "DNS" => "nameservers",
            "Domains" => "domains",
            _ => return None,
        };
        network.set(theirs, Value::list(words.split_whitespace()));
    }
    Some(network)
}

/// `baseRuntimeSpec` of a NodeConfig in the place of the file, if it is another than nodeadm's own.
pub(crate) fn own_base_spec(plan: &Plan) -> Option<Value> {
    let usual = base_runtime_spec(&serde_json::Map::new());
    base_spec(plan).filter(|whole| *whole != usual).map(Value::from)
}

fn base_spec(plan: &Plan) -> Option<serde_json::Value> {
    let whole: serde_json::Value = serde_json::from_str(file(plan, BASE_SPEC)?).ok()?;
    whole.is_object().then_some(whole)
}

/// Whether a setting of the NodeConfig stands for this step.
pub(crate) fn is_setting(plan: &Plan, step: &Step) -> bool {
    match &step.action {
        Action::WriteFile { path, .. } if path == RESOLUTION => network(plan).is_some(),
        Action::WriteFile { path, .. } if path == BASE_SPEC => base_spec(plan).is_some(),
        Action::Run { command, .. } => {
            let again = command.iter().map(|word| word.as_literal()).eq(READ_AGAIN.map(Some));
            again && network(plan).is_some()
                || local_storage(plan).is_some_and(|(disks, _)| disks.name == step.name)
        }
        _ => false,
    }
}
