//! Why a trial cannot be held.

use std::path::{Path, PathBuf};

use bringup_plan::STEPS_UNIT;

/// Why a trial cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum LabFault {
    /// Rights or programs are missing.
    #[error("{}", needs(*root, packages))]
    Missing {
        /// Whether it must be run by root.
        root: bool,
        /// Packages that are not installed.
        packages: Vec<String>,
    },
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
    /// A step that cannot be made to fail or to take long.
    #[error("the lab cannot hinder a step `{step}`; it can hinder {}", listed(others))]
    NoGrip {
        /// The step.
        step: String,
        /// Those that can be hindered.
        others: Vec<String>,
    },
    /// Steps that the plan does not have.
    #[error("{}", no_step(asked, near.as_deref(), steps))]
    NoStep {
        /// What was asked for.
        asked: Vec<String>,
        /// The step that may be meant by the first.
        near: Option<String>,
        /// Those that there are.
        steps: Vec<String>,
    },
    /// Something that never happens.
    #[error("nothing of the kind ever happens: `{asked}`; {}", meant(near.as_deref(), words))]
    NoWord {
        /// What was asked for.
        asked: String,
        /// What may be meant.
        near: Option<String>,
        /// What may happen.
        words: Vec<String>,
    },
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// Somebody wants it to end.
    #[error("interrupted")]
    Interrupted,
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

fn needs(root: bool, packages: &[String]) -> String {
    let mut needed: Vec<&str> = packages.iter().map(String::as_str).collect();
    if root {
        needed.insert(0, "root");
    }
    let listed = match needed.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => needed.join(""),
    };
    let how = match (root, packages.is_empty()) {
        (true, true) => "it makes namespaces and mounts: try `sudo bringup try`".to_owned(),
        _ => format!("install with `apt-get install --yes {}`", packages.join(" ")),
    };
    format!("the lab needs {listed}; {how}")
}

fn no_step(asked: &[String], near: Option<&str>, steps: &[String]) -> String {
    if steps.is_empty() {
        // What runs a document's steps then is one unit.
        return format!(
            "steps are known only where our agent follows a plan, and here it does not: {}; `--power-cut`, `--kill` and `--until` take \
             a unit's name, such as `kubelet.service` or, of a document with `agent: none`, `{STEPS_UNIT}`, which runs its steps; \
             `--fail` and `--slow` need the agent",
            listed(asked)
        );
    }
    format!("the plan has no such step: {}; {}", listed(asked), meant(near, steps))
}

fn meant(near: Option<&str>, others: &[String]) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", listed(others)),
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none of this input".to_owned() } else { quoted.join(", ") }
}

/// Runs a program to its end and gives what it printed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, LabFault> {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(std::process::Stdio::null());
    outcome(&format!("{program} {}", arguments.join(" ")), command)
}

/// Runs a command to its end and gives what it printed; `shown` is what it is called if it fails.
pub(crate) fn outcome(shown: &str, mut command: std::process::Command) -> Result<String, LabFault> {
    let done = command.output().map_err(LabFault::file("run", Path::new(command.get_program())))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = [done.stdout.as_slice(), done.stderr.as_slice()].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    Err(LabFault::Program {
        command: shown.to_owned(),
        status: done.status.to_string(),
        output: lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("; "),
    })
}
