//! What stands behind a `$` in a command, as far as it is known beforehand.

use std::iter::Peekable;
use std::str::Chars;

use super::values::{Values, is_name};

/// What an expansion comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expansion {
    /// Nothing is expanded: the `$` is one.
    Sign,
    /// A text, which is split unless it is in quotes.
    Text(String),
    /// Words that stay as they are in quotes: `"${NAME[@]}"`.
    Words(Vec<String>),
}

/// Reads `NAME`, `{NAME}`, `{NAME[@]}`, `{NAME:-default}` or a question to the metadata service. What is not known is given
/// back as it is written.
pub(super) fn expansion(letters: &mut Peekable<Chars<'_>>, known: &Values) -> Result<Expansion, String> {
    match letters.peek() {
        Some('(') => {
            let whole = enclosed(letters, '(', ')');
            return metadata(&whole).map(Expansion::Text).ok_or_else(|| format!("${whole}"));
        }
        Some('{') => {
            let whole = enclosed(letters, '{', '}');
            let inside = whole.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
            return within_braces(inside, known).ok_or_else(|| format!("${whole}"));
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
        return Ok(Expansion::Sign);
    }
    known.get(&name).cloned().map(Expansion::Text).ok_or_else(|| format!("${name}"))
}

fn within_braces(inside: &str, known: &Values) -> Option<Expansion> {
    let end = inside.find(|letter: char| !is_name(letter)).unwrap_or(inside.len());
    let (name, rest) = inside.split_at(end);
    if name.is_empty() {
        return None;
    }
    let value = known.get(name).cloned();
    let default = |text: &str| {
        // A default that is itself expanded or in quotes is left to a shell.
        let plain = !text.contains(['$', '`', '"', '\'', '\\']);
        plain.then(|| Expansion::Text(text.to_owned()))
    };
    match rest {
        "" => value.map(Expansion::Text),
        "[@]" => known.list(name).map(|items| Expansion::Words(items.to_vec())),
        "[*]" => known.list(name).map(|items| Expansion::Text(items.join(" "))),
        rest => {
            let (text, also_empty) = match rest.strip_prefix(":-") {
                Some(text) => (text, true),
                None => (rest.strip_prefix('-')?, false),
            };
            match value.filter(|value| !(also_empty && value.is_empty())) {
                Some(value) => Some(Expansion::Text(value)),
                None if known.is_known(name) || known.is_unset(name) => default(text),
                None => None,
            }
        }
    }
}

/// What the metadata service is asked for by `curl`, as the fact that the plan knows it by.
pub(super) fn metadata(command: &str) -> Option<String> {
    let inside = command.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let mut words = inside.split_whitespace();
    let program = words.next()?.rsplit('/').next()?;
    if inside.contains(['|', ';', '&', '<', '>']) || !prints_answer(program, words.clone()) {
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

/// Flags of curl that have it print something else than the answer.
const ELSEWHERE: [&str; 5] = ["--output", "--remote-name", "--write-out", "--include", "--head"];

/// Whether a program prints what it is answered, and nothing else: curl unless it is told otherwise, wget where it is told so.
fn prints_answer<'a>(program: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
    match program {
        "curl" => !words.any(|word| {
            let short = word.strip_prefix('-').filter(|short| !short.starts_with('-')).unwrap_or_default();
            // What stands behind `-H` is a header.
            let short = short.split('H').next().unwrap_or_default();
            short.contains(['o', 'O', 'w', 'i', 'I'])
                || ELSEWHERE.contains(&word.split('=').next().unwrap_or_default())
        }),
        "wget" => {
            let all = format!("{} ", words.collect::<Vec<_>>().join(" "));
            ["O- ", "O - ", "--output-document=- "].iter().any(|way| all.contains(way))
        }
        _ => false,
    }
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
