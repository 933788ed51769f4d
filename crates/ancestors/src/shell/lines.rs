//! The lines of a script as the shell takes them.

/// A line, however many it takes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it says.
    pub(crate) text: String,
    /// Where it begins in the script.
    pub(crate) number: u32,
    /// Whether it belongs to a document that the script only hands on, such as what stands between `<<EOF` and `EOF`.
    pub(crate) handed_on: bool,
}

/// All lines: a `\` at the end or an open quote joins the next one; documents that are handed on are left as they are.
pub(crate) fn lines(script: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut physical = script.split('\n').zip(1_u32..);
    let mut text = String::new();
    let mut begun: Option<u32> = None;
    let mut quote: Option<char> = None;
    while let Some((line, number)) = physical.next() {
        let first = *begun.get_or_insert(number);
        let continues = taken(line.strip_suffix('\r').unwrap_or(line), &mut text, &mut quote);
        if continues {
            continue;
        }
        if quote.is_some() {
            text.push('\n');
            continue;
        }
        let ends = here_documents(&text);
        lines.push(Line { text: std::mem::take(&mut text), number: first, handed_on: false });
        begun = None;
        for end in ends {
            for (line, number) in physical.by_ref() {
                lines.push(Line { text: line.to_owned(), number, handed_on: true });
                let line = if end.indented { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == end.word {
                    break;
                }
            }
        }
    }
    if let Some(number) = begun {
        lines.push(Line { text, number, handed_on: false });
    }
    lines
}

/// Takes one line of the file; whether its last letter joins the next one to it.
fn taken(line: &str, text: &mut String, quote: &mut Option<char>) -> bool {
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, *quote) {
            ('\\', None | Some('"')) => match letters.next() {
                Some(next) => text.extend([letter, next]),
                None => return true,
            },
            // A quote in a comment opens nothing.
            ('#', None) if text.is_empty() || text.ends_with(char::is_whitespace) => {
                text.push(letter);
                text.extend(letters.by_ref());
            }
            ('\'' | '"', None) => {
                *quote = Some(letter);
                text.push(letter);
            }
            (_, open) => {
                if open == Some(letter) {
                    *quote = None;
                }
                text.push(letter);
            }
        }
    }
    false
}

/// How a document that is handed on ends.
struct End {
    word: String,
    /// Whether tabs may stand before it.
    indented: bool,
}

/// The ends of the documents that a line begins, as in `cat <<EOF`.
fn here_documents(line: &str) -> Vec<End> {
    let mut ends = Vec::new();
    let mut quote: Option<char> = None;
    let mut earlier = ' ';
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        if quote.is_none() && rest.starts_with("<<") && !rest.starts_with("<<<") {
            let behind = rest.trim_start_matches('<');
            let indented = behind.starts_with('-');
            let behind = behind.trim_start_matches('-').trim_start();
            let word: String = behind.chars().take_while(|letter| !" \t;|&<>()".contains(*letter)).collect();
            rest = behind.strip_prefix(word.as_str()).unwrap_or_default();
            let word = word.replace(['\'', '"', '\\'], "");
            // `let a=1<<2` begins none.
            if !word.is_empty() && !word.starts_with(|letter: char| letter.is_ascii_digit()) {
                ends.push(End { word, indented });
            }
            continue;
        }
        // `1 << 2` is no document.
        let number =
            rest.strip_prefix("((").filter(|_| quote.is_none()).and_then(|rest| rest.split_once("))"));
        if let Some((_, behind)) = number {
            rest = behind;
            continue;
        }
        let skipped = match (letter, quote) {
            _ if rest.starts_with("<<<") => 3,
            ('\\', None | Some('"')) => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            _ => letter.len_utf8(),
        };
        match (letter, quote) {
            ('#', None) if earlier.is_whitespace() => return ends,
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            _ => {}
        }
        earlier = letter;
        rest = rest.get(skipped..).unwrap_or_default();
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<(u32, String)> {
        lines(script).into_iter().map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn lines_are_joined_by_a_backslash_and_by_quotes() {
        let script = "# it's\na \\\n  b\nc 'd\ne' f\n";
        let expected = [(1, "# it's"), (2, "a   b"), (4, "c 'd\ne' f"), (6, "")];
        assert_eq!(texts(script), expected.map(|(number, text)| (number, text.to_owned())));
    }

    /// Quotes and backslashes of such a document are its own.
    #[test]
    fn documents_that_are_handed_on_are_left_as_they_are() {
        let script = "cat <<-'EOF' > /x\nit's \\\n\tEOF\necho <<<word \"a <<B\"\ntrue\n";
        let texts = |script: &str| lines(script).iter().any(|line| line.handed_on);
        for none in [
            "a # like <<B\nc",
            "A=$((1 << B))\nc",
            "((A = 1 <<B))\nc",
            "a \\\" b#c\nd",
            "a \\<<B\nc",
            "let a=1<<2\nb",
        ] {
            assert!(!texts(none), "{none}");
        }
        for some in ["a \\\" <<B\nc\nB", "a#b <<B\nc\nB", "(a <<B)\nc\nB"] {
            assert!(texts(some), "{some}");
        }
        let read = lines(script);
        let shown: Vec<(u32, bool, &str)> =
            read.iter().map(|line| (line.number, line.handed_on, line.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (1, false, "cat <<-'EOF' > /x"),
                (2, true, "it's \\"),
                (3, true, "\tEOF"),
                (4, false, "echo <<<word \"a <<B\""),
                (5, false, "true"),
                (6, false, ""),
            ]
        );
    }
}
