//! Where a part was written, so that a finding in the part points to the line that a person can change.

use std::collections::BTreeMap;

use bringup_diag::{Place, Position, Span};

/// The place of a part's text in what a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    file: String,
    lines: u32,
    columns: u32,
    fixed: Option<Span>,
    /// By how many columns lines are wider in what is parsed than in what was written.
    widened: BTreeMap<u32, i64>,
}

impl Origin {
    /// The part is a file of its own, or is named `INPUT#part`: its lines are the lines.
    pub fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), lines: 0, columns: 0, fixed: None, widened: BTreeMap::new() }
    }

    /// The part is a block scalar of a document; `start` is where its first line of text stands.
    pub fn block(file: impl Into<String>, start: Position) -> Self {
        Self {
            file: file.into(),
            lines: start.line.saturating_sub(1),
            columns: start.column.saturating_sub(1),
            fixed: None,
            widened: BTreeMap::new(),
        }
    }

    /// The part stands in a document in a way that loses its lines, such as a quoted scalar: all points there.
    pub fn fixed(file: impl Into<String>, span: Span) -> Self {
        Self { file: file.into(), lines: 0, columns: 0, fixed: Some(span), widened: BTreeMap::new() }
    }

    /// The same, with text that stands `lines` further down.
    #[must_use]
    pub fn below(&self, lines: u32) -> Self {
        Self { lines: self.lines.saturating_add(lines), ..self.clone() }
    }

    /// The same for a text of which some lines were widened before it was parsed.
    #[must_use]
    pub(crate) fn widened(&self, widened: BTreeMap<u32, i64>) -> Self {
        Self { widened, ..self.clone() }
    }

    /// The file that findings name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The place of a stretch of the part.
    pub fn place(&self, span: Span) -> Place {
        let moved = |position: Position| {
            let widened = self.widened.get(&position.line).copied().unwrap_or_default();
            let column = i64::from(position.column).saturating_sub(widened).max(1);
            Position {
                line: position.line.saturating_add(self.lines),
                column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(self.columns),
            }
        };
        let span = self.fixed.unwrap_or(Span { start: moved(span.start), end: moved(span.end) });
        Place::new(&self.file, span)
    }
}

#[cfg(test)]
mod tests {
    use bringup_diag::{Position, Span};

    use super::Origin;

    #[test]
    fn a_line_of_a_block_is_a_line_of_the_document() {
        let origin = Origin::block("cluster.yaml", Position { line: 12, column: 9 });
        assert_eq!(origin.place(Span::point(1, 1)).span, Span::point(12, 9));
        assert_eq!(origin.place(Span::point(3, 4)).span, Span::point(14, 12));
        assert_eq!(origin.below(2).place(Span::point(1, 1)).span, Span::point(14, 9));
        let fixed = Origin::fixed("cluster.yaml", Span::point(7, 3));
        assert_eq!(fixed.place(Span::point(30, 1)).span, Span::point(7, 3));
    }
}
