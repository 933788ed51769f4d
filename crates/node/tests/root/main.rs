//! The agent itself, run on directories that stand for machines.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot look at what it tests ends there")]
#![expect(clippy::disallowed_methods, reason = "tests look at what the agent left on the disk")]

mod again;
mod bootstrap;
mod commands;
mod disks;
mod examples;
mod journals;
mod killed;
mod merged;
mod node;
mod nodeconfigs;
mod plans;
mod software;
