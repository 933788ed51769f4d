//! Programs of the operator.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_plan::{Action, Step};
use bringup_progress::{Adopted, Failure, FailureKind, Order, Success};
use bringup_spec::Text;

use super::{Doing, Stopped};
use crate::machine::Machine;
use crate::program;

/// A program of the operator.
pub(super) struct Program<'a> {
    pub(super) command: &'a [Text],
    pub(super) environment: &'a BTreeMap<String, Text>,
    pub(super) directory: Option<&'a str>,
    pub(super) wait_for: &'a [String],
}

/// Runs a program and waits for its end.
pub(super) fn run(doing: &Doing<'_>, program: &Program<'_>) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let deadline = doing.deadline();
    wait_for(doing, program.wait_for, deadline)?;
    let literal = |text: &Text| text.as_literal().unwrap_or_default().to_owned();
    let program = program::Program {
        step: &doing.step.name,
        command: program.command.iter().map(literal).collect(),
        environment: environment(doing, program.environment),
        directory: program.directory.map(str::to_owned),
        deadline,
    };
    program::run(doing.machine, program)?;
    Ok(Success::default())
}

/// What became of the program of an agent that died. What installs and updates does so anew, once what it left behind
/// has ended.
pub(crate) fn adopt(machine: &Machine, step: &Step, order: &Order) -> Adopted {
    if !machine.is_itself() || !matches!(step.action, Action::Run { .. }) {
        return Adopted::Nothing;
    }
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms);
    match program::join(machine, &step.name, deadline) {
        None => Adopted::Nothing,
        Some(Ok(())) => Adopted::Succeeded(Success::default()),
        Some(Err(Stopped::Failed(failure))) => Adopted::Failed(failure),
        Some(Err(Stopped::TimedOut { tail } | Stopped::Reboot { why: tail })) => Adopted::Failed(
            Failure::new(FailureKind::Transient, "it took longer than it may", "").with_tail(tail),
        ),
    }
}

/// Waits until paths exist.
fn wait_for(doing: &Doing<'_>, paths: &[String], deadline: Instant) -> Result<(), Stopped> {
    let missing = || {
        paths.iter().find(|path| !matches!(doing.machine.files().disk().look(Path::new(path)), Ok(Some(_))))
    };
    while let Some(path) = missing() {
        if Instant::now() >= deadline {
            return Err(Failure::new(
                FailureKind::Transient,
                format!("`{path}`, which it waits for, is not there"),
                "put it there; the agent goes on by itself",
            )
            .into());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Nothing of ours is in it but what is documented.
fn environment(doing: &Doing<'_>, own: &BTreeMap<String, Text>) -> Vec<String> {
    let mut variables: BTreeMap<String, String> = doing.plan.environment.clone();
    variables.insert("BRINGUP_CLUSTER".to_owned(), doing.plan.cluster.clone());
    variables.insert("BRINGUP_GROUP".to_owned(), doing.plan.group.clone());
    variables.insert("BRINGUP_STEP".to_owned(), doing.step.name.clone());
    variables.insert("BRINGUP_PHASE".to_owned(), doing.step.phase.to_string());
    variables.insert("BRINGUP_ATTEMPT".to_owned(), doing.order.attempt.to_string());
    if let Ok(name) = doing.knowledge.with(|known| known.node_name()) {
        variables.insert("BRINGUP_NODE_NAME".to_owned(), name);
    }
    for (name, value) in own {
        variables.insert(name.clone(), value.as_literal().unwrap_or_default().to_owned());
    }
    variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}
