//! What each version of kubelet knows: fields of `KubeletConfiguration` and command-line flags.
//!
//! The table in `data/` is written by `tools/kubelet-table/generate` from the source of every minor. This crate reads it
//! and answers two questions: is this name known to that minor ([`field`], [`flag`]), and would that minor's strict
//! decoder take this configuration ([`validate_config`]). Both answer with what to write instead.
#![forbid(unsafe_code)]

mod faults;
mod kind;
mod labels;
mod lookup;
mod quantity;
mod suggest;
mod table;
mod validate;
mod version;

pub use faults::{ConfigFault, FaultKind, Segment};
pub use kind::Kind;
pub use labels::{LabelRefusal, label_refusal};
pub use lookup::{Known, Lookup, field, fields, flag, flags, obsolete_flag_value};
pub use quantity::{duration_nanoseconds, is_quantity};
pub use table::{Minor, OLDEST, newest, source_patch};
pub use validate::validate_config;
pub use version::{Version, VersionError};
