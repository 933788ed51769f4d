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
        let value = |flag: &str| value_of(rest, flag);
        (word == "token").then_some(())?;
        Some(Self { cluster: value("--cluster")?, region: value("--region")?, role: value("--role") })
    }

    /// From the arguments of the AWS command line that print such a token.
    pub(crate) fn from_aws_arguments(arguments: &[String]) -> Option<Self> {
        let [first, second, rest @ ..] = arguments else { return None };
        let value = |flag: &str| value_of(rest, flag);
        (first == "eks" && second == "get-token").then_some(())?;
        Some(Self {
            cluster: value("--cluster-name")?,
            region: value("--region")?,
            role: value("--role-arn"),
        })
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

/// The word behind a flag.
fn value_of(arguments: &[String], flag: &str) -> Option<String> {
    arguments.iter().position(|argument| argument == flag).and_then(|at| arguments.get(at + 1)).cloned()
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn both_programs_that_print_a_token_are_understood() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let subject = |role: Option<&str>| {
            let (cluster, region) = ("c".to_owned(), "us-west-2".to_owned());
            Some(Subject { cluster, region, role: role.map(str::to_owned) })
        };
        let ours = words("token --cluster c --region us-west-2 --role r");
        assert_eq!(Subject::from_arguments(&ours), subject(Some("r")));
        let theirs = words("eks get-token --cluster-name c --region us-west-2");
        assert_eq!(Subject::from_aws_arguments(&theirs), subject(None));
        assert_eq!(Subject::from_aws_arguments(&words("sts get-caller-identity")), None);
    }
}
