//! Cloud-init's own rules: parts, merging, stages, and lints of what people write.
//!
//! [`decode`] takes anybody's user-data apart as cloud-init would; [`effects`] says what the node does with it, and
//! [`lint`] what its author probably did not mean.
#![forbid(unsafe_code)]

pub mod codes;
mod config;
pub mod data;
mod date;
mod decode;
mod effects;
mod files;
pub mod gunzip;
mod handled;
mod invocations;
mod jinja;
mod kind;
pub mod layers;
mod letters;
mod lint;
mod load;
pub mod merge;
pub mod mime;
mod modules;
mod origin;
mod part;
pub mod patch;
mod scan;
mod schedule;
mod shell;
mod transfer;
mod unit_syntax;
mod units;

pub use data::Datum;
pub use decode::{Decoded, decode};
pub use effects::{Effects, Stage, Step, effects, effects_of};
pub use files::{File, Gap};
pub use kind::{Kind, cleaned_name, settled, sniffed};
pub use layers::{Layer, Peeled, Refused, peel};
pub use lint::{lint, lint_parts, lint_unit};
pub use modules::ModuleAct;
pub use origin::Origin;
pub use part::{DocumentPart, Part};
pub use unit_syntax::{UnitFault, unit_faults};
pub use units::Unit;
