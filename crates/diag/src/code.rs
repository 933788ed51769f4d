//! Stable names of findings.

use serde::{Serialize, Serializer};

/// The stable name of a kind of finding, `area/kebab-name`, with the paragraph that explains it.
///
/// Each crate declares its own with [`codes!`](crate::codes); the documentation page is generated from all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// `area/kebab-name`. Scripts match on it: it never changes its meaning.
    pub name: &'static str,
    /// What it means and why it matters, in a sentence or two.
    pub about: &'static str,
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Declares codes as constants, and `ALL`, the list of them.
///
/// ```
/// bringup_diag::codes! {
///     /// Tabs cannot indent YAML.
///     TAB = "part/tab";
/// }
/// assert_eq!(TAB.name, "part/tab");
/// assert_eq!(TAB.about.trim(), "Tabs cannot indent YAML.");
/// assert_eq!(ALL.len(), 1);
/// ```
#[macro_export]
macro_rules! codes {
    ($($(#[doc = $about:literal])+ $constant:ident = $name:literal;)*) => {
        $($(#[doc = $about])+ pub const $constant: $crate::Code = $crate::Code { name: $name, about: concat!($($about, "\n"),+) };)*
        /// Every code of this module, in the order of declaration.
        pub const ALL: &[$crate::Code] = &[$($constant),*];
    };
}
