//! Checks before anything is changed, all told at once, each ignorable by its name.
//!
//! [`Seen`] is what was seen of the machine; whatever could not be seen passes. [`failing`] decides, [`look`] sees.

mod look;
mod range;
mod rules;
pub(crate) mod tables;

use std::collections::BTreeSet;

use bringup_plan::Plan;
use bringup_progress::{Failure, FailureKind};

pub(crate) use look::look;

/// What was seen of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Whether the agent is the administrator.
    pub(crate) root: Option<bool>,
    /// The manager's version.
    pub(crate) systemd: Option<u32>,
    /// The controllers of the control groups that are there.
    pub(crate) controllers: Option<BTreeSet<String>>,
    /// The address of the node.
    pub(crate) address: Option<String>,
    /// The name of the node, or what is wrong with it.
    pub(crate) node_name: Option<Result<String, String>>,
    /// Ports on which somebody listens.
    pub(crate) listening: BTreeSet<u16>,
    /// Whether kubelet runs, whose ports are its own.
    pub(crate) kubelet_runs: bool,
    /// Programs that are there, of those that the plan takes from the image.
    pub(crate) programs: Option<BTreeSet<String>>,
    /// Units that are there, of those that the plan starts.
    pub(crate) units: Option<BTreeSet<String>>,
    /// Room beneath `/var`, in MiB.
    pub(crate) room_mib: Option<u64>,
    /// Memory, in MiB.
    pub(crate) memory_mib: Option<u64>,
    /// The clock, milliseconds since 1970.
    pub(crate) clock_ms: Option<u64>,
    /// Devices and files with swap on them.
    pub(crate) swaps: Vec<String>,
    /// The kernel's name of the processor.
    pub(crate) architecture: Option<String>,
    /// The names of the system and of those that it is like.
    pub(crate) system: Option<Vec<String>>,
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    pub(crate) why: String,
    pub(crate) fix: String,
}

/// Why a check fails and what to mend.
type Found = Option<(String, String)>;

/// A check.
struct Check {
    name: &'static str,
    /// Whether it only warns.
    warns: bool,
    rule: fn(&Seen, &Plan) -> Found,
}

const fn check(name: &'static str, rule: fn(&Seen, &Plan) -> Found) -> Check {
    Check { name, warns: false, rule }
}

/// All checks, in the order in which they are told.
const CHECKS: [Check; 15] = [
    check("root", rules::root),
    check("systemd", rules::systemd),
    check("cgroups", rules::cgroups),
    check("architecture", rules::architecture),
    Check { name: "os", warns: true, rule: rules::system },
    check("clock", rules::clock),
    check("memory", rules::memory),
    check("disk-space", rules::room),
    check("node-name", rules::node_name),
    check("address", rules::address),
    check("port-kubelet", rules::kubelet_port),
    check("port-health", rules::health_port),
    check("swap", rules::swap),
    check("kubelet", rules::kubelet),
    check("runtime-unit", rules::runtime_unit),
];

/// The word that stands for all names.
pub(crate) const ALL: &str = "all";

/// The names of all checks.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}

/// What fails, and what only warns, without what is ignored.
pub(crate) fn failing(seen: &Seen, plan: &Plan, ignored: &BTreeSet<String>) -> (Vec<Finding>, Vec<Finding>) {
    let (mut failures, mut warnings) = (Vec::new(), Vec::new());
    for check in CHECKS.iter().filter(|check| !ignored.contains(ALL) && !ignored.contains(check.name)) {
        if let Some((why, fix)) = (check.rule)(seen, plan) {
            let found = Finding { name: check.name, why, fix };
            if check.warns { warnings.push(found) } else { failures.push(found) }
        }
    }
    (failures, warnings)
}

/// The failure that they are together.
pub(crate) fn failure(findings: &[Finding]) -> Failure {
    let told = |of: fn(&Finding) -> &str| {
        let each: Vec<String> =
            findings.iter().map(|finding| format!("[{}] {}", finding.name, of(finding))).collect();
        each.join("; ")
    };
    let names: Vec<&str> = findings.iter().map(|finding| finding.name).collect();
    Failure::new(
        FailureKind::Operator,
        format!("checks before the start fail: {}", told(|finding| &finding.why)),
        format!(
            "{}; or go on with `bringup-node up --ignore-preflight {}`",
            told(|finding| &finding.fix),
            names.join(",")
        ),
    )
}

#[cfg(test)]
mod tests;
