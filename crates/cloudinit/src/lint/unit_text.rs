//! The text of units and drop-ins.

use std::collections::BTreeSet;

use bringup_diag::{Finding, Findings, Place, Severity};

use super::shellwords::line_lints;
use crate::codes;

/// Units of others that are known to be oneshots.
const ONESHOTS: [&str; 5] = [
    "kops-configuration.service",
    "cloud-init.service",
    "cloud-config.service",
    "cloud-final.service",
    "k8s-node-bootstrap.service",
];

/// Looks through the lines of a unit, or of a drop-in to it.
pub(super) fn of(unit: &str, drop_in: bool, lines: &[(String, Place)], findings: &mut Findings) {
    let settings: Vec<(&str, &str, &Place)> = lines
        .iter()
        .filter_map(|(line, place)| {
            let line = line.trim();
            let (key, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';', '[']))?;
            Some((key.trim(), value.trim(), place))
        })
        .collect();
    let named = |wanted: &[&str]| -> BTreeSet<&str> {
        let values = settings.iter().filter(|(key, _, _)| wanted.contains(key));
        values.flat_map(|(_, value, _)| value.split_whitespace()).collect()
    };
    let ordered = named(&["After", "Before"]);
    let oneshot = named(&["Type"]).contains("oneshot") || (drop_in && ONESHOTS.contains(&unit));
    for (key, value, place) in &settings {
        let unordered = value.split_whitespace().filter(|name| !ordered.contains(name));
        let pulled = match *key {
            "Requires" | "Requisite" | "BindsTo" => unordered.collect::<Vec<_>>(),
            // To wait for the network is the one thing that people mean by wanting it.
            "Wants" => unordered.filter(|name| *name == "network-online.target").collect(),
            _ => Vec::new(),
        };
        for name in pulled {
            // The unit itself may say it where the drop-in does not.
            let severity = if drop_in { Severity::Note } else { Severity::Warning };
            findings.push(
                Finding::new(
                    severity,
                    codes::REQUIRES_WITHOUT_AFTER,
                    format!("`{key}={name}` without `After={name}`: the two start at the same time"),
                )
                .at((*place).clone())
                .hint(format!("add `After={name}`")),
            );
        }
        if oneshot && matches!(*key, "TimeoutSec" | "TimeoutStartSec") && *value == "infinity" {
            findings.push(
                Finding::note(
                    codes::TIMEOUT_MOOT,
                    format!("`{key}=infinity` is moot: a oneshot has no start timeout"),
                )
                .at((*place).clone())
                .hint("delete it"),
            );
        }
        if key.starts_with("Exec") && needs_shell(value) {
            findings.push(
                Finding::warning(codes::NO_SHELL, format!("systemd runs `{key}=` without a shell: redirections, pipes and `&&` are passed as words"))
                    .at((*place).clone())
                    .hint("write `/bin/sh -c '…'`, or put the lines into a script"),
            );
        }
    }
    for (line, place) in lines {
        line_lints(line, findings, |_, _| place.clone());
    }
}

fn needs_shell(value: &str) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    let operator = |word: &&str| {
        matches!(*word, ">" | ">>" | "<" | "|" | "||" | "&&" | "2>&1")
            || word.starts_with(">/")
            || word.starts_with(">>/")
    };
    let has_shell = words.windows(2).any(|pair| match pair {
        [shell, flag] => shell.ends_with("sh") && flag.starts_with('-') && flag.contains('c'),
        _ => false,
    });
    !has_shell && words.iter().any(operator)
}
