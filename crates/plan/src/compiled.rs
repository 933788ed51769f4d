//! What the compiler takes beside the document, and what it gives beside the plan.

use std::collections::BTreeMap;

use bringup_diag::Findings;
use bringup_yaml::Path;

use crate::Plan;

/// Files beside the document that it refers to with `src`, by that reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalFiles {
    /// What was found for each reference; a reference that is not here could not be read.
    pub entries: BTreeMap<String, LocalEntry>,
}

/// What stands behind a `src`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalEntry {
    /// A regular file.
    File(LocalFile),
    /// A directory: its regular files by relative path, at any depth.
    Directory(BTreeMap<String, LocalFile>),
    /// It cannot be used; the text says why (missing, outside the files' directory, a special file).
    Refused(String),
}

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it.
    pub executable: bool,
}

/// A plan with what there is to tell about it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the plan would be but for the errors in it: whoever looks at it further can tell of the rest of them.
    pub draft: Option<Plan>,
    /// The plan; absent if there were errors.
    pub plan: Option<Plan>,
    /// Where its values came from, for people.
    pub provenance: Vec<Provenance>,
    /// What was found.
    pub findings: Findings,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// What it is, such as `kubelet config maxPods` or `/etc/containerd/config.toml`.
    pub subject: String,
    /// The value, shortened; never a secret.
    pub value: String,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The document says so, there.
    Document(Path),
    /// Worked out from something that the document says, there; the text says how.
    Derived(Path, String),
    /// A default; the text says whose and why.
    Default(String),
    /// Only the node will know; the text says from which facts.
    Node(String),
}
