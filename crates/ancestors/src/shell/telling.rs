//! What there is to tell of a script.

use bringup_diag::Span;

use super::script::{Dropped, Why};
use crate::codes;
use crate::tell::Teller;

impl std::fmt::Display for Why {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(words) => {
                let words: Vec<String> =
                    words.iter().map(|(word, line)| format!("`{word}` on line {line}")).collect();
                write!(
                    out,
                    "it hangs on what is known only on the node or to the stack, {}",
                    words.join(", ")
                )
            }
            Self::Condition => write!(out, "whether it is called hangs on how another command ends"),
            Self::Twice(first) => write!(out, "it is called on line {first} already"),
            Self::Touched => write!(out, "something else is done with the script's file"),
        }
    }
}

/// Tells of variables that do not reach the part behind the call.
pub(crate) fn tell_of_lost(names: &[String], span: Span, tell: &mut Teller<'_>) {
    for name in names {
        let message = format!(
            "the part behind the call uses `{name}`, which the part before it sets: they are two scripts here, and only bash can hand it over"
        );
        let hint = "write `#!/bin/bash` into the first line, or set it again behind the call";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    }
}

/// Tells of commands that nobody gives any more; `at` has the place of a line.
pub(crate) fn tell_of_dropped(
    dropped: &[(u32, String, Dropped)],
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) {
    for (line, command, when) in dropped {
        let (message, hint) = match when {
            Dropped::OnFailure => (
                format!(
                    "`{command}` is done only where the call fails, and is not carried out: the agent tries again and tells how it ended"
                ),
                "use `signals` to tell somebody, or a hook for `on-failure`",
            ),
            Dropped::Reader | Dropped::Output => (
                format!("`{command}` does not get what the call writes: the plan takes its place"),
                "the agent's own log is in the journal, see `journalctl -u bringup`",
            ),
            Dropped::Never => (
                format!("`{command}` stands behind `exec` and is never done, here as before"),
                "remove it, or take `exec` away",
            ),
            Dropped::Beside => (
                "what stands behind this call does not wait for it (`&`); here it waits until the node is set up".to_owned(),
                "nothing has to be done, unless it has to be done early: put it before the call then",
            ),
            Dropped::Trap => (
                format!("`{command}` holds for the part before the call only: not for the call, nor behind it"),
                "set it again behind the call; use `signals` or a hook for `on-failure` for the call itself",
            ),
        };
        let severity = match when {
            Dropped::Never | Dropped::Beside | Dropped::Output => Teller::note,
            Dropped::OnFailure | Dropped::Reader | Dropped::Trap => Teller::warning,
        };
        severity(tell, codes::FIELD_DIFFERS, at(*line), message, hint);
    }
}
