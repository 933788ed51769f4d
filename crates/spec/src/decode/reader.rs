//! What a decoder carries along: the file's name and the findings so far.

use bringup_diag::{Code, Finding, Findings, Place, Span, closest};
use bringup_yaml::{Entry, Node};

use super::Decode;
use crate::codes;

/// Collects findings while a document is decoded.
#[derive(Debug)]
pub struct Reader {
    file: String,
    findings: Findings,
}

impl Reader {
    /// A reader for a file of this name.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), findings: Findings::new() }
    }

    /// The findings so far.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// The place of a span in this file.
    pub fn place(&self, span: Span) -> Place {
        Place::new(self.file.clone(), span)
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

    /// The entries of a mapping, having reported what is no mapping, unknown keys and duplicate keys.
    pub fn entries<'a>(&mut self, node: &'a Node, what: &str, known: &[&str]) -> Option<&'a [Entry]> {
        let Some(entries) = node.entries() else {
            let hint = format!("write a mapping with the keys {}", listed(known));
            return self.fault(codes::WRONG_TYPE, node.span, format!("{what} must be a mapping"), hint);
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let hint = match closest(&entry.key, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known keys are {}", listed(known)),
                };
                let message = format!("unknown key `{}` in {what}", entry.key);
                let _: Option<()> = self.fault(codes::UNKNOWN_KEY, entry.key_span, message, hint);
            }
        }
        self.duplicates(entries);
        Some(entries)
    }

    /// Reports keys that stand twice.
    pub fn duplicates(&mut self, entries: &[Entry]) {
        // Mappings written by hand are short: comparing pairs beats building a set.
        let large = entries.len() > 64;
        let mut seen: std::collections::BTreeMap<&str, Span> = std::collections::BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let first = if large {
                let first = seen.get(entry.key.as_str()).copied();
                seen.entry(&entry.key).or_insert(entry.key_span);
                first
            } else {
                entries
                    .iter()
                    .take(index)
                    .find(|earlier| earlier.key == entry.key)
                    .map(|earlier| earlier.key_span)
            };
            if let Some(first) = first {
                let finding =
                    Finding::error(codes::DUPLICATE_KEY, format!("the key `{}` stands twice", entry.key))
                        .at(self.place(entry.key_span))
                        .related(self.place(first), "first here")
                        .hint("keep one of the two; readers of YAML silently take the last");
                self.findings.push(finding);
            }
        }
    }

    /// The value of one key of a record.
    pub fn field<T: Decode>(&mut self, node: &Node, entries: &[Entry], key: &str, what: &str) -> Option<T> {
        match entries.iter().rev().find(|entry| entry.key == key) {
            Some(entry) => T::decode(&entry.value, self),
            None => T::absent().or_else(|| {
                let hint = format!("add `{key}:`");
                self.fault(codes::MISSING_KEY, node.span_of_head(), format!("{what} has no `{key}`"), hint)
            }),
        }
    }
}

trait Head {
    fn span_of_head(&self) -> Span;
}

impl Head for Node {
    /// The first line of a mapping: carets beneath all of it would bury the message.
    fn span_of_head(&self) -> Span {
        self.entries().and_then(<[Entry]>::first).map_or(self.span, |entry| entry.key_span)
    }
}

/// `a`, `b` and `c`, for messages.
pub fn known_fields(known: &[&str]) -> String {
    listed(known)
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
