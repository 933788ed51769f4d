//! A document and a node group in, a [`Plan`] out.
//!
//! `compile` decides everything that can be decided before boot. A plan is pure data: the same input gives the same
//! bytes ([`Plan::to_json`]). What only the node knows stands in it as typed placeholders (`bringup_spec::Fact`).
#![forbid(unsafe_code)]

mod canonical;
mod compiled;
mod model;

pub use canonical::{PlanFault, sha256_hex};
pub use compiled::{Compiled, LocalEntry, LocalFile, LocalFiles, Origin, Provenance};
pub use model::*;
