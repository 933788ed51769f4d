//! YAML and JSON as a tree of located values, and back.
//!
//! [`parse`] keeps what its readers need and most YAML libraries drop: where every key and value stands, how a
//! scalar was written (plain, quoted, block), duplicate keys and tags. A plain scalar is not resolved to a type
//! until somebody asks, because dialects are in use: YAML 1.2's core schema for our own documents
//! ([`Scalar::core`]) and YAML 1.1 as PyYAML reads it, for cloud-init ([`Scalar::yaml11`]), or as Go's reader does, for the
//! documents of programs of Kubernetes ([`Scalar::go`]).
//!
//! [`Value`] is the plain ordered value for output: [`to_yaml`] writes what both dialects read back alike.
#![forbid(unsafe_code)]

mod go;
mod limits;
mod node;
mod parse;
mod path;
mod quoted;
mod resolve;
mod value;
mod write;

pub use limits::Limits;
pub use node::{Content, Entry, Node, Scalar, Style};
pub use parse::{SyntaxFault, parse, parse_one};
pub use path::{Path, Segment};
pub use resolve::Resolved;
pub use value::Value;
pub use write::to_yaml;
