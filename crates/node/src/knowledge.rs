//! What the agent knows of its machine while it works.

use std::cell::RefCell;
use std::path::Path;

use bringup_facts::{FactFault, Facts, Known};
use bringup_plan::{Action, Plan, Step};
use bringup_progress::{Failure, FailureKind, Made};

use crate::machine::Machine;

/// The facts, as far as they are learned.
#[derive(Debug)]
pub(crate) struct Knowledge<'p> {
    machine: &'p Machine,
    plan: &'p Plan,
    facts: RefCell<Facts>,
}

impl<'p> Knowledge<'p> {
    /// Of this plan's machine, as it is known now.
    pub(crate) fn new(machine: &'p Machine, plan: &'p Plan, facts: Facts) -> Self {
        Self { machine, plan, facts: RefCell::new(facts) }
    }

    /// Takes in what was learned.
    pub(crate) fn learn(&self, facts: Facts) {
        self.facts.replace(facts);
    }

    /// A step's action as it is on this machine.
    pub(crate) fn action(&self, step: &Step) -> Result<Action, Failure> {
        Known::new(self.plan, &self.facts.borrow()).action(&step.action).map_err(|fault| failure(&fault))
    }

    /// What follows from the facts.
    pub(crate) fn with<T>(&self, ask: impl FnOnce(Known<'_>) -> Result<T, FactFault>) -> Result<T, Failure> {
        ask(Known::new(self.plan, &self.facts.borrow())).map_err(|fault| failure(&fault))
    }
}

impl bringup_progress::Known for Knowledge<'_> {
    fn digest(&self, step: &Step) -> Result<String, Failure> {
        Ok(bringup_progress::digest(&self.action(step)?, self.plan))
    }

    fn elected(&self) -> Result<bool, Failure> {
        self.with(|known| known.elected())
    }

    fn is_there(&self, made: &Made) -> bool {
        let missing = std::io::ErrorKind::NotADirectory;
        match self.machine.files().disk().look(Path::new(&made.path())) {
            Ok(entry) => entry.is_some(),
            Err(fault) => fault.kind() != missing,
        }
    }
}

fn failure(fault: &FactFault) -> Failure {
    Failure::new(FailureKind::Permanent, fault.to_string(), fault.hint())
}
