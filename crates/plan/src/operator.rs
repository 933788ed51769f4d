//! The operator's own programs: steps and hooks.

use std::collections::BTreeSet;

use bringup_diag::Code;
use bringup_spec::{Phase, Segment, Span, Step as OperatorStep, Text, is_variable};
use bringup_yaml::Path;

use crate::context::Context;
use crate::decisions::Decisions;
use crate::order::Wish;
use crate::steps::{plain, policy, script};
use crate::{Action, HookStep, Policy, Step, codes, hooks};

/// What the operator's programs add to a plan.
#[derive(Default)]
pub(crate) struct Programs {
    /// Scripts as files, for the phase `fetch`.
    pub(crate) scripts: Vec<Step>,
    /// Hooks before and after the installation, in the phases of these names and in their order there.
    pub(crate) phased_hooks: Vec<Step>,
    /// Hooks that a controller asks for.
    pub(crate) hooks: Vec<HookStep>,
    /// Steps and where they want to be; their phase is decided with their place.
    pub(crate) steps: Vec<(Step, Wish)>,
}

/// The operator's programs.
pub(crate) fn programs(context: &mut Context<'_>, decisions: &Decisions) -> Programs {
    let mut programs = Programs::default();
    hooks::place(context, decisions, &mut programs);
    let mut names = BTreeSet::new();
    for (index, given) in context.group.steps.iter().enumerate() {
        let path = context.at(["steps"]).index(index);
        check_step(context, &path, given, &mut names);
        let command =
            command(context, &path, given.name.as_str(), &given.run, given.script.as_ref(), &mut programs);
        let action = Action::Run {
            command,
            environment: given.environment.clone(),
            directory: given.directory.as_ref().map(ToString::to_string),
            wait_for: Vec::new(),
            hook: None,
        };
        let mut step = plain(given.name.as_str(), Phase::PreInstall, action);
        let times = policy(given.timeout, given.attempts, given.backoff, given.on_failure);
        step.policy = Some(checked(context, &path, times));
        check_variables(context, &path.key("environment"), given.environment.keys(), codes::STEP_ENVIRONMENT);
        step.every_boot = given.every_boot;
        let wish = Wish { before: given.before.clone(), after: given.after.clone(), path };
        programs.steps.push((step, wish));
    }
    programs
}

fn check_step<'a>(
    context: &mut Context<'_>,
    path: &Path,
    step: &'a OperatorStep,
    names: &mut BTreeSet<&'a str>,
) {
    if !names.insert(step.name.as_str()) {
        context.error(
            codes::STEP_DUPLICATE,
            &path.key("name"),
            format!("there are two steps `{}`", step.name),
            "give one of them another name",
        );
    }
    if Phase::ALL.iter().any(|phase| phase.word() == step.name.as_str()) {
        context.error(
            codes::STEP_RESERVED,
            &path.key("name"),
            format!("`{}` is the name of a phase", step.name),
            "give the step another name",
        );
    }
}

/// A node that waits for a day waits for somebody who looks.
const A_DAY: Span = Span::seconds(24 * 3600);

/// How long a timeout may be: something, and no more than a day.
pub(crate) fn check_timeout(context: &mut Context<'_>, path: &Path, milliseconds: u64) {
    if milliseconds == 0 {
        let message = "with no time at all no attempt can succeed";
        context.error(codes::STEP_TIME, path, message, "write a time such as `10m`, or leave it out");
    } else if milliseconds > A_DAY.milliseconds {
        let message =
            format!("{} is more than a day: until then nobody hears that it hangs", Span { milliseconds });
        context.warning(codes::STEP_TIME, path, message, "write a time such as `1h`");
    }
}

/// The names of environment variables.
pub(crate) fn check_variables<'a>(
    context: &mut Context<'_>,
    path: &Path,
    names: impl Iterator<Item = &'a String>,
    code: Code,
) {
    for name in names.filter(|name| !is_variable(name)) {
        context.key_error(
            code,
            &path.key(name.as_str()),
            format!("`{name}` cannot be the name of a variable"),
            "use letters, digits and `_`",
        );
    }
}

/// The policy, having told what cannot be meant.
pub(crate) fn checked(context: &mut Context<'_>, path: &Path, mut policy: Policy) -> Policy {
    check_timeout(context, &path.key("timeout"), policy.timeout_ms);
    if policy.backoff_ms > A_DAY.milliseconds {
        let message = format!(
            "{} is more than a day to wait between attempts",
            Span { milliseconds: policy.backoff_ms }
        );
        context.warning(codes::STEP_TIME, &path.key("backoff"), message, "write a time such as `30s`");
    }
    if policy.attempts == 0 {
        context.error(
            codes::STEP_ATTEMPTS,
            &path.key("attempts"),
            "with no attempt at all this never runs",
            "write 1 or more",
        );
        policy.attempts = 1;
    }
    policy
}

/// The command of a step or hook: given, or the path of its script.
pub(crate) fn command(
    context: &mut Context<'_>,
    path: &Path,
    name: &str,
    run: &[Text],
    given: Option<&Text>,
    programs: &mut Programs,
) -> Vec<Text> {
    match (run.first(), given) {
        (Some(_), Some(_)) => {
            context.error(
                codes::STEP_COMMAND,
                path,
                format!("`{name}` has both `run` and `script`"),
                "keep one of them",
            );
            run.to_vec()
        }
        (None, None) => {
            context.error(
                codes::STEP_COMMAND,
                path,
                format!("`{name}` has nothing to run"),
                "write `run: [PROGRAM, ARGUMENT, ...]`, or `script: |` with a shebang",
            );
            Vec::new()
        }
        (Some(program), None) => {
            check_program(context, path, program, run);
            run.to_vec()
        }
        (None, Some(text)) => {
            let starts = text
                .segments()
                .first()
                .is_some_and(|segment| matches!(segment, Segment::Literal(text) if text.starts_with("#!")));
            if !starts {
                context.error(
                    codes::STEP_SHEBANG,
                    &path.key("script"),
                    "the script does not say which program reads it",
                    "begin it with a line such as `#!/bin/sh`",
                );
            }
            let (step, path) = script(name, text);
            programs.scripts.push(step);
            vec![Text::literal(path)]
        }
    }
}

fn has_null(word: &Text) -> bool {
    word.segments().iter().any(|segment| matches!(segment, Segment::Literal(text) if text.contains('\0')))
}

/// No shell reads a command: what only a shell understands would reach the program as it is.
pub(crate) fn check_program(context: &mut Context<'_>, path: &Path, program: &Text, run: &[Text]) {
    let Some(literal) = program.as_literal() else { return };
    if literal.trim().is_empty() {
        let hint = "write `run: [PROGRAM, ARGUMENT, ...]`";
        context.error(codes::STEP_COMMAND, &path.key("run").index(0), "the program has no name", hint);
        return;
    }
    if let Some(index) = run.iter().position(has_null) {
        let message = "no argument of a program can hold a null character";
        context.error(codes::STEP_COMMAND, &path.key("run").index(index), message, "remove it");
    }
    if run.len() == 1 && literal.contains(char::is_whitespace) {
        context.error(
            codes::STEP_SHELL,
            &path.key("run"),
            format!("`{literal}` is taken for the name of one program: no shell splits it"),
            "write each word as an item of its own, or use `script: |` with a shebang",
        );
        return;
    }
    let operators = ["|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&"];
    let found = run.iter().filter_map(Text::as_literal).find(|word| operators.contains(word));
    if let Some(word) = found {
        context.warning(
            codes::STEP_SHELL,
            &path.key("run"),
            format!("`{word}` reaches the program as an argument: no shell reads it"),
            "use `script: |` with a shebang",
        );
    }
}
