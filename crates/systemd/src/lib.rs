//! Speaks to systemd over D-Bus, without a child process.
//!
//! [`wire`] is D-Bus itself: values, messages, bytes; pure. [`Connection`] is one socket with somebody at the other end,
//! [`Systemd`] the manager's own methods. [`notify`] tells the manager about this very process,
//! [`journal`] the system's journal what it does.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "this crate talks to the system")]

mod connection;
mod fault;
pub mod journal;
mod manager;
pub mod notify;
mod transient;
mod unit;
mod update;
pub mod wire;

pub use connection::{Connection, Question};
pub use fault::BusFault;
pub use manager::{EnableScope, JobEnd, Systemd};
pub use transient::Transient;
pub use unit::{Activity, HelperEnd, UnitState};
pub use update::{UpdateEngine, UpdateStatus, Updated};
