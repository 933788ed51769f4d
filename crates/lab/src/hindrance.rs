//! Steps that are made to fail or to take long. It is done from outside: the agent and its plan stay as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use bringup_plan::{Action, InstallSource, Plan, Step, step_unit};

use crate::LabFault;
use crate::image::Layer;

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
pub(crate) fn grip(step: &Step) -> Option<Grip> {
    match &step.action {
        Action::LearnFacts => Some(Grip::Metadata),
        Action::Fetch { urls, .. } => Some(Grip::Urls(urls.clone())),
        Action::Install { source: InstallSource::Url { urls, .. }, .. }
        | Action::Install { source: InstallSource::Extension { urls, .. }, .. } => {
            Some(Grip::Urls(urls.clone()))
        }
        Action::Run { .. } | Action::UpdateOs { .. } | Action::Install { .. } => {
            Some(Grip::Unit(step_unit(&step.name)))
        }
        Action::StartUnit { unit, .. } => Some(Grip::Unit(unit.clone())),
        Action::StartKubelet { .. } => Some(Grip::Unit("kubelet.service".to_owned())),
        _ => None,
    }
}

/// The steps that are hindered, and where.
pub(crate) fn grips<'a>(
    plan: Option<&Plan>,
    hindrances: &'a BTreeMap<String, Hindrance>,
) -> Result<Vec<(Grip, &'a Hindrance)>, LabFault> {
    let steps = plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let found = hindrances.iter().map(|(name, hindrance)| {
        let step = steps.iter().find(|step| step.name == *name);
        step.and_then(grip).map(|grip| (grip, hindrance)).ok_or_else(|| LabFault::NoGrip {
            step: name.clone(),
            others: steps.iter().filter(|step| grip(step).is_some()).map(|step| step.name.clone()).collect(),
        })
    });
    found.collect()
}

/// Fails as often as is asked for: a name, and how often.
const SCRIPT: &str = r#"#!/bin/sh
mkdir -p /lab/hindered
count=$(cat "/lab/hindered/$1" 2>/dev/null || echo 0)
[ "$count" -lt "$2" ] || exit 0
echo $((count + 1)) >"/lab/hindered/$1"
echo "the lab makes it fail: $((count + 1)) of $2"
exit 1
"#;

/// Lays what hinders units.
pub(crate) fn lay(layer: &Layer, grips: &[(Grip, &Hindrance)]) -> Result<(), LabFault> {
    layer.write("/lab/hinder", SCRIPT.as_bytes(), 0o755)?;
    for (number, (grip, hindrance)) in grips.iter().enumerate() {
        let Grip::Unit(unit) = grip else { continue };
        let mut text = String::from("[Service]\n");
        if !hindrance.wait.is_zero() {
            let _ = writeln!(text, "ExecStartPre=/usr/bin/sleep {}", hindrance.wait.as_secs_f32());
        }
        if hindrance.failures > 0 {
            let _ = writeln!(text, "ExecStartPre=/lab/hinder {number} {}", hindrance.failures);
        }
        layer.write(&format!("/etc/systemd/system/{unit}.d/lab.conf"), text.as_bytes(), 0o644)?;
    }
    Ok(())
}
