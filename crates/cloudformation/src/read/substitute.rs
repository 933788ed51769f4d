//! The language of `Fn::Sub`.

use bringup_diag::{Position, Span};
use bringup_yaml::{Node, Style};

/// A piece of text for `Fn::Sub`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// As it is.
    Literal(&'a str),
    /// `${!…}`: the text between the braces stays, with the braces.
    Escaped(&'a str),
    /// `${NAME}`.
    Name(&'a str),
    /// `${…}` whose inside is no name: CloudFormation refuses the template.
    Refused(&'a str),
}

/// The pieces of a text.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once("${") {
        let Some((inside, tail)) = behind.split_once('}') else { break };
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        pieces.push(match inside.strip_prefix('!') {
            Some(escaped) => Piece::Escaped(escaped),
            None if is_name(inside) => Piece::Name(inside),
            None => Piece::Refused(inside),
        });
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    pieces
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':'))
        // `${NAME:-default}` and `${NAME:1:2}` are the shell's; only AWS' own names have colons, in pairs.
        && (!text.contains(':') || text.starts_with("AWS::"))
}

/// Where a piece of a scalar stands in the file.
///
/// A block has a line of the file for each of its own, and text on one line has its letters side by side. Where that does
/// not hold (escapes, several lines in quotes), all of the scalar is the place.
pub(super) struct Cursor {
    whole: Span,
    at: Option<Position>,
    indent: u32,
    lines_only: bool,
}

impl Cursor {
    pub(super) fn of(node: &Node) -> Self {
        let (start, end) = (node.span.start, node.span.end);
        let at = node.scalar().and_then(|scalar| {
            // A tag and its space stand before the text.
            let tag = node.tag.as_ref().map_or(0, |tag| number(tag.chars().count()).saturating_add(1));
            let quotes = u32::from(scalar.style == Style::Quoted);
            let letters = number(scalar.text.chars().count());
            if scalar.style == Style::Block {
                // The span begins with the text, on the line behind the `|`, or else with the tag before it.
                let below = u32::from(node.tag.is_some());
                return Some(Position { line: start.line.saturating_add(below), ..start });
            }
            let width = tag.saturating_add(letters).saturating_add(2 * quotes);
            let side_by_side = start.line == end.line && start.column.saturating_add(width) == end.column;
            side_by_side.then(|| Position { column: start.column.saturating_add(tag + quotes), ..start })
        });
        // Behind a tag nothing tells how far a block is indented: its lines are known, their columns are not.
        let is_block = node.scalar().is_some_and(|scalar| scalar.style == Style::Block);
        Self { whole: node.span, at, indent: start.column, lines_only: is_block && node.tag.is_some() }
    }

    /// Passes over what is written, and gives its place.
    pub(super) fn pass(&mut self, written: &str) -> Span {
        let Some(start) = self.at else { return self.whole };
        let lines = number(written.matches('\n').count());
        let last = written.rsplit('\n').next().unwrap_or_default();
        let from = if lines == 0 { start.column } else { self.indent };
        let line = start.line.saturating_add(lines);
        let end = Position { line, column: from.saturating_add(number(last.chars().count())) };
        self.at = Some(end);
        if self.lines_only { Span::point(start.line, 1) } else { Span { start, end } }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    #[test]
    fn names_escapes_and_the_shells_own_are_told_apart() {
        let found = pieces("a${B}${!C}${AWS::Region}${D.Arn}${E:-x}${E:x}$F${");
        let expected = [
            Piece::Literal("a"),
            Piece::Name("B"),
            Piece::Escaped("C"),
            Piece::Name("AWS::Region"),
            Piece::Name("D.Arn"),
            Piece::Refused("E:-x"),
            Piece::Refused("E:x"),
            Piece::Literal("$F${"),
        ];
        assert_eq!(found, expected);
    }
}
