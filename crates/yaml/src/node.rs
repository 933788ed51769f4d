//! A value with the place where it stands.

use std::collections::BTreeMap;

use bringup_diag::Span;

use crate::{Path, Segment, Value};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it holds.
    pub content: Content,
    /// Where it stands.
    pub span: Span,
    /// An explicit tag such as `!Ref` or `!!str`, as written.
    pub tag: Option<String>,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A leaf; its type is not decided yet.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in the order written, duplicates included.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key's text; a key that is no scalar is shown as its place in brackets.
    pub key: String,
    /// How the key was written.
    pub key_style: Style,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// A leaf as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text after unquoting and folding.
    pub text: String,
    /// How it was written.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: its type follows from its text.
    Plain,
    /// In single or double quotes: always a string.
    Quoted,
    /// A `|` block: always a string, and each of its lines is one of the text.
    Block,
    /// A `>` block: always a string, whose lines were joined.
    Folded,
}

impl Default for Node {
    /// Nothing, nowhere.
    fn default() -> Self {
        let content = Content::Scalar(Scalar { text: String::new(), style: Style::Plain });
        Self { content, span: Span::default(), tag: None }
    }
}

impl Node {
    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Content::Map(entries) = &self.content { Some(entries) } else { None }
    }

    /// The items of a sequence.
    pub fn items(&self) -> Option<&[Node]> {
        if let Content::List(items) = &self.content { Some(items) } else { None }
    }

    /// The leaf.
    pub fn scalar(&self) -> Option<&Scalar> {
        if let Content::Scalar(scalar) = &self.content { Some(scalar) } else { None }
    }

    /// The text of a leaf, whatever its type.
    pub fn text(&self) -> Option<&str> {
        self.scalar().map(|scalar| scalar.text.as_str())
    }

    /// The value of a key; of duplicates, the last, as every reader of YAML takes it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The span of the value at `path` or, where the path leads nowhere, of its deepest ancestor that is there.
    ///
    /// The last step of a path that ends in a key gives the key's span joined to nothing else: that is where the
    /// eye should go for a missing or superfluous key.
    pub fn span_at(&self, path: &Path) -> Span {
        let mut node = self;
        let mut span = self.span;
        for segment in path.segments() {
            let next = match segment {
                Segment::Key(key) => node.get(key),
                Segment::Index(index) => node.items().and_then(|items| items.get(*index)),
            };
            let Some(next) = next else { break };
            node = next;
            span = next.span;
        }
        span
    }

    /// The span of the key that the last step of `path` names, or what [`Node::span_at`] gives.
    pub fn key_span_at(&self, path: &Path) -> Span {
        let mut node = self;
        let mut span = self.span;
        for segment in path.segments() {
            let next = match segment {
                Segment::Key(key) => match node
                    .entries()
                    .and_then(|entries| entries.iter().rev().find(|entry| entry.key == *key))
                {
                    Some(entry) => {
                        span = entry.key_span;
                        Some(&entry.value)
                    }
                    None => None,
                },
                Segment::Index(index) => {
                    let item = node.items().and_then(|items| items.get(*index));
                    if let Some(item) = item {
                        span = item.span;
                    }
                    item
                }
            };
            let Some(next) = next else { break };
            node = next;
        }
        span
    }

    /// The same tree, so many lines further down.
    #[must_use]
    pub fn lower_by(mut self, lines: u32) -> Self {
        self.span = self.span.lower_by(lines);
        match &mut self.content {
            Content::Scalar(_) => {}
            Content::List(items) => {
                for item in items.iter_mut() {
                    *item = std::mem::take(item).lower_by(lines);
                }
            }
            Content::Map(entries) => {
                for entry in entries.iter_mut() {
                    entry.key_span = entry.key_span.lower_by(lines);
                    entry.value = std::mem::take(&mut entry.value).lower_by(lines);
                }
            }
        }
        self
    }

    /// The plain value by YAML 1.2's core schema; of duplicate keys the last counts, tags are dropped.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => match self.tag.as_deref() {
                Some("!!str" | "!") => Value::String(scalar.text.clone()),
                _ => scalar.core().into(),
            },
            Content::List(items) => Value::List(items.iter().map(Node::to_value).collect()),
            Content::Map(entries) => {
                let mut map: Vec<(String, Value)> = Vec::with_capacity(entries.len());
                let mut slots: BTreeMap<&str, usize> = BTreeMap::new();
                for entry in entries {
                    let value = entry.value.to_value();
                    let slot = *slots.entry(&entry.key).or_insert(map.len());
                    match map.get_mut(slot) {
                        Some(slot) => slot.1 = value,
                        None => map.push((entry.key.clone(), value)),
                    }
                }
                Value::Map(map)
            }
        }
    }
}
