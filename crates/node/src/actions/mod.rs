//! What steps do, one module for each kind.

mod awaited;
mod content;
mod detect;
mod election;
mod fetch;
pub(crate) mod files;
mod gate;
mod hosts;
pub(crate) mod identify;
mod install;
pub(crate) mod kernel;
mod kubelet;
pub(crate) mod merged;
mod old_data;
pub(crate) mod reboot;
mod register;
pub(crate) mod retire;
pub(crate) mod run;
pub(crate) mod signal;
#[cfg(test)]
pub(crate) mod stage;
mod swap;
mod sysctls;
mod trust;
pub(crate) mod units;
mod update;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bringup_disk::FileFault;
use bringup_facts::Facts;
use bringup_plan::{Action, Plan, Step};
use bringup_progress::{Failure, FailureKind, Order, State, Success};
use bringup_systemd::BusFault;

use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::Network;

/// One attempt at one step.
#[derive(Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) plan: &'a Plan,
    pub(crate) step: &'a Step,
    pub(crate) order: &'a Order,
    pub(crate) knowledge: &'a Knowledge<'a>,
    /// Facts that an earlier boot of this machine has learned.
    pub(crate) remembered: Option<&'a Facts>,
    /// Facts that are given, instead of what the platform says.
    pub(crate) given: Option<&'a Facts>,
    /// The checks before the start.
    pub(crate) checks: Checks<'a>,
    pub(crate) network: &'a Network,
    /// What was done so far.
    pub(crate) state: &'a State,
}

/// How it stands with the checks before the start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checks<'a> {
    /// They are to be done, without these.
    Due(&'a BTreeSet<String>),
    /// They have passed for this plan, or something later is asked for.
    Passed,
}

impl Doing<'_> {
    /// When this attempt has to be through.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.order.timeout_ms)
    }
}

/// Why an attempt is not a success.
#[derive(Debug)]
pub(crate) enum Stopped {
    Failed(Failure),
    TimedOut { tail: String },
    Reboot { why: String },
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<FileFault> for Stopped {
    fn from(fault: FileFault) -> Self {
        Self::Failed(of_file(&fault))
    }
}

impl From<BusFault> for Stopped {
    fn from(fault: BusFault) -> Self {
        Self::Failed(of_bus(&fault))
    }
}

/// The failure that a file's fault is.
pub(crate) fn of_file(fault: &FileFault) -> Failure {
    use std::io::ErrorKind as Kind;
    if !fault.is_for_the_operator() {
        return Failure::new(FailureKind::Transient, fault.to_string(), "");
    }
    let cure = match fault.source.kind() {
        Kind::IsADirectory | Kind::DirectoryNotEmpty => "move the directory away",
        Kind::NotADirectory => "move away what is no directory there",
        _ if fault.is_a_loop() => "move away the link that leads to itself",
        Kind::StorageFull | Kind::QuotaExceeded => "make room there",
        _ => "make it writable",
    };
    let fix = format!("{cure}; the agent goes on by itself");
    Failure::new(FailureKind::Operator, fault.to_string(), fix)
}

/// The failure that a fault of the bus is.
pub(crate) fn of_bus(fault: &BusFault) -> Failure {
    let kind = if fault.is_transient() { FailureKind::Transient } else { FailureKind::Permanent };
    Failure::new(kind, fault.to_string(), "")
}

/// Does a step.
pub(crate) fn perform(doing: &Doing<'_>) -> Result<Success, Stopped> {
    if let Action::LearnFacts = doing.step.action {
        return identify::learn(doing);
    }
    let action = doing.knowledge.action(doing.step)?;
    match &action {
        Action::LearnFacts => identify::learn(doing),
        Action::WriteFile { path, mode, owner, content } => files::write(doing, path, mode, owner, content),
        Action::MakeDirectory { path, mode, owner } => files::directory(doing, path, mode, owner),
        Action::MakeLink { path, target } => files::link(doing, path, target),
        Action::Fetch { urls, sha256, path, mode, owner, unpack } => {
            let unpack = *unpack;
            fetch::fetch(
                doing,
                &fetch::Fetched { urls, sha256, path, mode, owner, unpack, is_software: false },
            )
        }
        // Which of its choices it is, was filled in.
        Action::Install { software, version, source, choices: _, data } => {
            install::install(doing, software, version.as_deref(), source, data.as_deref())
        }
        Action::RemoveOldData { directories } => old_data::remove(doing, directories),
        Action::TrustAuthorities { bundle } => trust::trust(doing, bundle),
        Action::KeepAddresses { host, path } => hosts::keep(doing, host, path),
        Action::LoadModules { modules } => kernel::modules(doing, modules),
        Action::SetSysctls { settings, optional } => kernel::sysctls(doing, settings, optional),
        Action::SetKernelArguments { arguments } => kernel::arguments(doing, arguments),
        Action::SetSwap { policy, size_mib, path } => swap::set(doing, *policy, *size_mib, path.as_deref()),
        Action::UpdateOs { hold } => update::update(doing, hold),
        Action::Reboot { always } => reboot::reboot(doing, *always),
        Action::Run { command, environment, directory, wait_for, hook: _ } => {
            run::run(doing, &run::Program { command, environment, directory: directory.as_deref(), wait_for })
        }
        Action::StartUnit { unit, reads: _ } => units::start(doing, unit),
        Action::PlaceUnits => units::place(doing),
        Action::OpenGate { environment, queue_kubelet: _ } => gate::open(doing, environment),
        Action::StartKubelet { health, snap } => kubelet::start(doing, health, snap.as_ref()),
        Action::AwaitRegistration { kubeconfig, check_skew } => {
            register::wait(doing, kubeconfig, *check_skew)
        }
        Action::Signal { kind, target, token } => signal::success(doing, *kind, target, token.as_ref()),
        // The driver writes `done.json` once every step is through.
        Action::Report => Ok(Success::default()),
    }
}
