//! Small values that are parsed once, at the border.

mod address;
mod duration;
mod fact;
mod host;
mod mode;
mod name;
mod pem;
mod placeholder;
mod secret;
mod version;

pub use address::{Address, Cidr};
pub use duration::Span;
pub use fact::Fact;
pub use host::{authority_fault, host_fault};
pub use mode::{Mode, Owner};
pub use name::{AbsolutePath, Name, Sha256, Url};
pub use pem::{Authority, Certificate};
pub use placeholder::{Segment, Text};
pub use secret::{SecretSource, is_variable};
pub use version::{KubernetesVersion, MinorRange};

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

/// A value in backticks for a message, shortened, and without what looks like a secret.
pub(crate) fn quoted(value: &str) -> String {
    format!("`{}`", bringup_diag::masked_line(&crate::decode::shortened(value)))
}

/// A number in plain digits: no sign, no leading zero.
pub(crate) fn plain_number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let is_plain =
        text.chars().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}
