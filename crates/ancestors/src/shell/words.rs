//! The words of a command whose variables are known beforehand.

use std::iter::Peekable;
use std::str::Chars;

/// The words of a command with its variables filled in and what is not in quotes split again, as a shell does it.
///
/// # Errors
/// What only a shell on the node could tell, each as it is written.
pub(crate) fn words(
    command: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<String>, Vec<String>> {
    read(command, variable, true)
}

/// The same for what is assigned: there a variable is never split.
pub(super) fn values(
    assignments: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<String>, Vec<String>> {
    read(assignments, variable, false)
}

fn read(
    command: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    splits: bool,
) -> Result<Vec<String>, Vec<String>> {
    let mut words = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(open)) if open == letter => quote = None,
            (_, Some('\'')) => word.get_or_insert_default().push(letter),
            ('`', _) => {
                let inside: String = letters.by_ref().take_while(|next| *next != '`').collect();
                match metadata(&inside) {
                    Some(fact) => word.get_or_insert_default().push_str(&fact),
                    None => unknown.push(format!("`{inside}`")),
                }
            }
            ('$', _) => match expansion(&mut letters, variable) {
                Ok(Some(value)) if splits && quote.is_none() => split_in(&value, &mut word, &mut words),
                Ok(Some(value)) => word.get_or_insert_default().push_str(&value),
                // A `$` at the end of a word is one.
                Ok(None) => word.get_or_insert_default().push('$'),
                Err(written) => unknown.push(written),
            },
            ('\\', _) => match letters.next() {
                Some(next) => {
                    let word = word.get_or_insert_default();
                    if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                        word.push('\\');
                    }
                    word.push(next);
                }
                None => unknown.push('\\'.to_string()),
            },
            ('#', None) if word.is_none() => break,
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            ('|' | ';' | '&' | '<' | '>' | '(' | ')', None) => unknown.push(letter.to_string()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        unknown.push(open.to_string());
    }
    words.extend(word);
    let mut seen = std::collections::BTreeSet::new();
    unknown.retain(|written| seen.insert(written.clone()));
    if unknown.is_empty() { Ok(words) } else { Err(unknown) }
}

/// Puts in a value that is not in quotes: its spaces part words.
fn split_in(value: &str, word: &mut Option<String>, words: &mut Vec<String>) {
    let mut pieces = value.split_whitespace().peekable();
    if value.starts_with(char::is_whitespace) {
        words.extend(word.take());
    }
    while let Some(piece) = pieces.next() {
        word.get_or_insert_default().push_str(piece);
        if pieces.peek().is_some() || value.ends_with(char::is_whitespace) {
            words.extend(word.take());
        }
    }
}

/// What stands behind a `$`: `NAME`, `{NAME}` or `{NAME:-default}`; nothing if that is no expansion. What is not known is
/// given back as it is written.
fn expansion(
    letters: &mut Peekable<Chars<'_>>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    match letters.peek() {
        Some('(') => {
            let whole = enclosed(letters, '(', ')');
            return metadata(&whole).map(Some).ok_or_else(|| format!("${whole}"));
        }
        Some('{') => {
            let whole = enclosed(letters, '{', '}');
            let written = format!("${whole}");
            let inside = whole.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
            let end = inside.find(|letter: char| !is_name(letter)).unwrap_or(inside.len());
            let (name, rest) = inside.split_at(end);
            let value = if name.is_empty() { None } else { variable(name) };
            let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
            return match (value.filter(|value| default.is_none() || !value.is_empty()), default) {
                (Some(value), default) if rest.is_empty() || default.is_some() => Ok(Some(value)),
                // A default that is itself expanded is left to a shell.
                (None, Some(default)) if !default.contains(['$', '`']) => {
                    Ok(Some(default.trim_matches('"').to_owned()))
                }
                _ => Err(written),
            };
        }
        Some(letter) if letter.is_ascii_digit() || "?#@*!$-".contains(*letter) => {
            let written = letters.next().map(|letter| format!("${letter}"));
            return Err(written.unwrap_or_default());
        }
        _ => {}
    }
    let mut name = String::new();
    while let Some(letter) = letters.next_if(|letter| is_name(*letter)) {
        name.push(letter);
    }
    if name.is_empty() {
        return Ok(None);
    }
    variable(&name).map(Some).ok_or_else(|| format!("${name}"))
}

/// What the metadata service is asked for by `curl`, as the fact that the plan knows it by.
fn metadata(command: &str) -> Option<String> {
    let inside = command.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let mut words = inside.split_whitespace();
    let program = words.next()?;
    if !matches!(program.rsplit('/').next(), Some("curl" | "wget"))
        || inside.contains(['|', ';', '&', '<', '>'])
    {
        return None;
    }
    let mut asked = words.filter_map(|word| {
        let word = word.trim_matches(['"', '\'']);
        let host = word.strip_prefix("http://").unwrap_or(word).strip_prefix("169.254.169.254/")?;
        host.split_once("/meta-data/").map(|(_, what)| what.trim_end_matches('/'))
    });
    let fact = match asked.next()? {
        "instance-id" => "instanceId",
        "instance-type" => "instanceType",
        "instance-life-cycle" => "lifecycle",
        "placement/availability-zone" => "zone",
        "placement/region" => "region",
        "local-ipv4" => "address",
        "local-hostname" | "hostname" => "hostname",
        _ => return None,
    };
    asked.next().is_none().then(|| format!("@{{{fact}}}"))
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// What stands between a bracket and the one that closes it, both included.
fn enclosed(letters: &mut Peekable<Chars<'_>>, open: char, close: char) -> String {
    let mut whole = String::new();
    let mut depth = 0_usize;
    for letter in letters.by_ref() {
        whole.push(letter);
        if letter == open {
            depth = depth.saturating_add(1);
        } else if letter == close {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            break;
        }
    }
    whole
}

/// `NAME=value` taken apart; of `NAME+=value` the name has the sign.
pub(crate) fn assignment(line: &str) -> Option<(&str, &str)> {
    let mut line = line.trim();
    for word in ["export ", "readonly ", "declare ", "local "] {
        line = line.strip_prefix(word).unwrap_or(line).trim_start();
    }
    let (name, value) = line.split_once('=')?;
    let plain = name.strip_suffix('+').unwrap_or(name);
    let first = plain.chars().next()?;
    let fits = (first.is_ascii_alphabetic() || first == '_') && plain.chars().all(is_name);
    fits.then_some((name, value))
}

/// All that a command assigns, if it does nothing else: `A=1`, `export A=1 B=2`, `A+=3`. `None` for a value that only a
/// shell could tell.
pub(super) fn assignments(
    command: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<(String, String)>> {
    let (first, _) = assignment(command)?;
    let begin = command.find(first)?;
    let mut found: Vec<(String, String)> = Vec::new();
    for word in values(command.get(begin..)?, variable).ok()? {
        let (name, value) = assignment(&word)?;
        let value = match name.strip_suffix('+') {
            Some(name) => {
                let earlier = found.iter().rev().find(|(found, _)| found == name);
                format!("{}{value}", earlier.map(|(_, value)| value.clone()).or_else(|| variable(name))?)
            }
            None => value.to_owned(),
        };
        found.push((name.trim_end_matches('+').to_owned(), value));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<String> {
        match name {
            "NAME" => Some("demo".to_owned()),
            "TWO" => Some(" a b".to_owned()),
            "NONE" => Some(String::new()),
            _ => None,
        }
    }

    /// What `printf '[%s]'` of bash prints for the same words.
    #[test]
    fn words_are_split_as_bash_splits_them() {
        let expect = |line: &str, wanted: &[&str]| {
            assert_eq!(
                words(line, &known),
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
        ] {
            assert_eq!(words(line, &known), Err(vec![unknown.to_owned()]), "{line}");
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
        assert_eq!(words(&line, &known), Ok(expected));
        for other in ["mac", "instance-id | cut -c1-3", "instance-id; x"] {
            assert!(words(&format!("$({ask}{other})"), &known).is_err(), "{other}");
        }
    }

    #[test]
    fn assignments_are_read_one_by_one() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(assignments("A=$TWO", &known), Some(vec![pair("A", " a b")]));
        assert_eq!(
            assignments("export A='b c' B=$NAME", &known),
            Some(vec![pair("A", "b c"), pair("B", "demo")])
        );
        assert_eq!(assignments("NAME+=\" x\"", &known), Some(vec![pair("NAME", "demo x")]));
        for command in ["A=$(b)", "A=1 b", "OTHER+=1", "a b=c", "if A=1"] {
            assert_eq!(assignments(command, &known), None, "{command}");
        }
    }
}
