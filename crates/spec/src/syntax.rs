//! Why a text is no YAML, in words that help.

use bringup_diag::{Finding, Place, Position, Span};
use bringup_yaml::SyntaxFault;

use crate::codes;

/// The finding for a text that could not be parsed.
pub(crate) fn finding(file: &str, text: &str, fault: &SyntaxFault) -> Finding {
    let span = within(text, fault.span);
    let line = line_of(text, span.start.line);
    let (message, hint) = match &fault.hint {
        Some(hint) => (fault.message.clone(), Some(hint.clone())),
        None => explained(&fault.message, line, span.start),
    };
    let mut finding = Finding::error(codes::SYNTAX, message).at(Place::new(file, span));
    finding.hint = hint;
    finding
}

fn explained(message: &str, line: &str, at: Position) -> (String, Option<String>) {
    let told = |message: &str, hint: &str| (message.to_owned(), Some(hint.to_owned()));
    let column = usize::try_from(at.column).unwrap_or(1).saturating_sub(1);
    let rest: String = line.chars().skip(column).collect();
    if let Some(letter) = rest.chars().next().filter(|_| message.starts_with("unexpected character")) {
        let value = rest.trim_end();
        let hint = if value.contains(['"', '\\']) || value.len() > 60 {
            "write the value in quotes".to_owned()
        } else {
            format!("write \"{value}\"")
        };
        let letter = if letter == '`' { "a backtick".to_owned() } else { format!("`{letter}`") };
        return (format!("a value cannot begin with {letter} unless it is in quotes"), Some(hint));
    }
    if message.contains("mapping values are not allowed") || message.contains("illegal placement of ':'") {
        return told(
            "a `: ` stands where no key can be",
            "write the value in quotes if the `: ` belongs to it; else look at the indentation, and for a missing \
             space after the `:` on the line before",
        );
    }
    if message.contains("unknown anchor") {
        return told(
            "this alias names no anchor",
            "write the value in quotes if it begins with `*`; else define the anchor with `&` before it",
        );
    }
    if message.contains("trailing content") {
        return told(
            "text follows the closing quote",
            "put all of the value in quotes; inside single quotes write `''` for `'`, inside double quotes `\\\"` for `\"`",
        );
    }
    if message.contains("quoted scalar") && message.contains("escape") {
        return told(
            "an escape in this string is not known",
            "write `\\\\` for a backslash, or use single quotes",
        );
    }
    if message.contains("quoted scalar") {
        return told("this quote is never closed", "close it before the end of the line");
    }
    if message.contains("block sequence entries are not allowed") {
        return told("a list cannot begin here", "start the first `- ` on a line of its own, indented");
    }
    if message.contains("flow mapping") || message.contains("flow sequence") {
        return told("this `{` or `[` is never closed", "close it, and look for a missing comma");
    }
    if message.contains("document start") && rest.starts_with('{') {
        return told("a second document begins here without a line between", "write `---` between them");
    }
    if message.contains("block collection")
        || message.contains("block mapping")
        || message.contains("document start")
    {
        return told("this line does not fit the indentation around it", "indent it as deep as its siblings");
    }
    if message.contains("simple key expect") {
        return told("a key without a value", "write `key: value`, with a colon and a space");
    }
    if message.contains("unprintable") {
        return told(
            "a character that YAML does not allow",
            "remove it; files in UTF-16 must be converted to UTF-8",
        );
    }
    let hint =
        "look at this line and the one before: a bracket, a quote or a colon may be missing or too many";
    (format!("this is no YAML: {message}"), Some(hint.to_owned()))
}

/// The span, moved back into the text where the parser noticed the fault only at its end.
fn within(text: &str, span: Span) -> Span {
    if !line_of(text, span.start.line).is_empty() {
        return span;
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let behind = usize::try_from(span.start.line).unwrap_or(usize::MAX);
    match text.lines().enumerate().take(behind).filter(|(_, line)| !line.trim().is_empty()).last() {
        Some((index, line)) => {
            let indent = line.chars().take_while(|letter| letter.is_whitespace()).count();
            let start = Position { line: number(index + 1), column: number(indent + 1) };
            Span { start, end: Position { column: number(line.trim_end().chars().count() + 1), ..start } }
        }
        None => span,
    }
}

fn line_of(text: &str, number: u32) -> &str {
    let index = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    text.lines().nth(index).unwrap_or_default()
}
