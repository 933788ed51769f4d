//! Words of kubelet's command line, as several systems pass them on.

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::tree::{Branch, text};

/// A flag with its value: what stands behind `=`, the word behind it, or `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flag<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) span: Span,
}

/// The flags among words, in their order; words that are none are passed over.
pub(crate) fn flags<'a>(words: impl IntoIterator<Item = (&'a str, Span)>) -> Vec<Flag<'a>> {
    let mut words = words.into_iter().peekable();
    let mut flags = Vec::new();
    while let Some((word, span)) = words.next() {
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else { continue };
        let (name, value) = flag.split_once('=').unwrap_or_else(|| {
            let value = words.next_if(|(next, _)| !next.starts_with("--"));
            (flag, value.map_or("true", |(value, _)| value))
        });
        flags.push(Flag { name, value, span });
    }
    flags
}

/// Adds what `--node-labels` says: `key=value,…`. Of a flag that stands twice, labels add up.
pub(crate) fn add_labels(labels: &mut Branch, flag: &Flag<'_>, value: &str) {
    for label in value.split(',').filter(|label| !label.is_empty()) {
        let (key, value) = label.split_once('=').unwrap_or((label, ""));
        labels.put(key, text(flag.span, value));
    }
}

/// What `--register-with-taints` says: `key=value:Effect,…`.
pub(crate) fn taints(value: &str, span: Span) -> Vec<Node> {
    let parts = value.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (mark, effect) = part.rsplit_once(':').unwrap_or((part, ""));
            let (key, value) = mark.split_once('=').unwrap_or((mark, ""));
            let mut taint = Branch::new(span);
            taint.put("key", text(span, key));
            taint.put("value", text(span, value));
            taint.put("effect", text(span, effect));
            taint.into_node()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bringup_diag::Span;

    use super::flags;

    #[test]
    fn a_value_stands_in_the_word_or_behind_it() {
        let span = Span::point(1, 1);
        let words = ["--a=b=c", "x", "--d", "e", "--f", "--", "--g"].map(|word| (word, span));
        let found: Vec<_> = flags(words).iter().map(|flag| (flag.name, flag.value)).collect();
        assert_eq!(found, [("a", "b=c"), ("d", "e"), ("f", "true"), ("g", "true")]);
    }
}
