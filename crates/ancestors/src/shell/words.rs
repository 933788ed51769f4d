//! The words of a command whose variables are known beforehand.

use std::iter::Peekable;
use std::str::Chars;

use super::expansion::{Expansion, expansion, metadata};
use super::values::Values;

/// The words of a command with its variables filled in and what is not in quotes split again, as a shell does it. A text `@{`
/// that is no fact is written with two signs.
///
/// # Errors
/// What only a shell on the node could tell, each as it is written.
pub(super) fn words(command: &str, known: &Values) -> Result<Vec<String>, Vec<String>> {
    Reader::new(known, true).read(command)
}

/// The same for what is assigned: there a variable is never split.
pub(super) fn value(written: &str, known: &Values) -> Result<String, Vec<String>> {
    let mut words = Reader::new(known, false).read(written)?;
    match (words.pop(), words.is_empty()) {
        (word, true) => Ok(word.unwrap_or_default()),
        _ => Err(vec![written.to_owned()]),
    }
}

/// The words of a command as they are written, each with where it ends.
pub(crate) fn raw(command: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let word = |begun: usize, end: usize| command.get(begun..end).map(|word| (word, end));
    let mut begun: Option<usize> = None;
    let mut quote: Option<char> = None;
    let mut depth = 0_usize;
    let mut letters = command.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        // Quotes within `$( )` are its own.
        if letter == '$' && quote == Some('"') && letters.next_if(|(_, next)| *next == '(').is_some() {
            begun.get_or_insert(at);
            let mut open = 1_usize;
            while open > 0
                && let Some((_, inside)) = letters.next()
            {
                match inside {
                    '(' => open = open.saturating_add(1),
                    ')' => open = open.saturating_sub(1),
                    _ => {}
                }
            }
            continue;
        }
        if letter.is_whitespace() && quote.is_none() && depth == 0 {
            words.extend(begun.take().and_then(|begun| word(begun, at)));
            continue;
        }
        if letter == '#' && begun.is_none() {
            return words;
        }
        begun.get_or_insert(at);
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                letters.next();
            }
            ('\'' | '"' | '`', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('(' | '{', None) => depth = depth.saturating_add(1),
            (')' | '}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    words.extend(begun.and_then(|begun| word(begun, command.len())));
    words
}

/// A command on its way to words.
struct Reader<'a> {
    known: &'a Values,
    splits: bool,
    words: Vec<String>,
    word: Option<String>,
    unknown: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(known: &'a Values, splits: bool) -> Self {
        Self { known, splits, words: Vec::new(), word: None, unknown: Vec::new() }
    }

    fn read(mut self, command: &str) -> Result<Vec<String>, Vec<String>> {
        let mut quote: Option<char> = None;
        let mut letters = command.chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, quote) {
                ('\'' | '"', None) => {
                    quote = Some(letter);
                    self.word.get_or_insert_default();
                }
                (_, Some(open)) if open == letter => quote = None,
                (_, Some('\'')) => self.push(letter.encode_utf8(&mut [0; 4])),
                ('`', _) => {
                    let inside: String = letters.by_ref().take_while(|next| *next != '`').collect();
                    match metadata(&inside) {
                        Some(fact) => self.push(&fact),
                        None => self.unknown.push(format!("`{inside}`")),
                    }
                }
                ('$', None) if letters.peek() == Some(&'\'') => self.escapes(&mut letters),
                ('$', None) if letters.peek() == Some(&'"') => {}
                ('$', _) => self.expanded(&mut letters, quote.is_some()),
                ('\\', _) => match letters.next() {
                    Some('\n') => {}
                    Some(next) => {
                        if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                            self.push("\\");
                        }
                        self.push(next.encode_utf8(&mut [0; 4]));
                    }
                    None => self.unknown.push('\\'.to_string()),
                },
                ('#', None) if self.word.is_none() => break,
                (letter, None) if letter.is_whitespace() => self.end(),
                ('|' | ';' | '&' | '<' | '>' | '(' | ')', None) => self.unknown.push(letter.to_string()),
                (letter, None) if self.is_pattern(letter, &letters) => self.unknown.push(letter.to_string()),
                _ => self.push(letter.encode_utf8(&mut [0; 4])),
            }
        }
        if let Some(open) = quote {
            self.unknown.push(open.to_string());
        }
        self.end();
        let mut seen = std::collections::BTreeSet::new();
        self.unknown.retain(|written| seen.insert(written.clone()));
        if self.unknown.is_empty() { Ok(self.words) } else { Err(self.unknown) }
    }

    fn end(&mut self) {
        self.words.extend(self.word.take());
    }

    /// Adds to a word. Of the signs before a `{` two stand for one, but for the last before a fact.
    fn push(&mut self, text: &str) {
        let word = self.word.get_or_insert_default();
        if text.trim_start_matches('@').starts_with('{') {
            let signs = word.len() - word.trim_end_matches('@').len();
            word.push_str(&"@".repeat(signs));
        }
        word.push_str(text);
    }

    /// `'…'` behind a `$`: as it is, unless something in it is escaped.
    fn escapes(&mut self, letters: &mut Peekable<Chars<'_>>) {
        letters.next();
        let inside: String = letters.by_ref().take_while(|next| *next != '\'').collect();
        if inside.contains('\\') {
            self.unknown.push(format!("$'{inside}'"));
        }
        self.push("");
        inside.chars().for_each(|letter| self.push(letter.encode_utf8(&mut [0; 4])));
    }

    fn expanded(&mut self, letters: &mut Peekable<Chars<'_>>, quoted: bool) {
        match expansion(letters, self.known) {
            Ok(Expansion::Sign) => self.push("$"),
            Ok(Expansion::Words(items)) if quoted => {
                let last = items.len().saturating_sub(1);
                if items.is_empty() && self.word.as_deref() == Some("") {
                    self.word = None;
                }
                for (index, item) in items.iter().enumerate() {
                    self.push(item);
                    if index < last {
                        self.end();
                    }
                }
            }
            Ok(Expansion::Words(items)) => self.split(&items.join(" ")),
            Ok(Expansion::Text(value)) if self.splits && !quoted => self.split(&value),
            Ok(Expansion::Text(value)) => self.push(&value),
            Err(written) => self.unknown.push(written),
        }
    }

    /// Puts in a value that is not in quotes: its spaces part words.
    fn split(&mut self, value: &str) {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=".contains(letter);
        if !self.known.is_unset("IFS") && !value.chars().all(plain) {
            self.unknown.push("$IFS".to_owned());
        }
        if value.starts_with(char::is_whitespace) {
            self.end();
        }
        let mut pieces = value.split_whitespace().peekable();
        while let Some(piece) = pieces.next() {
            self.push(piece);
            if pieces.peek().is_some() || value.ends_with(char::is_whitespace) {
                self.end();
            }
        }
    }

    /// Whether a shell would put names of files or several words in the place of this one.
    fn is_pattern(&self, letter: char, rest: &Peekable<Chars<'_>>) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        match letter {
            '~' => word.is_empty(),
            '*' | '?' | '[' => !(word.starts_with('-') || word.contains("://") || !self.splits),
            '{' => {
                let inside: String =
                    rest.clone().take_while(|next| *next != '}' && !next.is_whitespace()).collect();
                self.splits && !word.ends_with('@') && (inside.contains(',') || inside.contains(".."))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Values {
        let mut values = Values::default();
        for (name, value) in [("NAME", "demo"), ("TWO", " a b"), ("NONE", ""), ("SIGN", "@")] {
            values.set(name, value.to_owned());
        }
        values.set_list("LIST", ["x", "y z"].map(str::to_owned).to_vec());
        values.set_list("EMPTY", Vec::new());
        values.forget("ASKED");
        values
    }

    /// What `printf '[%s]'` of bash prints for the same words.
    #[test]
    fn words_are_split_as_bash_splits_them() {
        let expect = |line: &str, wanted: &[&str]| {
            assert_eq!(
                words(line, &known()),
                Ok(wanted.iter().map(|word| (*word).to_owned()).collect()),
                "{line}"
            );
        };
        expect("a  'b c' \"d $NAME\" e\\ f", &["a", "b c", "d demo", "e f"]);
        expect("--x=${NAME}-1 ''  # rest", &["--x=demo-1", ""]);
        expect("\"${OTHER:-none}\" \"a\\\"b\\n\"", &["none", "a\"b\\n"]);
        expect("'$NAME'", &["$NAME"]);
        expect("x$TWO y$TWO\"z\" $NONE \"$NONE\" \"$TWO\"", &["x", "a", "b", "y", "a", "bz", "", " a b"]);
        expect("100$ a", &["100$", "a"]);
        expect(
            "a \"${LIST[@]}\" ${LIST[@]} \"${LIST[*]}\" \"<${LIST[@]}>\"",
            &["a", "x", "y z", "x", "y", "z", "x y z", "<x", "y z>"],
        );
        expect("a \"${EMPTY[@]}\" ${NONE-b} ${NONE:-b} $'c d' $\"$NAME\"", &["a", "b", "c d", "demo"]);
    }

    #[test]
    fn what_only_a_shell_can_tell_is_named_as_it_is_written() {
        for (line, unknown) in [
            ("a $(b $(c))x", "$(b $(c))"),
            ("a | b", "|"),
            ("a > b", ">"),
            ("$OTHER $OTHER", "$OTHER"),
            ("'open", "'"),
            ("a `b`", "`b`"),
            ("a; b", ";"),
            ("${NAME%x}", "${NAME%x}"),
            ("\"${AWS::StackName}\"", "${AWS::StackName}"),
            ("x $1", "$1"),
            ("${ASKED:-none}", "${ASKED:-none}"),
            ("$'a\\tb'", "$'a\\tb'"),
            ("a{b,c}", "{"),
            ("~/a", "~"),
            ("*", "*"),
        ] {
            assert_eq!(words(line, &known()), Err(vec![unknown.to_owned()]), "{line}");
        }
    }

    /// What a script asks the metadata service for is a fact of the plan's.
    #[test]
    fn questions_to_the_metadata_service_are_facts() {
        let ask = "curl -s -H \"X-aws-ec2-metadata-token: $T\" http://169.254.169.254/latest/meta-data/";
        let line = format!(
            "a=$({ask}instance-id) \"b=$({ask}placement/availability-zone)\" `{ask}instance-life-cycle`"
        );
        let expected = ["a=@{instanceId}", "b=@{zone}", "@{lifecycle}"].map(str::to_owned).to_vec();
        assert_eq!(words(&line, &known()), Ok(expected));
        for other in ["mac", "instance-id | cut -c1-3", "instance-id; x"] {
            assert!(words(&format!("$({ask}{other})"), &known()).is_err(), "{other}");
        }
        let asks = |program: &str| {
            words(&format!("$({program} http://169.254.169.254/latest/meta-data/instance-id)"), &known())
        };
        for program in [
            "curl -fsSL --header \"A: b\" --retry 3",
            "wget -qO-",
            "wget -q -O -",
            "/usr/bin/wget --output-document=-",
        ] {
            assert_eq!(asks(program), Ok(vec!["@{instanceId}".to_owned()]), "{program}");
        }
        // These print something else, or nothing.
        for program in [
            "curl -s -o /x",
            "curl -so/dev/null -w '%{http_code}'",
            "curl --head",
            "curl -i",
            "wget -q",
            "wget -qO /x",
            "nc",
        ] {
            assert!(asks(program).is_err(), "{program}");
        }
    }

    /// What is no fact must not be taken for one, and what is one must stay one.
    #[test]
    fn signs_before_braces_are_told_from_facts() {
        let ask = "$(curl -s http://169.254.169.254/latest/meta-data/instance-id)";
        for (line, word) in [
            ("'a@{b}'", "a@@{b}"),
            ("\"$SIGN\"'{b}'", "@@{b}"),
            ("a@b", "a@b"),
            (&format!("x@{ask}"), "x@@@{instanceId}"),
        ] {
            assert_eq!(words(line, &known()), Ok(vec![word.to_owned()]), "{line}");
        }
    }
}
