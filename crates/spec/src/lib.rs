//! The Bringup document in, one [`Cluster`] out, with source positions.
//!
//! [`read`] takes the text of a file and gives its documents, or the findings that say why not. Every type of the
//! document is declared once, with [`decode::Decode`] and its JSON Schema from the same declaration. A [`Document`] keeps
//! the located tree beside the values, so that later stages can point at the line that caused what they found:
//! see [`Document::place`]. [`nodeconfig`] reads the one other kind of document that a node itself is given.
#![forbid(unsafe_code)]

pub mod bootstrap_flags;
pub mod codes;
mod consistency;
pub mod data_url;
pub mod decode;
mod document;
mod files;
mod hazard;
mod kind;
pub mod nodeconfig;
mod read;
mod recovery;
mod syntax;
mod value;

pub use document::*;
pub use files::Files;
pub use read::{Document, Read, json_schema, read, read_trees};
pub use value::*;
