//! The command line of Bringup: thin, and the only place with effects.
//!
//! [`run`] maps what was typed to one module of `commands`; each reads its files through `files`, lets the pure crates do
//! the work and prints through [`Terminal`]. The exit code is decided here and nowhere else.
//!
//! Files that this program reads: what is named on the command line and, beneath `--files-dir`, what a document refers
//! to with `src`. Files that it writes: those of `build` and `publish` beneath their output directory, of `init` and `man`
//! the ones that they are asked for. Each directory that `build` fills has a `.bringup-build.json` that lists what is its own.
#![forbid(unsafe_code)]

mod agent_source;
mod arguments;
mod catalogue;
mod commands;
mod difference;
mod files;
mod graph;
mod lints;
mod node_state;
mod outcome;
mod own_parts;
mod project;
mod report;
mod summary;
mod terminal;
mod usage;
mod user_data;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command, ReportForm};
pub use bringup_diag::Code;
pub use catalogue::{codes, schemas};
use outcome::{Stop, Verdict};
pub use terminal::Terminal;

/// Runs one command and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>, terminal: &mut Terminal) -> ExitCode {
    let typed: Vec<OsString> = arguments.into_iter().collect();
    let mut form = ReportForm::Human;
    let ended = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => {
            form = arguments.command.form();
            terminal.choose_colour(arguments.color);
            execute(arguments.command, terminal)
        }
        Err(fault) => usage::told(&fault, &typed, terminal),
    };
    let ended = ended.and_then(|verdict| terminal.flush().map(|()| verdict));
    let verdict = match ended {
        Ok(verdict) => verdict,
        Err(stop) => stop.told(form, terminal),
    };
    ExitCode::from(verdict.code())
}

/// The whole command line as data, for manual pages and completions.
pub fn command() -> clap::Command {
    Arguments::command()
}

fn execute(command: Command, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    match command {
        Command::Build(arguments) => commands::build::execute(&arguments, terminal),
        Command::Convert(arguments) => commands::convert::execute(&arguments, terminal),
        Command::Render(arguments) => commands::render::execute(&arguments, terminal),
        Command::Inspect(arguments) => commands::inspect::execute(&arguments, terminal),
        Command::Diff(arguments) => commands::diff::execute(&arguments, terminal),
        Command::Explain(arguments) => commands::explain::execute(&arguments, terminal),
        Command::Init(arguments) => commands::init::execute(&arguments, terminal),
        Command::Publish(arguments) => commands::publish::execute(&arguments, terminal),
        Command::Try(arguments) => commands::try_out::execute(&arguments, terminal),
        Command::Schema(arguments) => commands::schema::execute(&arguments, terminal),
        Command::Completions(arguments) => commands::completions::execute(&arguments, terminal),
        Command::Man(arguments) => commands::man::execute(&arguments, terminal),
    }
}
