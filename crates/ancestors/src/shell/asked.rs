//! What a script asks EKS for, and hands to its call: the agent asks for it itself, where it has the cluster's name.

use super::reading::Reading;
use super::script::Dropped;
use super::values::Values;
use super::words::{self, raw};

/// Flags of the call, and what of a cluster each is.
const FLAGS: [(&str, &str); 2] =
    [("--apiserver-endpoint", "endpoint"), ("--b64-cluster-ca", "certificateAuthority")];

/// Flags by which somebody else is asked, or somebody else asks: the agent does so as the node.
const OTHERS: [&str; 2] = ["--endpoint-url", "--profile"];

/// A question to EKS about a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The cluster's name, as it is written.
    written: String,
    /// The name itself, if it is known.
    name: Option<String>,
    /// The question.
    command: String,
}

impl Asked {
    /// The question that a value consists of: `$(aws eks describe-cluster …)`, or the same between backticks.
    pub(super) fn of(value: &str, known: &Values) -> Option<Self> {
        let value = unquoted(value);
        let round = value.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
        let command = round.or_else(|| value.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')))?;
        let words: Vec<&str> = raw(command).into_iter().map(|(word, _)| word).collect();
        let is_aws = words.first().is_some_and(|first| first.rsplit('/').next() == Some("aws"));
        let is_others = |word: &&str| OTHERS.contains(&word.split('=').next().unwrap_or_default());
        if !(is_aws && words.contains(&"eks") && words.contains(&"describe-cluster"))
            || words.iter().any(is_others)
        {
            return None;
        }
        let given = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--name")? {
            "" => words.get(at.saturating_add(1)).copied(),
            rest => rest.strip_prefix('='),
        })?;
        let name = words::value(given, known).ok();
        Some(Self { written: plain(given), name, command: command.to_owned() })
    }

    /// Whether it is what a flag wants of the cluster of this name.
    fn fits(&self, what: &str, cluster: &str, known: &Values) -> bool {
        let same = plain(cluster) == self.written
            || (self.name.is_some() && words::value(cluster, known).ok() == self.name);
        same && self.command.contains(what)
    }
}

impl Reading {
    /// The words of a call without what the agent asks EKS for itself.
    pub(super) fn without_asked(&mut self, number: u32, own: &str) -> String {
        let words: Vec<&str> = raw(own).into_iter().map(|(word, _)| word).collect();
        let Some(cluster) = positional(&words) else { return own.to_owned() };
        let mut kept = Vec::with_capacity(words.len());
        let mut left_out = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let (flag, value) =
                word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
            let known = FLAGS.iter().find(|(name, _)| *name == flag);
            let next = rest.as_slice().first().copied();
            let asks = known.is_some_and(|(_, what)| {
                let asked = value.or(next).and_then(|value| self.asked_by(value));
                asked.is_some_and(|asked| asked.fits(what, cluster, &self.values))
            });
            if !asks {
                kept.push(*word);
                continue;
            }
            left_out.push((number, flag.to_owned(), Dropped::Asked));
            if value.is_none() {
                rest.next();
            }
        }
        if left_out.is_empty() {
            return own.to_owned();
        }
        self.dropped.append(&mut left_out);
        kept.join(" ")
    }

    /// The question whose answer a word is: itself, or through a variable.
    fn asked_by(&self, word: &str) -> Option<Asked> {
        let name = plain(word);
        let stored = name.strip_prefix('$').and_then(|name| self.asked.get(name)).cloned();
        stored.or_else(|| Asked::of(word, &self.values))
    }
}

/// The first word that is neither a flag nor a flag's value.
fn positional<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            return Some(word);
        }
        if !word.contains('=') {
            words.next();
        }
    }
    None
}

fn unquoted(word: &str) -> &str {
    word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(word)
}

/// A word without quotes, and `${NAME}` as `$NAME`.
fn plain(word: &str) -> String {
    let word = unquoted(word);
    let name = word.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.map_or_else(|| word.to_owned(), |name| format!("${name}"))
}
