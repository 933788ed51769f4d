//! What EKS says of a cluster, in the forms that files on the node have.

use bringup_spec::{Certificate, Cidr, Fact};

use crate::{ClusterFacts, FactFault};

/// The address of the cluster's DNS in a range of services, by convention.
const DNS: u32 = 10;

/// The value of a fact of the cluster. `ipv6` is the family that the plan was made for.
pub(crate) fn value(cluster: &ClusterFacts, fact: &Fact, ipv6: bool) -> Result<String, FactFault> {
    let bad = |why| FactFault::BadCluster { fact: fact.clone(), why };
    match fact {
        Fact::ClusterEndpoint => {
            let host = cluster.endpoint.strip_prefix("https://").unwrap_or_default();
            let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]/".contains(letter);
            if host.is_empty() || !host.chars().all(plain) {
                return Err(bad("the endpoint is no `https://HOST`"));
            }
            Ok(cluster.endpoint.clone())
        }
        Fact::ClusterAuthority => {
            let certificate = Certificate::parse(&cluster.certificate_authority)
                .map_err(|_| bad("the authority is no certificate in PEM"))?;
            Ok(certificate.pem().to_owned())
        }
        Fact::ClusterDns => {
            let range = cluster.service_cidr.as_deref();
            let range = range.ok_or_else(|| FactFault::Missing { fact: fact.clone() })?;
            let range = Cidr::parse(range).map_err(|_| bad("the range of services is no range"))?;
            if range.is_ipv4() == ipv6 {
                return Err(bad("its services are of another address family than the plan's"));
            }
            let address = range.nth(DNS).ok_or_else(|| bad("the range of services has no tenth address"))?;
            Ok(address.to_string())
        }
        _ => Err(FactFault::Missing { fact: fact.clone() }),
    }
}
