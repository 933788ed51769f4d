//! Findings for people: the message, the source line with carets, the hint.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::mask::{Exposure, Exposures};
use crate::snippet::{Snippet, printable};
use crate::{Finding, Findings, Place, Severity, masked_message};

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
    texts: BTreeMap<String, String>,
}

impl Sources {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that places use for it.
    pub fn add(&mut self, file: impl Into<String>, text: &str) {
        self.texts.insert(file.into(), text.to_owned());
    }
}

/// The texts that findings point into, each gone through as far as the last line that was asked for: most runs quote few
/// lines or none.
struct Quoted<'a> {
    sources: &'a Sources,
    texts: BTreeMap<&'a str, (Exposures<'a>, Vec<Exposure<'a>>)>,
}

impl Quoted<'_> {
    /// A line, fit for print.
    fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let wanted = usize::try_from(line).ok()?.checked_sub(1)?;
        let (file, text) = self.sources.texts.get_key_value(file)?;
        let (rest, seen) = self.texts.entry(file).or_insert_with(|| (Exposures::of(text), Vec::new()));
        seen.extend(rest.take(wanted.saturating_add(1).saturating_sub(seen.len())));
        seen.get(wanted).map(|exposed| exposed.masked())
    }
}

/// All findings as text, a blank line after each.
pub fn to_text(findings: &Findings, sources: &Sources, colour: Colour) -> String {
    let mut text = String::new();
    let mut quoted = Quoted { sources, texts: BTreeMap::new() };
    for finding in findings {
        write_finding(&mut text, finding, &mut quoted, Paint(colour));
        text.push('\n');
    }
    text
}

fn write_finding(text: &mut String, finding: &Finding, quoted: &mut Quoted<'_>, paint: Paint) {
    let style = match finding.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;36",
    };
    let head = paint.with(style, &format!("{}[{}]", finding.severity.word(), finding.code.name));
    let message = paint.with("1", &format!(": {}", printable(&masked_message(&finding.message))));
    let _ = writeln!(text, "{head}{message}");
    let widest = finding.place.iter().chain(finding.related.iter().map(|(place, _)| place));
    let gutter = widest.map(|place| place.span.start.line.to_string().len()).max().unwrap_or(1);
    if let Some(place) = &finding.place {
        write_place(text, place, "", style, gutter, quoted, paint);
    }
    for (place, label) in &finding.related {
        write_place(text, place, label, "1;34", gutter, quoted, paint);
    }
    if let Some(hint) = &finding.hint {
        let label = paint.with("1;32", "hint");
        let hint = printable(&masked_message(hint));
        let _ = writeln!(text, "{:gutter$} {} {label}: {hint}", "", paint.with("1;34", "="));
    }
}

fn write_place(
    text: &mut String,
    place: &Place,
    label: &str,
    style: &str,
    gutter: usize,
    quoted: &mut Quoted<'_>,
    paint: Paint,
) {
    let (start, end) = (place.span.start, place.span.end);
    let arrow = paint.with("1;34", "-->");
    let file = printable(&place.file);
    let _ = writeln!(text, "{:gutter$}{arrow} {file}:{}:{}", "", start.line, start.column);
    let Some(line) = quoted.line(&place.file, start.line) else { return };
    let bar = paint.with("1;34", "|");
    let index = |column: u32| usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
    let several = end.line > start.line && !(end.line == start.line + 1 && end.column <= 1);
    let until = if end.line == start.line { index(end.column) } else { line.trim_end().chars().count() };
    let snippet = Snippet::new(&line, index(start.column), until);
    let number = paint.with("1;34", &format!("{:>gutter$}", start.line));
    let _ = writeln!(text, "{:gutter$} {bar}", "");
    let _ = writeln!(text, "{number} {bar} {}", snippet.line);
    let mut carets = "^".repeat(snippet.carets);
    if several {
        let last = if end.column <= 1 { end.line - 1 } else { end.line };
        let _ = write!(carets, " to line {last}");
    }
    if !label.is_empty() {
        let _ = write!(carets, " {}", printable(&masked_message(label)));
    }
    let pad = " ".repeat(snippet.pad);
    let _ = writeln!(text, "{:gutter$} {bar} {pad}{}", "", paint.with(style, &carets));
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

    #[test]
    fn wide_letters_take_two_columns() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "日本: é x\n");
        // Columns count characters: `x` is the seventh.
        let finding = Finding::error(TAB, "no").at(place(1, 7, 8));
        let text = to_text(&Findings::from_iter([finding]), &sources, Colour::Never);
        // On a terminal, it stands after 2 + 2 + 1 + 1 + 1 + 1 columns.
        assert_eq!(text.lines().nth(4), Some("  |         ^"));
    }

    #[test]
    fn a_stretch_of_several_lines_says_where_it_ends() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "a: [1,\n  2,\n  3]\nb: |\n  x\n");
        let span = |from: (u32, u32), until: (u32, u32)| Span {
            start: Position { line: from.0, column: from.1 },
            end: Position { line: until.0, column: until.1 },
        };
        let carets = |span: Span| {
            let finding = Finding::error(TAB, "no").at(Place::new("a.yaml", span));
            let text = to_text(&Findings::from_iter([finding]), &sources, Colour::Never);
            text.lines().nth(4).unwrap_or_default().to_owned()
        };
        assert_eq!(carets(span((1, 4), (3, 5))), "  |    ^^^ to line 3");
        // A block scalar ends at the start of the line behind it, which is not its own.
        assert_eq!(carets(span((5, 3), (6, 1))), "  |   ^");
    }

    #[test]
    fn nothing_that_a_terminal_would_act_on_is_printed() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "a: \u{1b}[2Jx\u{202e}y\n");
        let finding = Finding::error(TAB, "`\u{1b}[2J` is no name").at(place(1, 9, 10)).hint("\u{7}");
        let text = to_text(&Findings::from_iter([finding]), &sources, Colour::Never);
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
        assert!(text.contains("`\\u{1b}[2J` is no name"), "{text}");
        assert!(text.contains("1 | a: \u{fffd}[2Jx\u{fffd}y"), "{text}");
    }

    #[test]
    fn colour_adds_only_escapes() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "name: x\n");
        let finding =
            Finding::warning(TAB, "no").at(place(1, 7, 8)).related(place(1, 1, 5), "here").hint("yes");
        let findings = Findings::from_iter([finding]);
        let coloured = to_text(&findings, &sources, Colour::Always);
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain.push_str(rest);
        assert_eq!(plain, to_text(&findings, &sources, Colour::Never));
        assert!(coloured.contains("\u{1b}[1;33mwarning[part/tab]\u{1b}[0m"));
    }

    #[test]
    fn a_line_of_a_secret_is_masked_in_whatever_order_lines_are_quoted() {
        let mut sources = Sources::new();
        sources.add("a.yaml", "password: |\n  hunter2\nother: x\n");
        let at = |line| Finding::error(TAB, "a fault").at(place(line, 1, 3));
        let text = to_text(&[at(3), at(2)].into_iter().collect(), &sources, Colour::Never);
        assert!(text.contains("3 | other: x\n") && text.contains("2 |   *******\n"), "{text}");
    }
}
