//! What the words of a command mean, as far as reboots go.

use super::super::assignment;

/// Programs that run what stands among their words.
const RUNNERS: [&str; 17] = [
    "sh",
    "bash",
    "dash",
    "eval",
    "trap",
    "at",
    "batch",
    "systemd-run",
    "timeout",
    "nohup",
    "setsid",
    "env",
    "nice",
    "su",
    "sudo",
    "xargs",
    "screen",
];

pub(super) fn runs_others(words: &[&str]) -> bool {
    words.first().is_some_and(|word| RUNNERS.contains(&base(word)))
}

pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// The program of a command.
pub(super) fn head(text: &str) -> Option<&str> {
    text.split_whitespace().find(|word| assignment(word).is_none()).map(base)
}

/// No more of a command than its kind: what else stands there may be secret.
pub(super) fn shown(words: &[&str]) -> String {
    let kind = words.iter().take(3).copied();
    kind.collect::<Vec<_>>().join(" ")
}

/// The words behind variables that are set for a command, and behind what only runs it.
pub(super) fn behind_prefixes<'w, 't>(mut words: &'w [&'t str]) -> &'w [&'t str] {
    while let [first, rest @ ..] = words {
        words = match base(first) {
            "exec" | "command" | "nohup" => rest,
            "sudo" => {
                let mut rest = rest;
                loop {
                    rest = match rest {
                        ["-n" | "-E" | "-H" | "-S" | "--", more @ ..] | ["-u", "root", more @ ..] => more,
                        _ => break rest,
                    };
                }
            }
            _ if assignment(first).is_some() => rest,
            _ => return words,
        };
    }
    words
}

/// Whether a command reboots the machine, and whether it does so at once and by itself.
pub(super) fn meaning(words: &[&str]) -> Option<bool> {
    let (first, rest) = words.split_first()?;
    let flags = || rest.iter().copied().filter(|word| word.starts_with('-'));
    let mut others = rest.iter().copied().filter(|word| !word.starts_with('-'));
    match base(first) {
        "reboot" => {
            let known = [
                "-f",
                "-ff",
                "--force",
                "-n",
                "-d",
                "--no-wall",
                "--no-wtmp",
                "--no-sync",
                "--reboot",
                "now",
            ];
            rest.iter().all(|word| known.contains(word)).then_some(true)
        }
        "shutdown" => {
            let short = |letter: char| flags().any(|flag| !flag.starts_with("--") && flag.contains(letter));
            let reboots = short('r') || flags().any(|flag| flag == "--reboot");
            (reboots && !short('k') && !short('c')).then(|| matches!(others.next(), Some("now" | "+0")))
        }
        "systemctl" => {
            let verb = others.next()?;
            let target = matches!(verb, "start" | "isolate") && others.next() == Some("reboot.target");
            if !(target || matches!(verb, "reboot" | "kexec" | "soft-reboot")) {
                return None;
            }
            let known = [
                "-f",
                "-ff",
                "-i",
                "-q",
                "--force",
                "--no-block",
                "--no-wall",
                "--ignore-inhibitors",
                "--quiet",
            ];
            let plain = flags().all(|flag| known.contains(&flag) || flag.starts_with("--message="));
            Some(plain && !matches!(verb, "kexec" | "soft-reboot"))
        }
        "init" | "telinit" => (rest == ["6"]).then_some(true),
        _ => None,
    }
}

/// A command that reboots among the words of another.
pub(super) fn mentioned(text: &str) -> Option<String> {
    let apart = |letter: char| letter.is_whitespace() || "'\"`;&|(){}".contains(letter);
    let words: Vec<&str> = text.split(apart).filter(|word| !word.is_empty()).skip(1).collect();
    (0..words.len()).find_map(|start| {
        let [first, rest @ ..] = words.get(start..).unwrap_or_default() else { return None };
        let reboots = match (base(first), rest) {
            ("reboot", _) | ("init" | "telinit", ["6", ..]) => return Some((*first).to_owned()),
            ("shutdown", [flag, ..]) => flag.starts_with('-') && flag.contains('r'),
            ("systemctl", [verb, ..]) => *verb == "reboot",
            _ => false,
        };
        reboots.then(|| format!("{first} {}", rest.first().copied().unwrap_or_default()))
    })
}
