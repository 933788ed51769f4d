//! A script, taken apart around its call of `/etc/eks/bootstrap.sh`.

use std::collections::BTreeMap;

use super::commands::commands;
use super::lines;
use super::prefix::prefix;
use super::reading::Reading;
use super::units::{Block, units};
use super::way::Way;

pub(crate) use super::prefix::BOOTSTRAP;

/// What a script does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// It calls the image's own bootstrap.
    Calls(Call),
    /// It calls nothing of the kind.
    CallsNothing,
    /// It calls the image's bootstrap in a way that only a shell could follow.
    Opaque(Opaque),
}

/// The call, and what stands around it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The line of the script that it stands on.
    pub(crate) number: u32,
    /// Its arguments.
    pub(crate) words: Vec<String>,
    /// What the script does before.
    pub(crate) before: Option<String>,
    /// What it does afterwards.
    pub(crate) after: Option<String>,
    /// Whether the call is not come to where the part before it fails.
    pub(crate) strict: bool,
    /// Commands that nobody gives any more or that come to something else, with their lines and what becomes of them.
    pub(crate) dropped: Vec<(u32, String, Dropped)>,
    /// What decides by which way it asks EKS.
    pub(crate) ways: Vec<Way>,
}

/// What becomes of a command that is not done as the script would do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// It is done where the call fails.
    OnFailure,
    /// It asks how the call ended.
    Status,
    /// It reads what the call writes.
    Reader,
    /// It is never done: the shell has become the call.
    Never,
    /// It is done beside the call, while that is under way.
    Beside,
    /// It keeps what the call writes.
    Output,
    /// It is done where the call fails or the script ends: it was set before the call.
    Trap,
    /// It changes the shell, and only bash can hand that over to the part behind the call.
    Lost,
    /// It says what is open for the commands behind it, in a way that the part behind the call cannot say again.
    Descriptor,
    /// It may set anew what the call takes.
    Doubtful,
    /// It may end the script before the call, and well.
    Ends,
    /// Without it there is no call.
    Hangs,
    /// It is about a program that was started before the call.
    Started,
    /// It is another one in each of the two parts.
    Differs,
    /// The agent asks EKS for it.
    Asked,
}

/// Why a call cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    /// The line of the script.
    pub(crate) number: u32,
    /// Why.
    pub(crate) why: Why,
}

/// What keeps a call from being read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Words that are known only on the node, each with its line.
    Unknown(Vec<(String, u32)>),
    /// It hangs on how another command ends.
    Condition,
    /// It stands in a condition, a loop or a function.
    Within(Block),
    /// It is called on an earlier line already.
    Twice(u32),
    /// A command does something else with the script's file than call it.
    Touched(String),
    /// A command ends the script before the call.
    Ended(String),
}

/// eksctl's file that people read in for its variables, and what else it does to their shell.
pub(crate) const HELPER: &str = "bootstrap.helper.sh";
pub(super) const STRICT: &str = "set -o errexit -o pipefail -o nounset";

impl Script {
    /// Takes a script apart. `given` are variables of eksctl's files.
    pub(crate) fn of(script: &str, given: &BTreeMap<&str, String>) -> Self {
        if !script.contains(BOOTSTRAP) {
            return Self::CallsNothing;
        }
        let mut reading = Reading::new(given, is_bash(script));
        for unit in units(script) {
            let begins = unit.number;
            // Of a block, the line that names it.
            let mut lines = script.lines().zip(1_u32..).skip_while(|(_, number)| *number < begins);
            let inside = lines.find(|(line, _)| unit.block.is_some() && line.contains(BOOTSTRAP));
            if let Err(why) = reading.unit(unit, script) {
                let number = inside.map_or(begins, |(_, number)| number);
                return Self::Opaque(Opaque { number, why });
            }
        }
        reading.settled()
    }
}

/// A script without the call, whose words are read rather than run.
pub(crate) fn without_call(script: &str) -> String {
    let kept = lines(script).into_iter().filter(|line| {
        line.handed_on || !commands(line.text.trim()).iter().any(|(command, _)| prefix(command).is_some())
    });
    kept.map(|line| line.text).collect::<Vec<_>>().join("\n")
}

/// A line of a document that a script hands on, with the variables that are known `above` lines down the script.
///
/// # Errors
/// What only a shell on the node could tell, each as it is written; facts of the machine are among that.
pub(crate) fn filled(script: &str, above: u32, line: &str) -> Result<String, Vec<String>> {
    if !line.contains(['$', '`', '\\']) {
        return Ok(line.to_owned());
    }
    // Quotes are nothing there.
    let quoted = format!("\"{}\"", line.replace('"', "\\\""));
    let value = value(script, above, &quoted).map_err(|unknown| match unknown {
        Unknown::Words(words) => words,
        Unknown::Script => vec![line.trim().to_owned()],
    })?;
    if value.contains("@{") { Err(vec![line.trim().to_owned()]) } else { Ok(value) }
}

/// Why nobody can tell a value beforehand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// For these words, each as it is written.
    Words(Vec<String>),
    /// For what the script does before.
    Script,
}

/// What a word of a command comes to, with the variables that are known `above` lines down the script; facts of the machine are
/// written as such.
pub(crate) fn value(script: &str, above: u32, word: &str) -> Result<String, Unknown> {
    let mut reading = Reading::new(&BTreeMap::new(), is_bash(script));
    for unit in units(script).into_iter().take_while(|unit| unit.number < above) {
        // What cannot be read leaves its variables unknown.
        if reading.unit(unit, script).is_err() {
            return Err(Unknown::Script);
        }
    }
    let doubtful =
        super::halves::used(word).into_iter().filter(|name| reading.values.doubted(name).is_some());
    let doubtful: Vec<String> = doubtful.map(|name| format!("${name}")).collect();
    if !doubtful.is_empty() {
        return Err(Unknown::Words(doubtful));
    }
    super::words::value(word, &reading.values).map_err(Unknown::Words)
}

/// Whether a line is a call, with nothing before it that sets something and nothing behind it that ends the shell.
pub(crate) fn is_one_call(line: &str) -> bool {
    let commands = commands(line);
    let calls =
        commands.iter().filter(|(command, _)| prefix(command).is_some_and(|call| !call.replaces)).count();
    let idle = |command: &str| {
        super::assignment(command).is_none()
            && !["cd ", "set ", "exit", "export ", "source ", ". "]
                .iter()
                .any(|word| command.starts_with(word))
    };
    calls == 1 && commands.iter().all(|(command, _)| prefix(command).is_some() || idle(command))
}

/// Whether bash runs a script; it does so where nothing else is said.
fn is_bash(script: &str) -> bool {
    script.lines().next().is_none_or(|first| !first.starts_with("#!") || first.contains("bash"))
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
