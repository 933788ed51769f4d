//! Decoders of the plain types.

use std::collections::BTreeMap;

use bringup_diag::{Finding, closest};
use bringup_yaml::{Node, Resolved, Scalar, Style};
use serde_json::json;

use super::{Decode, Reader, Schemas, is_nothing, known_fields};
use crate::{Fault, codes};

impl Decode for bool {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Some(Resolved::Bool(truth)) = node.scalar().map(Scalar::core) {
            return Some(truth);
        }
        let meant = match node.text().map(str::to_ascii_lowercase).as_deref() {
            Some("true" | "yes" | "on" | "y" | "1") => Some(true),
            Some("false" | "no" | "off" | "n" | "0") => Some(false),
            _ => None,
        };
        let hint = match meant {
            Some(meant) => format!("write `{meant}`, without quotes"),
            None => "write `true` or `false`".to_owned(),
        };
        reader.fault(codes::WRONG_TYPE, node.span, "a boolean is expected here", hint).or(meant)
    }

    fn written(&self) -> Option<serde_json::Value> {
        Some((*self).into())
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "boolean"})
    }
}

macro_rules! whole_number {
    ($type:ty) => {
        impl Decode for $type {
            fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
                let range = format!("write a number from {} to {}", <$type>::MIN, <$type>::MAX);
                if let Some(Resolved::Integer(number)) = node.scalar().map(Scalar::core) {
                    return <$type>::try_from(number).ok().or_else(|| {
                        let message = format!("{} is out of range", reader.shown(&number.to_string()));
                        reader.fault(codes::WRONG_VALUE, node.span, message, range)
                    });
                }
                let meant = node.text().and_then(|text| text.parse::<$type>().ok());
                let hint = match meant {
                    Some(number) => format!("write {number} without quotes"),
                    None => range,
                };
                reader.fault(codes::WRONG_TYPE, node.span, "a whole number is expected here", hint).or(meant)
            }

            fn written(&self) -> Option<serde_json::Value> {
                Some((*self).into())
            }

            fn schema(_: &mut Schemas) -> serde_json::Value {
                json!({"type": "integer", "minimum": <$type>::MIN, "maximum": <$type>::MAX})
            }
        }
    };
}

whole_number!(u16);
whole_number!(u32);

impl Decode for String {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Some(scalar) = node.scalar() else {
            return reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a string is expected here",
                "write a single value",
            );
        };
        if matches!(node.tag.as_deref(), Some("!!str" | "!")) {
            return Some(scalar.text.clone());
        }
        match scalar.core() {
            Resolved::String(text) => {
                note_other_dialect(node, scalar, reader);
                Some(text)
            }
            Resolved::Null => no_value(node, reader),
            other => no_string(node, scalar, &other, reader).or_else(|| Some(scalar.text.clone())),
        }
    }

    fn needs_letters() -> bool {
        true
    }

    fn written(&self) -> Option<serde_json::Value> {
        Some(self.as_str().into())
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "string"})
    }
}

/// A value is needed, and none is written.
pub(crate) fn no_value<T>(node: &Node, reader: &mut Reader) -> Option<T> {
    reader.fault(
        codes::WRONG_TYPE,
        node.span,
        "a value is expected here, not nothing",
        "write a value, or remove the key",
    )
}

/// A string is needed, and what is written is something else to every reader of YAML.
pub(crate) fn no_string<T>(node: &Node, scalar: &Scalar, read: &Resolved, reader: &mut Reader) -> Option<T> {
    let message = format!(
        "a string is expected here; {} without quotes is {}",
        reader.shown(&scalar.text),
        read.kind()
    );
    let hint = in_quotes(&scalar.text, reader);
    reader.fault(codes::WRONG_TYPE, node.span, message, hint)
}

/// A string to us, something else to readers of YAML 1.1, which most programs still are.
fn note_other_dialect(node: &Node, scalar: &Scalar, reader: &mut Reader) {
    let elsewhere = scalar.yaml11();
    if scalar.style != Style::Plain || matches!(elsewhere, Resolved::String(_) | Resolved::Null) {
        return;
    }
    let message = format!(
        "{} without quotes is {} to many readers of YAML",
        reader.shown(&scalar.text),
        elsewhere.kind()
    );
    let hint = in_quotes(&scalar.text, reader);
    reader.push(Finding::note(codes::AMBIGUOUS, message).at(reader.place(node.span)).hint(hint));
}

fn in_quotes(text: &str, reader: &Reader) -> String {
    if reader.is_hushed() { "write it in quotes".to_owned() } else { format!("write \"{text}\"") }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::decode(node, reader).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn needs_letters() -> bool {
        T::needs_letters()
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        T::schema(schemas)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if is_nothing(node) {
            return Some(Vec::new());
        }
        let Some(items) = node.items() else {
            let hint = match node.text() {
                Some(text) if !reader.is_hushed() && text.len() <= 40 && !text.contains(['\n', '"', ',']) => {
                    // A path with words behind it is a command: its words are the items.
                    let words: Vec<&str> =
                        if text.starts_with('/') { text.split_whitespace().collect() } else { vec![text] };
                    format!(
                        "write [\"{}\"], or start each item on its own line with `- `",
                        words.join("\", \"")
                    )
                }
                _ => "start each item on its own line with `- `".to_owned(),
            };
            return reader.fault(codes::WRONG_TYPE, node.span, "a list is expected here", hint);
        };
        // Every item is read before the first fault counts: all faults of a list are told at once.
        let values: Vec<Option<T>> = items
            .iter()
            .map(|item| {
                let is_empty = T::needs_letters()
                    && !is_nothing(item)
                    && item.text().is_some_and(|text| text.trim().is_empty());
                if is_empty {
                    let hint = "write a value, or remove the item";
                    return reader.broken_item(codes::WRONG_VALUE, item, "this item is empty", hint);
                }
                reader.item(item)
            })
            .collect();
        values.into_iter().collect()
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        let mut items = T::schema(schemas);
        if let Some(items) = items.as_object_mut().filter(|_| T::needs_letters()) {
            items.insert("minLength".to_owned(), 1.into());
        }
        json!({"type": "array", "items": items})
    }
}

impl<T: Decode> Decode for BTreeMap<String, T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if is_nothing(node) {
            return Some(BTreeMap::new());
        }
        let Some(entries) = node.entries() else {
            let hint = match node.text().and_then(|text| text.split_once('=')) {
                Some((key, value)) if !reader.is_hushed() && !value.contains(['=', '\n']) => {
                    format!("write `{key}: {value}` on a line of its own")
                }
                _ => "write lines of `key: value`".to_owned(),
            };
            return reader.fault(codes::WRONG_TYPE, node.span, "a mapping is expected here", hint);
        };
        reader.duplicates(entries);
        reader.merge_keys(entries);
        let entries = entries.iter().filter(|entry| entry.key != "<<");
        let values: Vec<Option<(String, T)>> = entries
            .map(|entry| {
                if entry.key.trim().is_empty() {
                    let hint = "write a name before the `:`";
                    return reader.fault(codes::WRONG_VALUE, entry.key_span, "this key is empty", hint);
                }
                reader.value(entry).map(|value| (entry.key.clone(), value))
            })
            .collect();
        values.into_iter().collect()
    }

    fn absent() -> Option<Self> {
        Some(BTreeMap::new())
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": T::schema(schemas)})
    }
}

/// Any value, kept as it is: for configuration whose shape others define.
impl Decode for serde_json::Value {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        report_within(node, reader);
        Some(node.to_value().to_json())
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({})
    }
}

fn report_within(node: &Node, reader: &mut Reader) {
    for item in node.items().unwrap_or_default() {
        report_within(item, reader);
    }
    if let Some(entries) = node.entries() {
        reader.duplicates(entries);
        reader.merge_keys(entries);
        for entry in entries {
            report_within(&entry.value, reader);
        }
    }
    if let Some(Resolved::Float(number)) = node.scalar().map(Scalar::core)
        && !number.is_finite()
    {
        let _: Option<()> = reader.fault(
            codes::WRONG_VALUE,
            node.span,
            "infinity and not-a-number cannot be written in JSON",
            "write a number",
        );
    }
}

/// Reads one of some words and gives its index.
pub(crate) fn chosen(node: &Node, reader: &mut Reader, what: &str, words: &[&str]) -> Option<usize> {
    let one_of = format!("write one of {}", known_fields(words));
    let Some(text) = node.text() else {
        return reader.fault(codes::WRONG_TYPE, node.span, format!("a {what} is a single word"), one_of);
    };
    if is_nothing(node) {
        return reader.fault(
            codes::WRONG_TYPE,
            node.span,
            format!("a {what} is expected here, not nothing"),
            one_of,
        );
    }
    if let Some(index) = words.iter().position(|word| *word == text) {
        return Some(index);
    }
    // A tool that reads YAML 1.1 and writes it back turns `off` into `false`.
    let lost = match text {
        "false" => words.iter().find(|word| matches!(**word, "off" | "no")).copied(),
        "true" => words.iter().find(|word| matches!(**word, "on" | "yes")).copied(),
        _ => None,
    };
    let meant = lost.or_else(|| closest(text, words.iter().copied()));
    let hint = match meant {
        Some(near) => format!("did you mean `{near}`?"),
        None => one_of,
    };
    let message = format!("{} is no {what}", reader.shown(text));
    let meant = meant.and_then(|near| words.iter().position(|word| *word == near));
    reader.fault(codes::WRONG_VALUE, node.span, message, hint).or(meant)
}

/// Reads a scalar through the parser of its type.
///
/// What is right but for its quotes is refused all the same: the next program to touch the document would read
/// `1.30` as 1.3 and `0644` as 420 or 644.
pub(crate) fn parsed_scalar<T>(
    node: &Node,
    reader: &mut Reader,
    bare_numbers: bool,
    parse: impl FnOnce(&str) -> Result<T, Fault>,
) -> Option<T> {
    let Some(scalar) = node.scalar() else {
        return reader.fault(
            codes::WRONG_TYPE,
            node.span,
            "a single value is expected here",
            "write it on the same line",
        );
    };
    let resolved = if node.tag.is_some() { Resolved::String(scalar.text.clone()) } else { scalar.core() };
    if resolved == Resolved::Null {
        return no_value(node, reader);
    }
    match parse(&scalar.text) {
        Ok(value) => match resolved {
            Resolved::String(_) => Some(value),
            Resolved::Integer(_) if bare_numbers => Some(value),
            other => no_string(node, scalar, &other, reader).or(Some(value)),
        },
        Err(_) if reader.is_hushed() => reader.fault(
            codes::WRONG_VALUE,
            node.span,
            "this value is not allowed here",
            "see `bringup schema`",
        ),
        Err(fault) => reader.fault(codes::WRONG_VALUE, node.span, fault.message, fault.hint),
    }
}

/// Decodes a newtype through its `parse(&str) -> Result<Self, Fault>`.
macro_rules! parsed {
    ($type:ty, $schema:tt $(, written: $written:expr)? $(, bare_numbers: $bare:literal)?) => {
        impl $crate::decode::Decode for $type {
            fn decode(node: &bringup_yaml::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                let bare_numbers = false $(|| $bare)?;
                $crate::decode::parsed_scalar(node, reader, bare_numbers, <$type>::parse)
            }

            $(fn written(&self) -> Option<serde_json::Value> {
                let written: fn(&$type) -> String = $written;
                Some(written(self).into())
            })?

            fn schema(_: &mut $crate::decode::Schemas) -> serde_json::Value {
                serde_json::json!($schema)
            }
        }
    };
}

pub(crate) use parsed;
