//! `bringup-node signal`: what a script tells the stack of its machine.

use std::time::Instant;

use bringup_aws::signal::{Outcome, StackSignal};
use bringup_facts::Wanted;
use bringup_progress::{Failure, FailureKind};

use crate::actions::signal::tell_stack;
use crate::arguments::Signal;
use crate::ended::Ended;
use crate::network::{self, Network};
use crate::teller::Teller;

/// How long it may take. The script waits for it, and the stack for the script.
const TIME_MS: u64 = 2 * 60_000;

/// Tells the stack; ends badly only where it could not.
pub(crate) fn execute(options: &Signal) -> Ended {
    match tell(options, &Network::of_process(), network::deadline(TIME_MS)) {
        Ok(()) => Ended::Well,
        Err(failure) => {
            Teller::note(&format!("cannot signal `{}`: {}", options.stack, failure.why));
            if !failure.fix.is_empty() {
                Teller::note(&format!("hint: {}", failure.fix));
            }
            Ended::No
        }
    }
}

fn tell(options: &Signal, network: &Network, deadline: Instant) -> Result<(), Failure> {
    let wanted = Wanted { identity: true, ..Wanted::default() };
    let facts = network.metadata.facts(&wanted, deadline)?;
    let unknown = |what: &str| {
        Failure::new(FailureKind::Operator, format!("the metadata service does not say the {what}"), "")
    };
    let instance = facts.instance_id.ok_or_else(|| unknown("instance's id"))?;
    let region = options.region.clone().or(facts.region).ok_or_else(|| unknown("region"))?;
    let outcome = if options.exit_code == 0 { Outcome::Success } else { Outcome::Failure };
    let (stack, resource) = (&options.stack, &options.resource);
    let signal = StackSignal { region: &region, stack, resource, instance: &instance, outcome };
    tell_stack(network, deadline, &signal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::stage::{Stage, soon, well};
    use crate::server::Reply;

    #[test]
    fn a_script_tells_its_stack_how_it_ended() {
        let stage = Stage::new(|_| Reply::new(200, "{}"), well);
        for exit_code in [0, 1, 124] {
            let options = Signal {
                exit_code,
                stack: "nodes".to_owned(),
                resource: "NodeGroup".to_owned(),
                region: None,
            };
            tell(&options, &stage.network, soon()).unwrap();
        }
        let asked = stage.services.asked();
        let paths: Vec<&str> = asked.iter().map(|request| request.path.as_str()).collect();
        let of = |status: &str| {
            format!(
                "/?Action=SignalResource&Version=2010-05-15&StackName=nodes&LogicalResourceId=NodeGroup&UniqueId=i-0123456789abcdef0&Status={status}&ContentType=JSON"
            )
        };
        assert_eq!(paths, [of("SUCCESS"), of("FAILURE"), of("FAILURE")]);
    }
}
