//! The language of `Fn::Sub`.

use bringup_diag::Span;
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

/// The line that a piece of a scalar stands on: a block has a line of the file for each of its own.
pub(super) struct LineCount {
    span: Span,
    block: bool,
}

impl LineCount {
    pub(super) fn of(node: &Node) -> Self {
        let block = node.scalar().is_some_and(|scalar| scalar.style == Style::Block);
        // The span of a block begins with its text, on the line behind the `|`.
        Self { span: if block { Span::point(node.span.start.line, 1) } else { node.span }, block }
    }

    pub(super) fn pass(&mut self, literal: &str) {
        if self.block {
            let lines = u32::try_from(literal.matches('\n').count()).unwrap_or(u32::MAX);
            self.span = Span::point(self.span.start.line.saturating_add(lines), 1);
        }
    }

    pub(super) fn span(&self) -> Span {
        self.span
    }
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
