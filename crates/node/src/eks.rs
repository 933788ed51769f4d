//! The bearer token that an EKS cluster takes, made from the instance's own credentials.

use std::time::Instant;

use bringup_aws::token::{self, Token};
use bringup_progress::Failure;

use crate::network::{Network, now};

/// Whose token for which cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) cluster: String,
    pub(crate) region: String,
    pub(crate) role: Option<String>,
}

impl Subject {
    /// From the arguments of `bringup-node token`.
    pub(crate) fn from_arguments(arguments: &[String]) -> Option<Self> {
        let (word, rest) = arguments.split_first()?;
        let value = |flag: &str| {
            rest.iter().position(|argument| argument == flag).and_then(|at| rest.get(at + 1)).cloned()
        };
        (word == "token").then_some(())?;
        Some(Self { cluster: value("--cluster")?, region: value("--region")?, role: value("--role") })
    }

    /// The token. Without another role, nobody but the metadata service is asked.
    pub(crate) fn token(&self, network: &Network, deadline: Instant) -> Result<Token, Failure> {
        let Self { cluster, region, role } = self;
        let credentials = match role {
            None => network.metadata.credentials(deadline)?,
            Some(role) => network.call(
                region,
                deadline,
                |credentials, region, at| token::assume_role(role, region, credentials, at),
                token::assumed_role,
            )?,
        };
        Ok(token::bearer(cluster, region, &credentials, now()))
    }
}
