//! Words of kubelet's command line, each in the place that it has here.

use bringup_diag::Span;
use bringup_yaml::Node;

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
    let mut words = words.iter().peekable();
    while let Some(node) = words.next() {
        let Some(flag) = node.text().and_then(|word| word.strip_prefix("--")) else { continue };
        let (name, value) = flag.split_once('=').unwrap_or_else(|| {
            let next = words.next_if(|next| next.text().is_some_and(|word| !word.starts_with("--")));
            (flag, next.and_then(Node::text).unwrap_or("true"))
        });
        let value = unquoted(value);
        match name {
            "node-labels" => {
                for label in value.split(',').filter(|label| !label.is_empty()) {
                    let (key, value) = label.split_once('=').unwrap_or((label, ""));
                    flags.labels.put(key, text(node.span, value));
                }
            }
            "register-with-taints" => flags.taints = taints(value, node.span),
            _ => flags.others.put(name, text(node.span, value)),
        }
    }
    flags
}

/// Flags reach kubelet through a variable of its unit, and systemd takes the quotes off the words of that.
fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

/// `key=value:Effect,…`
fn taints(value: &str, span: Span) -> Vec<Node> {
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
    use super::unquoted;

    #[test]
    fn quotes_are_for_systemd() {
        assert_eq!(unquoted("\"a/b=c,team=a\""), "a/b=c,team=a");
        assert_eq!(unquoted("'a=b'"), "a=b");
        assert_eq!(["\"", "\"a", "a'b", ""].map(unquoted), ["\"", "\"a", "a'b", ""]);
    }
}
