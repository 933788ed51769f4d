//! Every field of the schema is set in a golden case, and matters: without it, or with another value, the plan, a
//! carrier or a finding is another.

use std::collections::{BTreeMap, BTreeSet};

use bringup_carry::{Load, carriers_of, resolve_parts};
use bringup_plan::LocalFiles;
use bringup_yaml::{Limits, Value, parse, to_yaml};
use serde_json::Value as Json;

use crate::program::cases;

/// A field, by the way to it: `spec.machines[].jumpHost.key`. Of a mapping with exactly one key, the keys are ways to
/// say one thing: they stand once for the whole schema, as `SecretSource.file`.
type Field = String;

/// One step into a document.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// A place of a document that sets a field.
struct Setting {
    field: Field,
    path: Vec<Step>,
    mandatory: bool,
    /// Whether it holds one of several ways to say one thing: then what it says must matter, not only that it is there.
    choice: bool,
}

/// The definition that a schema refers to, if it declares fields.
fn target<'a>(schema: &'a Json, node: &'a Json) -> Option<(&'a str, &'a Json)> {
    let name = node["$ref"].as_str()?.strip_prefix("#/$defs/")?;
    let target = &schema["$defs"][name];
    if target["properties"].is_object() { Some((name, target)) } else { self::target(schema, target) }
}

/// What the fields of a definition are called where it stands.
fn prefix(name: &str, definition: &Json, way: &str) -> String {
    if definition["maxProperties"] == 1 { name.to_owned() } else { way.to_owned() }
}

/// The fields that a schema declares, beneath one of its nodes.
fn declared(schema: &Json, node: &Json, way: &str, fields: &mut BTreeSet<Field>) {
    for option in node["anyOf"].as_array().into_iter().flatten() {
        declared(schema, option, way, fields);
    }
    if node["items"].is_object() {
        declared(schema, &node["items"], &format!("{way}[]"), fields);
    }
    if node["additionalProperties"].is_object() {
        declared(schema, &node["additionalProperties"], &format!("{way}{{}}"), fields);
    }
    if let Some((name, definition)) = target(schema, node) {
        let way = prefix(name, definition, way);
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            let way = format!("{way}.{key}");
            declared(schema, property, &way, fields);
            fields.insert(way);
        }
    } else if let Some(name) = node["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        declared(schema, &schema["$defs"][name], way, fields);
    }
}

/// The definition that a schema is or refers to, for a mapping with these keys.
fn definition<'a>(schema: &'a Json, node: &'a Json, value: &Value) -> Option<(&'a str, &'a Json)> {
    if let Some(found) = target(schema, node) {
        return Some(found);
    }
    if let Some(name) = node["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return definition(schema, &schema["$defs"][name], value);
    }
    let options = node["anyOf"].as_array()?;
    options.iter().find_map(|option| {
        let found = definition(schema, option, value)?;
        let Value::Map(pairs) = value else { return None };
        let properties = found.1["properties"].as_object()?;
        pairs.iter().all(|(key, _)| properties.contains_key(key)).then_some(found)
    })
}

/// The part of a schema that has this keyword, if one of its options does.
fn with<'a>(schema: &'a Json, node: &'a Json, keyword: &str) -> Option<&'a Json> {
    if node[keyword].is_object() {
        return Some(&node[keyword]);
    }
    if let Some(name) = node["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return with(schema, &schema["$defs"][name], keyword);
    }
    node["anyOf"].as_array()?.iter().find_map(|option| with(schema, option, keyword))
}

/// Every place of the document that sets a field.
fn settings(schema: &Json, node: &Json, value: &Value, way: &str, path: &[Step], found: &mut Vec<Setting>) {
    let deeper = |step: Step| [path, &[step]].concat();
    match value {
        Value::Map(pairs) => {
            if let Some((name, definition)) = definition(schema, node, value) {
                let way = prefix(name, definition, way);
                for (key, value) in pairs {
                    let path = deeper(Step::Key(key.clone()));
                    let mandatory = definition["required"]
                        .as_array()
                        .is_some_and(|keys| keys.iter().any(|name| name == key));
                    let (field, property) = (format!("{way}.{key}"), &definition["properties"][key]);
                    let choice = target(schema, property).is_some_and(|(_, held)| held["maxProperties"] == 1);
                    found.push(Setting { field: field.clone(), path: path.clone(), mandatory, choice });
                    settings(schema, property, value, &field, &path, found);
                }
            } else if let Some(node) = with(schema, node, "additionalProperties") {
                for (key, value) in pairs {
                    let path = deeper(Step::Key(key.clone()));
                    settings(schema, node, value, &format!("{way}{{}}"), &path, found);
                }
            }
        }
        Value::List(items) => {
            let Some(node) = with(schema, node, "items") else { return };
            for (index, item) in items.iter().enumerate() {
                settings(schema, node, item, &format!("{way}[]"), &deeper(Step::Index(index)), found);
            }
        }
        _ => {}
    }
}

/// Whether a document could not even be decoded: any change can do that.
fn is_malformed(outcome: &BTreeMap<String, Vec<u8>>) -> bool {
    outcome.get("findings").is_some_and(|told| {
        String::from_utf8_lossy(told).lines().any(|line| line.starts_with("document/wrong-"))
    })
}

/// The document with what stands at `path` taken out or, if it is to be kept, made another.
fn changed(value: &Value, path: &[Step], keep: bool) -> Option<Value> {
    let (step, rest) = path.split_first()?;
    match (value, step) {
        (Value::Map(pairs), Step::Key(key)) => {
            let mut pairs = pairs.clone();
            let index = pairs.iter().position(|(name, _)| name == key)?;
            if rest.is_empty() && !keep {
                pairs.remove(index);
            } else if rest.is_empty() {
                pairs[index].1 = another(&pairs[index].1);
            } else {
                pairs[index].1 = changed(&pairs[index].1, rest, keep)?;
            }
            Some(Value::Map(pairs))
        }
        (Value::List(items), Step::Index(index)) => {
            let mut items = items.clone();
            items[*index] = changed(&items[*index], rest, keep)?;
            Some(Value::List(items))
        }
        _ => None,
    }
}

/// Another value of the same kind.
fn another(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Integer(number) => Value::Integer(number + 1),
        Value::String(text) => Value::String(format!("{text}1")),
        Value::List(items) => Value::List(items.iter().skip(1).cloned().collect()),
        Value::Map(pairs) => {
            Value::Map(pairs.iter().map(|(key, value)| (key.clone(), another(value))).collect())
        }
        other => other.clone(),
    }
}

/// Everything that a document comes to: plans, carriers and findings without their places.
fn outcome(text: &str, files: &LocalFiles) -> BTreeMap<String, Vec<u8>> {
    let read = bringup_spec::read("cluster.yaml", text);
    let mut all = BTreeMap::new();
    let mut findings = read.findings;
    for document in &read.documents {
        findings.append(bringup_plan::check_document(document));
        for (index, group) in document.cluster.spec.node_groups.iter().enumerate() {
            let compiled = bringup_plan::compile(document, index, files);
            findings.append(compiled.findings);
            let Some(plan) = compiled.plan else { continue };
            let path = document.group_path(index);
            let (parts, more) = resolve_parts(document, &path, group, files);
            findings.append(more);
            let load = Load::new(document, path, group, &plan, &parts);
            all.insert(format!("{index}/plan"), load.plan_json().as_bytes().to_vec());
            for carrier in carriers_of(document, group) {
                let rendered = load.render(carrier);
                findings.append(rendered.findings);
                all.insert(format!("{index}/{carrier}"), rendered.bytes);
            }
        }
    }
    let told: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.code.name, finding.message)).collect();
    all.insert("findings".to_owned(), told.join("\n").into_bytes());
    all
}

#[test]
fn every_field_of_the_schema_is_set_somewhere_and_matters() {
    let schema = bringup_spec::json_schema();
    let mut unset = BTreeSet::new();
    declared(&schema, &schema, "", &mut unset);
    let mut idle = unset.clone();
    for case in cases("golden") {
        let text = std::fs::read_to_string(case.join("cluster.yaml")).expect("a document");
        let files = crate::program::local_files(&case);
        for tree in parse(&text, Limits::default()).expect("YAML") {
            let value = tree.to_value();
            let before = outcome(&to_yaml(&value), &files);
            let mut found = Vec::new();
            settings(&schema, &schema, &value, "", &[], &mut found);
            for Setting { field, path, mandatory, choice } in found {
                unset.remove(&field);
                if !idle.contains(&field) {
                    continue;
                }
                // Taken out where that is allowed; else, or if nothing notices, another value that decodes.
                let variants = [false, true].into_iter().filter(|keep| *keep || !(mandatory || choice));
                let matters = variants.filter_map(|keep| Some((keep, changed(&value, &path, keep)?))).any(
                    |(keep, changed)| {
                        let after = outcome(&to_yaml(&changed), &files);
                        after != before && !(keep && !mandatory && is_malformed(&after))
                    },
                );
                if matters {
                    idle.remove(&field);
                }
            }
        }
    }
    assert!(
        unset.is_empty() && idle.is_empty(),
        "set in no golden case: {unset:#?}\nwithout effect and without a finding: {idle:#?}"
    );
}
