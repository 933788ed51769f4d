//! Programs of the operator.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::Owner;
use bringup_plan::{Action, Awaited, Step};
use bringup_progress::{Adopted, Failure, FailureKind, Order, Success};
use bringup_spec::Text;

use super::{Doing, Stopped, awaited};
use crate::machine::Machine;
use crate::{output, places, program};

/// A program of the operator.
pub(super) struct Program<'a> {
    pub(super) command: &'a [Text],
    pub(super) environment: &'a BTreeMap<String, Text>,
    pub(super) directory: Option<&'a str>,
    pub(super) wait_for: &'a [Awaited],
}

/// Runs a program and waits for its end.
pub(super) fn run(doing: &Doing<'_>, program: &Program<'_>) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    // What is awaited takes no time of the program's.
    awaited::wait(doing.machine.files().disk(), program.wait_for, doing.order.attempt)?;
    let deadline = doing.deadline();
    let literal = |text: &Text| text.as_literal().unwrap_or_default().to_owned();
    let program = program::Program {
        step: &doing.step.name,
        command: program.command.iter().map(literal).collect(),
        environment: environment(doing, program.environment),
        directory: program.directory.map(str::to_owned),
        deadline,
        kept_for: Some(&doing.order.digest),
    };
    let files = doing.machine.files();
    let request = request(&doing.step.name);
    // What a failed attempt has asked for does not count.
    files.remove(Path::new(&request))?;
    files.make_directory(Path::new(places::REBOOT), 0o755, Owner::ROOT)?;
    program::run(doing.machine, program)?;
    Ok(ended_well(doing.machine, &request))
}

/// The file by which the program of a step asks for a reboot.
fn request(step: &str) -> String {
    format!("{}/{}", places::REBOOT, output::file_name(step))
}

/// What came of a program that has ended well. Whether it asks for a reboot is all that is known of it.
fn ended_well(machine: &Machine, request: &str) -> Success {
    let asked = matches!(machine.files().disk().look(Path::new(request)), Ok(Some(_)));
    Success { reboot: asked, ..Success::default() }
}

/// What became of the program of an agent that died. What installs and updates does so anew, once what it left behind
/// has ended.
pub(crate) fn adopt(machine: &Machine, step: &Step, order: &Order) -> Adopted {
    if !machine.is_itself() || !matches!(step.action, Action::Run { .. }) {
        return Adopted::Nothing;
    }
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms);
    match program::join(machine, &step.name, &order.digest, deadline) {
        None => Adopted::Nothing,
        Some(Ok(())) => Adopted::Succeeded(ended_well(machine, &request(&step.name))),
        Some(Err(Stopped::Failed(failure))) => Adopted::Failed(failure),
        Some(Err(Stopped::TimedOut { tail } | Stopped::Reboot { why: tail })) => Adopted::Failed(
            Failure::new(FailureKind::Transient, "it took longer than it may", "").with_tail(tail),
        ),
    }
}

/// Nothing of ours is in it but what is documented, in docs/node.md.
fn environment(doing: &Doing<'_>, own: &BTreeMap<String, Text>) -> Vec<String> {
    let Doing { plan, step, order, .. } = doing;
    let name = doing.knowledge.with(|known| known.node_name()).ok();
    let ours = [
        ("BRINGUP_CLUSTER", Some(plan.cluster.clone())),
        ("BRINGUP_GROUP", Some(plan.group.clone())),
        ("BRINGUP_STEP", Some(step.name.clone())),
        ("BRINGUP_PHASE", Some(step.phase.to_string())),
        ("BRINGUP_ATTEMPT", Some(order.attempt.to_string())),
        ("BRINGUP_NODE_NAME", name),
        ("BRINGUP_REBOOT", Some(request(&step.name))),
    ];
    let mut variables: BTreeMap<String, String> = plan.environment.clone();
    variables.extend(ours.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    for (name, value) in own {
        variables.insert(name.clone(), value.as_literal().unwrap_or_default().to_owned());
    }
    variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use bringup_progress::{Order, State};
    use bringup_spec::Text;

    use super::environment;
    use crate::actions::stage::{Stage, well};
    use crate::actions::{Checks, Doing};
    use crate::server::Reply;

    #[test]
    fn a_program_gets_what_is_documented_and_what_it_asks_for() {
        let mut stage = Stage::new(|_| Reply::new(500, ""), well);
        stage.plan.environment = BTreeMap::from([("https_proxy".to_owned(), "http://proxy:3128".to_owned())]);
        let step = r#"{"name":"driver","phase":"pre-install","action":{"do":"report"}}"#;
        let order = Order {
            index: 0,
            step: "driver".to_owned(),
            digest: String::new(),
            attempt: 2,
            timeout_ms: 1,
            changed: BTreeSet::new(),
        };
        let doing = Doing {
            machine: &stage.machine,
            plan: &stage.plan,
            step: &serde_json::from_str(step).unwrap(),
            order: &order,
            knowledge: &stage.knowledge(),
            remembered: None,
            given: None,
            checks: Checks::Passed,
            network: &stage.network,
            state: &State::default(),
        };
        let own = BTreeMap::from([
            ("MODE".to_owned(), Text::literal("fast")),
            ("BRINGUP_GROUP".to_owned(), Text::literal("mine")),
        ]);
        let variables = environment(&doing, &own);
        assert_eq!(
            variables,
            [
                "BRINGUP_ATTEMPT=2",
                "BRINGUP_CLUSTER=demo",
                "BRINGUP_GROUP=mine",
                "BRINGUP_NODE_NAME=ip-10-0-1-2.ec2.internal",
                "BRINGUP_PHASE=pre-install",
                "BRINGUP_REBOOT=/run/bringup/reboot/driver",
                "BRINGUP_STEP=driver",
                "MODE=fast",
                "https_proxy=http://proxy:3128",
            ]
        );
        let page = include_str!("../../../../docs/node.md");
        let ours = variables.iter().filter_map(|pair| pair.split_once('=')).map(|(name, _)| name);
        for name in ours.filter(|name| name.starts_with("BRINGUP_")) {
            assert!(page.contains(&format!("| `{name}` | ")), "`{name}` is not explained");
        }
    }
}
