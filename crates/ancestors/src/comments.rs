//! JSON with comments, which people write and no reader takes.

use bringup_diag::{Finding, Place, Position, Span};
use bringup_spec::codes::SYNTAX;

/// What begins texts of some editors, and is no letter of JSON.
const MARK: char = '\u{feff}';

/// What there is to tell of a JSON text with a comment that nothing ends: everything behind it would be part of it.
pub(crate) fn unclosed(name: &str, text: &str) -> Option<Finding> {
    let (before, _) = text.split_at_checked(open_comment(text)?)?;
    // To a reader of YAML, `/*` may be a value.
    let blanked = without_comments(before).unwrap_or_else(|| before.to_owned());
    let last = blanked.trim_end().chars().next_back();
    if !is_of_json(&blanked) || last == Some(':') {
        return None;
    }
    let lines = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let at = |column: usize| Position {
        line: u32::try_from(lines).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
    };
    let span = Span { start: at(column.saturating_add(1)), end: at(column.saturating_add(3)) };
    let message = "nothing ends the comment that begins here: all that follows would be part of it";
    Some(Finding::error(SYNTAX, message).at(Place::new(name, span)).hint("write `*/` where it ends"))
}

/// Where the comment begins that a text ends in.
fn open_comment(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        let at = rest.find(['"', '/', '#'])?;
        let begun = rest.get(at..)?;
        let ended = if let Some(behind) = begun.strip_prefix("/*") {
            let Some((_, behind)) = behind.split_once("*/") else {
                return text.len().checked_sub(begun.len());
            };
            behind
        } else if begun.starts_with("//") || begun.starts_with('#') {
            begun.split_once('\n')?.1
        } else if let Some(behind) = begun.strip_prefix('"') {
            behind_text(behind)?
        } else {
            begun.get(1..)?
        };
        rest = ended;
    }
}

/// What follows a text in quotes, whose first is behind us.
fn behind_text(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, letter)| {
        let is_end = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        is_end
    });
    text.get(end?.0.checked_add(1)?..)
}

/// Whether a text without comments, as far as it goes, has nothing that JSON does not have.
fn is_of_json(text: &str) -> bool {
    let mut outside = String::new();
    let mut rest = text.trim_start_matches(MARK);
    while let Some((before, behind)) = rest.split_once('"') {
        outside.push_str(before);
        let Some(behind) = behind_text(behind) else { return false };
        rest = behind;
    }
    outside.push_str(rest);
    let mut words = outside.split(|letter: char| letter.is_whitespace() || "{}[]:,".contains(letter));
    let is_word = |word: &str| {
        matches!(word, "" | "true" | "false" | "null")
            || word.bytes().all(|byte| b"+-.0123456789eE".contains(&byte))
    };
    words.all(is_word) && outside.trim_start().chars().next().is_none_or(|first| matches!(first, '{' | '['))
}

/// A JSON text with the mark before it, its comments, its tabs and commas before a closing bracket blanked out, so that every
/// value stays where it is; nothing if there is none of them, or it is no JSON that begins with a mapping or a list.
pub(crate) fn without_comments(text: &str) -> Option<String> {
    let mut blanked = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut place = State::Outside;
    let mut begun = false;
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let (kept, then) = match (place, letter) {
            (State::Outside, MARK) if blanked.is_empty() => (' ', State::Outside),
            (State::Outside, '#') => (' ', State::Line),
            (State::Outside, '/') if next == Some('/') => (' ', State::Line),
            (State::Outside, '/') if next == Some('*') => {
                // The star must not end what it begins.
                letters.next();
                blanked.push(' ');
                (' ', State::Block)
            }
            (State::Outside, '\t') => (' ', State::Outside),
            (State::Outside, '"') => ('"', State::Inside),
            (State::Inside, '\\') => {
                blanked.push('\\');
                (letters.next().unwrap_or(' '), State::Inside)
            }
            (State::Inside, '"') => ('"', State::Outside),
            (State::Line, '\n') => ('\n', State::Outside),
            (State::Block, '*') if next == Some('/') => {
                letters.next();
                blanked.push(' ');
                (' ', State::Outside)
            }
            (State::Line | State::Block, _) if letter != '\n' => (' ', place),
            _ => (letter, place),
        };
        if !begun && then == State::Outside && !kept.is_whitespace() {
            if !matches!(kept, '{' | '[') {
                return None;
            }
            begun = true;
        } else if !begun && then == State::Inside {
            return None;
        }
        blanked.push(kept);
        place = then;
    }
    let blanked = without_last_commas(&blanked);
    (begun && blanked != text).then_some(blanked)
}

/// The text without commas that nothing follows in their mapping or list.
fn without_last_commas(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let mut comma = None;
    let mut inside = false;
    let mut escaped = false;
    for (index, letter) in text.chars().enumerate() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => {
                inside = !inside;
                comma = None;
            }
            _ if inside => {}
            ',' => comma = Some(index),
            '}' | ']' => {
                if let Some(last) = comma.take().and_then(|comma| letters.get_mut(comma)) {
                    *last = ' ';
                }
            }
            _ if letter.is_whitespace() => {}
            _ => comma = None,
        }
    }
    letters.into_iter().collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    Inside,
    Line,
    Block,
}

#[cfg(test)]
mod tests {
    use bringup_diag::Position;

    use super::{unclosed, without_comments};

    #[test]
    fn comments_are_blanked_and_everything_stays_where_it_is() {
        let text = "{\n\t\"a\": \"b\", // c \"d\"\n  /* e\n f */ \"g\": 1 /**/}\n";
        let blanked = without_comments(text).unwrap();
        assert_eq!(blanked, "{\n \"a\": \"b\",         \n      \n      \"g\": 1     }\n");
        assert_eq!(blanked.chars().count(), text.chars().count());
    }

    #[test]
    fn what_is_quoted_is_no_comment() {
        let text = r#"{"url": "https://a/*b*/", "c": "\"//"} // end"#;
        assert_eq!(without_comments(text).unwrap(), r#"{"url": "https://a/*b*/", "c": "\"//"}       "#);
    }

    #[test]
    fn commas_at_the_end_are_blanked() {
        let text = "{\"a\": [1, 2, /* 3 */], \"b\": \"x,]\\\"\",\n}";
        assert_eq!(without_comments(text).unwrap(), "{\"a\": [1, 2         ], \"b\": \"x,]\\\"\" \n}");
    }

    #[test]
    fn comments_may_stand_before_the_first_bracket() {
        assert_eq!(without_comments("// a\n{}").unwrap(), "    \n{}");
    }

    #[test]
    fn comments_of_yaml_and_a_mark_before_it_all_are_blanked_too() {
        let text = "\u{feff}{ # a\n\"b\": \"c # d\", // e\n\"f\": 1 # \"g\n}";
        let blanked = " {    \n\"b\": \"c # d\",     \n\"f\": 1     \n}";
        assert_eq!(without_comments(text).unwrap(), blanked);
    }

    #[test]
    fn a_comment_without_an_end_is_told_where_it_begins() {
        let place =
            |text: &str| unclosed("a.json", text).and_then(|told| told.place).map(|place| place.span.start);
        let at = |line, column| Some(Position { line, column });
        assert_eq!(place("{\n  /* c\n  \"a\": 1\n}\n"), at(2, 3));
        assert_eq!(
            place("\u{feff}{\"a\": \"\\\"/*\", // b /*\n# c /*\n\"d\": true, /* e */ /* f }"),
            at(3, 20)
        );
        assert_eq!(place("/* a\n{}"), at(1, 1));
        for other in [
            "{\"a\": 1 /* b */}",
            "{\"a\": \"/*\"}",
            "a: /*\n",
            "{a: b, c/*}",
            "[\"a\", b/*]",
            "{\"path\": /*}",
            "# /* a\nb: c\n",
            "b: c # it's /* \n",
            "a: 'x\"y' /* z",
        ] {
            assert_eq!(place(other), None, "{other}");
        }
    }

    #[test]
    fn other_texts_are_left_alone() {
        assert_eq!(without_comments("{\"a\": 1}\n"), None);
        assert_eq!(without_comments("a: b // c\n"), None);
        assert_eq!(without_comments("\"a\": 1 // c\n"), None);
        assert_eq!(without_comments(""), None);
    }
}
