//! The shapes of another system's values. Its own reader refuses a value of another shape; here it would be lost.

use bringup_diag::Span;
use bringup_yaml::{Content, Node, Resolved, Scalar};

use crate::codes;
use crate::fields::is_nothing;
use crate::tell::Teller;

/// What is written as the value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Anything: another reader looks at it.
    Any,
    /// One word or line; numbers and truth values are text, too.
    Text,
    /// A text for Go's reader, which refuses numbers and truth values without quotes.
    GoText,
    /// A number, in quotes or without.
    Number,
    /// A truth value.
    Flag,
    /// A text, or else this.
    TextOr(&'static Shape),
    /// A list whose items are all of one shape.
    ListOf(&'static Shape),
    /// A mapping whose values are all of one shape.
    MapOf(&'static Shape),
    /// A mapping of which some fields are looked at.
    Fields(&'static [(&'static str, Shape)]),
}

use Shape::{Any, Fields, Flag, GoText, ListOf, MapOf, Number, Text, TextOr};

/// A list of texts.
pub(crate) const TEXTS: Shape = ListOf(&Text);
/// A list of which each item is read by itself.
pub(crate) const LIST: Shape = ListOf(&Any);
/// A mapping of texts.
pub(crate) const TEXT_MAP: Shape = MapOf(&Text);
/// A mapping that is read by itself.
pub(crate) const MAP: Shape = MapOf(&Any);

impl Teller<'_> {
    /// Tells where a value, or what is in it, is of another shape. Values themselves are not shown: some are secrets.
    pub(crate) fn shape(&mut self, node: &Node, what: &str, shape: Shape) {
        if is_nothing(node) {
            return;
        }
        match (shape, &node.content) {
            (Any, _) | (Text | TextOr(_), Content::Scalar(_)) => {}
            (GoText, Content::Scalar(scalar))
                if matches!(scalar.go(), Resolved::String(_) | Resolved::Timestamp(_)) => {}
            (Number, Content::Scalar(_)) if is_number(node) => {}
            (Flag, Content::Scalar(_)) if truth(node).is_some() => {}
            (TextOr(other), Content::Map(_)) => self.shape(node, what, *other),
            (ListOf(each), Content::List(items)) => {
                for item in items {
                    self.shape(item, &format!("an item of {what}"), *each);
                }
            }
            (MapOf(each), Content::Map(entries)) => {
                for entry in entries {
                    self.shape(&entry.value, &format!("`{}` in {what}", entry.key), *each);
                }
            }
            (Fields(fields), Content::Map(entries)) => {
                for entry in entries {
                    if let Some((name, shape)) = fields.iter().find(|(name, _)| *name == entry.key) {
                        self.shape(&entry.value, &format!("`{name}` of {what}"), *shape);
                    }
                }
            }
            _ => {
                let (wanted, hint) = words(shape);
                let message = format!("{what} must be {wanted}, and is {}", seen(node));
                self.wrong_type(node.span, message, hint);
            }
        }
    }

    /// Tells of a value of a wrong type.
    pub(crate) fn wrong_type(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.error(codes::WRONG_TYPE, span, message, hint);
    }
}

/// The truth value of a leaf, in the words that Go's reader takes for one.
pub(crate) fn truth(node: &Node) -> Option<bool> {
    match node.scalar()?.go() {
        Resolved::Bool(value) => Some(value),
        _ => None,
    }
}

/// A shape, and how it is written.
fn words(shape: Shape) -> (&'static str, &'static str) {
    match shape {
        Any | Text => ("a text", "write one value, in quotes if need be"),
        GoText => ("a text", "write one value, in quotes"),
        Number => ("a number", "write a number, such as `1`"),
        Flag => ("a truth value", "write `true` or `false`, without quotes"),
        TextOr(_) => ("a text or a mapping", "write one word, or fields as `name: value`"),
        ListOf(Text | GoText) => ("a list of texts", "write each text behind a dash, or all as `[one, two]`"),
        ListOf(_) => ("a list", "write each item behind a dash"),
        MapOf(Text | GoText) => {
            ("a mapping of texts", "write each as `key: value`, or all as `{key: value}`")
        }
        MapOf(_) | Fields(_) => ("a mapping", "write its fields as `name: value`, one below the other"),
    }
}

fn is_number(node: &Node) -> bool {
    let quoted = node.text().is_some_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite));
    quoted || matches!(node.scalar().map(Scalar::go), Some(Resolved::Integer(_)))
}

fn seen(node: &Node) -> &'static str {
    match &node.content {
        Content::List(_) => "a list",
        Content::Map(_) => "a mapping",
        Content::Scalar(scalar) => match scalar.core() {
            Resolved::Bool(_) => "a truth value",
            Resolved::Integer(_) | Resolved::Float(_) => "a number",
            _ => "a text",
        },
    }
}
