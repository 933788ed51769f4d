//! JSON with comments, which people write and no reader takes.

/// A JSON text with its comments, its tabs and commas before a closing bracket blanked out, so that every value stays
/// where it is; nothing if there is none of them, or it is no JSON that begins with a mapping or a list.
pub(crate) fn without_comments(text: &str) -> Option<String> {
    let mut blanked = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut place = Place::Outside;
    let mut begun = false;
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let (kept, then) = match (place, letter) {
            (Place::Outside, '/') if next == Some('/') => (' ', Place::Line),
            (Place::Outside, '/') if next == Some('*') => {
                // The star must not end what it begins.
                letters.next();
                blanked.push(' ');
                (' ', Place::Block)
            }
            (Place::Outside, '\t') => (' ', Place::Outside),
            (Place::Outside, '"') => ('"', Place::Inside),
            (Place::Inside, '\\') => {
                blanked.push('\\');
                (letters.next().unwrap_or(' '), Place::Inside)
            }
            (Place::Inside, '"') => ('"', Place::Outside),
            (Place::Line, '\n') => ('\n', Place::Outside),
            (Place::Block, '*') if next == Some('/') => {
                letters.next();
                blanked.push(' ');
                (' ', Place::Outside)
            }
            (Place::Line | Place::Block, _) if letter != '\n' => (' ', place),
            _ => (letter, place),
        };
        if !begun && then == Place::Outside && !kept.is_whitespace() && kept != '\u{feff}' {
            if !matches!(kept, '{' | '[') {
                return None;
            }
            begun = true;
        } else if !begun && then == Place::Inside {
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
enum Place {
    Outside,
    Inside,
    Line,
    Block,
}

#[cfg(test)]
mod tests {
    use super::without_comments;

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
    fn other_texts_are_left_alone() {
        assert_eq!(without_comments("{\"a\": 1}\n"), None);
        assert_eq!(without_comments("a: b // c\n"), None);
        assert_eq!(without_comments("\"a\": 1 // c\n"), None);
        assert_eq!(without_comments(""), None);
    }
}
