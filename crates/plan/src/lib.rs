//! A document and a node group in, a [`Plan`] out.
//!
//! [`compile`] decides everything that can be decided before boot. A plan is pure data: the same input gives the same
//! bytes ([`Plan::to_json`]). What only the node knows stands in it as typed placeholders (`bringup_spec::Fact`).
//! [`max_pods`] and [`reservations`] are used here and on the node, so that both always agree.
#![forbid(unsafe_code)]

mod action;
mod assertions;
mod aws;
pub mod bootstrap;
mod canonical;
mod carriers;
mod checks;
pub mod codes;
mod compile;
mod compiled;
mod context;
mod decisions;
mod eksctl;
mod endpoints;
mod files;
mod flavour;
mod flavour_files;
mod group_checks;
mod hooks;
mod installer_hooks;
mod join;
mod kernel;
mod kubeadm;
mod kubelet;
mod labels;
mod machines;
pub mod max_pods;
mod merged;
mod model;
mod network;
pub mod nodeadm;
mod operator;
mod order;
mod origins;
mod paths;
mod pod_limits;
pub mod reservations;
mod runtime;
mod signals;
pub mod snap;
mod software;
mod stage_units;
mod stages;
mod step_unit;
mod steps;
mod template;
mod trust;
mod unit_text;
mod units;
mod versions;
mod without_agent;

pub use action::*;
pub use bringup_aws::Accelerator;
pub use canonical::{PlanFault, ascii_json, canonical_json, sha256_hex};
pub use carriers::check_carrier;
pub use checks::check_document;
pub use compile::{compile, local_sources};
pub use compiled::{Compiled, LocalEntry, LocalFile, LocalFiles, Origin, Provenance};
pub use flavour::{AGENT, ARGUMENTS_VARIABLE, GATE_FILE, OUR_UNITS, SNAP_STARTER, STEPS_UNIT};
pub use installer_hooks::installer_hooks;
pub use kernel::{optional_sysctl, sysctl_path, sysctls_file};
pub use merged::{MergeFault, merged};
pub use model::*;
pub use origins::origins;
pub use paths::file_in_the_way;
pub use step_unit::step_unit;
pub use versions::{Skew, skew};
pub use without_agent::is_certain_owner;
