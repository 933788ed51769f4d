//! What is wrong with a configuration, where, and what to write instead.

use std::fmt;

use crate::kind::Kind;
use crate::table::Minor;

/// One step of the way to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A key of a mapping.
    Key(String),
    /// An entry of a list, counted from 0.
    Index(usize),
}

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where: from the top of the configuration.
    pub path: Vec<Segment>,
    /// What.
    pub kind: FaultKind,
}

/// What can be wrong with a field or its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// No minor of the table has the field.
    Unknown {
        /// The path of the field that was probably meant.
        suggestion: Option<String>,
    },
    /// A later minor has the field.
    NotYet {
        /// The first that does.
        added: Minor,
    },
    /// An earlier minor had the field.
    Removed {
        /// The first without it.
        removed: Minor,
        /// What to do instead.
        instead: &'static str,
    },
    /// The field still works, and will not for ever.
    Deprecated {
        /// Since when.
        since: Minor,
        /// What to do instead.
        instead: Option<&'static str>,
    },
    /// The value has another type than the field.
    WrongType {
        /// What the field takes.
        expected: &'static Kind,
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The value has the right type, and kubelet still does not take it.
    WrongValue {
        /// What the field takes, in words.
        expected: String,
        /// What was found, in words or as it was written.
        found: String,
    },
}

impl ConfigFault {
    /// The stable code of this kind of finding.
    pub fn code(&self) -> &'static str {
        match self.kind {
            FaultKind::Unknown { .. } => "kubelet/field-unknown",
            FaultKind::NotYet { .. } => "kubelet/field-not-yet",
            FaultKind::Removed { .. } => "kubelet/field-removed",
            FaultKind::Deprecated { .. } => "kubelet/field-deprecated",
            FaultKind::WrongType { .. } => "kubelet/field-type",
            FaultKind::WrongValue { .. } => "kubelet/field-value",
        }
    }

    /// Whether kubelet would start all the same.
    pub fn is_warning(&self) -> bool {
        matches!(self.kind, FaultKind::Deprecated { .. })
    }

    /// The place as a path: `registerWithTaints[0].effect`, `evictionHard["memory.available"]`.
    pub fn place(&self) -> String {
        let mut text = String::new();
        for segment in &self.path {
            let step = match segment {
                Segment::Index(index) => format!("[{index}]"),
                Segment::Key(key) if key.contains(['.', '[']) || key.is_empty() => format!("[\"{key}\"]"),
                Segment::Key(key) if text.is_empty() => key.clone(),
                Segment::Key(key) => format!(".{key}"),
            };
            text.push_str(&step);
        }
        text
    }

    /// What is wrong, in the voice of a finding.
    pub fn message(&self, minor: Minor) -> String {
        let place = self.place();
        match &self.kind {
            FaultKind::Unknown { .. } => {
                format!("`{place}` is not a field of KubeletConfiguration in {minor}")
            }
            FaultKind::NotYet { added } => format!("`{place}` came with {added}, and this is {minor}"),
            FaultKind::Removed { removed, .. } => {
                format!("`{place}` was removed in {removed}, and this is {minor}")
            }
            FaultKind::Deprecated { since, .. } => format!("`{place}` is deprecated since {since}"),
            FaultKind::WrongType { expected, found } => format!("`{place}` takes {expected}, not {found}"),
            FaultKind::WrongValue { expected, found } => format!("`{place}` takes {expected}, not {found}"),
        }
    }

    /// What to write instead.
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            FaultKind::Unknown { suggestion } => {
                suggestion.as_ref().map(|path| format!("did you mean `{path}`?"))
            }
            FaultKind::NotYet { added } => Some(format!("remove it, or use Kubernetes {added} or newer")),
            FaultKind::Removed { instead, .. } => Some((*instead).to_owned()),
            FaultKind::Deprecated { instead, .. } => instead.map(ToOwned::to_owned),
            FaultKind::WrongType { expected, found } => match (expected, *found) {
                (
                    Kind::String | Kind::OneOf(_) | Kind::Quantity | Kind::Duration { .. },
                    "a number" | "a boolean",
                ) => Some("put the value in quotes".to_owned()),
                (Kind::Bool, "a string") => Some("write `true` or `false`, without quotes".to_owned()),
                (Kind::Integer { .. } | Kind::Float, "a string") => {
                    Some("write a number, without quotes".to_owned())
                }
                (Kind::List(_), _) => Some("write a list, even for one entry".to_owned()),
                _ => None,
            },
            FaultKind::WrongValue { .. } => None,
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.place())
    }
}
