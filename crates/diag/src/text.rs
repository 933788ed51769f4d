//! Findings for people: the message, the source line with carets, the hint.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{Finding, Findings, Place, Severity, masked_line};

/// Whether to use colour. Meaning never depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escapes.
    Always,
}

/// The texts that findings point into, by the name that their places use.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that places use for it.
    pub fn add(&mut self, file: impl Into<String>, text: &str) {
        self.texts.insert(file.into(), text.lines().map(ToOwned::to_owned).collect());
    }

    fn line(&self, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.texts.get(file)?.get(index).map(String::as_str)
    }
}

/// All findings as text, a blank line after each.
pub fn to_text(findings: &Findings, sources: &Sources, colour: Colour) -> String {
    let mut text = String::new();
    for finding in findings {
        write_finding(&mut text, finding, sources, Paint(colour));
        text.push('\n');
    }
    text
}

fn write_finding(text: &mut String, finding: &Finding, sources: &Sources, paint: Paint) {
    let style = match finding.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;36",
    };
    let head = paint.with(style, &format!("{}[{}]", finding.severity.word(), finding.code.name));
    let message = paint.with("1", &format!(": {}", finding.message));
    let _ = writeln!(text, "{head}{message}");
    let widest = finding.place.iter().chain(finding.related.iter().map(|(place, _)| place));
    let gutter = widest.map(|place| place.span.start.line.to_string().len()).max().unwrap_or(1);
    if let Some(place) = &finding.place {
        write_place(text, place, "", style, gutter, sources, paint);
    }
    for (place, label) in &finding.related {
        write_place(text, place, label, "1;34", gutter, sources, paint);
    }
    if let Some(hint) = &finding.hint {
        let label = paint.with("1;32", "hint");
        let _ = writeln!(text, "{:gutter$} {} {label}: {hint}", "", paint.with("1;34", "="));
    }
}

fn write_place(
    text: &mut String,
    place: &Place,
    label: &str,
    style: &str,
    gutter: usize,
    sources: &Sources,
    paint: Paint,
) {
    let start = place.span.start;
    let arrow = paint.with("1;34", "-->");
    let _ = writeln!(text, "{:gutter$}{arrow} {}:{}:{}", "", place.file, start.line, start.column);
    let Some(line) = sources.line(&place.file, start.line) else { return };
    let bar = paint.with("1;34", "|");
    // A tab is shown as one column so that the carets stay under what they mean.
    let shown = masked_line(line).replace('\t', "→");
    let length = shown.chars().count();
    let from = usize::try_from(start.column).unwrap_or(1).saturating_sub(1).min(length);
    let until = if place.span.end.line == start.line {
        usize::try_from(place.span.end.column).unwrap_or(1).saturating_sub(1)
    } else {
        shown.trim_end().chars().count()
    };
    let window = Window::around(from, length);
    let carets = "^".repeat(until.min(window.until).saturating_sub(from).max(1));
    let number = paint.with("1;34", &format!("{:>gutter$}", start.line));
    let _ = writeln!(text, "{:gutter$} {bar}", "");
    let _ = writeln!(text, "{number} {bar} {}", window.cut(&shown));
    let pad = " ".repeat(from - window.from + window.lead());
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let _ = writeln!(text, "{:gutter$} {bar} {pad}{}", "", paint.with(style, &format!("{carets}{label}")));
}

/// The part of a long line that is worth showing.
struct Window {
    from: usize,
    until: usize,
    length: usize,
}

impl Window {
    const WIDTH: usize = 120;

    fn around(column: usize, length: usize) -> Self {
        if length <= Self::WIDTH {
            return Self { from: 0, until: length, length };
        }
        let from = column.saturating_sub(Self::WIDTH / 3).min(length - Self::WIDTH);
        Self { from, until: from + Self::WIDTH, length }
    }

    fn lead(&self) -> usize {
        usize::from(self.from > 0)
    }

    fn cut(&self, line: &str) -> String {
        let inner: String = line.chars().skip(self.from).take(self.until - self.from).collect();
        let before = if self.from > 0 { "…" } else { "" };
        let after = if self.until < self.length { "…" } else { "" };
        format!("{before}{inner}{after}")
    }
}

#[derive(Clone, Copy)]
struct Paint(Colour);

impl Paint {
    fn with(self, style: &str, text: &str) -> String {
        match self.0 {
            Colour::Never => text.to_owned(),
            Colour::Always => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Sources, to_text};
    use crate::{Code, Finding, Findings, Place, Position, Span};

    const TAB: Code = Code { name: "part/tab", about: "Tabs cannot indent YAML." };

    fn place(line: u32, from: u32, until: u32) -> Place {
        Place::new(
            "a.yaml",
            Span { start: Position { line, column: from }, end: Position { line, column: until } },
        )
    }

    #[test]
    fn a_finding_shows_its_line_with_carets_and_a_hint() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "spec:\n\tname: x\n");
        let finding = Finding::error(TAB, "a tab indents this line").at(place(2, 1, 2)).hint("use spaces");
        let text = to_text(&Findings::from_iter([finding]), &sources, Colour::Never);
        let expected = "error[part/tab]: a tab indents this line\n --> a.yaml:2:1\n  |\n2 | →name: x\n  | ^\n  = hint: use spaces\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_secret_on_the_quoted_line_is_not_shown() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "token: hunter2\n");
        let text = to_text(
            &Findings::from_iter([Finding::error(TAB, "no").at(place(1, 1, 6))]),
            &sources,
            Colour::Never,
        );
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("token: *******"), "{text}");
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "x\n");
        for (line, from, until) in [(0, 0, 0), (1, 90, 3), (7, 1, 2), (1, 2, 1)] {
            let findings = Findings::from_iter([Finding::error(TAB, "no").at(place(line, from, until))]);
            assert!(to_text(&findings, &sources, Colour::Always).contains("part/tab"));
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_carets() {
        let mut sources = Sources::new();
        sources.add("a.yaml", &format!("{}HERE{}", "x".repeat(500), "y".repeat(500)));
        let text = to_text(
            &Findings::from_iter([Finding::error(TAB, "no").at(place(1, 501, 505))]),
            &sources,
            Colour::Never,
        );
        let lines: Vec<&str> = text.lines().collect();
        let column = lines[3].chars().position(|letter| letter == 'H').unwrap();
        assert_eq!(lines[4].chars().position(|letter| letter == '^').unwrap(), column);
        assert!(lines[3].chars().count() < 140);
    }
}
