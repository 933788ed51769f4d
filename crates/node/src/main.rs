//! The agent.

use std::process::ExitCode;

fn main() -> ExitCode {
    bringup_node::run(std::env::args_os())
}
