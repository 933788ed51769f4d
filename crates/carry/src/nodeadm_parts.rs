//! The operator's files, units and steps on an image whose own agent joins the node.
//!
//! `nodeadm-run.service`, which starts kubelet, is ordered after `cloud-final.service`: what cloud-init's parts do has ended
//! by then. What comes behind kubelet has no such place.

use std::fmt::Write as _;

use bringup_diag::{Finding, Findings};
use bringup_plan::{Action, Content, PlacedBy, Step, Unit, optional_sysctl};
use bringup_spec::nodeconfig::SNAPSHOTTER_CONFIG;
use bringup_spec::{Fact, Phase, Text};

use crate::budget::PartSize;
use crate::first_stage::FirstStage;
use crate::load::Load;
use crate::nodeadm_pulls::{is_import, parallel_pulls, units_beside};
use crate::nodeadm_settings::is_setting;
use crate::nodeconfig::not_carried;
use crate::shell::word;
use crate::shell_facts::{commands, out_of_reach, word_of};
use crate::step_place::{place, said};

const SCRIPT: &str = "text/x-shellscript";
const SCRIPT_PER_BOOT: &str = "text/x-shellscript-per-boot";

/// A part of ours.
pub(crate) struct OwnPart {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// What it is made of.
    pub(crate) inside: Vec<PartSize>,
}

/// What is placed, if anything, and the steps that come before kubelet, in their order.
pub(crate) struct OwnParts {
    pub(crate) placing: Option<OwnPart>,
    pub(crate) steps: Vec<OwnPart>,
}

impl OwnParts {
    /// Of a load; what cannot be carried is told.
    pub(crate) fn of(load: &Load<'_>, findings: &mut Findings) -> Self {
        let mut steps = Vec::new();
        let mut inlined = Vec::new();
        let parallel = parallel_pulls(load).is_some();
        // Scripts of every boot run before those of the first.
        let mut once: Option<&str> = None;
        for step in &load.plan.steps {
            let is_nodeadms = is_setting(load.plan, step) || parallel && is_import(step);
            if !matches!(step.action, Action::Run { .. }) || is_nodeadms {
                continue;
            }
            if !load.plan.before_gate().any(|early| early.name == step.name) {
                let why = "nothing of the image waits for kubelet to run before it runs something else";
                findings.push(not_carried(&said(step), why).at(place(load, step)));
                continue;
            }
            let (text, own) = match script(load, step) {
                Ok(script) => script,
                Err(why) => {
                    findings.push(not_carried(&said(step), &why).at(place(load, step)));
                    continue;
                }
            };
            inlined.extend(own);
            if step.phase > Phase::Runtime {
                let why =
                    "it runs with the image's files in place, but nodeadm starts containerd only after it";
                findings.push(not_kept(step, why).at(place(load, step)));
            }
            let kind = match once {
                None if step.every_boot => SCRIPT_PER_BOOT,
                Some(earlier) if step.every_boot => {
                    let why = format!("to stay behind `{earlier}` it runs on the first boot only");
                    findings.push(not_kept(step, &why).at(place(load, step)));
                    SCRIPT
                }
                _ => SCRIPT,
            };
            if kind == SCRIPT {
                once = once.or(Some(&step.name));
            }
            let name = step.name.replace(':', "-");
            steps.push(OwnPart { name, kind, text, inside: Vec::new() });
        }
        Self { placing: placing(load, &inlined, findings), steps }
    }
}

fn not_kept(step: &Step, why: &str) -> Finding {
    let message = format!("{} is carried, but {why}", said(step));
    Finding::warning(crate::codes::NODECONFIG_ORDER, message).hint(
        "take the carrier `multipart` with an agent, which keeps it, or see that the step can do with it",
    )
}

/// The script of a step. One that the operator wrote stays as it is, where nothing has to be said before it; then its own
/// path comes, too, for it need not be placed.
fn script<'load>(load: &Load<'load>, step: &'load Step) -> Result<(String, Option<&'load str>), String> {
    let Action::Run { command, environment, directory, .. } = &step.action else {
        return Err("it is no command".to_owned());
    };
    if environment.is_empty()
        && directory.is_none()
        && load.plan.environment.is_empty()
        && let [program] = command.as_slice()
        && let Some((path, own)) = own_script(load, program)
    {
        return Ok((own.to_owned(), Some(path)));
    }
    let texts = || command.iter().chain(environment.values());
    let facts: std::collections::BTreeSet<Fact> = texts().flat_map(Text::facts).cloned().collect();
    if let Some(fact) = out_of_reach(load, facts.iter()) {
        return Err(format!("nothing but our agent learns the fact `{fact}`"));
    }
    let mut text = String::from("#!/bin/sh\nset -eu\n");
    text.push_str(&commands(load, &facts).unwrap_or_default());
    for (name, value) in &load.plan.environment {
        let _ = writeln!(text, "export {name}={}", word(value));
    }
    for (name, value) in environment {
        let _ = writeln!(text, "export {name}={}", word_of(value));
    }
    if let Some(directory) = directory {
        let _ = writeln!(text, "cd {}", word(directory));
    }
    let words: Vec<String> = command.iter().map(word_of).collect();
    let _ = writeln!(text, "exec {}", words.join(" "));
    Ok((text, None))
}

/// The script at this path, if the plan brings it and knows all of it.
fn own_script<'load>(load: &Load<'load>, program: &Text) -> Option<(&'load str, &'load str)> {
    let program = program.as_literal()?;
    load.plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. } if path == program => {
            let text = text.as_literal().filter(|text| text.starts_with("#!"))?;
            step.name.starts_with("file:").then_some((path.as_str(), text))
        }
        _ => None,
    })
}

/// Files, directories, links, units and settings of the operator's: a boothook, which runs before every script.
fn placing(load: &Load<'_>, inlined: &[&str], findings: &mut Findings) -> Option<OwnPart> {
    let group = load.group;
    let mut ours = Vec::new();
    if !group.kernel_modules.is_empty() {
        let modules = group.kernel_modules.iter().map(|module| module.as_str().to_owned()).collect();
        ours.push(own_step("kernel-modules", Action::LoadModules { modules }));
    }
    if !group.sysctls.is_empty() {
        let named = || group.sysctls.iter().map(|(name, value)| (optional_sysctl(name), value));
        let settings =
            named().map(|((name, _), value)| (name.to_owned(), value.as_str().to_owned())).collect();
        let optional =
            named().filter(|((_, optional), _)| *optional).map(|((name, _), _)| name.to_owned()).collect();
        ours.push(own_step("sysctls", Action::SetSysctls { settings, optional }));
    }
    let parallel = parallel_pulls(load).is_some();
    let is_of_snapshotter =
        |step: &Step| matches!(&step.action, Action::WriteFile { path, .. } if path == SNAPSHOTTER_CONFIG);
    let operators = load.plan.steps.iter().filter(|step| {
        let placed = ["file:", "directory:", "link:"].iter().any(|kind| step.name.starts_with(kind));
        let is_inlined =
            matches!(&step.action, Action::WriteFile { path, .. } if inlined.contains(&path.as_str()));
        let is_nodeadms = is_setting(load.plan, step) || parallel && is_of_snapshotter(step);
        placed && !is_inlined && !is_nodeadms
    });
    let given = if parallel { units_beside(group) } else { group.units.clone() };
    let units: Vec<Unit> = given.iter().map(unit).collect();
    let mut lost = |step: &Step, why: &str| {
        findings.push(not_carried(&said(step), why).at(place(load, step)));
    };
    let stage = FirstStage::of_operator(load, operators.chain(&ours), &units, &mut lost)?;
    let (text, inside) = stage.script();
    Some(OwnPart { name: "bringup-boothook".to_owned(), kind: "text/cloud-boothook", text, inside })
}

fn own_step(name: &str, action: Action) -> Step {
    Step {
        name: name.to_owned(),
        phase: Phase::Runtime,
        action,
        policy: None,
        every_boot: true,
        elected_only: false,
        others_only: false,
        handed_to: None,
    }
}

fn unit(given: &bringup_spec::Unit) -> Unit {
    let drop_ins = given.drop_ins.iter().map(|drop_in| (drop_in.name.clone(), drop_in.content.clone()));
    Unit {
        name: given.name.clone(),
        content: given.content.clone(),
        enabled: given.enabled,
        mask: given.mask,
        drop_ins: drop_ins.collect(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    }
}
