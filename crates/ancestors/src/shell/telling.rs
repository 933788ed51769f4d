//! What there is to tell of a script.

use bringup_diag::Span;

use super::script::{Dropped, Why};
use super::units::Block;
use crate::codes;
use crate::tell::Teller;

impl std::fmt::Display for Why {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(words) => {
                let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                write!(
                    out,
                    "it hangs on what is known only on the node or to the stack, {}",
                    words.join(", ")
                )
            }
            Self::Condition => write!(out, "whether it is called hangs on how another command ends"),
            Self::Within(Block::Condition) => {
                write!(out, "it stands in a condition, which only the node can decide")
            }
            Self::Within(Block::Loop) => {
                write!(out, "it stands in a loop; the agent tries again by itself where joining fails")
            }
            Self::Within(Block::Function) => {
                write!(out, "it stands in a function, and who calls that is not looked for")
            }
            Self::Twice(first) => write!(out, "it is called on line {first} already"),
            Self::Touched(command) => write!(
                out,
                "`{command}` does something else with `/etc/eks/bootstrap.sh` than call it, and the plan does not run that script"
            ),
            Self::Ended(command) => write!(out, "`{command}` ends the script before the call"),
        }
    }
}

impl Why {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "write what it stands for",
            Self::Touched(_) => {
                "take this out, and say what it is for in the call's flags or with `--with additions.yaml`: the image's script is read, not run"
            }
            Self::Ended(_) => "take it out, or the call",
            Self::Condition | Self::Within(_) | Self::Twice(_) => {
                "call it once, outside of conditions, loops and functions, as the image has it"
            }
        }
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
            Dropped::Status => (
                format!(
                    "`{command}` asks how the call ended, and is come to only where it has succeeded: what stands there for a failure is not carried out, the agent tries again and tells how it ended"
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
                format!("`{command}` holds around the call, too, and is not done where the call itself fails"),
                "use `signals` or a hook for `on-failure` for the call itself",
            ),
            Dropped::Lost => (
                format!(
                    "`{command}` changes the shell that the part behind the call runs in: they are two scripts here, and only bash can hand that over"
                ),
                "write `#!/bin/bash` into the first line, or do it again behind the call",
            ),
            Dropped::Descriptor => (
                format!("`{command}` holds for the part before the call only: they are two scripts here"),
                "do it again behind the call, or by itself on a line and for output alone, as `exec >> FILE`",
            ),
            Dropped::Doubtful => (
                format!("`{command}` may set anew what the call takes; it is taken as the script has it"),
                "set it behind this, or write it out in the call",
            ),
            Dropped::Ends => (
                format!("`{command}` may end the script before the call, and well: here the node is set up all the same"),
                "end it with a failure, such as `exit 1`, where the node is not to be set up",
            ),
            Dropped::Hangs => (
                format!("the call hangs on `{command}`: if that fails, the node is not set up and nothing behind the call is done"),
                "nothing has to be done, unless what stands behind the call is to be done without it",
            ),
            Dropped::Started => (
                format!("`{command}` has nothing to do with what was started before the call: they are two scripts here"),
                "wait for it before the call",
            ),
            Dropped::Differs => (
                format!("`{command}` is another one here: the script is two, before the call and behind it, with names of their own"),
                "write what it stands for",
            ),
            Dropped::Asked => (
                format!("`{command}` is left out of the call: the agent asks EKS for it, by the cluster's name, as the script does"),
                "nothing has to be done",
            ),
        };
        let severity = match when {
            Dropped::Asked | Dropped::Never | Dropped::Beside | Dropped::Output | Dropped::Hangs => {
                Teller::note
            }
            _ => Teller::warning,
        };
        severity(tell, codes::FIELD_DIFFERS, at(*line), message, hint);
    }
}
