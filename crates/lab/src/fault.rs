//! Why a trial cannot be held.

use std::path::{Path, PathBuf};

/// Why a trial cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum LabFault {
    /// A tool is missing.
    #[error("the lab needs {}; install them with `apt-get install {}`", missing.join(", "), packages.join(" "))]
    Missing {
        /// What is missing.
        missing: Vec<String>,
        /// The packages that bring it.
        packages: Vec<String>,
    },
    /// Not enough rights.
    #[error("the lab needs root: it makes namespaces and mounts")]
    NotRoot,
    /// A program failed.
    #[error("`{command}` ended with {status}: {output}")]
    Program {
        /// What was run.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines of what it said.
        output: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Something else of the system's.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl LabFault {
    pub(crate) fn file<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<'a> {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }

    pub(crate) fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

/// Runs a program to its end and gives what it printed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, LabFault> {
    let done = std::process::Command::new(program)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(LabFault::file("run", Path::new(program)))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = [done.stdout.as_slice(), done.stderr.as_slice()].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    Err(LabFault::Program {
        command: format!("{program} {}", arguments.join(" ")),
        status: done.status.to_string(),
        output: lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("; "),
    })
}
