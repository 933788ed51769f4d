//! The script that cloud-init makes of `bootcmd` and `runcmd`.

use bringup_diag::{Finding, Span};

use crate::codes;
use crate::data::{Datum, Value};

/// One command as the shell sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub run: String,
    pub at: Option<(usize, Span)>,
}

/// Why the script is not made, so that no command of the list runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoScript {
    pub message: String,
    pub at: Option<(usize, Span)>,
}

impl NoScript {
    /// The finding about the list under `key`, still without its place.
    pub(crate) fn finding(&self, key: &str) -> Finding {
        Finding::error(
            codes::COMMAND_TYPE,
            format!("`{key}` has {}: cloud-init runs none of its commands", self.message),
        )
        .hint("each command is a string or a list of words; quote one that holds `: `")
    }
}

/// The lines of the script. The items of a list are quoted one by one, a string is pasted as shell text.
pub(crate) fn commands(list: &Datum) -> Result<Vec<Command>, NoScript> {
    let Some(items) = list.items() else {
        return Err(NoScript {
            message: format!("{}, not a list of commands", list.type_name()),
            at: list.at,
        });
    };
    let mut commands = Vec::with_capacity(items.len());
    for item in items {
        let run = match &item.value {
            Value::List(words) => {
                words.iter().map(|word| quoted(&word.python_str())).collect::<Vec<_>>().join(" ")
            }
            Value::Text(text) => text.trim_end_matches('\n').to_owned(),
            Value::Null => continue,
            _ => {
                return Err(NoScript {
                    message: format!("{}, neither a string nor a list", item.type_name()),
                    at: item.at,
                });
            }
        };
        commands.push(Command { run, at: item.at });
    }
    Ok(commands)
}

/// A word as the shell gives it to a program unchanged.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
