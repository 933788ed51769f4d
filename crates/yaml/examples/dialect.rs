//! Lets another YAML library be compared with this one: reads a JSON list of texts, writes a JSON list of answers.
//!
//! `{"read": TEXT}` is answered with the value as YAML 1.1 has it, each scalar as `type:value` so that nothing is
//! lost on the way through JSON, or with `{"fault": MESSAGE}`; `{"write": VALUE}` with the text of `to_yaml`.

use std::io::{Read as _, Write as _, stdin, stdout};

use bringup_yaml::{Content, Limits, Node, Resolved, Scalar, Value, parse_one, to_yaml};
use serde_json::{Value as Json, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut asked = String::new();
    stdin().read_to_string(&mut asked)?;
    let asked: Vec<Json> = serde_json::from_str(&asked)?;
    let answers: Vec<Json> = asked.iter().map(answer).collect();
    stdout().write_all(&serde_json::to_vec(&answers)?)?;
    Ok(())
}

fn answer(question: &Json) -> Json {
    if let Some(text) = question.get("read").and_then(Json::as_str) {
        return match parse_one(text, Limits::default()) {
            Ok(node) => node.map_or_else(|| "null:".into(), |node| tagged(&node)),
            Err(fault) => json!({ "fault": fault.message }),
        };
    }
    let value = question.get("write").cloned().unwrap_or_default();
    to_yaml(&Value::from(value)).into()
}

fn tagged(node: &Node) -> Json {
    match &node.content {
        Content::Scalar(scalar) => scalar_text(scalar).into(),
        Content::List(items) => items.iter().map(tagged).collect(),
        Content::Map(entries) => entries
            .iter()
            .map(|entry| {
                let key = Scalar { text: entry.key.clone(), style: entry.key_style };
                (scalar_text(&key), tagged(&entry.value))
            })
            .collect(),
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    match scalar.yaml11() {
        Resolved::Null => "null:".to_owned(),
        Resolved::Bool(truth) => format!("bool:{truth}"),
        Resolved::Integer(number) => format!("int:{number}"),
        Resolved::Float(number) if number.is_nan() => "float:nan".to_owned(),
        Resolved::Float(number) => format!("float:{:016x}", number.to_bits()),
        Resolved::Timestamp(_) => "timestamp:".to_owned(),
        Resolved::String(text) => format!("str:{text}"),
    }
}
