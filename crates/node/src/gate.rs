//! The gate: kubelet may start.

use std::collections::BTreeMap;
use std::path::Path;

use bringup_disk::{Change, FileFault, Files, Owner, Wanted};
use bringup_facts::environment_file;
use bringup_plan::GATE_FILE;
use bringup_spec::Text;

/// Publishes the gate file by one rename.
pub(crate) fn open(files: &Files<'_>, environment: &BTreeMap<String, Text>) -> Result<Change, FileFault> {
    let content = content(environment);
    files.replace(
        Path::new(GATE_FILE),
        Wanted { content: content.as_bytes(), mode: 0o600, owner: Owner::ROOT },
    )
}

/// What the gate file says.
pub(crate) fn content(environment: &BTreeMap<String, Text>) -> String {
    environment_file(
        environment.iter().map(|(name, value)| (name.as_str(), value.as_literal().unwrap_or_default())),
    )
}
