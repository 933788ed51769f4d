//! Decoders of the plain types.

use std::collections::BTreeMap;

use bringup_yaml::{Node, Resolved};
use serde_json::json;

use super::{Decode, Reader, Schemas};
use crate::codes;

impl Decode for bool {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.scalar().map(bringup_yaml::Scalar::core) {
            Some(Resolved::Bool(truth)) => Some(truth),
            _ => reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a boolean is expected here",
                "write `true` or `false`",
            ),
        }
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "boolean"})
    }
}

macro_rules! whole_number {
    ($type:ty) => {
        impl Decode for $type {
            fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
                let number = match node.scalar().map(bringup_yaml::Scalar::core) {
                    Some(Resolved::Integer(number)) => <$type>::try_from(number).ok(),
                    _ => None,
                };
                if number.is_some() {
                    return number;
                }
                let hint = format!("write a number from {} to {}, without quotes", <$type>::MIN, <$type>::MAX);
                reader.fault(codes::WRONG_TYPE, node.span, "a whole number is expected here", hint)
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
        if node.tag.as_deref() == Some("!!str") {
            return Some(scalar.text.clone());
        }
        match scalar.core() {
            Resolved::String(text) => Some(text),
            Resolved::Null => reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a string is expected here, not nothing",
                "write a value, or remove the key",
            ),
            other => {
                let message = format!(
                    "a string is expected here; `{}` without quotes is {}",
                    scalar.text,
                    other.kind()
                );
                reader.fault(codes::WRONG_TYPE, node.span, message, format!("write \"{}\"", scalar.text))
            }
        }
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"type": "string"})
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::decode(node, reader).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        T::schema(schemas)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Some(items) = node.items() else {
            return reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a list is expected here",
                "start each item with `- `",
            );
        };
        // Every item is read before the first fault counts: all faults of a list are told at once.
        let values: Vec<Option<T>> = items.iter().map(|item| T::decode(item, reader)).collect();
        values.into_iter().collect()
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"type": "array", "items": T::schema(schemas)})
    }
}

impl<T: Decode> Decode for BTreeMap<String, T> {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Some(entries) = node.entries() else {
            return reader.fault(
                codes::WRONG_TYPE,
                node.span,
                "a mapping is expected here",
                "write `key: value` lines",
            );
        };
        reader.duplicates(entries);
        let values: Vec<Option<(String, T)>> = entries
            .iter()
            .map(|entry| T::decode(&entry.value, reader).map(|value| (entry.key.clone(), value)))
            .collect();
        values.into_iter().collect()
    }

    fn absent() -> Option<Self> {
        Some(BTreeMap::new())
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"type": "object", "additionalProperties": T::schema(schemas)})
    }
}

/// Any value, kept as it is: for configuration whose shape others define.
impl Decode for serde_json::Value {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        report_duplicates(node, reader);
        Some(node.to_value().to_json())
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({})
    }
}

fn report_duplicates(node: &Node, reader: &mut Reader) {
    for item in node.items().unwrap_or_default() {
        report_duplicates(item, reader);
    }
    if let Some(entries) = node.entries() {
        reader.duplicates(entries);
        for entry in entries {
            report_duplicates(&entry.value, reader);
        }
    }
}

/// Decodes a newtype through its `parse(&str) -> Result<Self, (message, hint)>`.
macro_rules! parsed {
    ($type:ty, $schema:tt) => {
        impl $crate::decode::Decode for $type {
            fn decode(node: &bringup_yaml::Node, reader: &mut $crate::decode::Reader) -> Option<Self> {
                let Some(text) = node.text() else {
                    return reader.fault(
                        $crate::codes::WRONG_TYPE,
                        node.span,
                        "a single value is expected here",
                        "write it on the same line",
                    );
                };
                match <$type>::parse(text) {
                    Ok(value) => Some(value),
                    Err(fault) => {
                        reader.fault($crate::codes::WRONG_VALUE, node.span, fault.message, fault.hint)
                    }
                }
            }

            fn schema(_: &mut $crate::decode::Schemas) -> serde_json::Value {
                serde_json::json!($schema)
            }
        }
    };
}

pub(crate) use parsed;
