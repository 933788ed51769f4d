//! How a command ends.

use std::fmt::Write as _;

use bringup_diag::{Finding, Findings, masked_message, to_json, to_sarif};
use serde_json::{Value, json};

use crate::Terminal;
use crate::arguments::ReportForm;
use crate::files::FileError;

/// The answer of a command that could be carried out; the exit codes of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Good, warnings included.
    Good,
    /// The answer is no: over budget, differs.
    No,
    /// The call or the input is wrong.
    Wrong,
    /// Not finished: paused, in progress.
    NotYet,
}

impl Verdict {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::No => 1,
            Self::Wrong => 2,
            Self::NotYet => 3,
        }
    }

    /// For programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::No => "no",
            Self::Wrong => "wrong",
            Self::NotYet => "not-yet",
        }
    }
}

/// Why a command could not be carried out.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The call or the input is wrong.
    Input {
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// The machine would not do what was asked.
    Failed {
        /// What it would not do.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// What it takes to tell is not there.
    Undecided {
        /// What is missing.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
}

impl Stop {
    /// A wrong call or input.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input { message: message.into(), hint: None }
    }

    /// Something that the machine would not do.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: None }
    }

    /// Something that cannot be told here.
    pub(crate) fn undecided(message: impl Into<String>) -> Self {
        Self::Undecided { message: message.into(), hint: None }
    }

    /// The same, with what to do instead.
    #[must_use]
    pub(crate) fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Input { message, .. } => Self::Input { message, hint: Some(text.into()) },
            Self::Failed { message, .. } => Self::Failed { message, hint: Some(text.into()) },
            Self::Undecided { message, .. } => Self::Undecided { message, hint: Some(text.into()) },
        }
    }

    /// Tells the person, and the program that asked for another form, and gives the answer that the exit code comes from.
    pub(crate) fn told(self, form: ReportForm, terminal: &mut Terminal) -> Verdict {
        let (code, message, hint, verdict) = match self {
            Self::Input { message, hint } => (codes::WRONG, message, hint, Verdict::Wrong),
            Self::Failed { message, hint } => (codes::FAILED, message, hint, Verdict::No),
            Self::Undecided { message, hint } => (codes::UNDECIDED, message, hint, Verdict::NotYet),
        };
        let (message, hint) = (masked_message(&message), hint.as_deref().map(masked_message));
        let paint = terminal.error_paint();
        let mut text = format!("{}: {message}\n", paint.error("error"));
        if let Some(hint) = &hint {
            let _ = writeln!(text, " {} {}: {hint}", paint.frame("="), paint.good("hint"));
        }
        terminal.say(&text);
        let mut finding = Finding::error(code, message);
        finding.hint = hint;
        tell_program(finding, verdict, form, terminal);
        verdict
    }
}

/// Hands what went wrong to the program that asked for another form than people read.
pub(crate) fn tell_program(finding: Finding, verdict: Verdict, form: ReportForm, terminal: &mut Terminal) {
    let findings: Findings = std::iter::once(finding).collect();
    let told = match form {
        ReportForm::Human => Ok(()),
        ReportForm::Json => terminal.json(&failure(verdict, &findings)),
        ReportForm::Sarif => terminal.json(&to_sarif(&findings, env!("CARGO_PKG_VERSION"))),
    };
    // It has been said on standard error: that standard output is gone as well changes nothing.
    let _ = told.and_then(|()| terminal.flush());
}

/// What a command prints for programs if it has nothing else to show; of `build` it is one more result.
pub(crate) fn failure(verdict: Verdict, findings: &Findings) -> Value {
    json!({"verdict": verdict.word(), "groups": [], "findings": to_json(findings)})
}

impl From<FileError> for Stop {
    fn from(fault: FileError) -> Self {
        let message = fault.to_string();
        let stop = if fault.is_about_input() { Self::input(message) } else { Self::failed(message) };
        match fault.hint() {
            Some(hint) => stop.with_hint(hint),
            None => stop,
        }
    }
}

/// Codes of what is wrong before there is a document to speak of.
pub(crate) mod codes {
    bringup_diag::codes! {
        /// The call is wrong, or what it names cannot be read: a file that is missing or no UTF-8 text, a directory
        /// where a file is needed, two clusters of one name. Nothing has been read further or written. Correct the
        /// call as the hint says; `--help` of the command lists what it takes.
        WRONG = "call/wrong";
        /// The machine would not do what was asked: a directory that cannot be written to, a full disk. What was
        /// written before may be incomplete. Make room or give the right to write, and run the same command again.
        FAILED = "call/failed";
        /// What it takes to tell is not there: the right to make containers, or a program that makes them. Nothing
        /// has been tried, so that the answer is neither yes nor no. Do what the message says, and run the same command
        /// again.
        UNDECIDED = "call/undecided";
    }
}
