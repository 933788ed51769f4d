//! What an answer of the metadata service means for whoever asked: a value, none, wait, or call a person.

use crate::CredentialsError;

/// What to make of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The value.
    Value(T),
    /// The service knows that there is none.
    Absent,
    /// The token has run out: get a new one, then ask once more.
    RenewToken,
    /// Ask again later.
    Transient(Passing),
    /// Asking again will not help until somebody changes something.
    Permanent(MetadataFault),
}

impl<T> Answer<T> {
    /// For a status that means the same whatever was asked.
    pub(super) fn of_status(what: &'static str, status: u16) -> Self {
        match status {
            429 => Self::Transient(Passing::Throttled { what }),
            400 | 401 => Self::Permanent(MetadataFault::Misunderstood { what, status }),
            _ => Self::Transient(Passing::Unwell { what, status }),
        }
    }
}

/// What may pass by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Passing {
    /// Nothing came back when a token was asked for.
    #[error("the metadata service gave no session token: {why}")]
    NoToken {
        /// In the words of whoever tried.
        why: String,
    },
    /// Nothing came back.
    #[error("the metadata service did not say {what}: {why}")]
    Silent {
        /// What was asked for.
        what: &'static str,
        /// In the words of whoever tried.
        why: String,
    },
    /// Asked too often.
    #[error("the metadata service is asked too often (429), this time for {what}")]
    Throttled {
        /// What was asked for.
        what: &'static str,
    },
    /// An error of the service's own.
    #[error("the metadata service answered with {status} when asked for {what}")]
    Unwell {
        /// What was asked for.
        what: &'static str,
        /// The status of HTTP.
        status: u16,
    },
    /// Not the shape that was promised.
    #[error("what the metadata service gave as {what} is something else")]
    Garbage {
        /// What was asked for.
        what: &'static str,
    },
}

impl Passing {
    /// What a person can look at, if it does not pass.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoToken { .. } => {
                "see that nothing blocks 169.254.169.254; in a container, that the instance's `HttpPutResponseHopLimit` is at least 2"
            }
            Self::Silent { .. } => "see that nothing blocks 169.254.169.254",
            Self::Throttled { .. } => "see which program on this machine asks 169.254.169.254 all the time",
            Self::Unwell { .. } | Self::Garbage { .. } => {
                "see that it is the service of EC2 that answers at 169.254.169.254, and not a proxy"
            }
        }
    }
}

/// What does not pass by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataFault {
    /// Turned off.
    #[error("the metadata service is turned off for this instance (403)")]
    Forbidden,
    /// A new token, and still refused.
    #[error("the metadata service refuses a new session token when asked for {what} (401)")]
    TokenRefused {
        /// What was asked for.
        what: &'static str,
    },
    /// No tokens at all.
    #[error("the metadata service has no session tokens ({status}): it is not version 2")]
    NoVersion2 {
        /// The status of HTTP.
        status: u16,
    },
    /// Not there, though every instance has it.
    #[error("the metadata service does not know {what} (404)")]
    Missing {
        /// What was asked for.
        what: &'static str,
    },
    /// It did not understand us.
    #[error("the metadata service does not understand the request for {what} ({status})")]
    Misunderstood {
        /// What was asked for.
        what: &'static str,
        /// The status of HTTP.
        status: u16,
    },
    /// The role is there, its credentials are not.
    #[error(transparent)]
    Role(#[from] CredentialsError),
    /// The name of the host is a list.
    #[error("the host's name is not one name but a list of them")]
    SeveralNames,
}

impl MetadataFault {
    /// What a person can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Forbidden => {
                "set `HttpEndpoint: enabled` in the metadata options of the instance or its launch template; in a container, also `HttpPutResponseHopLimit: 2`"
            }
            Self::NoVersion2 { .. } => {
                "give `platform: aws` to instances of EC2 only; what stands in for its metadata service must answer `PUT /latest/api/token`"
            }
            Self::TokenRefused { .. } | Self::Missing { .. } | Self::Misunderstood { .. } => {
                "see that it is the service of EC2 that answers at 169.254.169.254, and not a proxy"
            }
            Self::Role(_) => "let `ec2.amazonaws.com` assume the role that the instance profile names",
            Self::SeveralNames => {
                "give the DHCP options set of the VPC one domain name, or name nodes by `instance-id`"
            }
        }
    }
}

/// Why a body is no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Not the shape that was promised.
    Garbage,
    /// Readable, and bad news.
    Fault(MetadataFault),
}
