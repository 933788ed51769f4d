//! Trees of Bringup documents, grown from the places of another system's.

use bringup_diag::Span;
use bringup_yaml::{Content, Entry, Node, Scalar, Style};

/// A mapping that grows.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    entries: Vec<Entry>,
    span: Span,
}

impl Branch {
    /// An empty mapping that stands for what is at `span`.
    pub(crate) fn new(span: Span) -> Self {
        Self { entries: Vec::new(), span }
    }

    /// Whether nothing has been put in.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets a key to a value; both stand where the value does.
    pub(crate) fn put(&mut self, key: &str, value: Node) {
        let key_span = value.span;
        self.put_entry(key, key_span, value);
    }

    /// Sets a key to the value of another system's field, and keeps the place of its key.
    pub(crate) fn put_field(&mut self, key: &str, field: &Entry) {
        self.put_entry(key, field.key_span, field.value.clone());
    }

    /// Sets a key to a value, where there is one.
    pub(crate) fn put_some(&mut self, key: &str, value: Option<Node>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Sets a key to a mapping or a list, unless that is empty.
    pub(crate) fn put_full(&mut self, key: &str, value: Node) {
        let is_empty = match &value.content {
            Content::Map(entries) => entries.is_empty(),
            Content::List(items) => items.is_empty(),
            Content::Scalar(_) => false,
        };
        if !is_empty {
            self.put(key, value);
        }
    }

    fn put_entry(&mut self, key: &str, key_span: Span, value: Node) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.push(Entry { key: key.to_owned(), key_style: Style::Plain, key_span, value });
    }

    /// The mapping.
    pub(crate) fn into_node(self) -> Node {
        Node { content: Content::Map(self.entries), span: self.span, tag: None }
    }
}

/// A text.
pub(crate) fn text(span: Span, text: impl Into<String>) -> Node {
    leaf(span, text.into(), Style::Quoted)
}

/// A number, a truth value or anything else that is written without quotes.
#[expect(clippy::needless_pass_by_value, reason = "numbers and truth values are written where it is called")]
pub(crate) fn plain(span: Span, value: impl ToString) -> Node {
    leaf(span, value.to_string(), Style::Plain)
}

/// A list.
pub(crate) fn list(span: Span, items: Vec<Node>) -> Node {
    Node { content: Content::List(items), span, tag: None }
}

/// The value of a key of a mapping, to be changed.
pub(crate) fn field<'a>(tree: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Content::Map(entries) = &mut tree.content else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
}

/// A tree whose every place is this one.
pub(crate) fn moved(mut tree: Node, span: Span) -> Node {
    tree.span = span;
    match &mut tree.content {
        Content::Map(entries) => {
            for entry in entries {
                entry.key_span = span;
                entry.value = moved(entry.value.clone(), span);
            }
        }
        Content::List(items) => {
            for item in items {
                *item = moved(item.clone(), span);
            }
        }
        Content::Scalar(_) => {}
    }
    tree
}

fn leaf(span: Span, text: String, style: Style) -> Node {
    Node { content: Content::Scalar(Scalar { text, style }), span, tag: None }
}
