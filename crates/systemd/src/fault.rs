//! What can go wrong between us and the manager.

use std::io;

use crate::wire::Malformed;

/// A call that did not work.
#[derive(Debug, thiserror::Error)]
pub enum BusFault {
    /// Nobody is at the other end.
    #[error("cannot reach systemd at `{socket}`: {source}")]
    Unreachable {
        /// Where it was looked for.
        socket: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The connection was refused by who is at the other end.
    #[error("the bus refuses this user: `{answer}`")]
    Refused {
        /// What it said.
        answer: String,
    },
    /// The connection broke.
    #[error("the connection to systemd broke: {0}")]
    Broken(#[source] io::Error),
    /// No answer came in time.
    #[error("systemd did not answer `{member}` within {seconds} s")]
    Late {
        /// The method.
        member: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The answer is no message, or not the one that the method gives.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The method says no.
    #[error("{message} ({name})")]
    Error {
        /// The error's name.
        name: String,
        /// What it says.
        message: String,
    },
}

impl BusFault {
    /// Whether the method said no with this name, without its prefix.
    pub fn is(&self, last: &str) -> bool {
        matches!(self, Self::Error { name, .. } if name.rsplit('.').next() == Some(last))
    }

    /// Whether another try on a new connection may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Broken(_) | Self::Late { .. })
    }
}
