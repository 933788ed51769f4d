//! Words and here-documents of the POSIX shell.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What prints letters beyond ASCII, up to [`PRINTED_END`]; they are given as octal escapes.
const PRINTED: &str = r#""$(printf '"#;
const PRINTED_END: &str = r#"')""#;

/// The text as one word of a command: quoted only where the shell would see something in it, and in ASCII, since
/// cloud-init changes other letters in a part that was compressed.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%=,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('=') {
        return Cow::Borrowed(text);
    }
    let mut word = String::new();
    let mut rest = text;
    while !rest.is_empty() || word.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii()).unwrap_or(rest.len());
        let (quoted, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !quoted.is_empty() || text.is_empty() {
            let _ = write!(word, "'{}'", quoted.replace('\'', r"'\''"));
        }
        let end = after.find(|letter: char| letter.is_ascii()).unwrap_or(after.len());
        let (printed, after) = after.split_at_checked(end).unwrap_or((after, ""));
        if !printed.is_empty() {
            word.push_str(PRINTED);
            for byte in printed.bytes() {
                let _ = write!(word, "\\{byte:03o}");
            }
            word.push_str(PRINTED_END);
        }
        rest = after;
    }
    Cow::Owned(word)
}

/// Reads back one word that [`word`] wrote; gives what follows it, too.
pub(crate) fn read_word(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    while !rest.is_empty() && !rest.starts_with([' ', '\n']) {
        if let Some(printed) = rest.strip_prefix(PRINTED) {
            let (octal, after) = printed.split_once(PRINTED_END)?;
            let bytes = octal.split('\\').skip(1).map(|digits| u8::from_str_radix(digits, 8));
            value.push_str(&String::from_utf8(bytes.collect::<Result<_, _>>().ok()?).ok()?);
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (inside, after) = quoted.split_once('\'')?;
            value.push_str(inside);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(r"\'") {
            value.push('\'');
            rest = after;
        } else {
            let letter = rest.chars().next()?;
            value.push(letter);
            rest = rest.get(letter.len_utf8()..)?;
        }
    }
    (rest.len() < text.len()).then_some((value, rest))
}

/// A delimiter of here-documents that no line of any of the contents equals.
pub(crate) fn delimiter(contents: &[&str]) -> String {
    let mut number = 0_u32;
    loop {
        let candidate = if number == 0 { "BRINGUP_END".to_owned() } else { format!("BRINGUP_END_{number}") };
        let taken = contents
            .iter()
            .any(|content| content.contains(&candidate) && content.lines().any(|line| line == candidate));
        if !taken {
            return candidate;
        }
        number = number.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{delimiter, read_word, word};

    #[test]
    fn words_are_quoted_where_the_shell_would_act() {
        assert_eq!(word("/etc/bringup/plan.json"), "/etc/bringup/plan.json");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(r"dev-disk\x2d1.mount"), r"'dev-disk\x2d1.mount'");
        assert_eq!(word("~/x"), "'~/x'");
        assert_eq!(word("/a/é'b"), r#"'/a/'"$(printf '\303\251')"''\''b'"#);
    }

    #[test]
    fn words_are_read_back() {
        for text in ["plain", "a b", "", "it's", r"back\slash", "$(x)`y`\"z\"", "é", "/naïve/雪x"] {
            let line = format!("{} rest", word(text));
            assert_eq!(read_word(&line), Some((text.to_owned(), " rest")));
        }
        assert_eq!(read_word("'never closed"), None);
    }

    #[test]
    fn a_delimiter_is_no_line_of_the_content() {
        assert_eq!(delimiter(&["x\nBRINGUP_END y\n"]), "BRINGUP_END");
        assert_eq!(delimiter(&["x\nBRINGUP_END\n", "BRINGUP_END_1\n"]), "BRINGUP_END_2");
    }
}
