//! Development tasks.
//!
//! `cargo xtask generate` writes what follows from the source: `schema/*.json`, `docs/findings.md`, `docs/cli.md`;
//! with `--check` it says what is out of date instead. `cargo xtask check` does that too, and holds the crates against
//! the rules that the compiler does not know. `cargo xtask dist` builds the agent as it is shipped,
//! `cargo xtask kill` kills it wherever it changes something; `cargo xtask wild DIR` reads other people's documents.
#![expect(clippy::disallowed_methods, reason = "a task for the source tree reads and writes its files")]
#![expect(clippy::print_stdout, reason = "counts are printed")]
#![expect(clippy::print_stderr, reason = "what is wrong is said to the person who ran it")]

mod cli;
mod dist;
mod edges;
mod findings;
mod kill;
mod sizes;
mod wild;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

/// Development tasks
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Write the files that follow from the source
    Generate {
        /// Write nothing; fail if a file is out of date
        #[arg(long)]
        check: bool,
    },
    /// Generated files, and which crate may use which
    Check,
    /// Build the agent as it is shipped: one static file for each architecture
    Dist {
        /// Only for this architecture; may be given more than once
        #[arg(long, value_name = "NAME")]
        arch: Vec<dist::Architecture>,
        /// Where the files go
        #[arg(short, long, value_name = "DIR", default_value = "target/dist")]
        output: PathBuf,
    },
    /// Kill the agent at every call that changes something, run it again, and compare; needs root and strace
    Kill {
        /// Another agent than the one in `target/dist`
        #[arg(long, value_name = "PATH")]
        agent: Option<PathBuf>,
    },
    /// Read other people's documents beneath a directory and count what becomes of them
    Wild {
        /// The directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Also put a field that nobody has into each mapping, and see that it is named
        #[arg(long)]
        probe: bool,
    },
}

fn main() -> ExitCode {
    match run(&Task::parse()) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            for fault in faults {
                eprintln!("error: {fault}");
            }
            ExitCode::FAILURE
        }
        Err(fault) => {
            eprintln!("error: {fault:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> Result<Vec<String>> {
    let top = top();
    match task {
        Task::Generate { check: false } => write(&top).map(|()| Vec::new()),
        Task::Generate { check: true } => Ok(outdated(&top)),
        Task::Dist { arch, output } => dist::build(&top, arch, &top.join(output)).map(|()| Vec::new()),
        Task::Kill { agent } => kill::everywhere(&top, agent.as_deref()).map(|()| Vec::new()),
        Task::Wild { directory, probe } => wild::counted(directory, *probe),
        Task::Check => {
            let mut faults = outdated(&top);
            faults.extend(findings::ambiguous(&bringup::codes()));
            faults.extend(edges::forbidden(&top)?);
            for hint in sizes::large(&top)? {
                eprintln!("note: {hint}");
            }
            Ok(faults)
        }
    }
}

/// The root of the workspace.
fn top() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Every generated file with its content.
fn generated() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = bringup::schemas()
        .into_iter()
        .map(|(name, schema)| (format!("schema/{name}.json"), format!("{schema:#}\n")))
        .collect();
    files.push(("docs/findings.md".to_owned(), findings::page(&bringup::codes())));
    files.push(("docs/cli.md".to_owned(), cli::page(bringup::command())));
    files
}

fn write(top: &Path) -> Result<()> {
    for (name, content) in generated() {
        let path = top.join(&name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        }
        std::fs::write(&path, content).with_context(|| format!("cannot write `{name}`"))?;
    }
    Ok(())
}

fn outdated(top: &Path) -> Vec<String> {
    generated()
        .into_iter()
        .filter(|(name, content)| std::fs::read_to_string(top.join(name)).ok().as_ref() != Some(content))
        .map(|(name, _)| format!("`{name}` is out of date: run `cargo xtask generate`"))
        .collect()
}
