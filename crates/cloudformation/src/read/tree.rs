//! From text to a located tree.

use bringup_diag::Span;
use bringup_yaml::{Content, Entry, Limits, Node, Scalar, Style};

/// CloudFormation takes templates of a megabyte; a wrapped one is somewhat longer.
const LIMITS: Limits = Limits { bytes: 8 << 20, depth: 64, nodes: 400_000 };

/// The only document of the text. JSON that YAML's reader refuses (tabs, escaped surrogates) is read without places.
pub(super) fn parsed(text: &str, is_json: bool) -> Option<Node> {
    match bringup_yaml::parse_one(text, LIMITS) {
        Ok(node) => node,
        Err(_) if is_json && text.len() <= LIMITS.bytes => {
            // Its own limit of nesting is 128.
            let value: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
            Some(located(&value))
        }
        Err(_) => None,
    }
}

fn located(value: &serde_json::Value) -> Node {
    let scalar = |text: String, style| Content::Scalar(Scalar { text, style });
    let content = match value {
        serde_json::Value::Null => scalar("null".to_owned(), Style::Plain),
        serde_json::Value::Bool(truth) => scalar(truth.to_string(), Style::Plain),
        serde_json::Value::Number(number) => scalar(number.to_string(), Style::Plain),
        serde_json::Value::String(text) => scalar(text.clone(), Style::Quoted),
        serde_json::Value::Array(items) => Content::List(items.iter().map(located).collect()),
        serde_json::Value::Object(pairs) => Content::Map(
            pairs
                .iter()
                .map(|(key, value)| Entry {
                    key: key.clone(),
                    key_style: Style::Quoted,
                    key_span: Span::point(1, 1),
                    value: located(value),
                })
                .collect(),
        ),
    };
    Node { content, span: Span::point(1, 1), tag: None }
}
