//! As much of a shell as it takes to read a call whose words are known beforehand.

/// The lines of a script as the shell takes them: a `\` at the end or an open quote joins the next one.
pub(crate) fn lines(script: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut quote: Option<char> = None;
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => match letters.next() {
                Some('\n') => line.push(' '),
                Some(next) => line.extend([letter, next]),
                None => line.push(letter),
            },
            ('#', None) if line.is_empty() || line.ends_with(char::is_whitespace) => {
                // A quote in a comment opens nothing.
                line.push(letter);
                while let Some(next) = letters.next_if(|next| *next != '\n') {
                    line.push(next);
                }
            }
            ('\'' | '"', None) => {
                quote = Some(letter);
                line.push(letter);
            }
            (_, Some(open)) if open == letter => {
                quote = None;
                line.push(letter);
            }
            ('\n', None) => lines.push(std::mem::take(&mut line)),
            _ => line.push(letter),
        }
    }
    lines.push(line);
    lines
}

/// The words of a line with its variables filled in; none where only a shell could tell them.
pub(crate) fn words(line: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(open)) if open == letter => quote = None,
            (_, Some('\'')) => word.get_or_insert_default().push(letter),
            ('`', _) => return None,
            ('$', _) => {
                let value = expansion(&mut letters, variable)?;
                word.get_or_insert_default().push_str(&value);
            }
            ('\\', _) => {
                let next = letters.next()?;
                let word = word.get_or_insert_default();
                if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            ('#', None) if word.is_none() => break,
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            ('|' | ';' | '&' | '<' | '>' | '(' | ')', None) => return None,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// What stands behind a `$`: `NAME`, `{NAME}` or `{NAME:-default}`.
fn expansion(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let braced = letters.next_if_eq(&'{').is_some();
    let mut name = String::new();
    while let Some(letter) = letters.next_if(is_name) {
        name.push(letter);
    }
    if name.is_empty() {
        return None;
    }
    if !braced {
        return variable(&name);
    }
    let mut rest = String::new();
    loop {
        match letters.next()? {
            '}' => break,
            letter => rest.push(letter),
        }
    }
    let value = variable(&name);
    match rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-')) {
        Some(default) => Some(value.filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())),
        None if rest.is_empty() => value,
        None => None,
    }
}

/// `NAME=value` taken apart.
pub(crate) fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let first = name.chars().next()?;
    let fits = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    fits.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Vec<String>> {
        words(line, &|name| (name == "NAME").then(|| "demo".to_owned()))
    }

    /// What `printf '[%s]'` of bash prints for the same words.
    #[test]
    fn words_are_split_as_bash_splits_them() {
        let expect = |line: &str, wanted: &[&str]| {
            assert_eq!(read(line), Some(wanted.iter().map(|word| (*word).to_owned()).collect()), "{line}");
        };
        expect("a  'b c' \"d $NAME\" e\\ f", &["a", "b c", "d demo", "e f"]);
        expect("--x=${NAME}-1 ''  # rest", &["--x=demo-1", ""]);
        expect("\"${OTHER:-none}\" \"a\\\"b\\n\"", &["none", "a\"b\\n"]);
        expect("'$NAME'", &["$NAME"]);
        for line in ["a $(b)", "a | b", "a > b", "$OTHER", "'open", "a `b`", "a; b", "${NAME%x}"] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn lines_are_joined_by_a_backslash_and_by_quotes() {
        let script = "# it's\na \\\n  b\nc 'd\ne' f\n";
        assert_eq!(lines(script), ["# it's", "a    b", "c 'd\ne' f", ""]);
    }
}
