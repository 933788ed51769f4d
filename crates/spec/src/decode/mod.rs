//! From a located tree to typed values, collecting every fault on the way.

mod leaf;
mod macros;
mod reader;
mod schema;

pub use reader::{Reader, known_fields};
pub use schema::Schemas;

use bringup_yaml::Node;

pub(crate) use leaf::parsed;
pub(crate) use macros::{choices, record};

/// A type that a document can hold.
pub trait Decode: Sized {
    /// Reads it from a node. Faults go to the reader; `None` means that there was at least one.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self>;

    /// What a key that is not written means; `None` makes the key mandatory.
    fn absent() -> Option<Self> {
        None
    }

    /// Its JSON Schema.
    fn schema(schemas: &mut Schemas) -> serde_json::Value;
}
