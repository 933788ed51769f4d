//! What a decoder carries along: the file's name and text, and the findings so far.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bringup_diag::{Code, Finding, Findings, Place, Position, Span, is_secret_key};
use bringup_yaml::{Entry, Node, Resolved, Scalar};

use super::{Decode, KeyHomes, SourceText, text_fault};
use crate::{Files, codes};

/// Collects findings while a document is decoded.
#[derive(Debug)]
pub struct Reader {
    files: Files,
    source: SourceText,
    findings: Findings,
    homes: Option<KeyHomes>,
    /// Whether the value that is being read belongs to a key that names a secret.
    hushed: bool,
    /// The innermost entries and items that could not be read.
    broken: Vec<Broken>,
}

/// What could not be read, by its place. In a translated document, a mapping's keys may stand where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// An entry of a mapping, by the place of its key.
    Entry(Span),
    /// An item of a list.
    Item(Span),
}

impl Reader {
    /// A reader for a file of this name.
    pub fn new(file: impl Into<String>) -> Self {
        Self::with_source(file, "")
    }

    /// A reader that has the text too, and so can point at a place inside a value.
    pub fn with_source(file: impl Into<String>, text: &str) -> Self {
        Self::over(Files::one(file), text)
    }

    /// The same for several files.
    pub fn over(files: Files, text: &str) -> Self {
        let source = SourceText::new(text);
        Self { files, source, findings: Findings::new(), homes: None, hushed: false, broken: Vec::new() }
    }

    /// The innermost entries and items that could not be read, since this was last asked.
    pub(crate) fn take_broken(&mut self) -> Vec<Broken> {
        std::mem::take(&mut self.broken)
    }

    /// Reads an item of a list.
    pub(crate) fn item<T: Decode>(&mut self, item: &Node) -> Option<T> {
        let before = self.broken.len();
        let value = T::decode(item, self);
        if value.is_none() && self.broken.len() == before {
            self.broken.push(Broken::Item(item.span));
        }
        value
    }

    /// Records an error about an item of a list.
    pub(crate) fn broken_item<T>(&mut self, code: Code, item: &Node, message: &str, hint: &str) -> Option<T> {
        self.broken.push(Broken::Item(item.span));
        self.fault(code, item.span, message, hint)
    }

    /// The findings so far.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// The place of a span in its file.
    pub fn place(&self, span: Span) -> Place {
        self.files.place(span)
    }

    /// Records an error and gives `None`, so that a decoder can end with it.
    pub fn fault<T>(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        let finding = Finding::error(code, message).at(self.place(span)).hint(hint);
        self.findings.push(finding);
        None
    }

    /// Records any finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// A value for a message: in backticks, shortened, and not at all where its key names a secret.
    pub fn shown(&self, value: &str) -> String {
        if self.hushed { "this value".to_owned() } else { crate::value::quoted(value) }
    }

    /// Whether messages must not repeat the value that is being read.
    pub fn is_hushed(&self) -> bool {
        self.hushed
    }

    /// Where the `ordinal`th `needle` stands inside the scalar `node`, counted in its text; the scalar if that is unsure.
    pub fn span_within(&self, node: &Node, needle: &str, ordinal: usize) -> Span {
        let expected = node.text().unwrap_or_default().matches(needle).count();
        let found = self.source.occurrences(node.span, needle);
        match found.get(ordinal) {
            Some(start) if found.len() == expected => {
                let width = u32::try_from(needle.chars().count()).unwrap_or(1);
                let end = self
                    .source
                    .closing(*start, '}')
                    .unwrap_or(Position { column: start.column.saturating_add(width), ..*start });
                Span { start: *start, end }
            }
            _ => node.span,
        }
    }

    /// The entries of a mapping, having reported what is no mapping, unknown keys and duplicate keys.
    ///
    /// Nothing at all counts as a mapping without entries.
    pub fn entries<'a>(&mut self, node: &'a Node, what: &str, known: &[&str]) -> Option<&'a [Entry]> {
        if is_nothing(node) {
            return Some(&[]);
        }
        let Some(entries) = node.entries() else {
            let hint = format!("write a mapping with the keys {}", known_fields(known));
            return self.fault(codes::WRONG_TYPE, node.span, format!("{what} must be a mapping"), hint);
        };
        for entry in entries {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            if entry.key == "<<" {
                self.merge_keys(std::slice::from_ref(entry));
                continue;
            }
            let (message, hint) = if is_no_text(entry) {
                (
                    format!("a key of {what} must be text"),
                    "if this is a template such as `{{ … }}`, render it first; else write the value in quotes"
                        .to_owned(),
                )
            } else {
                let hint = self.homes.get_or_insert_with(KeyHomes::of_documents).hint(&entry.key, known);
                (format!("unknown key `{}` in {what}", shortened(&entry.key)), hint)
            };
            let _: Option<()> = self.fault(codes::UNKNOWN_KEY, entry.key_span, message, hint);
        }
        self.duplicates(entries);
        Some(entries)
    }

    /// Reports keys that stand twice.
    pub fn duplicates(&mut self, entries: &[Entry]) {
        // Mappings written by hand are short: comparing pairs beats building a set.
        let is_short = entries.len() <= 16;
        if is_short
            && !entries
                .iter()
                .enumerate()
                .any(|(index, entry)| entries.iter().take(index).any(|earlier| earlier.key == entry.key))
        {
            return;
        }
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for entry in entries {
            let Some(first) = seen.insert(&entry.key, entry.key_span) else { continue };
            let finding = Finding::error(
                codes::DUPLICATE_KEY,
                format!("the key `{}` stands twice", shortened(&entry.key)),
            )
            .at(self.place(entry.key_span))
            .related(self.place(first), "first here")
            .hint("keep one of the two; most readers of YAML silently take the last");
            self.findings.push(finding);
            seen.insert(&entry.key, first);
        }
    }

    /// Reports `<<`, which readers of YAML 1.1 take for the keys of another mapping.
    pub(crate) fn merge_keys(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.key == "<<") {
            let _: Option<()> = self.fault(
                codes::UNKNOWN_KEY,
                entry.key_span,
                "merge keys are not supported: `<<` is no part of YAML 1.2",
                "write the keys themselves; an alias may stand for a whole value, as in `labels: *common`",
            );
        }
    }

    /// The value of one key of a record.
    pub fn field<T: Decode>(&mut self, node: &Node, entries: &[Entry], key: &str, what: &str) -> Option<T> {
        match entries.iter().rev().find(|entry| entry.key == key) {
            Some(entry) => {
                let text = entry.value.text().filter(|_| T::needs_letters() && !is_nothing(&entry.value));
                let Some(fault) = text.and_then(|text| text_fault(key, text)) else {
                    return self.value(entry);
                };
                let hint = if T::absent().is_some() {
                    format!("write a value on one line, or remove `{key}`")
                } else {
                    "write a value on one line".to_owned()
                };
                self.broken.push(Broken::Entry(entry.key_span));
                self.fault(codes::WRONG_VALUE, entry.value.span, format!("`{key}` {fault}"), hint)
            }
            None => T::absent().or_else(|| {
                let hint = format!("add `{key}:`");
                self.fault(codes::MISSING_KEY, head(node), format!("{what} has no `{key}`"), hint)
            }),
        }
    }

    /// The value of an entry.
    pub fn value<T: Decode>(&mut self, entry: &Entry) -> Option<T> {
        let outer = self.hushed;
        self.hushed = outer || is_secret_key(&entry.key);
        // A value that is not there has no place of its own: its key has.
        let node = if is_nothing(&entry.value) {
            Cow::Owned(Node { span: entry.key_span, ..entry.value.clone() })
        } else {
            Cow::Borrowed(&entry.value)
        };
        let before = self.broken.len();
        let value = T::decode(&node, self);
        if value.is_none() && self.broken.len() == before {
            self.broken.push(Broken::Entry(entry.key_span));
        }
        self.hushed = outer;
        value
    }
}

/// Whether nothing is written: `key:`, `key: ~` or `key: null`.
pub(crate) fn is_nothing(node: &Node) -> bool {
    node.tag.is_none() && node.scalar().map(Scalar::core) == Some(Resolved::Null)
}

/// A key that is a list or a mapping is kept as its place in brackets.
fn is_no_text(entry: &Entry) -> bool {
    let start = entry.key_span.start;
    entry.key == format!("[{}:{}]", start.line, start.column)
}

/// The first key of a mapping: carets beneath all of it would bury the message.
fn head(node: &Node) -> Span {
    node.entries().and_then(<[Entry]>::first).map_or(node.span, |entry| entry.key_span)
}

/// `a`, `b` and `c`, for messages.
pub fn known_fields(known: &[&str]) -> String {
    known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Enough of a value to recognise it.
pub(crate) fn shortened(value: &str) -> String {
    const MOST: usize = 60;
    let line = value.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MOST).collect();
    if short.len() < value.trim_end().len() { format!("{short}…") } else { short }
}
