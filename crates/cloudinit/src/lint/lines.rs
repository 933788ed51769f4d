//! The lines of a scalar, and where each stands in the part.

use bringup_diag::{Place, Position, Span};
use bringup_yaml::{Content, Node, Style};

use super::span_in_line;
use crate::Origin;

/// A line of text.
pub(super) struct Line {
    pub text: String,
    anchor: Anchor,
}

enum Anchor {
    /// Its first letter stands here.
    Start(Position),
    /// Its letters do not stand as they are: all points to the whole value.
    Whole(Span),
}

impl Line {
    /// The place of a stretch of the line.
    pub(super) fn place(&self, origin: &Origin, column: u32, width: usize) -> Place {
        origin.place(match self.anchor {
            Anchor::Start(start) => {
                span_in_line(start.line, start.column.saturating_add(column).saturating_sub(1), width)
            }
            Anchor::Whole(span) => span,
        })
    }
}

/// The lines of a scalar; the words of a list as one line.
pub(super) fn lines_of(node: &Node) -> Vec<Line> {
    let whole = |text: String| vec![Line { text, anchor: Anchor::Whole(node.span) }];
    match &node.content {
        Content::Map(_) => Vec::new(),
        Content::List(words) => whole(words.iter().filter_map(Node::text).collect::<Vec<_>>().join(" ")),
        Content::Scalar(scalar) => {
            let start = node.span.start;
            let one_line = start.line == node.span.end.line;
            let width = usize::try_from(node.span.end.column.saturating_sub(start.column)).unwrap_or(0);
            let letters = scalar.text.chars().count();
            match scalar.style {
                Style::Plain if one_line => {
                    vec![Line { text: scalar.text.clone(), anchor: Anchor::Start(start) }]
                }
                Style::Quoted if one_line && width == letters.saturating_add(2) => {
                    let start = Position { column: start.column.saturating_add(1), ..start };
                    vec![Line { text: scalar.text.clone(), anchor: Anchor::Start(start) }]
                }
                Style::Block => scalar
                    .text
                    .lines()
                    .enumerate()
                    .map(|(index, line)| {
                        let line_number = start.line.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
                        let at = Position { line: line_number, column: start.column };
                        Line { text: line.to_owned(), anchor: Anchor::Start(at) }
                    })
                    .collect(),
                Style::Plain | Style::Quoted | Style::Folded => whole(scalar.text.clone()),
            }
        }
    }
}
