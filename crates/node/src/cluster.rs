//! What EKS says of the cluster that the machine is to join.
//!
//! It costs the instance's credentials (two requests to the metadata service) and one call of the API for each look. The
//! answer is kept with the other facts in the journal: a later boot asks nobody.

use std::time::Instant;

use bringup_aws::eks::{self, Described};
use bringup_facts::ClusterFacts;
use bringup_plan::EksCluster;
use bringup_progress::{Failure, FailureKind};

use crate::network::Network;

/// How far a cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen<T> {
    There(T),
    /// Not yet, and why not.
    Coming(Failure),
}

/// Asks EKS about a cluster. One that is not there yet may be there at the next attempt.
pub(crate) fn learn(
    network: &Network,
    cluster: &EksCluster,
    deadline: Instant,
) -> Result<ClusterFacts, Failure> {
    match look(network, cluster, deadline)? {
        Seen::There(found) => Ok(found),
        Seen::Coming(failure) => Err(failure),
    }
}

/// Asks EKS how far a cluster is.
pub(crate) fn look(
    network: &Network,
    cluster: &EksCluster,
    deadline: Instant,
) -> Result<Seen<ClusterFacts>, Failure> {
    let EksCluster { name, region } = cluster;
    if !eks::is_name(name) {
        return Err(Failure::new(
            FailureKind::Permanent,
            format!("`{name}` is no name that EKS gives to a cluster"),
            "write letters, digits, `-` and `_`, 100 at most; `aws.clusterName` where it is not the document's",
        ));
    }
    let described = network.call(
        region,
        deadline,
        |credentials, region, at| eks::describe(name, region, credentials, at),
        eks::described,
    );
    match described.map_err(|failure| hinted(failure, cluster))? {
        Described::Active(found) => Ok(Seen::There(ClusterFacts {
            name: Some(name.clone()),
            endpoint: found.endpoint,
            certificate_authority: found.certificate_authority,
            service_cidr: found.service_range,
            id: found.id,
            outpost: found.outpost,
        })),
        Described::Coming(status) => Ok(Seen::Coming(Failure::new(
            FailureKind::Transient,
            format!("the cluster `{name}` is not there yet: EKS says {status}"),
            "the agent goes on by itself once it is ACTIVE",
        ))),
        Described::Gone(status) => Err(Failure::new(
            FailureKind::Permanent,
            format!("the cluster `{name}` will not be there: EKS says {status}"),
            "name another cluster",
        )),
    }
}

/// What is not there is usually called otherwise, or elsewhere.
fn hinted(failure: Failure, cluster: &EksCluster) -> Failure {
    if failure.kind == FailureKind::Permanent && failure.fix.is_empty() {
        let EksCluster { name, region } = cluster;
        let fix = format!("see that the cluster is called `{name}` and is in `{region}`");
        return Failure { fix, ..failure };
    }
    failure
}
