//! The operator's steps where there is no agent: one unit runs them in their order and starts kubelet behind them.
//!
//! Not the first stage itself: it runs while the system waits for cloud-init, so that a program that starts a service and
//! waits for it would wait for ever. Like the agent, the unit is the one who starts kubelet: were kubelet enabled, the system
//! would not be up before the steps have ended, and cloud-init's last stage, which steps may wait for, waits for that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bringup_diag::Finding;
use bringup_plan::{Action, PlacedBy, STEPS_UNIT, Step, Unit, sha256_hex};
use bringup_spec::{Fact, OnFailure, Text};

use crate::codes;
use crate::load::Load;
use crate::placed::PlacedFile;
use crate::shell::word;
use crate::shell_facts::{commands, out_of_reach, word_of};
use crate::step_place::{hook_place, place, said, way_out};

/// The script.
const PATH: &str = "/opt/bringup/bin/bringup-steps";

/// A mark has the machine's number, as a disk may become the image of another, and is on the disk behind what it stands for.
const HEAD: &str = r#"#!/bin/sh
# bringup: what comes before kubelet, in order, and kubelet behind it.
# shellcheck disable=SC1003,SC2016,SC2088 # words of a step are handed on as they are
set -eu
trap 'test $? = 0 || echo "bringup: kubelet is not started" >&2' EXIT
marks=/var/lib/bringup/steps
machine=$(cat /sys/class/dmi/id/product_uuid 2>/dev/null || cat /etc/machine-id)
mkdir -p "$marks"
step() { # what runs it, name, digest of what is done once, attempts, seconds before the second
    if [ -n "$3" ] && [ "$(cat "$marks/$2" 2>/dev/null)" = "$machine $3" ]; then return; fi
    attempt=1
    pause=$5
    asked="/run/bringup/reboot/$2"
    mkdir -p "${asked%/*}"
    until (
        rm -f "$asked"
        export BRINGUP_STEP="$2" BRINGUP_ATTEMPT="$attempt" BRINGUP_REBOOT="$asked"
        "$1"
    ); do
        echo "bringup: step $2 has failed, attempt $attempt" >&2
        if [ "$attempt" = "$4" ]; then return 1; fi
        sleep "$pause"
        attempt=$((attempt + 1))
        if [ "$pause" -lt 300 ]; then pause=$((pause * 2)); fi
    done
    if [ -n "$3" ]; then
        echo "$machine $3" >"$marks/$2.new"
        sync
        mv -f "$marks/$2.new" "$marks/$2"
        sync
    fi
    if [ ! -e "$asked" ]; then return; fi
    if [ -z "$3" ]; then
        echo "bringup: step $2 asks for a reboot on every boot, and gets none" >&2
        return
    fi
    echo "bringup: step $2 asks for a reboot" >&2
    systemctl reboot
    exit 1
}
"#;

/// Why nobody runs this program where there is no agent.
fn refusal(load: &Load<'_>, step: &Step) -> Option<String> {
    let Action::Run { command, environment, wait_for, .. } = &step.action else { return None };
    if !load.plan.before_gate().any(|early| early.name == step.name) {
        return Some("nobody waits for kubelet to run before something else does".to_owned());
    }
    if step.elected_only || step.others_only {
        return Some("nobody finds out which node starts the cluster".to_owned());
    }
    if !wait_for.is_empty() {
        return Some("nobody waits for files that arrive late".to_owned());
    }
    let fact = out_of_reach(load, texts(command, environment).flat_map(Text::facts))?;
    Some(format!("nothing else learns the fact `{fact}`"))
}

fn texts<'a>(command: &'a [Text], environment: &'a BTreeMap<String, Text>) -> impl Iterator<Item = &'a Text> {
    command.iter().chain(environment.values())
}

/// The finding for a program that nobody runs, if this is one.
pub(crate) fn refused(load: &Load<'_>, step: &Step) -> Option<Finding> {
    let why = refusal(load, step)?;
    Some(of_nobody(&said(step), &why).at(place(load, step)).hint(way_out(load, step)))
}

/// The findings for hooks that a controller asks the agent for.
pub(crate) fn hooks_of_nobody(load: &Load<'_>) -> impl Iterator<Item = Finding> {
    load.plan.hooks.iter().map(|hook| {
        let why = format!("nobody on the node runs it at `{}`", hook.on);
        of_nobody(&format!("hook `{}`", hook.name), &why)
            .at(hook_place(load, &hook.name))
            .hint("write `agent: image` or `agent: fetch`, or leave it out")
    })
}

fn of_nobody(what: &str, why: &str) -> Finding {
    Finding::error(codes::AGENT_NEEDED, format!("{what} cannot be done without the agent: {why}"))
}

/// The programs that the unit runs.
fn programs<'load>(load: &Load<'load>) -> Vec<&'load Step> {
    let ours = |step: &&Step| matches!(step.action, Action::Run { .. }) && refusal(load, step).is_none();
    load.plan.run_without_agent().into_iter().filter(ours).collect()
}

/// Whether there is something to run in order, and nobody but a script to do it.
pub(crate) fn has_runner(load: &Load<'_>) -> bool {
    !load.has_agent() && !programs(load).is_empty()
}

/// Whether the unit sees to a step: a program, or a unit that is started among them.
pub(crate) fn runs(load: &Load<'_>, step: &Step) -> bool {
    let run = load.plan.run_without_agent();
    has_runner(load) && run.iter().any(|ran| ran.name == step.name) && refusal(load, step).is_none()
}

/// The script that the unit runs.
pub(crate) fn script(load: &Load<'_>) -> PlacedFile {
    let plan = load.plan;
    let mut facts = BTreeSet::new();
    for step in programs(load) {
        if let Action::Run { command, environment, .. } = &step.action {
            facts.extend(texts(command, environment).flat_map(Text::facts).cloned());
        }
    }
    if out_of_reach(load, [Fact::NodeName].iter()).is_none() {
        facts.insert(Fact::NodeName);
    }
    let mut script = HEAD.to_owned();
    script.push_str(&commands(load, &facts).unwrap_or_default());
    for (name, value) in &plan.environment {
        let _ = writeln!(script, "export {name}={}", word(value));
    }
    let _ = writeln!(
        script,
        "export BRINGUP_CLUSTER={} BRINGUP_GROUP={}",
        word(&plan.cluster),
        word(&plan.group)
    );
    if facts.contains(&Fact::NodeName) {
        script.push_str("export BRINGUP_NODE_NAME=\"$node_name\"\n");
    }
    let mut number = 0_usize;
    for step in plan.run_without_agent().into_iter().filter(|step| runs(load, step)) {
        if let Action::StartUnit { unit, .. } = &step.action {
            let unit = word(unit);
            let _ = writeln!(script, "systemctl restart {unit} || echo bringup: not started: {unit} >&2");
        } else {
            number = number.saturating_add(1);
            program(&mut script, step, number);
        }
    }
    let _ = writeln!(script, "systemctl start --no-block {}", plan.starter_without_agent());
    PlacedFile::new(PATH, 0o755, script)
}

/// The lines that run one program.
fn program(script: &mut String, step: &Step, number: usize) {
    let Action::Run { command, environment, directory, .. } = &step.action else { return };
    let _ = writeln!(script, "run_{number}() {{\n    export BRINGUP_PHASE={}", step.phase);
    for (name, value) in environment {
        let _ = writeln!(script, "    export {name}={}", word_of(value));
    }
    if let Some(directory) = directory {
        let _ = writeln!(script, "    cd {} || return", word(directory));
    }
    let limit = step.policy.as_ref().map_or_else(String::new, |policy| {
        let seconds = policy.timeout_ms.div_ceil(1000).max(1);
        format!("timeout -k 10 {seconds} ")
    });
    let words: Vec<String> = command.iter().map(word_of).collect();
    let _ = writeln!(script, "    {limit}{}\n}}", words.join(" "));
    let digest = if step.every_boot {
        String::new()
    } else {
        let whole = sha256_hex(serde_json::to_string(&step.action).unwrap_or_default().as_bytes());
        whole.get(..16).unwrap_or_default().to_owned()
    };
    let (attempts, pause, on_failure) = step.policy.as_ref().map_or((1, 1, OnFailure::Pause), |policy| {
        (policy.attempts, policy.backoff_ms.div_ceil(1000).max(1), policy.on_failure)
    });
    // No attempt is the last of one that starts over for ever.
    let attempts = if on_failure == OnFailure::Retry { 0 } else { attempts };
    let name = word(&step.name);
    let _ = write!(script, "step run_{number} {name} {} {attempts} {pause}", word(&digest));
    if on_failure == OnFailure::Continue {
        // The lab reads it.
        let _ = write!(script, " || echo bringup: step {name} is passed over >&2");
    }
    script.push('\n');
}

/// What waits for the steps, and is started by their unit only.
pub(crate) fn is_held(load: &Load<'_>, unit: &str) -> bool {
    has_runner(load) && (unit == load.plan.starter_without_agent() || unit == load.plan.kubelet_unit())
}

/// The unit that runs the steps. Nothing but kubelet waits for it.
pub(crate) fn unit(load: &Load<'_>) -> Unit {
    let mut held = vec![load.plan.kubelet_unit(), load.plan.starter_without_agent()];
    held.dedup();
    let held = held.join(" ");
    let text = format!(
        "[Unit]\nDescription=Run what comes before kubelet, and start kubelet\nDocumentation=https://bringup.dev/\n\
         DefaultDependencies=no\nWants=network-online.target\nAfter=basic.target network-online.target\n\
         Before={held} shutdown.target\nConflicts=shutdown.target\n\n\
         [Service]\nType=oneshot\nExecStart={PATH}\nRemainAfterExit=true\n\
         StandardOutput=journal+console\nStandardError=journal+console\n\n\
         [Install]\nWantedBy=multi-user.target\nRequiredBy={held}\n"
    );
    Unit {
        name: STEPS_UNIT.to_owned(),
        content: Some(text),
        enabled: Some(true),
        mask: false,
        drop_ins: BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    }
}
