//! The command line from outside: real processes, real files. One binary, because linking costs more than running.
#![expect(clippy::disallowed_methods, reason = "tests make files and start the program")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod around;
mod behaviour;
mod determinism;
mod differences;
mod edges;
mod golden;
mod graphs;
mod mistakes;
mod pictures;
mod program;
mod readme;
mod refused;
mod rough;
mod schema_walk;
mod schemas;
mod transcripts;
mod units;
