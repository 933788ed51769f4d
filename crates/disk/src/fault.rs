//! What can go wrong with a file, always with its path.

use std::io;
use std::path::{Path, PathBuf};

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`: {}", path.display(), plain(source))]
pub struct FileFault {
    /// What was tried: `write`, `read` and so on.
    pub doing: &'static str,
    /// With what.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl FileFault {
    pub(crate) fn of<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self { doing, path: path.to_owned(), source }
    }

    /// Whether links on the way lead to each other.
    pub fn is_a_loop(&self) -> bool {
        self.source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }

    /// Whether an administrator can mend it without changing the plan: a full disk, a read-only one, a quota.
    pub fn is_for_the_operator(&self) -> bool {
        use io::ErrorKind as Kind;
        matches!(
            self.source.kind(),
            Kind::StorageFull
                | Kind::QuotaExceeded
                | Kind::ReadOnlyFilesystem
                | Kind::PermissionDenied
                | Kind::NotADirectory
                | Kind::IsADirectory
        ) || self.is_a_loop()
    }
}

/// The system's words without the number that Rust adds.
fn plain(source: &io::Error) -> String {
    let text = source.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text.get(..at).unwrap_or(&text).to_lowercase(),
        None => text,
    }
}
