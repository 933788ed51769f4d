//! What only the node knows, and plans with it filled in.
//!
//! [`Facts`] is what was learned: from the metadata service, from the machine itself or from a file. [`Known`] adds what
//! follows from it (the node's name, how many pods it takes, what is kept for the system) and fills it into texts and
//! actions. [`identity`] tells one machine from another without asking anybody.
#![forbid(unsafe_code)]

mod cluster;
mod fault;
mod fill;
pub mod identity;
mod known;
mod learned;
mod name;
mod quote;
pub mod resolver;
mod wanted;

pub use fault::FactFault;
pub use known::Known;
pub use learned::{ClusterFacts, ElectionFacts, Facts, FactsFileFault};
pub use quote::{environment_file, word};
pub use wanted::{Wanted, wanted};
