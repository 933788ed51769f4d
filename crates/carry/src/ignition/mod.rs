//! Ignition configs: written for a load, and read from anybody.

mod data_url;
mod disk_rules;
mod entries;
mod machine;
mod merge;
mod native;
mod read;
mod rules;
mod shape;
mod write;

pub(crate) use read::{effects, is_config};
pub(crate) use write::{render, within};

/// Directories that are empty at every boot, or no real ones: writing there has no effect.
const VOLATILE: [&str; 5] = ["/run/", "/tmp/", "/proc/", "/sys/", "/dev/"];
/// Bits beyond permissions; Ignition honours them from specification 3.4.0 on.
const SPECIAL_BITS: u32 = 0o7000;
/// The minor version of specification 3 that keeps them; those before drop them and warn.
const KEEPS_SPECIAL_BITS: u64 = 6;
