//! JSON of a document laid over JSON of an image, as `jq '.[0] * .[1]'` does it: objects key by key and as deep as they go,
//! everything else whole. Null is a value like any other.

use serde_json::{Map, Value};

use crate::template;

/// Why texts cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeFault {
    /// What would lie beneath is no object of JSON.
    Base {
        /// What the reader says.
        why: String,
    },
    /// What is laid over it is none.
    Layer {
        /// What the reader says.
        why: String,
    },
}

/// The first text with the others laid over it, in their order.
pub fn merged<'t>(base: &str, over: impl IntoIterator<Item = &'t str>) -> Result<String, MergeFault> {
    let mut whole = Value::Object(object(base).map_err(|why| MergeFault::Base { why })?);
    for layer in over {
        let layer = Value::Object(object(layer).map_err(|why| MergeFault::Layer { why })?);
        template::lay_over(&mut whole, &layer);
    }
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    Ok(text)
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    // An editor of another system may have left its mark in front.
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|fault| fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is what `jq -cSs 'reduce .[1:][] as $over (.[0]; . * $over)'` of jq 1.6 prints.
    #[test]
    fn objects_are_merged_as_jq_merges_them() {
        for (base, over, wanted) in [
            (
                r#"{"a":1,"b":{"c":2,"d":[1,2]}}"#,
                &[r#"{"b":{"d":[3]}}"#][..],
                r#"{"a":1,"b":{"c":2,"d":[3]}}"#,
            ),
            (r#"{"a":{"b":1}}"#, &[r#"{"a":null}"#], r#"{"a":null}"#),
            (r#"{"a":null}"#, &[r#"{"a":{"b":null}}"#], r#"{"a":{"b":null}}"#),
            (r#"{"a":{"b":1}}"#, &[r#"{"a":5}"#, r#"{"a":{"c":2}}"#], r#"{"a":{"c":2}}"#),
            (r#"{"a":{"b":1}}"#, &[r#"{"a":{}}"#], r#"{"a":{"b":1}}"#),
            (r#"{"a":[{"b":1}]}"#, &[r#"{"a":[{"c":2}]}"#], r#"{"a":[{"c":2}]}"#),
            ("{}", &[r#"{"":""}"#], r#"{"":""}"#),
        ] {
            let found: Value = serde_json::from_str(&merged(base, over.iter().copied()).unwrap()).unwrap();
            assert_eq!(found, serde_json::from_str::<Value>(wanted).unwrap(), "{base} {over:?}");
        }
    }

    #[test]
    fn what_is_no_object_is_told() {
        assert!(matches!(merged("[]", []), Err(MergeFault::Base { .. })));
        assert!(matches!(merged("", []), Err(MergeFault::Base { .. })));
        assert!(matches!(merged("{}", ["null"]), Err(MergeFault::Layer { .. })));
    }
}
