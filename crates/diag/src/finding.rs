//! What is wrong, where, and what to write instead.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::Code;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input cannot be used as it is.
    Error,
    /// It can be used, but probably does not do what its author thinks.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A point in a text: line and column count from one, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Line, from one.
    pub line: u32,
    /// Column in characters, from one.
    pub column: u32,
}

/// A stretch of a text; `end` is just after the last character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First character.
    pub start: Position,
    /// Just after the last character.
    pub end: Position,
}

impl Span {
    /// A span without width, for a point.
    pub fn point(line: u32, column: u32) -> Self {
        let position = Position { line, column };
        Self { start: position, end: position }
    }

    /// The same stretch, so many lines further down.
    #[must_use]
    pub fn lower_by(self, lines: u32) -> Self {
        let lower = |at: Position| Position { line: at.line.saturating_add(lines), ..at };
        Self { start: lower(self.start), end: lower(self.end) }
    }

    /// The span of a whole line.
    pub fn line(line: u32, text: &str) -> Self {
        let width = u32::try_from(text.chars().count()).unwrap_or(u32::MAX - 1);
        Self { start: Position { line, column: 1 }, end: Position { line, column: width.saturating_add(1) } }
    }
}

/// Where a finding is: a file as the person named it (inside a carrier, `INPUT#part`) and a span.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, or `INPUT#part`.
    pub file: String,
    /// The stretch of text meant.
    pub span: Span,
}

impl Place {
    /// A place in a file.
    pub fn new(file: impl Into<String>, span: Span) -> Self {
        Self { file: file.into(), span }
    }
}

/// One thing to tell about an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its stable name.
    pub code: Code,
    /// Its weight.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop, literals in backticks, never a secret.
    pub message: String,
    /// Where, unless it is about the input as a whole.
    pub place: Option<Place>,
    /// What to write instead.
    pub hint: Option<String>,
    /// Other places that matter, each with a word on why.
    pub related: Vec<(Place, String)>,
}

impl Finding {
    /// A finding of the given weight.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), place: None, hint: None, related: Vec::new() }
    }

    /// An error: the input cannot be used.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A note.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    /// The same finding, at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same finding, with what to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same finding, with one more place that matters.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    fn order(&self, other: &Self) -> Ordering {
        (&self.place, self.severity, self.code, &self.message).cmp(&(
            &other.place,
            other.severity,
            other.code,
            &other.message,
        ))
    }
}

/// All findings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.list.push(finding);
    }

    /// Adds all of another list.
    pub fn append(&mut self, other: Findings) {
        self.list.extend(other.list);
    }

    /// Keeps only the findings for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.list.retain(keep);
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// How many have this weight.
    pub fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|finding| finding.severity == severity).count()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// By place, then weight; equal ones once.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.list.sort_by(Finding::order);
        self.list.dedup();
        self
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.list.iter()
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        Self { list: findings.into_iter().collect() }
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.list.extend(findings);
    }
}
