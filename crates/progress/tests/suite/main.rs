//! Courses on a machine that exists only in memory.
#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod changes;
mod clocks;
mod failures;
mod journals;
mod killed;
mod machine;
mod plans;
mod reboots;
mod shown;
mod stages;
mod transitions;
