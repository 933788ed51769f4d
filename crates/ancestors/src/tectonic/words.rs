//! What systemd makes of a command's line and of variables: words, with what it puts in for `%` and `$`.

use std::collections::BTreeMap;

use super::unit_text::Setting;

/// A word that a program gets, or the value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether this is all of it. Else only the machine knows what comes in the place of a `%` or a `$`, which still stands there.
    pub(super) is_known: bool,
}

impl Word {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_known: true }
    }
}

/// Variables by their names.
pub(super) type Variables = BTreeMap<String, Word>;

/// What stands for `%` and a letter, where it is the same on every machine. systemd.unit(5), "Specifiers".
const SPECIFIERS: [(char, &str); 15] = [
    ('%', "%"),
    ('C', "/var/cache"),
    ('E', "/etc"),
    ('G', "0"),
    // No unit of Tectonic's is an instance of a template.
    ('I', ""),
    ('L', "/var/log"),
    ('S', "/var/lib"),
    ('T', "/tmp"),
    ('U', "0"),
    ('V', "/var/tmp"),
    ('g', "root"),
    ('h', "/root"),
    ('i', ""),
    ('t', "/run"),
    ('u', "root"),
];
/// Letters for which the machine, its image or the unit has a value. Any other stays as it is, with its `%`.
const OF_MACHINE: &str = "ABDHJMNPWYabdfjlmnopqsvwy";

/// What the letters before a command tell systemd of it.
#[allow(clippy::struct_excessive_bools, reason = "each is a letter, and they go together in any way")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    /// `-`: it may fail.
    pub(super) may_fail: bool,
    /// `@`: its second word is the name that it is called by.
    pub(super) is_named: bool,
    /// `|`: a shell takes it.
    pub(super) in_shell: bool,
    /// `:`: variables are left as they are.
    pub(super) is_verbatim: bool,
}

/// The letters before a command. `+` and `!` are for units of other accounts than root.
pub(super) fn prefix(value: &str) -> Prefix {
    let letters = value.strip_suffix(command(value)).unwrap_or_default();
    Prefix {
        may_fail: letters.contains('-'),
        is_named: letters.contains('@'),
        in_shell: letters.contains('|'),
        is_verbatim: letters.contains(':'),
    }
}

/// A command without the letters that tell systemd how to take it.
fn command(value: &str) -> &str {
    value.trim_start_matches(['-', '@', ':', '+', '!', '|']).trim_start()
}

/// The words of a command that is run: the program and its arguments.
pub(super) fn command_words(value: &str, variables: &Variables) -> Vec<Word> {
    let of_text = |text: String| if text == r"\;" { Word::known(";") } else { specified(&text) };
    let mut words: Vec<Word> = split(command(value)).into_iter().map(of_text).collect();
    let prefix = prefix(value);
    if prefix.is_named && words.len() > 1 {
        words.remove(1);
    }
    if prefix.is_verbatim {
        return words;
    }
    words.into_iter().flat_map(|word| expanded(word, variables)).collect()
}

/// The variables of `Environment=`. `$` is a letter like others there.
pub(super) fn assignments(value: &str) -> Vec<(String, Word)> {
    let pair = |text: String| {
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), specified(value)))
    };
    split(value).into_iter().filter_map(pair).collect()
}

/// The variables that `Environment=` of a unit sets.
pub(super) fn variables_of(settings: &[Setting]) -> Variables {
    let lines =
        settings.iter().filter(|setting| setting.section == "Service" && setting.key == "Environment");
    lines.flat_map(|setting| assignments(&setting.value)).collect()
}

/// A value with what systemd puts in for `%`.
pub(super) fn specified(value: &str) -> Word {
    let mut word = Word::known("");
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        let next = if letter == '%' { letters.clone().next() } else { None };
        let stands_for = next.and_then(|next| SPECIFIERS.iter().find(|(known, _)| *known == next));
        if let Some((_, stands_for)) = stands_for {
            letters.next();
            word.text.push_str(stands_for);
        } else {
            word.is_known &= !next.is_some_and(|next| OF_MACHINE.contains(next));
            word.text.push(letter);
        }
    }
    word
}

/// A word with its variables put in; one that is nothing but a variable is the words that it stands for.
/// systemd.service(5), "Command lines".
fn expanded(word: Word, variables: &Variables) -> Vec<Word> {
    let name = word.text.strip_prefix('$').filter(|name| !name.is_empty() && !name.starts_with(['{', '$']));
    if let Some(name) = name {
        let Some(value) = variables.get(name) else { return vec![Word { is_known: false, ..word }] };
        let words = parts(&value.text, Escapes::Letters).into_iter();
        return words.map(|text| Word { text, is_known: value.is_known }).collect();
    }
    let mut whole = Word { text: String::new(), is_known: word.is_known };
    let mut rest = word.text.as_str();
    while let Some((before, behind)) = rest.split_once('$') {
        whole.text.push_str(before);
        let named = behind.strip_prefix('{').and_then(|name| name.split_once('}'));
        rest = if let Some((name, behind)) = named {
            if let Some(value) = variables.get(name) {
                whole.text.push_str(&value.text);
                whole.is_known &= value.is_known;
            } else {
                whole.text.extend(["${", name, "}"]);
                whole.is_known = false;
            }
            behind
        } else {
            whole.text.push('$');
            behind.strip_prefix('$').unwrap_or(behind)
        };
    }
    whole.text.push_str(rest);
    vec![whole]
}

/// The words of a text as systemd splits it. systemd.syntax(7), "Quoting".
pub(super) fn split(value: &str) -> Vec<String> {
    parts(value, Escapes::OfC)
}

/// What a backslash is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    /// `\n`, `\x41` and others are letters; a sequence that is none of them stays as it is.
    OfC,
    /// The letter behind it is itself.
    Letters,
}

fn parts(value: &str, escapes: Escapes) -> Vec<String> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<char> = None;
    let mut rest = value;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (_, '\\') => {
                let (bytes, length) = match escapes {
                    Escapes::OfC => escaped(rest).unwrap_or_else(|| first(rest, "\\")),
                    Escapes::Letters => first(rest, ""),
                };
                word.get_or_insert_default().extend(bytes);
                rest = rest.get(length..).unwrap_or_default();
            }
            _ => word.get_or_insert_default().extend(letter.to_string().into_bytes()),
        }
    }
    words.extend(word);
    words.into_iter().map(|word| String::from_utf8_lossy(&word).into_owned()).collect()
}

/// The first letter of a text, behind something, and its length.
fn first(text: &str, behind: &str) -> (Vec<u8>, usize) {
    let letter = text.chars().next().map(String::from).unwrap_or_default();
    (format!("{behind}{letter}").into_bytes(), letter.len())
}

/// What stands behind a backslash, and how long it is. systemd.syntax(7), "Supported escapes".
fn escaped(behind: &str) -> Option<(Vec<u8>, usize)> {
    let number = |from: usize, digits: usize, radix: u32| {
        let digits = behind.get(from..from.saturating_add(digits))?;
        let is_plain = digits.chars().all(|digit| digit.is_digit(radix));
        u32::from_str_radix(digits, radix).ok().filter(|number| is_plain && *number != 0)
    };
    let byte = |number: Option<u32>, length: usize| Some((vec![u8::try_from(number?).ok()?], length));
    let letter = |number: Option<u32>, length: usize| {
        Some((char::from_u32(number?)?.to_string().into_bytes(), length))
    };
    let one = |byte: u8| Some((vec![byte], 1));
    match behind.chars().next()? {
        'a' => one(7),
        'b' => one(8),
        'f' => one(12),
        'n' => one(b'\n'),
        'r' => one(b'\r'),
        's' => one(b' '),
        't' => one(b'\t'),
        'v' => one(11),
        quote @ ('\\' | '"' | '\'') => Some((quote.to_string().into_bytes(), 1)),
        'x' => byte(number(1, 2, 16), 3),
        'u' => letter(number(1, 4, 16), 5),
        'U' => letter(number(1, 8, 16), 9),
        '0'..='7' => byte(number(0, 3, 8), 3),
        _ => None,
    }
}

/// The variables of a file of `EnvironmentFile=`, in which `%` and `$` are letters like others; a line that sets none has no
/// value. systemd.exec(5), `EnvironmentFile=`.
pub(super) fn file_variables(content: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut letters = content.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let is_comment = matches!(letter, '#' | ';');
        let mut name = String::from(letter);
        while let Some(more) = letters.next_if(|more| *more != '\n' && (is_comment || *more != '=')) {
            name.push(more);
        }
        if is_comment {
            continue;
        }
        let sets = letter != '=' && letters.next_if_eq(&'=').is_some();
        let value = sets.then(|| file_value(&mut letters));
        found.push((name.trim().to_owned(), value));
    }
    found
}

/// A value of such a file, up to the end of its line.
fn file_value(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut value = String::new();
    // What is quoted keeps the blanks at its end.
    let mut kept = 0;
    let mut quote = None;
    let mut within = false;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\n') => break,
            (Some(open), _) if letter == open => {
                quote = None;
                within = false;
                kept = value.len();
            }
            (None, '"' | '\'') if !within => quote = Some(letter),
            (Some('\''), _) => value.push(letter),
            (_, '\\') => match letters.next() {
                Some('\n') | None => {}
                Some(next) => {
                    if quote.is_some() && !matches!(next, '"' | '\\' | '`' | '$') {
                        value.push('\\');
                    }
                    value.push(next);
                    within = true;
                    kept = value.len();
                }
            },
            (None, _) if letter.is_whitespace() => {
                if within {
                    value.push(letter);
                }
            }
            _ => {
                value.push(letter);
                within = true;
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: &str, variables: &Variables) -> Vec<String> {
        command_words(value, variables).into_iter().map(|word| word.text).collect()
    }

    fn is_known(value: &str) -> bool {
        command_words(value, &Variables::new()).iter().all(|word| word.is_known)
    }

    /// As `systemd --test` of 252 shows the command lines of a unit.
    #[test]
    fn words_are_split_as_systemd_does() {
        assert_eq!(split("/bin/a  'b c' --d=\"e f\" ''"), ["/bin/a", "b c", "--d=e f", ""]);
        let line = r#"/bin/echo "a"b c\x d\x41 e\;f \; 'q\'r' "s\"t" h\101 u\u00e9 \y a\\"#;
        let words =
            ["/bin/echo", "ab", r"c\x", "dA", r"e\;f", ";", "q'r", "s\"t", "hA", "u\u{e9}", r"\y", r"a\"];
        assert_eq!(texts(line, &Variables::new()), words);
    }

    /// The same: what `%` stands for nowhere stays, and so does one that nothing follows.
    #[test]
    fn specifiers_are_put_in_or_left_to_the_machine() {
        let plain = |value: &str| (specified(value).text, specified(value).is_known);
        assert_eq!(plain("g%%%t|%i|% 5%,x%"), ("g%/run||% 5%,x%".to_owned(), true));
        assert_eq!(plain("memory.available<5%%"), ("memory.available<5%".to_owned(), true));
        assert_eq!(plain("100%%H"), ("100%H".to_owned(), true));
        assert_eq!(plain("%H"), ("%H".to_owned(), false));
        assert_eq!(plain("a-%n"), ("a-%n".to_owned(), false));
    }

    /// systemd.service(5), "Command lines".
    #[test]
    fn variables_are_put_in_or_left_to_the_machine() {
        let known = Variables::from([("A".to_owned(), Word::known("b 'c d'"))]);
        assert_eq!(
            texts("/x $A ${A}e y$A $$A $${A}", &known),
            ["/x", "b", "c d", "b 'c d'e", "y$A", "$A", "${A}"]
        );
        assert_eq!(texts(":/x $A $$A", &known), ["/x", "$A", "$$A"]);
        assert!(is_known("/x $$A y$A") && is_known(":/x ${A}"));
        assert!(!is_known("/x $A") && !is_known("/x y${A}"));
        let set = assignments("\"A=1%%\" B=$$x C=%t D=%H");
        let set: Vec<(&str, &str, bool)> =
            set.iter().map(|(name, word)| (name.as_str(), word.text.as_str(), word.is_known)).collect();
        assert_eq!(set, [("A", "1%", true), ("B", "$$x", true), ("C", "/run", true), ("D", "%H", false)]);
    }

    /// systemd.service(5), "Special executable prefixes".
    #[test]
    fn the_letters_before_a_command_are_read() {
        let none = Variables::new();
        assert_eq!(texts("-/usr/bin/rkt rm", &none), ["/usr/bin/rkt", "rm"]);
        assert_eq!(texts("@-/usr/bin/busybox cat /a", &none), ["/usr/bin/busybox", "/a"]);
        assert_eq!(texts("+:/usr/bin/a", &none), ["/usr/bin/a"]);
        assert_eq!(prefix("!!/a"), Prefix::default());
        let named = Prefix { may_fail: true, is_named: true, ..Prefix::default() };
        assert_eq!([prefix("@-/a b"), prefix("-@/a b")], [named; 2]);
        assert_eq!(prefix("/a -b"), Prefix::default());
    }

    /// systemd.exec(5), `EnvironmentFile=`.
    #[test]
    fn files_of_variables_are_read_as_systemd_does() {
        let file = "# a\n; b\nA=1  2 \nB=\"x\\\"  \\y\" 'z'\nC=5%%$$ # no comment\nD=one \\\n two\nnothing\nE=\nF=a\\ b\n";
        let found = file_variables(file);
        let found: Vec<(&str, Option<&str>)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("A", Some("1  2")),
                ("B", Some("x\"  \\yz")),
                ("C", Some("5%%$$ # no comment")),
                ("D", Some("one  two")),
                ("nothing", None),
                ("E", Some("")),
                ("F", Some("a b")),
            ]
        );
    }
}
