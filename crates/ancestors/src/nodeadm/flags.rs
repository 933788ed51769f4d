//! Words of kubelet's command line, each in the place that it has here.

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::kubelet_flags::{self, add_labels};
use crate::tree::{Branch, text};

/// What the words say.
pub(super) struct Flags {
    pub(super) labels: Branch,
    pub(super) taints: Vec<Node>,
    pub(super) others: Branch,
}

/// Takes flags apart, as kubelet takes one that stands twice: labels add up, of anything else the last counts.
pub(super) fn taken_apart(words: &[Node], span: Span) -> Flags {
    let mut flags = Flags { labels: Branch::new(span), taints: Vec::new(), others: Branch::new(span) };
    let given = words.iter().filter_map(|node| Some((node.text()?, node.span)));
    let split: Vec<(String, Span)> =
        given.flat_map(|(word, span)| split(word).into_iter().map(move |word| (word, span))).collect();
    for flag in kubelet_flags::flags(split.iter().map(|(word, span)| (word.as_str(), *span))) {
        match flag.name {
            "node-labels" => add_labels(&mut flags.labels, &flag, flag.value),
            "register-with-taints" => flags.taints = kubelet_flags::taints(flag.value, flag.span),
            name => flags.others.put(name, text(flag.span, flag.value)),
        }
    }
    flags
}

/// Flags reach kubelet through one variable of its unit, and systemd splits that at white space and takes the quotes off, so
/// that an item may be several words.
fn split(item: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in item.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split;

    /// systemd.service(5), on `$FOO` as a word of its own: its value is split at white space, outside of quotes, which go.
    #[test]
    fn blanks_and_quotes_are_for_systemd() {
        assert_eq!(split("--node-labels=\"a/b=c,team=a\""), ["--node-labels=a/b=c,team=a"]);
        assert_eq!(split("--node-labels 'a=b'"), ["--node-labels", "a=b"]);
        assert_eq!(split("  --v\t4 --x=\"a b\"c "), ["--v", "4", "--x=a bc"]);
        assert_eq!(split("--a ''"), ["--a", ""]);
        assert_eq!(split("--a=\"b"), ["--a=b"]);
        assert!(split(" ").is_empty() && split("").is_empty());
    }
}
