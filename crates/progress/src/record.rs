//! What one line of the journal says.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::made::Made;
use crate::state::State;

/// The version of the journal's format. An agent that is too old for a journal refuses it, naming both.
pub const FORMAT: u32 = 1;

/// The longest reason that is kept: a program's whole output has no place in a journal.
const LONGEST_REASON: usize = 2048;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it was written: milliseconds since 1970, as the clock stood. For people; nothing is decided by it.
    pub at_ms: u64,
    /// The kernel's boot id.
    pub boot: String,
    /// What it says.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Entry {
    /// From here on, the journal is this machine's. The first line of every journal.
    Machine {
        /// The version of the format.
        format: u32,
        /// Who the machine is.
        identity: String,
    },
    /// From here on, this plan is followed.
    Plan {
        /// Its digest.
        digest: String,
    },
    /// Something about a step.
    Step(Work),
    /// What an earlier plan made was removed.
    Retired {
        /// What.
        made: BTreeSet<Made>,
    },
    /// All earlier lines, folded: the second line of a journal that was compacted.
    Summary(Box<State>),
}

/// What was done about a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The step's name.
    pub step: String,
    /// The digest of what it was to do.
    pub digest: String,
    /// Which attempt, from one, in this boot and for this digest.
    pub attempt: u32,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// How far a step has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It is about to be done. What it may make is known from here on, so that nothing is ever made unknown to the journal.
    Started {
        /// What it may make.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        makes: BTreeSet<Made>,
    },
    /// It is done.
    Succeeded(Success),
    /// An attempt failed.
    Failed {
        /// Of what kind.
        kind: FailureKind,
        /// Why.
        why: String,
    },
    /// It waits for the operator, and looks again by itself.
    Paused {
        /// Why.
        why: String,
        /// What to mend.
        fix: String,
    },
    /// It failed, and the course went on without it.
    Continued {
        /// Why.
        why: String,
    },
    /// It failed, and the course ended.
    GaveUp {
        /// Why.
        why: String,
    },
    /// The machine is about to reboot. With the same boot id afterwards, it never did.
    Rebooting,
}

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Success {
    /// Paths of which the content is another now.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
    /// What it made that could not be known before: the members of an archive. All of it, whether new or there already.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub made: BTreeSet<Made>,
    /// What it learned and later boots want to know, such as versions of software. No secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, String>,
    /// Whether its program asks for a reboot, which comes once this is on the disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reboot: bool,
}

/// Whether a failure mends itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Likely to be gone at the next attempt: a network, a busy service, a program that may do better.
    Transient,
    /// The same attempt gives the same answer: a digest that differs, an address that does not exist.
    Permanent,
    /// Somebody has to mend the machine: a full or read-only disk, missing rights.
    Operator,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Whether it mends itself.
    pub kind: FailureKind,
    /// Why, for people: lower case, no full stop.
    pub why: String,
    /// What to mend; empty where the reason says it all.
    pub fix: String,
    /// The last lines of what a program wrote; empty where there is no program. Not journalled.
    pub tail: String,
}

impl Failure {
    /// A failure without a program's output.
    pub fn new(kind: FailureKind, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { kind, why: why.into(), fix: fix.into(), tail: String::new() }
    }

    /// The same with the last lines of a program's output.
    #[must_use]
    pub fn with_tail(mut self, tail: impl Into<String>) -> Self {
        self.tail = tail.into();
        self
    }

    /// The reason, short enough for a journal.
    pub(crate) fn reason(&self) -> String {
        let end = (0..=LONGEST_REASON.min(self.why.len()))
            .rev()
            .find(|end| self.why.is_char_boundary(*end))
            .unwrap_or_default();
        self.why.get(..end).unwrap_or_default().to_owned()
    }
}
