//! Commands by which a script reboots its machine.
//!
//! Such a script is cut off before anybody knows that its step is done, so that it would run, and reboot, at each boot. Where
//! it is certain what a command does, the script asks for the reboot instead, and ends; else it is told.

mod meaning;
mod scan;

use bringup_diag::Span;

use self::scan::Scan;
use super::{Line, lines};
use crate::codes;
use crate::tell::Teller;

/// How a script asks for a reboot, and ends.
const ASKS: &str = r#"{ : >"$BRINGUP_REBOOT"; exit 0; }"#;

/// A command that reboots the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reboot {
    /// The line of the script.
    number: u32,
    /// What it is, without what else may stand there.
    command: String,
    /// Where it stands in its line, if it is certain that a request can take its place.
    place: Option<(usize, usize)>,
}

/// Has the parts of a script that become steps ask for their reboots; `at` has the place of a line of the whole.
pub(crate) fn mend<'a>(
    whole: &str,
    parts: impl IntoIterator<Item = &'a mut String>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) {
    let mut written = found(whole);
    for part in parts {
        let here = found(part);
        for reboot in &here {
            let same =
                |one: &Reboot| one.command == reboot.command && one.place.is_some() == reboot.place.is_some();
            let number = match written.iter().position(same) {
                Some(index) => written.remove(index).number,
                None => 1,
            };
            tell_of(reboot, at(number), tell);
        }
        if here.iter().any(|reboot| reboot.place.is_some()) {
            *part = rewritten(part, &here);
        }
    }
}

/// The lines of a script that reboot the machine.
pub(crate) fn lines_of(script: &str) -> Vec<u32> {
    found(script).into_iter().map(|reboot| reboot.number).collect()
}

fn tell_of(reboot: &Reboot, span: Span, tell: &mut Teller<'_>) {
    let command = &reboot.command;
    if reboot.place.is_some() {
        let message = format!(
            "the script ends at `{command}`, and the machine reboots once it is recorded that the step is done: it does not run again afterwards"
        );
        let hint = "nothing has to be done; a program of your own asks for a reboot by `: >\"$BRINGUP_REBOOT\"; exit 0`";
        tell.note(codes::DIFFERENCE, span, message, hint);
    } else {
        let message = format!(
            "`{command}` reboots the machine without a word to the agent: a step that it cuts off runs again at the next boot, and at each boot if it is this one"
        );
        let hint = "end the script by `: >\"$BRINGUP_REBOOT\"; exit 0` instead: the machine reboots once it is recorded that the step is done";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    }
}

/// The script with requests in the place of those commands.
fn rewritten(script: &str, reboots: &[Reboot]) -> String {
    let physical: Vec<&str> = script.split('\n').collect();
    let logical = lines(script);
    let mut kept: Vec<String> = Vec::with_capacity(physical.len());
    for (index, Line { text, number, .. }) in logical.iter().enumerate() {
        let mut text = text.clone();
        let mut changed = false;
        for reboot in reboots.iter().rev().filter(|reboot| reboot.number == *number) {
            if let Some((start, end)) = reboot.place {
                text.replace_range(start..end, ASKS);
                changed = true;
            }
        }
        if changed {
            kept.push(text);
            continue;
        }
        let line = |number: u32| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let end = logical.get(index.saturating_add(1)).map_or(physical.len(), |next| line(next.number));
        kept.extend(
            physical.get(line(*number)..end).unwrap_or_default().iter().map(|line| (*line).to_owned()),
        );
    }
    kept.join("\n")
}

/// All of them, in order. A script with a command of its own by such a name means that one.
fn found(script: &str) -> Vec<Reboot> {
    let first = script.lines().next().unwrap_or_default();
    let interpreter = first.trim_end().split(['/', ' ']).rfind(|word| !word.starts_with('-'));
    if first.starts_with("#!") && !interpreter.is_some_and(|name| name.ends_with("sh")) {
        return Vec::new();
    }
    let mut scan = Scan::default();
    for Line { text, number, handed_on } in lines(script) {
        if handed_on {
            let mut inside = Scan::default();
            inside.line(&text, number);
            scan.reboots.extend(inside.reboots.into_iter().map(|reboot| Reboot { place: None, ..reboot }));
        } else {
            scan.line(&text, number);
        }
    }
    if scan.own || script.contains("function reboot") { Vec::new() } else { scan.reboots }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script as it becomes, and the lines at which something is told: a note, or `!` a warning.
    fn of(script: &str) -> (String, Vec<String>) {
        let found = found(script);
        let told = found.iter().map(|reboot| {
            let sign = if reboot.place.is_some() { "" } else { "!" };
            format!("{sign}{}: {}", reboot.number, reboot.command)
        });
        (rewritten(script, &found), told.collect())
    }

    #[test]
    fn a_reboot_becomes_a_request_wherever_a_command_stands() {
        for (script, expected) in [
            ("a\nreboot\n", "a\n@\n"),
            ("/sbin/reboot", "@"),
            ("sudo -n /usr/sbin/reboot -f > /dev/null 2>&1", "@"),
            ("sudo -u root shutdown -r now \"for 'it'\"; b", "@; b"),
            ("shutdown -rf +0", "@"),
            ("systemctl --no-block reboot", "@"),
            ("/bin/systemctl isolate reboot.target", "@"),
            ("exec init 6", "@"),
            ("A=1 reboot # now", "@ # now"),
            ("[ -e /run/reboot-required ] && reboot || true", "[ -e /run/reboot-required ] && @ || true"),
            ("if a; then reboot; fi", "if a; then @; fi"),
            ("if a\nthen\n  b \\\n    c\n  reboot\nfi", "if a\nthen\n  b \\\n    c\n  @\nfi"),
            ("f() { reboot; }\nf", "f() { @; }\nf"),
            ("case $1 in\n  reboot) reboot ;;\nesac", "case $1 in\n  reboot) @ ;;\nesac"),
            (
                "case $1 in (a|reboot|b) c; reboot;; reboot|d) e; esac",
                "case $1 in (a|reboot|b) c; @;; reboot|d) e; esac",
            ),
            ("(a; reboot) | tee b", "(a; @) | tee b"),
            ("a &\nreboot", "a &\n@"),
            ("a 2>&1 | b; shutdown \\\n  -r now", "a 2>&1 | b; @"),
            ("#!/usr/bin/env bash\nreboot", "#!/usr/bin/env bash\n@"),
            ("#!/bin/bash -e\nreboot", "#!/bin/bash -e\n@"),
        ] {
            let (becomes, told) = of(script);
            assert_eq!(becomes, expected.replace('@', ASKS), "{script}");
            assert!(told.len() == 1 && !told[0].starts_with('!'), "{script}: {told:?}");
        }
    }

    #[test]
    fn what_is_not_certain_is_told_and_left() {
        for (script, expected) in [
            ("a\nnohup sh -c \"sleep 5; reboot\" &", "!2: reboot"),
            ("shutdown -r +1", "!1: shutdown -r +1"),
            ("shutdown -r", "!1: shutdown -r"),
            ("shutdown -r 23:00 secret", "!1: shutdown -r 23:00"),
            ("echo \"reboot\" | at now + 1 minute", "!1: reboot"),
            ("trap reboot EXIT", "!1: reboot"),
            ("timeout 5 systemctl reboot", "!1: systemctl reboot"),
            ("(sleep 9; reboot) &", "!1: reboot"),
            ("{\n  sleep 9\n  reboot\n} &\na", "!3: reboot"),
            ("sleep 9 && reboot &", "!1: reboot"),
            ("cat > /x <<E\n#!/bin/sh\nreboot\nE\na", "!3: reboot"),
            ("sudo -g wheel reboot", "!1: reboot"),
            ("systemctl soft-reboot", "!1: systemctl soft-reboot"),
            ("a=$(b; reboot)", "!1: reboot"),
            ("echo \"$(shutdown -r now)\"", "!1: shutdown -r now"),
        ] {
            assert_eq!(of(script), (script.to_owned(), vec![expected.to_owned()]), "{script}");
        }
    }

    #[test]
    fn what_only_speaks_of_reboots_is_left() {
        for script in [
            "echo reboot; echo 'a; reboot'",
            "# reboot\nsystemctl disable reboot-notifier",
            "touch /run/reboot-required && [[ -e reboot ]]",
            "shutdown -h now; shutdown -c; reboot --help; systemctl status reboot.target",
            "a=(\n  reboot\n)\nb=(reboot)",
            "reboot() { echo no; }\nreboot",
            "function reboot { echo no; }\nreboot",
            "case $1 in\n  reboot |\n  restart) a ;;\n  *)\n    b ;;\nesac",
            "#!/usr/bin/python3\nreboot",
            "cat <<E\nreboot the machine\nE",
            "yum install -y reboot; init 3",
            "echo \"$(echo reboot)\" '$(reboot)'; a=$(which reboot)",
        ] {
            assert_eq!(of(script), (script.to_owned(), Vec::new()), "{script}");
        }
    }
}
