//! A fact that cannot be had.

use bringup_spec::Fact;

/// A fact that a plan uses and that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactFault {
    /// Nobody has said it.
    #[error("the plan uses `{fact}`, which is not known")]
    Missing {
        /// Which.
        fact: Fact,
    },
    /// The name cannot be a node's name.
    #[error("`{name}` cannot be the name of a node: {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The machine's address is none.
    #[error("`{address}` is no address of a machine")]
    BadAddress {
        /// What is said.
        address: String,
    },
    /// What is said of the cluster cannot be used.
    #[error("what is said of the cluster cannot be used for `{fact}`: {why}")]
    BadCluster {
        /// For what.
        fact: Fact,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nobody has asked the store which machine starts the cluster.
    #[error("which machine starts the cluster is not known: `{object}` decides it")]
    NoElection {
        /// The object that decides it.
        object: String,
    },
    /// No version of some software is named for the version of the cluster.
    #[error("no version of {software} is named for a cluster of {tag}")]
    NoChoice {
        /// Which.
        software: String,
        /// The tag of the cluster's images.
        tag: String,
    },
    /// A value with a line end or another control character in it.
    #[error("the value of `{fact}` has a control character in it")]
    ControlCharacter {
        /// Which.
        fact: Fact,
    },
}

impl FactFault {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { fact: Fact::Tag(tag) } => {
                format!(
                    "give the instance the tag `{tag}` and let its metadata show tags (`InstanceMetadataTags: enabled`)"
                )
            }
            Self::Missing { fact } if fact.is_of_cluster() => {
                "write `api` and `network` in the document, or give it as `cluster` in a file with `--facts`".to_owned()
            }
            Self::Missing { fact } => {
                format!("see that the platform tells it, or give it as `{fact}` in a file with `--facts`")
            }
            Self::BadName { .. } => {
                "name nodes by `nodeName: instance-id`, or mend the VPC's DHCP options".to_owned()
            }
            Self::BadAddress { .. } => "write an address such as `192.0.2.10` or `2001:db8::10`".to_owned(),
            Self::BadCluster { .. } => {
                "write `api` and `network` of the cluster in the document; `aws eks describe-cluster` prints them"
                    .to_owned()
            }
            Self::NoElection { object } => {
                format!(
                    "give it as `\"election\": {{\"object\": \"{object}\", \"holder\": INSTANCE_ID}}` in a file with `--facts`"
                )
            }
            Self::NoChoice { .. } => {
                "name one under `runtime.versions` in the document, and build the plan anew".to_owned()
            }
            Self::ControlCharacter { .. } => "mend the value where it comes from".to_owned(),
        }
    }
}
