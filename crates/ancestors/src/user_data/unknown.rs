//! Words of a call that are not known beforehand: where they stand, and what to do about them.

use bringup_diag::{Position, Span};

use crate::shell;

/// Where a word stands in a script whose first line is at `from`; the beginning of the line, if it is not written there.
pub(crate) fn place(script: &str, number: u32, word: &str, from: Position) -> Span {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let line = index.and_then(|index| script.lines().nth(index)).unwrap_or_default();
    let at = line.find(word).and_then(|at| line.get(..at));
    let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let start = Position {
        line: from.line.saturating_add(number).saturating_sub(1),
        column: from.column.saturating_add(at.map_or(0, count)),
    };
    let length = if at.is_some() { count(word) } else { 0 };
    Span { start, end: Position { column: start.column.saturating_add(length), ..start } }
}

/// What to do about a word of a call; `in_template` is whether the call stands in a template.
pub(super) fn hint(word: &str, script: &str, number: u32, in_template: bool) -> &'static str {
    let is_parameter = word
        .strip_prefix("${")
        .is_some_and(|name| name.trim_end_matches('}').chars().all(|letter| letter.is_ascii_alphanumeric()));
    if in_template && is_parameter {
        return "write what it stands for, or give the template its parameter with `--parameter NAME=VALUE`";
    }
    let (flag, before) = flag_of(script, number, word).unwrap_or_default();
    match flag.as_str() {
        "--apiserver-endpoint" | "--b64-cluster-ca" => {
            "leave `--apiserver-endpoint` and `--b64-cluster-ca` out: the agent asks EKS for both, by the cluster's name; or write what they stand for"
        }
        "--kubelet-extra-args" if before.ends_with("--max-pods=") => {
            "write the number; or leave `--max-pods` and `--use-max-pods` out, and write how it is worked out as `maxPods` of the group with `--with additions.yaml`, such as `maxPods: {prefixDelegation: true}`"
        }
        "--kubelet-extra-args" if before.contains("--node-labels=") => {
            "write what it stands for; a label of the machine's own as a fact, such as `labels: {id: \"@{instanceId}\"}` of the group, with `--with additions.yaml`"
        }
        _ => "write what it stands for",
    }
}

/// The flag of a call whose value has a word in it, and what stands before the word there.
fn flag_of(script: &str, number: u32, word: &str) -> Option<(String, String)> {
    let lines = shell::lines(script);
    let line = lines.iter().rev().find(|line| !line.handed_on && line.number <= number)?;
    let words: Vec<&str> = shell::raw(&line.text).into_iter().map(|(word, _)| word).collect();
    let index = words.iter().position(|raw| raw.contains(word))?;
    let own = words.get(index)?;
    let before = own.split(word).next().unwrap_or_default().to_owned();
    let flag = match own.split_once('=') {
        Some((flag, _)) if flag.starts_with("--") => flag,
        _ => words.get(index.checked_sub(1)?)?,
    };
    Some((flag.to_owned(), before))
}
