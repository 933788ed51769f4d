//! What the program prints fits the schemas that it prints.

use std::path::Path;

use serde_json::Value;

use crate::program::{cases, error, run};

/// Why `value` does not fit `schema`, with the place; only the words that our schemas use are known.
fn fault(root: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    let Some(words) = schema.as_object() else { return Some(format!("{place}: no schema")) };
    for (word, rule) in words {
        let found = match word.as_str() {
            "$ref" => {
                let name = rule.as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("a reference");
                fault(root, &root["$defs"][name], value, place)
            }
            "type" => {
                let kinds: Vec<&str> = rule
                    .as_array()
                    .map_or_else(|| vec![rule], |list| list.iter().collect())
                    .into_iter()
                    .filter_map(Value::as_str)
                    .collect();
                (!kinds.iter().any(|kind| is(value, kind)))
                    .then(|| format!("{place}: {value} is no {kinds:?}"))
            }
            "enum" => (!rule.as_array().expect("a list").contains(value))
                .then(|| format!("{place}: {value} is none of {rule}")),
            "const" => (rule != value).then(|| format!("{place}: {value} is not {rule}")),
            "anyOf" => {
                let faults: Vec<Option<String>> = rule
                    .as_array()
                    .expect("a list")
                    .iter()
                    .map(|option| fault(root, option, value, place))
                    .collect();
                // The longest place got furthest: that is the option that was meant.
                faults
                    .iter()
                    .all(Option::is_some)
                    .then(|| faults.into_iter().flatten().max_by_key(String::len).unwrap_or_default())
            }
            "properties" => value.as_object().and_then(|fields| {
                fields.iter().find_map(|(key, value)| {
                    let rule = rule.get(key)?;
                    fault(root, rule, value, &format!("{place}.{key}"))
                })
            }),
            "additionalProperties" => value.as_object().and_then(|fields| {
                let known = schema["properties"].as_object();
                fields.iter().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key))).find_map(
                    |(key, value)| {
                        if rule == false {
                            Some(format!("{place}: `{key}` is not known"))
                        } else {
                            fault(root, rule, value, &format!("{place}.{key}"))
                        }
                    },
                )
            }),
            "required" => rule.as_array().expect("a list").iter().filter_map(Value::as_str).find_map(|key| {
                value
                    .as_object()
                    .filter(|fields| !fields.contains_key(key))
                    .map(|_| format!("{place}: `{key}` is missing"))
            }),
            "items" => value.as_array().and_then(|items| {
                items
                    .iter()
                    .enumerate()
                    .find_map(|(index, item)| fault(root, rule, item, &format!("{place}[{index}]")))
            }),
            "minimum" => (value.as_i64() < rule.as_i64()).then(|| format!("{place}: {value} is too small")),
            "minLength" => value
                .as_str()
                .filter(|text| (text.chars().count() as u64) < rule.as_u64().unwrap_or(0))
                .map(|_| format!("{place}: too short")),
            "propertyNames" => value.as_object().and_then(|fields| {
                fields
                    .keys()
                    .find_map(|key| fault(root, rule, &Value::from(key.as_str()), &format!("{place}.{key}")))
            }),
            "minProperties" => value
                .as_object()
                .filter(|fields| (fields.len() as u64) < rule.as_u64().unwrap_or(0))
                .map(|_| format!("{place}: too few keys")),
            "maxProperties" => value
                .as_object()
                .filter(|fields| (fields.len() as u64) > rule.as_u64().unwrap_or(0))
                .map(|_| format!("{place}: too many keys")),
            "pattern" | "contentMediaType" | "description" | "title" | "$schema" | "$id" | "$defs"
            | "default" | "maximum" | "uniqueItems" => None,
            other => Some(format!("the schema uses `{other}`, which this test does not know")),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn schema(name: &str) -> Value {
    let output = run(Path::new("."), &["schema", name]);
    serde_json::from_slice(&output.stdout).expect("a schema")
}

fn fits(name: &str, folder: &Path, arguments: &[&str]) {
    let output = run(folder, arguments);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{arguments:?} in {} prints no JSON: {}", folder.display(), error(&output))
    });
    let schema = schema(name);
    if let Some(fault) = fault(&schema, &schema, &value, name) {
        panic!("{arguments:?} in {}: {fault}", folder.display());
    }
}

#[test]
fn what_is_printed_fits_the_printed_schemas() {
    for case in cases("golden") {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().join("out").to_string_lossy().into_owned();
        fits("build", &case, &["build", "cluster.yaml", "-o", &target, "--output", "json"]);
        fits("explain", &case, &["explain", "cluster.yaml", "--output", "json"]);
        fits("publish", &case, &["publish", &target, "--output", "json"]);
        fits("diff", &case, &["diff", &target, "cluster.yaml", "--output", "json"]);
        let plan_schema = schema("plan");
        for (name, bytes) in crate::program::tree(Path::new(&target)) {
            let path = Path::new(&target).join(&name).to_string_lossy().into_owned();
            if name.ends_with("plan.json") && !name.starts_with("publish") {
                let plan: Value = serde_json::from_slice(&bytes).expect("JSON");
                assert_eq!(fault(&plan_schema, &plan_schema, &plan, "plan"), None, "{name}");
            } else if name != "report.html"
                && !name.contains(".bringup-build")
                && !name.starts_with("publish")
            {
                fits("inspect", &case, &["inspect", &path, "--output", "json"]);
            }
        }
    }
}

#[test]
fn what_init_prints_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fits("init", folder.path(), &["init", "--output", "json"]);
    fits("failure", folder.path(), &["init", "--output", "json"]);
}

#[test]
fn a_failure_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for command in ["build", "publish", "inspect", "explain"] {
        fits("failure", folder.path(), &[command, "nowhere", "--output", "json"]);
    }
    fits("build", folder.path(), &["build", "nowhere", "--output", "json"]);
    fits("failure", folder.path(), &["diff", "nowhere", "nowhere", "--output", "json"]);
}

#[test]
fn every_golden_document_fits_the_documents_schema() {
    let schema = schema("cluster");
    for case in cases("golden") {
        let text = std::fs::read_to_string(case.join("cluster.yaml")).expect("a document");
        for document in bringup_yaml::parse(&text, bringup_yaml::Limits::default()).expect("YAML") {
            let value = document.to_value().to_json();
            assert_eq!(fault(&schema, &schema, &value, "document"), None, "{}", case.display());
        }
    }
}

#[test]
fn the_validator_finds_what_does_not_fit() {
    let plan = schema("plan");
    let value = serde_json::json!({"format": 1, "frob": true});
    assert!(fault(&plan, &plan, &value, "plan").is_some());
}
