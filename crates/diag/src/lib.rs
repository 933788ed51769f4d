//! Coded, located, secret-safe findings, and how people and machines read them.
//!
//! Every crate that can find fault with an input says so with a [`Finding`]. A finding has a stable [`Code`],
//! a [`Severity`], usually a [`Place`], a message that says what is wrong and a hint that says what to write
//! instead. Findings are collected, never thrown: a run reports all of them at once.
#![forbid(unsafe_code)]

mod code;
mod finding;
mod json;
mod mask;
mod sarif;
mod similar;
mod snippet;
mod text;

pub use code::Code;
pub use finding::{Finding, Findings, Place, Position, Severity, Span};
pub use json::{FindingRecord, to_json};
pub use mask::{is_secret_key, masked_line, masked_lines, masked_message};
pub use sarif::to_sarif;
pub use similar::closest;
pub use snippet::printable;
pub use text::{Colour, Sources, to_text};
