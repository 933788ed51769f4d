//! How a command ends.

use std::fmt::Write as _;

use crate::Terminal;
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
}

impl Verdict {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::No => 1,
            Self::Wrong => 2,
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
    Failed(String),
    /// Whoever read our output has seen enough.
    Pipe,
}

impl Stop {
    /// A wrong call or input.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input { message: message.into(), hint: None }
    }

    /// The same, with what to do instead.
    #[must_use]
    pub(crate) fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Input { message, .. } => Self::Input { message, hint: Some(text.into()) },
            other => other,
        }
    }

    /// Tells the person and gives the answer that the exit code comes from.
    pub(crate) fn told(self, terminal: &mut Terminal) -> Verdict {
        let (message, hint, verdict) = match self {
            Self::Pipe => return Verdict::Good,
            Self::Input { message, hint } => (message, hint, Verdict::Wrong),
            Self::Failed(message) => (message, None, Verdict::No),
        };
        let paint = terminal.error_paint();
        let mut text = format!("{}: {message}\n", paint.error("error"));
        if let Some(hint) = hint {
            let _ = writeln!(text, " {} {}: {hint}", paint.frame("="), paint.good("hint"));
        }
        terminal.say(&text);
        verdict
    }
}

impl From<FileError> for Stop {
    fn from(fault: FileError) -> Self {
        if fault.is_about_input() { Self::input(fault.to_string()) } else { Self::Failed(fault.to_string()) }
    }
}
