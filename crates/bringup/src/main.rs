//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    bringup::run(std::env::args_os(), &mut bringup::Terminal::new())
}
