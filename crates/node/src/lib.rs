//! The agent: runs a plan on this machine.
//!
//! What is decided is decided elsewhere: `bringup_progress` says what is next, `bringup_facts` what a step says on this
//! machine, `bringup_aws` what a request is and what its answer means. This crate does as it is told: `up` drives, each
//! module of `actions` does one kind of thing.
//!
//! No process is ever started: programs of the operator run as units of their own, so that they outlive the agent and a
//! timeout ends all of their processes.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the agent touches the machine that it runs on")]

mod actions;
mod address;
mod arguments;
mod bootstrap;
mod cluster;
mod commands;
mod difference;
mod download;
mod eks;
mod ended;
mod explain;
mod gate;
mod journal;
mod kept;
mod knowledge;
mod kubeconfig;
mod lock;
mod machine;
mod metadata;
mod network;
mod node_config;
mod originals;
mod output;
mod packages;
mod patience;
mod places;
mod plan_file;
mod preflight;
mod preview;
mod program;
mod results;
mod runtime_data;
mod secrets;
#[cfg(test)]
#[path = "../tests/web/server.rs"]
#[allow(dead_code, reason = "the program's own tests use the rest of it")]
mod server;
mod snapd;
mod software;
mod swap_area;
mod teller;
mod turn;
mod unpack;
mod up;
mod web;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use ended::Ended;
use teller::Teller;

/// Runs one command and says how it ended.
///
/// Installed under the name of EKS' script, it does what the script does; under the name of one of eksctl's, it follows the
/// plan, which is what that script was there for.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.first().is_some_and(|own| is_script(Path::new(own))) {
        arguments.insert(1, "bootstrap".into());
    } else if arguments.first().is_some_and(|own| is_entry(Path::new(own))) {
        if std::env::var_os(WITHIN).is_some() {
            Teller::note("the agent is at it already: this program is one of its steps");
            return ExitCode::from(Ended::Well.code());
        }
        arguments.insert(1, "up".into());
    }
    let ended = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => match &arguments.command {
            Command::Up(options) => commands::up::execute(options),
            Command::Explain(options) => commands::explain::execute(options),
            Command::Reset(options) => commands::reset::execute(options),
            Command::Status(options) => commands::status::execute(options),
            Command::Token(options) => commands::token::execute(options),
            Command::Bootstrap(options) => commands::bootstrap::execute(options),
            Command::Signal(options) => commands::signal::execute(options),
            Command::Exec(options) => return commands::exec::execute(options),
            Command::Completions(options) => commands::manual::completions(options),
            Command::Man(options) => commands::manual::man(options),
        },
        Err(fault) => {
            // Help that was asked for is no error.
            let ended = if fault.use_stderr() { Ended::Wrong } else { Ended::Well };
            let _ = fault.print();
            ended
        }
    };
    ExitCode::from(ended.code())
}

/// Set for every program that the agent starts.
const WITHIN: &str = "BRINGUP_STEP";

/// Whether this is the name of one of eksctl's scripts.
fn is_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(name, Some("bootstrap.al2.sh" | "bootstrap.ubuntu.sh"))
}

/// Whether this is the name of EKS' script.
fn is_script(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with("bootstrap.sh"))
}
