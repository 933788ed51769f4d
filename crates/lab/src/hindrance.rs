//! Steps that are made to fail or to take long. It is done from outside: the agent and its plan stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bringup_plan::{Action, InstallSource, Plan, Snap, Step, step_unit};
use bringup_spec::Platform;

use crate::LabFault;
use crate::address::as_asked;
use crate::image::Layer;
use crate::network::METADATA;

/// How a step is hindered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hindrance {
    /// So many attempts fail.
    pub failures: u32,
    /// Each attempt takes so much longer.
    pub wait: Duration,
}

/// Where a step can be taken hold of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grip {
    /// A unit runs on its behalf.
    Unit(String),
    /// It asks for one of these.
    Urls(Vec<String>),
    /// It asks the metadata service.
    Metadata,
}

/// Where a step can be taken hold of; nowhere if it works with nothing but the machine's own files.
fn grip(plan: &Plan, step: &Step) -> Option<Grip> {
    match &step.action {
        Action::LearnFacts if plan.platform == Platform::Aws => Some(Grip::Metadata),
        Action::LearnFacts => {
            plan.detect.as_ref().map(|server| Grip::Urls(vec![as_asked(&server.version_url())]))
        }
        Action::Fetch { urls, .. } => Some(Grip::Urls(all_asked(urls))),
        Action::Install { source: InstallSource::Url { urls, .. }, .. }
        | Action::Install { source: InstallSource::Extension { urls, .. }, .. } => {
            Some(Grip::Urls(all_asked(urls)))
        }
        Action::Run { .. } | Action::UpdateOs { .. } | Action::Install { .. } => {
            Some(Grip::Unit(step_unit(&step.name)))
        }
        Action::StartUnit { unit, .. } => Some(Grip::Unit(unit.clone())),
        Action::StartKubelet { snap, .. } => {
            Some(Grip::Unit(snap.as_ref().map_or_else(|| "kubelet.service".to_owned(), Snap::unit)))
        }
        _ => None,
    }
}

fn all_asked(urls: &[String]) -> Vec<String> {
    urls.iter().map(|url| as_asked(url)).collect()
}

/// A step that is hindered, and where.
#[derive(Clone, Debug)]
pub(crate) struct Hindered<'a> {
    pub(crate) step: &'a str,
    pub(crate) grip: Grip,
    pub(crate) hindrance: &'a Hindrance,
}

impl Hindered<'_> {
    /// As it was asked for.
    pub(crate) fn asked(&self) -> String {
        let Hindrance { failures, wait } = self.hindrance;
        let fail = (*failures > 0).then(|| format!("--fail {}={failures}", self.step));
        let slow = (!wait.is_zero()).then(|| format!("--slow {}={}", self.step, wait.as_secs_f32()));
        fail.into_iter().chain(slow).collect::<Vec<_>>().join(" ")
    }

    /// Whether the step has met with it: `asked_for` has the addresses that were asked for and hindered.
    pub(crate) fn was_met(&self, layer: &Layer, asked_for: &BTreeSet<String>) -> bool {
        match &self.grip {
            Grip::Unit(_) => layer.path(&met(self.step)).exists(),
            Grip::Urls(urls) => urls.iter().any(|url| asked_for.contains(url)),
            Grip::Metadata => asked_for.contains(METADATA),
        }
    }
}

/// Where it is written down that a step has met with what hinders it.
fn met(step: &str) -> String {
    format!("{MET}/{step}")
}

const MET: &str = "/lab/hindered";

/// The steps that are hindered, and where.
pub(crate) fn grips<'a>(
    plan: Option<&Plan>,
    hindrances: &'a BTreeMap<String, Hindrance>,
) -> Result<Vec<Hindered<'a>>, LabFault> {
    let steps = || plan.into_iter().flat_map(|plan| plan.steps.iter().map(move |step| (plan, step)));
    let found = hindrances.iter().map(|(name, hindrance)| {
        let found = steps().find(|(_, step)| step.name == *name);
        found
            .and_then(|(plan, step)| grip(plan, step))
            .map(|grip| Hindered { step: name, grip, hindrance })
            .ok_or_else(|| {
                let can_be = steps().filter(|(plan, step)| grip(plan, step).is_some());
                let others = can_be.map(|(_, step)| step.name.clone()).collect();
                LabFault::NoGrip { step: name.clone(), others }
            })
    });
    found.collect()
}

/// Takes so long, and fails as often as is asked for: a name, how often, seconds.
const SCRIPT: &str = r#"#!/bin/sh
mkdir -p /lab/hindered
count=$(cat "/lab/hindered/$1" 2>/dev/null || echo 0)
echo "$count" >"/lab/hindered/$1"
sleep "$3"
[ "$count" -lt "$2" ] || exit 0
echo $((count + 1)) >"/lab/hindered/$1"
echo "the lab makes it fail: $((count + 1)) of $2"
exit 1
"#;

/// Lays what hinders units.
pub(crate) fn lay(layer: &Layer, hindered: &[Hindered<'_>]) -> Result<(), LabFault> {
    layer.write("/lab/hinder", SCRIPT.as_bytes(), 0o755)?;
    for Hindered { step, grip, hindrance } in hindered {
        let Grip::Unit(unit) = grip else { continue };
        let Hindrance { failures, wait } = hindrance;
        // What another call has counted is not this one's.
        let _ = std::fs::remove_file(layer.path(&met(step)));
        let text = format!("[Service]\nExecStartPre=+/lab/hinder {step} {failures} {}\n", wait.as_secs_f32());
        layer.write(&format!("/etc/systemd/system/{unit}.d/lab.conf"), text.as_bytes(), 0o644)?;
    }
    Ok(())
}
