//! Settings that are laid over a file of the image.
//!
//! What they are laid over is always what stood there before the agent wrote for the first time, which is kept, and never the
//! agent's own result: a second run, a changed document and a run after a crash all give the same file.

use std::path::{Path, PathBuf};

use bringup_disk::{FileFault, Files, Kind};
use bringup_plan::MergeFault;
use bringup_progress::{Failure, FailureKind};
use bringup_spec::Text;

use super::{Doing, of_file};
use crate::originals;
use crate::teller::Teller;

/// The bytes of a file with settings laid over what the image has there.
pub(super) fn bytes(
    doing: &Doing<'_>,
    path: &str,
    otherwise: &Text,
    over: &[Text],
) -> Result<Vec<u8>, Failure> {
    let files = doing.machine.files();
    let original = original(files, Path::new(path)).map_err(|fault| of_file(&fault))?;
    if original.is_none() {
        Teller::note(&format!("the image has no `{path}`: it is written whole"));
    }
    text(path, original.as_deref(), otherwise, over).map(String::into_bytes)
}

/// The file as it is to be, over this original.
pub(crate) fn text(
    path: &str,
    original: Option<&[u8]>,
    otherwise: &Text,
    over: &[Text],
) -> Result<String, Failure> {
    let literal = |text: &Text| text.as_literal().unwrap_or_default().to_owned();
    let base = match original {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => literal(otherwise),
    };
    let over: Vec<String> = over.iter().map(literal).collect();
    bringup_plan::merged(&base, over.iter().map(String::as_str)).map_err(|fault| match fault {
        MergeFault::Base { why } if original.is_some() => Failure::new(
            FailureKind::Operator,
            format!("`{path}` of the image is no object of JSON: {why}"),
            format!(
                "mend what is kept of it as `{}`, or remove that to do without; the agent goes on by itself",
                originals::place(Path::new(path)).display()
            ),
        ),
        MergeFault::Base { why } | MergeFault::Layer { why } => Failure::new(
            FailureKind::Permanent,
            format!("the plan's settings for `{path}` are no object of JSON: {why}"),
            "build the plan anew",
        ),
    })
}

/// What stood at a path before the agent wrote there.
pub(crate) fn original(files: Files<'_>, path: &Path) -> Result<Option<Vec<u8>>, FileFault> {
    let place = originals::place(path);
    match files.disk().look(&place) {
        Ok(Some(entry)) if entry.kind == Kind::Link => {
            let fault = |source| FileFault { doing: "read", path: place.clone(), source };
            let target = PathBuf::from(files.disk().read_link(&place).map_err(fault)?);
            // It is kept elsewhere than it stood.
            files.read(&path.parent().unwrap_or(path).join(target))
        }
        _ => files.read(&place),
    }
}
