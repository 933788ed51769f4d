//! Cloud-init's own rules: parts, merging, stages, and lints of what people write.
#![forbid(unsafe_code)]

pub mod codes;
pub mod gunzip;
pub mod layers;
pub mod mime;
mod transfer;

pub use layers::{Layer, Peeled, Refused, peel};
