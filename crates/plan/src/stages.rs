//! Stages of the control plane and of the platform, on the node that starts the cluster.

use std::collections::BTreeMap;

use bringup_spec::{Flavour, OnFailure, Phase, Role, Span, Stage, Text, WaitFor};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::operator::{check_program, checked};
use crate::steps::{plain, policy, write_file};
use crate::{Action, Awaited, Content, Step, codes, stage_units};

/// The steps of both stages, where there are any.
pub(crate) fn steps(context: &mut Context<'_>, decisions: &Decisions) -> Vec<Step> {
    let mut steps = Vec::new();
    let tectonic = context.spec.flavour == Flavour::Tectonic;
    for (key, given, phase, name, script) in [
        (
            "controlPlane",
            &context.group.control_plane,
            Phase::ControlPlane,
            if tectonic { "bootkube" } else { "control-plane-stage" },
            "/opt/tectonic/bootkube.sh",
        ),
        (
            "platformStage",
            &context.group.platform_stage,
            Phase::Platform,
            if tectonic { "tectonic" } else { "platform-stage" },
            "/opt/tectonic/tectonic-rkt.sh",
        ),
    ] {
        if given.is_some() {
            check(context, decisions, key);
        }
        let fallback = tectonic && decisions.election.is_some() && context.group.role == Role::ControlPlane;
        let stage = given.clone().or_else(|| fallback.then(|| tectonic_stage(script)));
        let Some(stage) = stage else { continue };
        if stage.run.is_empty() {
            let path = context.at([key]);
            context.error(
                codes::STEP_COMMAND,
                &path,
                "a stage needs a command",
                "write `run: [PROGRAM, ARGUMENT, ...]`",
            );
        }
        let path = context.at([key]);
        if let Some(program) = stage.run.first() {
            check_program(context, &path, program, &stage.run);
        }
        let action = Action::Run {
            command: stage.run.clone(),
            environment: BTreeMap::new(),
            directory: stage.directory.as_ref().map(ToString::to_string),
            wait_for: stage.wait_for.iter().map(awaited).collect(),
            hook: None,
        };
        let mut step = plain(name, phase, action);
        let times = policy(stage.timeout, stage.attempts, Span::seconds(10), OnFailure::Pause);
        step.policy = Some(checked(context, &path, times));
        step.elected_only = true;
        if tectonic {
            step.handed_to = stage_units::handed_to(decisions, name);
        }
        steps.push(step);
        if tectonic {
            // After what it marks, and not handed over: whoever finds it missing writes it.
            let done = stage_units::done(name);
            let mut mark =
                write_file(format!("{name}-done"), phase, &done, "0644", Content::Text(Text::default()));
            mark.elected_only = true;
            steps.push(mark);
        }
    }
    steps
}

fn awaited(given: &WaitFor) -> Awaited {
    match given {
        WaitFor::Path(path) => Awaited::Path(path.to_string()),
        WaitFor::Manifest(path) => Awaited::Manifest { manifest: path.to_string() },
    }
}

fn tectonic_stage(script: &str) -> Stage {
    let path = bringup_spec::AbsolutePath::parse(script).ok();
    Stage {
        run: vec![Text::literal("/usr/bin/bash"), Text::literal(script)],
        wait_for: path.into_iter().map(WaitFor::Path).collect(),
        directory: None,
        timeout: Span::seconds(3600),
        attempts: 3,
    }
}

fn check(context: &mut Context<'_>, decisions: &Decisions, key: &str) {
    let path = context.at([key]);
    if context.group.role == Role::Worker {
        context.key_error(
            codes::STAGE_WORKER,
            &path,
            "a worker has no part in starting the cluster",
            "move it to a group with `role: control-plane`",
        );
    } else if decisions.election.is_none() {
        context.key_error(
            codes::STAGE_NEVER,
            &path,
            "no node of this group starts the cluster, so that this never runs",
            "write `bootstrap: true`, or a condition such as `bootstrap: {fact: tags.bootstrap, equals: \"yes\"}`",
        );
    }
}
