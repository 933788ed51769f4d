//! Boots a carrier in a real systemd container and says what it saw.
//!
//! A [`Bench`] is a Debian root that is made once and kept. A [`Subject`] is what is tried: a carrier, whoever made it.
//! [`Trial`] boots the subject on the bench, in namespaces of its own and with a metadata service of its own, watches
//! the container's journal, and ends in an [`Outcome`]: whether the node came up, and every event in its order.
//!
//! What cannot run here is stood in for, and each stand-in is named in the outcome.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the lab makes containers and reads what they leave")]

mod accounts;
mod address;
mod authority;
mod bench;
mod container;
mod ended;
mod fault;
mod folder;
mod hindrance;
mod ignition;
mod image;
mod image_units;
mod interruption;
mod intervention;
mod kernel;
mod kubernetes;
mod metadata;
mod network;
mod order;
mod outcome;
mod passed_over;
mod probe;
mod proxy;
mod records;
mod requirements;
mod server;
mod stand_in;
mod subject;
pub mod timeline;
mod trial;
mod watch;
mod wishes;

pub use authority::{Authority, certificate};
pub use bench::Bench;
pub use fault::LabFault;
pub use hindrance::Hindrance;
pub use kubernetes::Kubernetes;
pub use metadata::{Instance, MetadataFault};
pub use outcome::{Failing, KubeletKind, Outcome, Requests, Verdict};
pub use passed_over::{Kind, PassedOver};
pub use requirements::missing;
pub use stand_in::Misbehaviour;
pub use subject::{Given, Subject, Way};
pub use trial::Trial;
pub use wishes::Wishes;
