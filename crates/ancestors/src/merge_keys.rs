//! `<<: *common` as the readers of the other systems take it: keys of another mapping, which the mapping's own replace.

use bringup_yaml::{Content, Entry, Node};

/// The tree with its merge keys carried out.
pub(crate) fn carried_out(node: Node) -> Node {
    let content = match node.content {
        Content::Scalar(_) => return node,
        Content::List(items) => Content::List(items.into_iter().map(carried_out).collect()),
        Content::Map(entries) => Content::Map(merged(entries)),
    };
    Node { content, ..node }
}

fn merged(entries: Vec<Entry>) -> Vec<Entry> {
    let mut own: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut lent: Vec<Entry> = Vec::new();
    for entry in entries {
        let entry = Entry { value: carried_out(entry.value), ..entry };
        match (entry.key.as_str(), entry.value.content) {
            ("<<", Content::Map(entries)) => lent.extend(entries),
            // Of several mappings the first wins.
            ("<<", Content::List(items)) => {
                for item in items {
                    if let Content::Map(entries) = item.content {
                        lent.extend(entries);
                    }
                }
            }
            (_, content) => own.push(Entry { value: Node { content, ..entry.value }, ..entry }),
        }
    }
    for entry in lent {
        if !own.iter().any(|known| known.key == entry.key) {
            own.push(entry);
        }
    }
    own
}
