//! From a located tree to typed values, collecting every fault on the way.

mod homes;
mod leaf;
mod macros;
mod reader;
mod schema;
mod source;

pub use reader::{Reader, known_fields};
pub use schema::Schemas;

use bringup_yaml::Node;

pub(crate) use homes::KeyHomes;
pub(crate) use leaf::{chosen, parsed, parsed_scalar};
pub(crate) use macros::{choices, record};
pub(crate) use reader::{Broken, is_nothing, shortened};
pub(crate) use source::SourceText;

/// Keys of texts that may be empty and may have lines.
const FREE: [&str; 3] = ["config", "content", "value"];

/// Whether the text of this key must say something, on one line.
pub(crate) fn must_say_something(key: &str) -> bool {
    !FREE.contains(&key)
}

/// What is wrong with a text for the key, whatever it is about.
pub(crate) fn text_fault(key: &str, text: &str) -> Option<&'static str> {
    if !must_say_something(key) {
        return None;
    }
    if text.trim().is_empty() {
        return Some("is empty");
    }
    text.chars().any(char::is_control).then_some("has a line break or another control character in it")
}

/// A type that a document can hold.
pub trait Decode: Sized {
    /// Reads it from a node. Faults go to the reader; `None` means that there was at least one. Where a fault leaves no
    /// doubt about what is meant, that is given all the same: later checks go on with it.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self>;

    /// What a key that is not written means; `None` makes the key mandatory.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether a text that says nothing is as good as none, and so a mistake.
    fn needs_letters() -> bool {
        false
    }

    /// How the value is written in JSON, to show it as a default; `None` where that is its own fields' business.
    fn written(&self) -> Option<serde_json::Value> {
        None
    }

    /// Its JSON Schema.
    fn schema(schemas: &mut Schemas) -> serde_json::Value;
}
