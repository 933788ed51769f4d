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
    let scalar = item.scalar().filter(|scalar| scalar.style == Style::Plain)?;
    let last = scalar.text.chars().next_back()?;
    comments.iter().find(|comment| {
        let on_its_line = comment.at.line == item.span.end.line && comment.at.column > item.span.end.column;
        // Behind a bracket or a comma it is a remark.
        on_its_line && comment.behind == Some(last)
    })
}

/// The word of a command's list that a comment cuts, and the comment. Most comments behind words are remarks: what is cut
/// shows by a quote that stays open, or by what a shell would have made of the rest.
pub(super) fn swallowed_word<'item, 'comment>(
    item: &'item Node,
    comments: &'comment [Comment],
) -> Option<(&'item Node, &'comment Comment)> {
    let words = item.items()?;
    let mut before = "";
    for word in words {
        let for_shell = before.starts_with('-') && before.ends_with('c');
        before = word.text().unwrap_or_default();
        if let Some(comment) = swallowed_by(word, comments)
            && (is_unbalanced(before) || for_shell && is_rest_of_command(comment))
        {
            return Some((word, comment));
        }
    }
    None
}

fn is_unbalanced(text: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| text.matches(*quote).count() % 2 == 1)
}

fn is_rest_of_command(comment: &Comment) -> bool {
    [">", "|", "&&", ";", "$("].iter().any(|operator| comment.text.contains(operator))
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
    // A file may well have a remark with an arrow in it; behind a command these are its rest.
    let shell = what == "command" && is_rest_of_command(comment);
    let message = format!("` #` starts a comment in YAML: the {what} is only `{kept}`");
    if is_unbalanced(&kept) || shell {
        Finding::error(codes::SWALLOWED, message).at(place).hint(format!("put the whole {what} in quotes"))
    } else {
        Finding::note(codes::SWALLOWED, message)
            .at(place)
            .hint(format!("put the whole {what} in quotes if the rest belongs to it"))
    }
}
