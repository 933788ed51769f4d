//! What holds for every document.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use bringup_diag::{Colour, Severity, Sources, to_text};
use bringup_spec::{Cluster, codes, json_schema, read};
use bringup_yaml::{Value, to_yaml};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Values that fit a schema: random where it leaves a choice, with keys in random order.
fn fitting(root: &Json, schema: &Json, depth: u32) -> BoxedStrategy<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return fitting(root, &root["$defs"][name].clone(), depth);
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<Value> = words.iter().cloned().map(Value::from).collect();
        return prop::sample::select(words).boxed();
    }
    if let Some(word) = schema.get("const") {
        return Just(Value::from(word.clone())).boxed();
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let choices: Vec<_> = choices.iter().map(|choice| fitting(root, choice, depth)).collect();
        return prop::strategy::Union::new(choices).boxed();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("integer") => (1i64..60_000).prop_map(Value::Integer).boxed(),
        Some("string") => text(schema).prop_map(Value::String).boxed(),
        Some("array") => {
            let most = if depth == 0 { 0 } else { 2 };
            let item = fitting(root, &schema["items"], depth.saturating_sub(1));
            prop::collection::vec(item, 0..=most).prop_map(Value::List).boxed()
        }
        Some("object") if schema["properties"].is_object() => record(root, schema, depth),
        Some("object") => {
            let value = fitting(root, &schema["additionalProperties"], depth.saturating_sub(1));
            prop::collection::btree_map("[a-z]{1,8}", value, 0..=2)
                .prop_map(|map| Value::Map(map.into_iter().collect()))
                .boxed()
        }
        _ => "[ -~é]{0,12}".prop_map(Value::String).boxed(),
    }
}

fn record(root: &Json, schema: &Json, depth: u32) -> BoxedStrategy<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    // A reference has exactly one key, whichever it is.
    let exactly_one = schema["maxProperties"] == 1;
    let mut fields = Vec::new();
    for (key, value) in schema["properties"].as_object().unwrap() {
        let needed = required.contains(&key.as_str());
        if depth == 0 && !needed && !exactly_one {
            continue;
        }
        let key = key.clone();
        let value = fitting(root, value, depth.saturating_sub(1)).prop_map(move |value| (key.clone(), value));
        fields.push(if needed || exactly_one {
            value.prop_map(Some).boxed()
        } else {
            prop::option::weighted(0.3, value).boxed()
        });
    }
    fields
        .prop_map(|fields| fields.into_iter().flatten().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(move |mut fields| {
            if exactly_one {
                fields.truncate(1);
            }
            Value::Map(fields)
        })
        .boxed()
}

/// Text that fits a pattern and what the pattern cannot say.
fn text(schema: &Json) -> BoxedStrategy<String> {
    let among = |texts: &[&str]| {
        prop::sample::select(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).boxed()
    };
    if schema["contentMediaType"].is_string() {
        return among(&["-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"]);
    }
    let Some(pattern) = schema["pattern"].as_str() else {
        let must_say_something = schema["minLength"] == 1;
        return if must_say_something { "[a-zA-Z][a-zA-Z0-9 ._-]{0,11}" } else { "[a-zA-Z0-9 ._\n-]{0,12}" }
            .boxed();
    };
    match pattern {
        "^/" => "/[a-z]{1,8}(/[a-z]{1,4}){0,2}".boxed(),
        "." => "[a-z/]{1,8}".boxed(),
        "^(https?://|s3://|file:///)" => "https://[a-z]{1,8}/[a-z0-9]{0,8}".boxed(),
        "^[0-9a-fA-F:.]+$" => among(&["10.0.0.10", "fd00::a"]),
        "^[0-9a-fA-F:.]+/[0-9]{1,3}$" => among(&["10.0.0.0/16", "fd00::/108", "0.0.0.0/0"]),
        "^([0-9]+(ms|s|m|h))+$" => "([1-9][0-9]{0,3}(ms|s|m|h)){1,2}".boxed(),
        pattern if pattern.starts_with("^1\\.") => among(&["1.33", "1.9-1.28", "1.30-1.30"]),
        pattern if pattern.starts_with("^v?1") => "v?1\\.[1-9][0-9]?(\\.[0-9])?".boxed(),
        // Names that are digits only would be numbers to YAML; the writer quotes them.
        pattern => proptest::string::string_regex(pattern.trim_matches(['^', '$'])).unwrap().boxed(),
    }
}

fn documents() -> impl Strategy<Value = Value> {
    let schema = json_schema();
    fitting(&schema, &schema, 6)
}

fn decoded(text: &str) -> Result<Cluster, TestCaseError> {
    let mut result = read("a.yaml", text);
    // What does not fit together (a machine of a group that is not there) is beyond the schema.
    let beyond = [codes::DANGLING, codes::CONFLICT, codes::DUPLICATE_NAME, codes::MISSING_KEY];
    let errors: Vec<_> = result
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error && !beyond.contains(&finding.code))
        .collect();
    prop_assert!(errors.is_empty(), "{errors:#?}\n{text}");
    result.documents.pop().map(|document| document.cluster).ok_or_else(|| TestCaseError::fail("no document"))
}

/// The same value with the entries of every mapping in another order.
fn reordered(value: &Value, by: usize) -> Value {
    match value {
        Value::Map(pairs) => {
            let mut pairs: Vec<_> =
                pairs.iter().map(|(key, value)| (key.clone(), reordered(value, by))).collect();
            pairs.reverse();
            let length = pairs.len().max(1);
            pairs.rotate_left(by % length);
            Value::Map(pairs)
        }
        Value::List(items) => Value::List(items.iter().map(|item| reordered(item, by)).collect()),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// The decoder accepts what the schema allows; the order of keys does not matter; JSON and YAML say the same.
    #[test]
    fn a_document_means_the_same_in_any_order_and_as_json(document in documents(), by in 0usize..9) {
        let cluster = decoded(&to_yaml(&document))?;
        prop_assert_eq!(&decoded(&to_yaml(&reordered(&document, by)))?, &cluster);
        prop_assert_eq!(&decoded(&document.to_json().to_string())?, &cluster);
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        prop_assert_eq!(&decoded(&pretty)?, &cluster);
    }

    /// A document that was cut, or into which something fell, gives findings that can be shown, and never a panic.
    #[test]
    fn a_damaged_document_never_panics(
        document in documents(),
        at in any::<prop::sample::Index>(),
        cut in 0usize..40,
        dirt in "[-:{}\\[\\],&*!|>'\"%@ \t\n\u{1b}a\u{e9}#?~]{0,6}",
    ) {
        let letters: Vec<char> = to_yaml(&document).chars().collect();
        let at = at.index(letters.len());
        let until = (at + cut).min(letters.len());
        let text: String = letters[..at].iter().copied().chain(dirt.chars()).chain(letters[until..].iter().copied()).collect();
        let result = read("a.yaml", &text);
        let mut sources = Sources::new();
        sources.add("a.yaml", &text);
        let shown = to_text(&result.findings, &sources, Colour::Never);
        let escapes = shown.matches('\u{1b}').count();
        prop_assert_eq!(escapes, 0);
        for finding in &result.findings {
            let span = finding.place.as_ref().unwrap().span;
            prop_assert!(span.start.line >= 1 && span.start.column >= 1 && span.start <= span.end, "{finding:?}");
            let lines = u32::try_from(text.split('\n').count()).unwrap();
            prop_assert!(span.start.line <= lines, "{finding:?} in {lines} lines");
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = read("a.yaml", &text);
    }
}

/// Every key of the schema is described; a default is shown wherever a key has one that can be written.
#[test]
fn the_schema_describes_every_key() {
    let schema = json_schema();
    let mut keys = 0;
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        assert!(definition["description"].as_str().is_some_and(|about| about.ends_with('.')), "{name}");
        for (key, value) in definition["properties"].as_object().into_iter().flatten() {
            keys += 1;
            assert!(value["description"].as_str().is_some_and(|about| about.ends_with('.')), "{name}.{key}");
        }
    }
    assert!(keys > 200, "{keys}");
    assert_eq!(schema["$defs"]["Step"]["properties"]["timeout"]["default"], "10m");
    assert_eq!(schema["$defs"]["NodeGroup"]["properties"]["platform"]["default"], "generic");
    assert_eq!(schema["$defs"]["Directory"]["properties"]["mode"]["default"], "0755");
    assert_eq!(schema["$defs"]["Cluster"]["properties"]["kind"]["const"], "Cluster");
}
