//! The text of a file by lines, to point at places inside of values.

use std::cell::OnceCell;

use bringup_diag::{Position, Span};

/// The text of a file by lines.
#[derive(Debug, Default)]
pub(crate) struct SourceText {
    text: String,
    /// The offset of each line's start; counted when it is first asked for.
    starts: OnceCell<Vec<usize>>,
}

impl SourceText {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.trim_start_matches('\u{feff}').to_owned(), starts: OnceCell::new() }
    }

    fn line(&self, number: u32) -> Option<&str> {
        let starts = self.starts.get_or_init(|| {
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect()
        });
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let start = *starts.get(index)?;
        let end = starts.get(index + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end)
    }

    /// Where `needle` stands within a span.
    pub(crate) fn occurrences(&self, span: Span, needle: &str) -> Vec<Position> {
        let mut found = Vec::new();
        for number in span.start.line..=span.end.line {
            let Some(line) = self.line(number) else { break };
            for (at, _) in line.match_indices(needle) {
                let before = line.get(..at).unwrap_or_default().chars().count();
                let column = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
                let position = Position { line: number, column };
                if span.start <= position && position < span.end {
                    found.push(position);
                }
            }
        }
        found
    }

    /// Just behind the next `letter` on the line of `start`.
    pub(crate) fn closing(&self, start: Position, letter: char) -> Option<Position> {
        let skip = usize::try_from(start.column).ok()?.checked_sub(1)?;
        let length = self.line(start.line)?.chars().skip(skip).position(|found| found == letter)?;
        let length = u32::try_from(length).ok()?.checked_add(1)?;
        Some(Position { column: start.column.checked_add(length)?, ..start })
    }
}
