//! The fields of another system's mapping, each with what becomes of it. Nothing is dropped in silence.

use bringup_diag::closest;
use bringup_yaml::{Entry, Node, Resolved, Scalar};

use crate::codes;
use crate::shapes::{Shape, truth};
use crate::tell::Teller;

/// What becomes of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// It is carried out; the one who does looks at its shape.
    Taken,
    /// It is carried out, and is written like this.
    Is(Shape),
    /// It shapes something other than the node, and the node is the same without it: what it shapes.
    Aside(&'static str),
    /// It is not carried out, and the node differs: what to do about it.
    Differs(&'static str),
    /// With it, no node can be brought up here: why, and what to do.
    Refused(&'static str, &'static str),
}

/// A field's name, and what becomes of it.
pub(crate) type Field = (&'static str, Use);

/// A mapping of another system whose fields have been accounted for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record<'a> {
    entries: &'a [Entry],
}

impl<'a> Record<'a> {
    /// The field of this name, unless it is empty; of twins the last.
    pub(crate) fn entry(&self, name: &str) -> Option<&'a Entry> {
        self.entries.iter().rev().find(|entry| entry.key == name && !is_nothing(&entry.value))
    }

    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// The text of a field that is a leaf.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.text()
    }

    /// The truth value of a field.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        truth(self.get(name)?)
    }

    /// The items of a field that is a list.
    pub(crate) fn items(&self, name: &str) -> &'a [Node] {
        self.get(name).and_then(Node::items).unwrap_or_default()
    }
}

impl Teller<'_> {
    /// Accounts for every field of a mapping: each is in the table, or is told of.
    ///
    /// `what` names the mapping in messages, such as "a node group of eksctl".
    pub(crate) fn record<'a>(&mut self, node: &'a Node, what: &str, table: &[Field]) -> Record<'a> {
        if is_nothing(node) {
            return Record { entries: &[] };
        }
        let Some(entries) = node.entries() else {
            let names: Vec<String> = table.iter().take(6).map(|(name, _)| format!("`{name}`")).collect();
            let hint = format!("write a mapping with fields such as {}", names.join(", "));
            self.wrong_type(node.span, format!("{what} must be a mapping"), hint);
            return Record { entries: &[] };
        };
        for (index, entry) in entries.iter().enumerate() {
            let twin = entries.iter().take(index).any(|earlier| earlier.key == entry.key);
            if twin {
                let message = format!("the field `{}` stands twice", entry.key);
                let hint = "keep one of the two; most readers of YAML silently take the last";
                self.error(codes::WRONG_TYPE, entry.key_span, message, hint);
            } else {
                self.account(entry, what, table);
            }
        }
        Record { entries }
    }

    fn account(&mut self, entry: &Entry, what: &str, table: &[Field]) {
        let name = &entry.key;
        let span = entry.key_span;
        match table.iter().find(|(known, _)| known == name).map(|(_, becomes)| becomes) {
            // What is empty says nothing, whatever it would do.
            Some(_) if is_nothing(&entry.value) => {}
            Some(Use::Taken) => {}
            Some(Use::Is(shape)) => self.shape(&entry.value, &format!("`{name}` of {what}"), *shape),
            Some(Use::Aside(shapes)) => {
                let message = format!("`{name}` of {what} shapes {shapes}, not the node: it is left aside");
                self.note(codes::FIELD_ASIDE, span, message, "the node comes up the same without it");
            }
            Some(Use::Differs(hint)) => {
                let message = format!("`{name}` of {what} is not carried out: the node will differ");
                self.warning(codes::FIELD_DIFFERS, span, message, *hint);
            }
            Some(Use::Refused(why, hint)) => {
                self.error(codes::FIELD_REFUSED, span, format!("`{name}` of {what}: {why}"), *hint);
            }
            None => {
                let message = format!("unknown field `{name}` in {what}");
                // A slip of the pen loses a setting; a field that this version is too old for may be harmless.
                if let Some(near) = closest(name, table.iter().map(|(known, _)| *known)) {
                    self.error(codes::UNKNOWN_FIELD, span, message, format!("did you mean `{near}`?"));
                } else {
                    let hint =
                        "the node may differ: this field is not known here, and nothing is done about it";
                    self.warning(codes::UNKNOWN_FIELD, span, message, hint);
                }
            }
        }
    }
}

/// Whether nothing is written: `key:`, `key: ~` or `key: null`.
pub(crate) fn is_nothing(node: &Node) -> bool {
    node.tag.is_none() && node.scalar().map(Scalar::core) == Some(Resolved::Null)
}
