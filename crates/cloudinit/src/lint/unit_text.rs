//! The text of units and drop-ins.

use std::collections::BTreeSet;

use bringup_diag::{Finding, Findings, Place, Severity, closest};

use super::shellwords::{line_lints, systemd_lints};
use super::unit_settings::{SETTINGS, settings_of};
use crate::codes;
use crate::unit_syntax::{UnitFault, unit_faults};

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
    let joined = joined(lines);
    let settings: Vec<(&str, &str, &Place)> = joined
        .iter()
        .filter_map(|(line, place)| {
            let (key, value) = line.split_once('=').filter(|_| !line.starts_with('['))?;
            Some((key.trim(), value.trim(), *place))
        })
        .collect();
    unknown_settings(&joined, findings);
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
        if key.starts_with("Exec") {
            let command = value.trim_start_matches(['@', '-', ':', '+', '!']);
            systemd_lints(command, findings, |_, _, _| Some((*place).clone()));
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

/// Says where the text is no unit file; for texts that are known whole.
pub(super) fn syntax(lines: &[(String, Place)], findings: &mut Findings) {
    let lines_of_text: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
    let text = lines_of_text.join("\n");
    for (number, fault) in unit_faults(&text) {
        let index = usize::try_from(number).unwrap_or(1).saturating_sub(1);
        let Some((_, place)) = lines.get(index).or_else(|| lines.last()) else { continue };
        let severity = match fault {
            UnitFault::UnclosedSection | UnitFault::AfterSection | UnitFault::NoAssignment => Severity::Error,
            UnitFault::RemarkInside | UnitFault::LineTooLong | UnitFault::OutsideSection => Severity::Warning,
        };
        let (message, hint) = fault.told();
        findings.push(Finding::new(severity, codes::UNIT_SYNTAX, message).at(place.clone()).hint(hint));
    }
}

/// The lines as systemd takes them: a backslash at the end joins a line to the next, with remarks between them left out.
fn joined(lines: &[(String, Place)]) -> Vec<(String, &Place)> {
    let mut joined: Vec<(String, &Place)> = Vec::new();
    let mut open = false;
    for (line, place) in lines {
        let line = line.trim();
        if line.starts_with(['#', ';']) {
            continue;
        }
        let (text, continued) = match line.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (line, false),
        };
        match joined.last_mut().filter(|_| open) {
            Some((before, _)) => {
                before.push(' ');
                before.push_str(text);
            }
            None => joined.push((text.to_owned(), place)),
        }
        open = continued;
    }
    joined
}

/// Settings that systemd does not know in their section. Sections of others, such as `[X-Own]`, are their business.
fn unknown_settings(lines: &[(String, &Place)], findings: &mut Findings) {
    let mut section = "";
    for (line, place) in lines {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let Some((key, _)) = line.split_once('=') else { continue };
        let key = key.trim();
        let Some(mut known) = settings_of(section).filter(|_| !key.starts_with("X-")) else { continue };
        if known.any(|name| name == key) {
            continue;
        }
        let elsewhere = SETTINGS
            .iter()
            .find(|(name, _)| settings_of(name).is_some_and(|mut known| known.any(|name| name == key)));
        let near = settings_of(section).and_then(|known| closest(key, known));
        let (severity, hint) = match (elsewhere, near) {
            (Some((section, _)), _) => (Severity::Warning, format!("it belongs into `[{section}]`")),
            (None, Some(near)) => (Severity::Warning, format!("did you mean `{near}`?")),
            // It may be newer than what we know.
            (None, None) => {
                (Severity::Note, "look at systemd.unit(5) and the pages that it names".to_owned())
            }
        };
        let message = format!("systemd knows no `{key}` in `[{section}]`, and ignores it");
        let finding = Finding::new(severity, codes::UNKNOWN_SETTING, message);
        findings.push(finding.at((*place).clone()).hint(hint));
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
