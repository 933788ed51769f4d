//! JSON as Go writes it for people: sorted, four spaces, letters that HTML minds as escapes.

use bringup_spec::Text;
use serde::Serialize as _;
use serde_json::{Number, Value};

use crate::template;

/// The text, with placeholders where the tree has marks.
pub(super) fn text(value: &Value) -> Text {
    template::unmarked(&written(value))
}

/// The text as it is.
pub(super) fn written(value: &Value) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Nothing in such a value can fail to be written.
    let _ = whole_numbers(value.clone()).serialize(&mut serializer);
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The same value with numbers as Go has them, to which `1.0` is `1`.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only whole numbers that a double holds exactly")]
fn whole(number: &Number) -> Option<Number> {
    let double = number.as_f64().filter(|_| number.is_f64())?;
    (double.fract() == 0.0 && double.abs() < 9e15).then(|| Number::from(double as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_letters_are_as_go_writes_them() {
        assert_eq!(
            written(&json!({"b": 1.0, "a": ["<&>", 0.5]})),
            "{\n    \"a\": [\n        \"\\u003c\\u0026\\u003e\",\n        0.5\n    ],\n    \"b\": 1\n}"
        );
    }
}
