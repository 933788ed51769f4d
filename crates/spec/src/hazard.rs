//! What stands in a document and should not, whatever its key: tags that nobody reads, secrets in the clear.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Finding, Position, Span, is_secret_key};
use bringup_yaml::{Content, Node};

use crate::codes;
use crate::decode::Reader;

/// Tags that say what the reader assumes anyway.
const KNOWN_TAGS: [&str; 8] = ["!", "!!str", "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null"];

const IN_CLEAR: &str = "write `secret:` with a reference such as `{ssmParameter: /name}`, `{secretsManager: name}` or `{file: /path}`";

/// Reports hazards anywhere in the tree.
pub(crate) fn report(node: &Node, reader: &mut Reader) {
    if let Some(tag) = node.tag.as_deref().filter(|tag| !KNOWN_TAGS.contains(tag)) {
        let start = node.span.start;
        let width = u32::try_from(tag.chars().count()).unwrap_or(1);
        let end = Position { column: start.column.saturating_add(width), ..start };
        let message = format!("the tag `{tag}` is not known");
        let _: Option<()> =
            reader.fault(codes::TAG, Span { start, end }, message, "remove the tag and write out the value");
    }
    match &node.content {
        Content::Scalar(scalar) => report_private_key(node, &scalar.text, reader),
        Content::List(items) => {
            for item in items {
                report(item, reader);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                if entry.key == "environment" {
                    report_environment(&entry.value, reader);
                }
                // A certificate that holds a key is refused by its own decoder, which knows better what to write.
                if !matches!(entry.key.as_str(), "certificate" | "certificateAuthority") {
                    report(&entry.value, reader);
                }
            }
        }
    }
}

fn report_private_key(node: &Node, text: &str, reader: &mut Reader) {
    if holds_private_key(text) {
        let span = reader.span_within(node, "-----BEGIN", 0);
        let message = "a private key stands in the clear";
        reader.push(Finding::warning(codes::SECRET_IN_CLEAR, message).at(reader.place(span)).hint(IN_CLEAR));
    }
}

/// Whether a PEM block of a private key is in the text, also if all of it is in base64.
fn holds_private_key(text: &str) -> bool {
    let in_clear = |text: &str| text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----");
    if in_clear(text) {
        return true;
    }
    // `LS0tLS` is how the base64 of five dashes begins.
    text.starts_with("LS0tLS") && {
        let packed: String = text.split_whitespace().collect();
        let bytes = BASE64_STANDARD.decode(packed).unwrap_or_default();
        in_clear(&String::from_utf8_lossy(&bytes))
    }
}

/// Variables whose names say that they are secrets. A reference has no such names: its keys are not variables.
fn report_environment(node: &Node, reader: &mut Reader) {
    for entry in node.entries().unwrap_or_default() {
        if is_secret_key(&entry.key) && entry.value.text().is_some_and(|text| !text.is_empty()) {
            let message = format!("the value of `{}` stands in the clear", entry.key);
            let hint = "put it in a file with `secret:`, and let the program read that file";
            let place = reader.place(entry.key_span);
            reader.push(Finding::warning(codes::SECRET_IN_CLEAR, message).at(place).hint(hint));
        }
    }
}
