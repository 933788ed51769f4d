//! Where a quoted scalar really ends, and JSON's pairs of escapes.
//!
//! The parser counts what follows the closing quote, comments included, to the scalar; carets would run on beneath
//! the comment. And it knows no surrogate pairs, which is how JSON escapes every character beyond U+FFFF.

use bringup_diag::Position;

/// Walks a text forwards and knows line and column.
pub(crate) struct Cursor<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: Position,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text.chars().peekable(), at: Position { line: 1, column: 1 } }
    }

    fn step(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        let ends_line = letter == '\n' || (letter == '\r' && self.rest.peek() != Some(&'\n'));
        if ends_line {
            self.at = Position { line: self.at.line.saturating_add(1), column: 1 };
        } else {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(letter)
    }

    /// Just after the closing quote of the scalar that starts at `start` or, if it has a tag or an anchor, behind those.
    pub(crate) fn end_of_quoted(&mut self, start: Position) -> Option<Position> {
        while self.at < start {
            self.step()?;
        }
        let quote = loop {
            if let quote @ ('"' | '\'') = self.step()? {
                break quote;
            }
        };
        loop {
            match self.step()? {
                '\\' if quote == '"' => {
                    self.step()?;
                }
                letter if letter == quote => {
                    if quote == '"' || self.rest.peek() != Some(&'\'') {
                        return Some(self.at);
                    }
                    self.step()?;
                }
                _ => {}
            }
        }
    }
}

/// The text with each escaped pair such as `\ud83d\ude00` as the character that it means; `None` if there is no pair.
///
/// Places behind a pair on the same line move to the left: a price worth paying for reading the document at all.
pub(crate) fn without_surrogates(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        plain.push_str(rest.get(..at)?);
        rest = rest.get(at..)?;
        if let Some(letter) = surrogate_pair(rest) {
            plain.push(letter);
            rest = rest.get(12..)?;
            found = true;
        } else {
            let length = 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
            plain.push_str(rest.get(..length)?);
            rest = rest.get(length..)?;
        }
    }
    plain.push_str(rest);
    found.then_some(plain)
}

fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    char::decode_utf16([unit(0)?, unit(6)?]).next()?.ok().filter(|letter| u32::from(*letter) > 0xffff)
}

#[cfg(test)]
mod tests {
    use bringup_diag::Position;

    use super::{Cursor, without_surrogates};

    #[test]
    fn a_quoted_scalar_ends_behind_its_quote() {
        let text = "a: \"x\\\"y\" # \"\nb: 'it''s' # '\n";
        let mut cursor = Cursor::new(text);
        let end = cursor.end_of_quoted(Position { line: 1, column: 4 });
        assert_eq!(end, Some(Position { line: 1, column: 10 }));
        let end = cursor.end_of_quoted(Position { line: 2, column: 4 });
        assert_eq!(end, Some(Position { line: 2, column: 11 }));
        assert_eq!(cursor.end_of_quoted(Position { line: 9, column: 1 }), None);
    }

    #[test]
    fn pairs_of_escapes_become_one_character() {
        assert_eq!(without_surrogates(r#"["\ud83d\ude00"]"#).as_deref(), Some("[\"😀\"]"));
        assert_eq!(without_surrogates(r#"["\\ud83d\ude00"]"#), None);
        assert_eq!(without_surrogates(r#"["\ud83d", "\u00e9\u00e9"]"#), None);
    }
}
