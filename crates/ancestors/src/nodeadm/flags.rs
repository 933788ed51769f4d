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
    for flag in kubelet_flags::flags(words.iter().filter_map(|node| Some((node.text()?, node.span)))) {
        let value = unquoted(flag.value);
        match flag.name {
            "node-labels" => add_labels(&mut flags.labels, &flag, value),
            "register-with-taints" => flags.taints = kubelet_flags::taints(value, flag.span),
            name => flags.others.put(name, text(flag.span, value)),
        }
    }
    flags
}

/// Flags reach kubelet through a variable of its unit, and systemd takes the quotes off the words of that.
fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn quotes_are_for_systemd() {
        assert_eq!(unquoted("\"a/b=c,team=a\""), "a/b=c,team=a");
        assert_eq!(unquoted("'a=b'"), "a=b");
        assert_eq!(["\"", "\"a", "a'b", ""].map(unquoted), ["\"", "\"a", "a'b", ""]);
    }
}
