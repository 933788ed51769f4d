//! Units whose work is a stage, under the names that Tectonic gave them.
//!
//! The names and the conditions are its own, the behaviour is not. There, a path unit looked at the assets only, so that
//! from the second boot on it fell over a service whose condition no longer held; and the service followed a kubelet that
//! might have failed. Here both units look at the mark, which is written last, and neither is enabled: the agent starts
//! the path unit once kubelet is healthy, and the service runs the agent, which knows by its journal what is done.

use bringup_spec::{AgentSource, Phase};

use crate::decisions::Decisions;
use crate::flavour::AGENT;
use crate::units::FOR_GOOD;
use crate::{Action, Awaited, HandedTo, PlacedBy, Step, Unit};

/// Where Tectonic keeps what it needs to start a cluster.
const FOLDER: &str = "/opt/tectonic";

/// The units that do a stage of this name; none without an agent.
pub(crate) fn handed_to(decisions: &Decisions, name: &str) -> Option<HandedTo> {
    (decisions.agent != AgentSource::None).then(|| HandedTo {
        path: format!("{name}.path"),
        service: format!("{name}.service"),
        done: done(name),
    })
}

/// The mark of a stage that is done.
pub(crate) fn done(name: &str) -> String {
    format!("{FOLDER}/init_{name}.done")
}

/// The units of all stages that are handed to some.
pub(crate) fn units(steps: &[Step]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut before: Option<String> = None;
    for step in steps {
        let Some(to) = &step.handed_to else { continue };
        units.push(placed(&to.path, path(to, &watched(step))));
        units.push(placed(&to.service, service(to, step.phase, before.as_deref())));
        before = Some(to.service.clone());
    }
    units
}

/// What the path unit waits for: a list of digests, which is written last, or else any of what the stage waits for. The
/// agent sees to it that all of it is there.
fn watched(step: &Step) -> Vec<String> {
    let Action::Run { command, wait_for, .. } = &step.action else { return Vec::new() };
    let program = command.first().and_then(|word| word.as_literal()).map(str::to_owned);
    let lists = wait_for.iter().filter_map(|awaited| match awaited {
        Awaited::Manifest { manifest } => Some(manifest.clone()),
        Awaited::Path(_) => None,
    });
    let paths = wait_for.iter().filter_map(|awaited| match awaited {
        Awaited::Path(path) => Some(path.clone()),
        Awaited::Manifest { .. } => None,
    });
    let lists: Vec<String> = lists.collect();
    if !lists.is_empty() {
        return lists;
    }
    if wait_for.is_empty() { program.into_iter().collect() } else { paths.collect() }
}

fn path(to: &HandedTo, watched: &[String]) -> String {
    let lines: String =
        watched.iter().flat_map(|path| ["PathExists=".to_owned(), escaped(path), "\n".to_owned()]).collect();
    let HandedTo { service, done, .. } = to;
    format!(
        "[Unit]\n\
         Description=Wait for what {service} needs\n\
         Documentation=https://bringup.dev/\n\
         ConditionPathExists=!{done}\n\n\
         [Path]\n\
         {lines}Unit={service}\n"
    )
}

/// It follows the agent that handed the stage over, which has let go of its lock then.
fn service(to: &HandedTo, phase: Phase, before: Option<&str>) -> String {
    let (doing, needs) = match before {
        Some(before) => ("Install what stands on the cluster", format!("Requires={before}\nAfter={before}")),
        None => ("Start the cluster", "Wants=kubelet.service\nAfter=kubelet.service".to_owned()),
    };
    // A path unit starts what has ended at once, again and again: what failed waits in the state of being restarted, and
    // what has given up runs into the limit of starts, where both units can be seen to have failed.
    format!(
        "[Unit]\n\
         Description={doing}\n\
         Documentation=https://bringup.dev/\n\
         ConditionPathExists=!{}\n\
         {needs} bringup-after.service\n\n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=true\n\
         NotifyAccess=main\n\
         ExecStart={AGENT} up --from {phase} --until {phase}\n\
         Restart=on-failure\n\
         {FOR_GOOD}RestartSec=5\n\
         StandardOutput=journal+console\n",
        to.done
    )
}

/// A path as it stands in a unit, where `%` begins a specifier.
fn escaped(path: &str) -> String {
    path.replace('%', "%%")
}

fn placed(name: &str, content: String) -> Unit {
    Unit {
        name: name.to_owned(),
        content: Some(content),
        enabled: Some(false),
        mask: false,
        drop_ins: std::collections::BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    }
}
