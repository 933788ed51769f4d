//! ` #`, which ends a plain scalar: what follows it is a comment, whatever its author meant.

use bringup_diag::{Finding, Position, Span, masked_line};
use bringup_yaml::{Node, Style};

use super::config::Config;
use crate::codes;
use crate::scan::Comment;

/// The comment that ends a plain scalar.
pub(super) fn swallowed_by<'comment>(
    item: &Node,
    comments: &'comment [Comment],
) -> Option<&'comment Comment> {
    item.scalar().filter(|scalar| scalar.style == Style::Plain && !scalar.text.is_empty())?;
    comments
        .iter()
        .find(|comment| comment.at.line == item.span.end.line && comment.at.column > item.span.end.column)
}

/// The first line of a script in the place of a value, which is nothing then.
pub(super) fn swallowed_whole<'comment>(
    key: Span,
    value: &Node,
    comments: &'comment [Comment],
) -> Option<&'comment Comment> {
    value.scalar().filter(|scalar| scalar.style == Style::Plain && scalar.text.is_empty())?;
    comments.iter().find(|comment| {
        comment.at.line == key.end.line
            && comment.at.column > key.end.column
            && comment.text.starts_with("#!")
    })
}

/// What there is to tell of it; `what` is what the scalar is.
pub(super) fn swallowed(config: &Config, what: &str, item: &Node, comment: &Comment) -> Finding {
    let mut span = Span { start: comment.at, end: comment.at };
    let width = u32::try_from(comment.text.chars().count()).unwrap_or(0);
    span.end = Position { column: comment.at.column.saturating_add(width), ..comment.at };
    let place = config.origin.place(span);
    let kept = masked_line(item.text().unwrap_or_default());
    if kept.is_empty() {
        return Finding::error(
            codes::SWALLOWED,
            format!("` #` starts a comment in YAML: the {what} is nothing"),
        )
        .at(place)
        .hint("write `|` and the lines of the file below it");
    }
    let unbalanced = ['"', '\'', '`'].iter().any(|quote| kept.matches(*quote).count() % 2 == 1);
    // A file may well have a remark with an arrow in it; behind a command these are its rest.
    let shell = what == "command"
        && [">", "|", "&&", ";", "$("].iter().any(|operator| comment.text.contains(operator));
    let message = format!("` #` starts a comment in YAML: the {what} is only `{kept}`");
    if unbalanced || shell {
        Finding::error(codes::SWALLOWED, message).at(place).hint(format!("put the whole {what} in quotes"))
    } else {
        Finding::note(codes::SWALLOWED, message)
            .at(place)
            .hint(format!("put the whole {what} in quotes if the rest belongs to it"))
    }
}
