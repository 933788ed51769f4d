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

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// The word of a command's list that a comment cuts, and the comment. Most comments behind words are remarks: what is cut
/// of a text for a shell shows by a quote that stays open, or by what the shell would have made of the rest.
pub(super) fn swallowed_word<'item, 'comment>(
    item: &'item Node,
    comments: &'comment [Comment],
) -> Option<(&'item Node, &'comment Comment)> {
    let words = item.items()?;
    let is_shell = |word: &Node| {
        let name = word.text().and_then(|text| text.rsplit('/').next());
        name.is_some_and(|name| SHELLS.contains(&name))
    };
    let shell = words.iter().position(is_shell)?;
    let is_option = |word: &&Node| word.text().is_some_and(|text| text.starts_with('-'));
    let given = words.iter().skip(shell.saturating_add(1)).find(|word| !is_option(word))?;
    let comment = swallowed_by(given, comments)?;
    let cut = is_unbalanced(given.text().unwrap_or_default()) || is_rest_of_command(comment);
    cut.then_some((given, comment))
}

fn is_unbalanced(text: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| text.matches(*quote).count() % 2 == 1)
}

/// Whether a comment reads like the rest of a command: it sends something to a file or to another program. Arrows, a `;` and
/// a `&&` stand in remarks as well.
fn is_rest_of_command(comment: &Comment) -> bool {
    let text = &comment.text;
    text.contains(">>")
        || text.contains("$(")
        || text.match_indices(['>', '|']).any(|(at, operator)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at.saturating_add(1)..).and_then(|rest| rest.trim_start().chars().next());
            let to_file = |letter: char| matches!(letter, '/' | '~' | '$' | '.' | '&');
            let starts = |letter: char| {
                to_file(letter) || operator == "|" && letter.is_ascii_lowercase() && before == Some(' ')
            };
            !matches!(before, Some('-' | '=' | '|')) && behind.is_some_and(starts)
        })
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
