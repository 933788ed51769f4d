//! Secrets that the node resolves; never journalled, never told.

use bringup_progress::{Failure, FailureKind};
use bringup_spec::SecretSource;

use crate::actions::{Doing, of_file};

/// The bytes of a secret.
pub(crate) fn resolve(doing: &Doing<'_>, source: &SecretSource) -> Result<Vec<u8>, Failure> {
    match source {
        SecretSource::File(path) => {
            let read =
                doing.machine.files().read(std::path::Path::new(path)).map_err(|fault| of_file(&fault))?;
            read.ok_or_else(|| {
                Failure::new(
                    FailureKind::Operator,
                    format!("the secret's file `{path}` is not there"),
                    "put it there, mode 0600; the agent goes on by itself",
                )
            })
        }
        _ => Err(Failure::new(FailureKind::Permanent, "this secret cannot be resolved yet", "")),
    }
}
