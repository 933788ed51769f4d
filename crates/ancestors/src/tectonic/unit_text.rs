//! The text of a systemd unit, setting by setting, each with its place.

use bringup_diag::{Position, Span};
use bringup_yaml::{Node, Style};

/// A setting of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The section, without brackets.
    pub(super) section: String,
    /// The name.
    pub(super) key: String,
    /// The value, lines that go on joined.
    pub(super) value: String,
    /// Where it stands.
    pub(super) span: Span,
}

/// How the lines of a text lie in the file that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// The text is the file.
    OfFile,
    /// The text is a value of a document.
    OfValue,
}

/// The settings of a unit's text, in their order. An empty value is kept: it resets what stands before it.
pub(super) fn settings(contents: &Node, lines: Lines) -> Vec<Setting> {
    let text = contents.text().unwrap_or_default();
    let first = match (lines, contents.scalar().map(|scalar| scalar.style)) {
        (Lines::OfFile, _) | (Lines::OfValue, Some(Style::Block)) => Some(contents.span.start.line),
        (Lines::OfValue, _) => None,
    };
    let place = |index: u32, line: &str| match first {
        None => contents.span,
        Some(first) => {
            let at = |column: usize| Position {
                line: first.saturating_add(index),
                column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
            };
            Span { start: at(0), end: at(line.chars().count()) }
        }
    };
    let mut found: Vec<Setting> = Vec::new();
    let mut section = String::new();
    let mut goes_on = false;
    for (line, index) in text.lines().zip(0_u32..) {
        let bare = line.trim();
        // A comment between lines that go on is passed over.
        if bare.starts_with(['#', ';']) {
            continue;
        }
        // A backslash that is itself escaped ends the line.
        let slashes = bare.len().saturating_sub(bare.trim_end_matches('\\').len());
        let (body, more) = match bare.strip_suffix('\\') {
            Some(body) if slashes % 2 == 1 => (body.trim_end(), true),
            _ => (bare, false),
        };
        if goes_on {
            if let Some(last) = found.last_mut() {
                last.value.push(' ');
                last.value.push_str(body);
            }
        } else if let Some(name) = body.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if let Some((key, value)) = body.split_once('=') {
            found.push(Setting {
                section: section.clone(),
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
                span: place(index, line),
            });
        }
        goes_on = more;
    }
    for setting in &mut found {
        setting.value = setting.value.trim().to_owned();
    }
    found
}

/// A length of time of systemd's in seconds; none if it has no end, or is none.
pub(super) fn seconds(value: &str) -> Option<u64> {
    let mut total = 0_u64;
    let mut rest = value.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.len().saturating_sub(rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let (number, tail) = rest.split_at_checked(digits)?;
        let tail = tail.trim_start();
        let letters =
            tail.len().saturating_sub(tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        let number: u64 = number.parse().ok()?;
        let factor = match unit {
            "" | "s" | "sec" | "second" | "seconds" => 1,
            "m" | "min" | "minute" | "minutes" => 60,
            "h" | "hr" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 86_400,
            _ => return None,
        };
        total = total.saturating_add(number.saturating_mul(factor));
        rest = tail.trim_start();
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::text;

    #[test]
    fn settings_have_their_lines_and_go_on_over_several() {
        let unit = "[Unit]\n# said\nAfter=a.service\n[Service]\nExecStart=/bin/a \\\n  --b \\\n# not this\n  --c=d\nRestart=always\n";
        let at = Span { start: Position { line: 11, column: 1 }, end: Position { line: 11, column: 1 } };
        let found = settings(&text(at, unit), Lines::OfFile);
        let shown: Vec<String> = found
            .iter()
            .map(|one| format!("{} {} {}={}", one.span.start.line, one.section, one.key, one.value))
            .collect();
        assert_eq!(
            shown,
            ["13 Unit After=a.service", "15 Service ExecStart=/bin/a --b --c=d", "19 Service Restart=always"]
        );
    }

    #[test]
    fn times_are_systemds() {
        assert_eq!(
            ["1h", "90", "5min 20s", "infinity", "0"].map(seconds),
            [Some(3600), Some(90), Some(320), None, None]
        );
    }
}
