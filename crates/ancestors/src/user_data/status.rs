//! How something ended, as a call of `cfn-signal` says it.

use super::signal_calls::{QUOTES, value_of};
use crate::shell::script::BOOTSTRAP;
use crate::shell::{self, Behind, Line};

/// What a call tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// That all went well, or how the node's set-up ended: the plan tells that by itself.
    AsThePlan,
    /// What this word comes to on the node.
    As(String),
}

/// Commands that leave nothing to tell.
const IDLE: [&str; 6] = ["set", "echo", "exec", "true", ":", "then"];

/// How the call of `cfn-signal` on this line of a script says that it ended.
pub(super) fn of(script: &str, number: u32, command: &str) -> Ended {
    let words: Vec<&str> = shell::raw(command).into_iter().map(|(word, _)| word).collect();
    let given = |flags: [&str; 2]| flags.into_iter().find_map(|flag| value_of(&words, flag));
    let failed = given(["--success", "-s"]).is_some_and(|word| word.trim_matches(QUOTES) == "false");
    let Some(word) = given(["--exit-code", "-e"]).or(failed.then_some("1")) else { return Ended::AsThePlan };
    let plain = word.trim_matches(QUOTES);
    let name = plain.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    let as_the_plan = match name {
        Some("?") => follows_the_call(script, number, command),
        Some(name) if holds_the_calls(script, name) => true,
        _ => shell::value(script, number, word).is_ok_and(|value| value == "0"),
    };
    if as_the_plan { Ended::AsThePlan } else { Ended::As(word.to_owned()) }
}

/// What stands in the place of the signal: the script ends as the signal has it, and what follows is done all the same.
pub(super) fn ending(word: &str) -> String {
    format!("trap \"exit \"{word} EXIT")
}

/// Whether a script has something else to do at its end.
pub(super) fn is_taken(script: &str) -> bool {
    let lines = shell::lines(script);
    lines.iter().filter(|line| !line.handed_on).any(|line| {
        let line = line.text.trim();
        line.starts_with("trap ") && (line.contains("EXIT") || line.ends_with(" 0"))
    })
}

/// Whether `$?` of a command is how the call ended, or nothing that could have failed.
fn follows_the_call(script: &str, number: u32, command: &str) -> bool {
    let mut lines = shell::lines(script);
    lines.retain(|line| !line.handed_on && line.number <= number);
    let Some(Line { text, .. }) = lines.pop() else { return true };
    let before = text.split(command).next().unwrap_or_default();
    let earlier = lines.iter().rev().map(|line| line.text.trim());
    let earlier =
        earlier.filter(|line| !line.is_empty() && (!line.starts_with('#') || line.starts_with("#!")));
    let last = std::iter::once(before).chain(earlier).find_map(last_command);
    last.is_none_or(|last| is_call(last) || is_idle(last))
}

/// The last command of a line whose end counts: what answers a failure or reads along does not.
fn last_command(line: &str) -> Option<&str> {
    let commands = shell::commands(line);
    let passes = |behind: &Behind| matches!(behind, Behind::Fails | Behind::Reads);
    let counts = commands.iter().enumerate().rev().find(|(index, _)| {
        let before = index.checked_sub(1).and_then(|index| commands.get(index));
        before.is_none_or(|(_, behind)| !passes(behind))
    });
    counts.map(|(_, (command, _))| *command)
}

fn is_call(command: &str) -> bool {
    command.contains(BOOTSTRAP) || command.contains("nodeadm init")
}

fn is_idle(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let asks = command.contains(['`']) || command.contains("$(");
    command.starts_with("#!") || IDLE.contains(&first) || shell::assignment(command).is_some() && !asks
}

/// Whether a variable holds how the call ended, and nothing else.
fn holds_the_calls(script: &str, name: &str) -> bool {
    let lines = shell::lines(script);
    let own = lines.iter().filter(|line| !line.handed_on);
    let set: Vec<&Line> = own.filter(|line| sets(&line.text, name)).collect();
    let [line] = set.as_slice() else { return false };
    let held = shell::assignment(line.text.trim()).map(|(_, value)| value.trim_matches(QUOTES));
    matches!(held, Some("$?" | "${?}")) && follows_the_call(script, line.number, line.text.trim())
}

/// Whether a line puts something into a variable, wherever in it.
fn sets(line: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(&format!("{name}="))
        .any(|(at, _)| !line.get(..at).unwrap_or_default().ends_with(is_name))
}

#[cfg(test)]
mod tests {
    use super::{Ended, of};

    #[test]
    fn a_status_is_the_calls_only_right_behind_it() {
        for (script, word) in [
            ("/etc/eks/bootstrap.sh a\n@ $?", None),
            ("/etc/eks/bootstrap.sh a \\\n  --b c | tee /x\n\n# so\n@ $?", None),
            ("/etc/eks/bootstrap.sh a || exit 1\n@ \"$?\"", None),
            ("/etc/eks/bootstrap.sh a; @ $?", None),
            ("#!/bin/bash\n@ $?", None),
            ("/etc/eks/bootstrap.sh a\nRC=$?\nb\n@ ${RC}", None),
            ("RC=0\n@ $RC", None),
            ("x\n@ 0", None),
            ("/etc/eks/bootstrap.sh a\nb\n@ $?", Some("$?")),
            ("/etc/eks/bootstrap.sh a\nb || c\n@ $?", Some("$?")),
            ("/etc/eks/bootstrap.sh a; b; @ $?", Some("$?")),
            ("A=$(b)\n@ $?", Some("$?")),
            ("if a; then\n  b\nelse\n@ $?\nfi", Some("$?")),
            ("/etc/eks/bootstrap.sh a\nRC=$?\nb || RC=1\n@ $RC", Some("$RC")),
            ("/etc/eks/bootstrap.sh a\nb\nRC=$?\n@ \"$RC\"", Some("\"$RC\"")),
            ("RC=0\nb || RC=1\n@ $RC", Some("$RC")),
            ("@ 1", Some("1")),
        ] {
            let script = script.replace('@', "cfn-signal -e");
            let number = script.split('\n').position(|line| line.contains("cfn-signal")).unwrap_or_default();
            let line = script.lines().nth(number).unwrap_or_default();
            let command = line.get(line.find("cfn").unwrap_or_default()..).unwrap_or_default();
            let expected = word.map_or(Ended::AsThePlan, |word| Ended::As(word.to_owned()));
            assert_eq!(of(&script, u32::try_from(number).unwrap_or(0) + 1, command), expected, "{script}");
        }
    }
}
