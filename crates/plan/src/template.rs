//! JSON and YAML whose values only the node knows: facts stand in the tree as marked strings, and the written text
//! has them as placeholders.

use std::fmt::Write as _;

use bringup_spec::{Fact, Segment, Text};
use serde_json::Value;

/// Noncharacters: no text that people exchange has them, and neither JSON nor YAML escapes them.
const STRING: char = '\u{FDD0}';
const NUMBER: char = '\u{FDD2}';
const CLOSE: char = '\u{FDD1}';

/// A fact that stands for a number: it is written without quotes.
pub(crate) fn number(fact: &Fact) -> Value {
    Value::String(format!("{NUMBER}{fact}{CLOSE}"))
}

/// Text as a string of the tree.
pub(crate) fn marked(text: &Text) -> String {
    let mut string = String::new();
    for segment in text.segments() {
        match segment {
            Segment::Literal(literal) => string.push_str(literal),
            Segment::Fact { fact } => {
                let _ = write!(string, "{STRING}{fact}{CLOSE}");
            }
        }
    }
    string
}

/// Text as a value of the tree.
pub(crate) fn string(text: &Text) -> Value {
    Value::String(marked(text))
}

/// Written text with its marks turned into placeholders.
pub(crate) fn unmarked(written: &str) -> Text {
    let mut text = Text::default();
    let mut rest = written;
    while let Some(open) = rest.find([STRING, NUMBER]) {
        let (before, marked) = rest.split_at(open);
        let is_number = marked.starts_with(NUMBER);
        let body = marked.trim_start_matches([STRING, NUMBER]);
        let fact = body.split_once(CLOSE).and_then(|(name, tail)| Some((Fact::parse(name).ok()?, tail)));
        let Some((fact, tail)) = fact else {
            text.push_str(before);
            rest = body;
            continue;
        };
        // A number leaves its quotes behind.
        text.push_str(if is_number { before.strip_suffix('"').unwrap_or(before) } else { before });
        text.push(&Text::fact(fact));
        rest = if is_number { tail.strip_prefix('"').unwrap_or(tail) } else { tail };
    }
    text.push_str(rest);
    text
}

/// The tree as JSON for people, LF at the end.
pub(crate) fn json_text(value: &Value) -> Text {
    let written = serde_json::to_string_pretty(value).unwrap_or_default();
    unmarked(&format!("{written}\n"))
}

/// A value of the tree for people: on one line, text without quotes.
pub(crate) fn shown(value: &Value) -> String {
    let written = match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string(value).unwrap_or_default(),
    };
    // Most values have no marks: looking for them is cheaper than taking the text apart.
    if written.contains(STRING) || written.contains(NUMBER) {
        unmarked(&written).to_string()
    } else {
        written
    }
}

/// The tree with `over` laid over it: mappings are merged, everything else is replaced whole, null removes.
pub(crate) fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                if value.is_null() {
                    base.remove(key);
                } else {
                    merge(base.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (base, Value::Object(over)) => {
            *base = Value::Object(serde_json::Map::new());
            merge(base, &Value::Object(over.clone()));
        }
        (base, over) => *base = over.clone(),
    }
}

/// The same, but null is a value like any other, as for those who merge by Go's `mergo`.
pub(crate) fn lay_over(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_written_as_placeholders_and_numbers_lose_their_quotes() {
        let provider = Text::parse("aws:///@{zone}/@{instanceId}").unwrap();
        let tree = json!({"maxPods": number(&Fact::MaxPods), "providerID": string(&provider)});
        assert_eq!(
            json_text(&tree).to_string(),
            "{\n  \"maxPods\": @{maxPods},\n  \"providerID\": \"aws:///@{zone}/@{instanceId}\"\n}\n"
        );
    }

    #[test]
    fn strange_marks_are_kept_as_text() {
        assert_eq!(unmarked("a\u{FDD0}b").as_literal(), Some("ab"));
        assert_eq!(unmarked("a\u{FDD0}nothing\u{FDD1}b").as_literal(), Some("anothing\u{FDD1}b"));
    }

    #[test]
    fn mappings_merge_and_the_rest_is_replaced() {
        let mut base = json!({"a": {"b": 1, "c": [1, 2]}, "d": 1, "e": 1});
        merge(&mut base, &json!({"a": {"c": [3]}, "d": {"x": {"y": 1}}, "e": null, "f": null}));
        assert_eq!(base, json!({"a": {"b": 1, "c": [3]}, "d": {"x": {"y": 1}}}));
    }
}
