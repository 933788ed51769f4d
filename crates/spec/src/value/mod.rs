//! Small values that are parsed once, at the border.

mod address;
mod duration;
mod fact;
mod mode;
mod name;
mod pem;
mod placeholder;
mod secret;
mod version;

pub use address::{Address, Cidr};
pub use duration::Span;
pub use fact::Fact;
pub use mode::{Mode, Owner};
pub use name::{AbsolutePath, Name, Sha256, Url};
pub use pem::Certificate;
pub use placeholder::{Segment, Text};
pub use secret::SecretSource;
pub use version::KubernetesVersion;

/// Why a text is not such a value, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl Fault {
    /// A fault.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// A value in backticks for a message, shortened.
pub(crate) fn quoted(value: &str) -> String {
    format!("`{}`", crate::decode::shortened(value))
}
