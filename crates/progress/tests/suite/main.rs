//! Courses on a machine that exists only in memory.

mod changes;
mod failures;
mod journals;
mod killed;
mod machine;
mod plans;
mod reboots;
mod shown;
mod transitions;
