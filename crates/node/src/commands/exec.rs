//! `bringup-node exec`: the agent becomes a program of the operator, on managers that cannot send output to a file.
//!
//! No process is started: this one is replaced.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use crate::arguments::Exec;
use crate::teller::Teller;

/// The codes with which systemd itself says these things (systemd.exec(5)).
const NO_PROGRAM: u8 = 203;
const NO_OUTPUT: u8 = 209;

/// Becomes the program; returns only if that fails.
pub(crate) fn execute(options: &Exec) -> ExitCode {
    if let Some(path) = &options.output {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let led = opened.and_then(|file| {
            rustix::stdio::dup2_stdout(&file)?;
            Ok(rustix::stdio::dup2_stderr(&file)?)
        });
        if let Err(fault) = led {
            Teller::note(&format!("cannot write `{}`: {fault}", path.display()));
            return ExitCode::from(NO_OUTPUT);
        }
    }
    let Some((program, words)) = options.command.split_first() else { return ExitCode::from(NO_PROGRAM) };
    let fault = Command::new(program).args(words).exec();
    Teller::note(&format!("cannot start `{}`: {fault}", program.display()));
    ExitCode::from(NO_PROGRAM)
}
