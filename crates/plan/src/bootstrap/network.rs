//! The family of the cluster's addresses, and where its DNS is.

use super::Call;
use crate::codes;

/// What kubelet is told of the network.
pub(super) struct Network {
    pub(super) ipv6: bool,
    pub(super) dns: Vec<String>,
}

impl Call<'_> {
    pub(super) fn network(&mut self) -> Option<Network> {
        let request = self.request;
        let answer = self.instance.cluster.as_ref().filter(|_| request.needs_cluster());
        let range = answer.and_then(|answer| answer.service_range.clone());
        let is_ipv6 = range.as_deref().is_some_and(|range| range.contains(':'));
        let ipv6 = request.ipv6.unwrap_or(is_ipv6);
        // What EKS says of the range stands above the call.
        let (service_ipv4, service_ipv6) = match answer {
            Some(_) if is_ipv6 => (None, range),
            Some(_) => (range, None),
            // `None` is how the AWS CLI writes that there is none, and the script takes it so.
            None => {
                let service_ipv4 = request.service_ipv4.clone().filter(|range| range != "None");
                (service_ipv4, request.service_ipv6.clone())
            }
        };
        let dns = match (&request.dns, ipv6) {
            (Some(given), _) => given.clone(),
            (None, true) => {
                let Some(range) = service_ipv6 else {
                    let message = "nothing says where the DNS of this cluster with IPv6 is";
                    let hint = "give `--service-ipv6-cidr` or `--dns-cluster-ip`";
                    self.error(codes::BOOTSTRAP_CLUSTER, message, hint);
                    return None;
                };
                format!("{}a", range.split('/').next().unwrap_or_default())
            }
            (None, false) => match service_ipv4 {
                Some(range) => {
                    format!("{}.10", range.rsplit_once('.').map_or(range.as_str(), |(head, _)| head))
                }
                None => self.guessed(),
            },
        };
        if dns.split(',').any(|address| address.parse::<std::net::IpAddr>().is_err()) {
            let message = format!(
                "the cluster's DNS would be at `{dns}`, which is no address: kubelet gives pods what it is told"
            );
            self.differs(message, "give `--dns-cluster-ip ADDRESS`, or the range as `ADDRESS/LENGTH`");
        }
        let address = &self.instance.address;
        if ipv6 && address.parse::<std::net::Ipv4Addr>().is_ok() {
            let message = format!(
                "the cluster has IPv6, and the machine's address is given as `{address}`: kubelet is told that one"
            );
            let hint = "give the machine's IPv6 address as `address` in the facts file; the metadata service has it under `ipv6`";
            self.warning(codes::BOOTSTRAP_CLUSTER, message, hint);
        }
        Some(Network { ipv6, dns: dns.split(',').map(str::to_owned).collect() })
    }

    fn guessed(&mut self) -> String {
        let guess = guessed_dns(&self.instance.vpc_cidrs);
        let message =
            format!("the cluster's DNS is taken to be at `{guess}`, from the addresses of the network");
        self.differs(message, "give `--service-ipv4-cidr` or `--dns-cluster-ip`: the range may be any");
        guess.to_owned()
    }
}

/// The address of the cluster's DNS by the addresses of the network that the machine is in: EKS gives services one of two
/// ranges, the one that is not like the network's.
pub fn guessed_dns(networks: &[String]) -> &'static str {
    if networks.iter().any(|range| range.starts_with("10.")) { "172.20.0.10" } else { "10.100.0.10" }
}
