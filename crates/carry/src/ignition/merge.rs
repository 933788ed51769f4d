//! One Ignition config over another, by Ignition's rules: the child's values win, lists are merged by key.

use serde_json::{Map, Value};

/// What makes two items of a list the same thing.
const KEYS: [&str; 3] = ["path", "name", "device"];
/// Lists of things that share their paths: a file of the child takes the place of a link of the parent.
const SHARING_PATHS: [&str; 3] = ["files", "directories", "links"];

/// The parent with the child over it.
pub(super) fn merged(parent: Value, child: Value) -> Value {
    match (parent, child) {
        (parent, Value::Null) => parent,
        (Value::Object(parent), Value::Object(child)) => Value::Object(merged_maps(parent, child)),
        (Value::Array(parent), Value::Array(child)) => Value::Array(merged_lists(parent, child)),
        (_, child) => child,
    }
}

fn merged_maps(mut parent: Map<String, Value>, child: Map<String, Value>) -> Map<String, Value> {
    for name in SHARING_PATHS {
        let taken: Vec<Value> = SHARING_PATHS
            .iter()
            .filter(|other| **other != name)
            .filter_map(|other| child.get(*other)?.as_array())
            .flatten()
            .filter_map(|item| item.get("path").cloned())
            .collect();
        if let Some(items) = parent.get_mut(name).and_then(Value::as_array_mut) {
            items.retain(|item| item.get("path").is_none_or(|path| !taken.contains(path)));
        }
    }
    for (key, value) in child {
        let before = parent.remove(&key).unwrap_or_default();
        parent.insert(key, merged(before, value));
    }
    parent
}

fn merged_lists(mut parent: Vec<Value>, child: Vec<Value>) -> Vec<Value> {
    for item in child {
        let same = parent.iter_mut().find(|known| is_same(known, &item));
        match same {
            Some(known) => *known = merged(std::mem::take(known), item),
            None => parent.push(item),
        }
    }
    parent
}

fn is_same(one: &Value, other: &Value) -> bool {
    if one.is_string() {
        return one == other;
    }
    KEYS.iter().any(|key| one.get(key).is_some_and(|value| Some(value) == other.get(key)))
}
