//! The JSON Schema of a document, built from the same declarations that decode it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The named schemas that a document's schema refers to.
#[derive(Debug, Default)]
pub struct Schemas {
    definitions: BTreeMap<String, Value>,
}

impl Schemas {
    /// A reference to the schema called `name`, which `build` makes if it is not there yet.
    pub fn named(&mut self, name: &str, build: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            // A place holder first: a type may hold itself.
            self.definitions.insert(name.to_owned(), Value::Null);
            let schema = build(self);
            self.definitions.insert(name.to_owned(), schema);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// The whole schema, with `root` as the type of a document.
    pub fn finish(self, root: &Value, title: &str) -> Value {
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            "$defs": self.definitions,
        });
        if let (Some(schema), Some(root)) = (schema.as_object_mut(), root.as_object()) {
            schema.extend(root.clone());
        }
        schema
    }
}
