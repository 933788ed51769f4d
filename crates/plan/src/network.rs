//! The cluster's DNS and its ranges of addresses.

use std::net::IpAddr;

use bringup_diag::{Finding, Findings};
use bringup_spec::{Cidr, Document, JoinMethod, Network};

use crate::codes;
use crate::context::Context;
use crate::endpoints::own_fault;

/// The address of the cluster's DNS in a service range, by convention.
const DNS_OFFSET: u32 = 10;

/// So many servers are read from a resolv.conf.
const MOST_SERVERS: usize = 3;

/// So many bits of an address may tell services apart.
const SERVICE_BITS: u32 = 20;

/// Ranges that no cluster can use.
const SPECIAL: [(&str, &str); 6] = [
    ("127.0.0.0/8", "the machine itself"),
    ("::1/128", "the machine itself"),
    ("169.254.0.0/16", "a single link"),
    ("fe80::/10", "a single link"),
    ("224.0.0.0/4", "groups of receivers"),
    ("ff00::/8", "groups of receivers"),
];

/// The addresses of the cluster's DNS: those given, else the tenth of each service range.
pub(crate) fn dns_addresses(network: &Network) -> Vec<IpAddr> {
    if network.dns.is_empty() {
        network.service_ranges.iter().filter_map(|range| range.nth(DNS_OFFSET)).collect()
    } else {
        network.dns.iter().map(|address| address.0).collect()
    }
}

/// Whether nodes are to be known by their IPv6 address: the first service range decides, else the first DNS address.
pub(crate) fn is_ipv6(network: &Network) -> bool {
    match (network.service_ranges.first(), network.dns.first()) {
        (Some(range), _) => !range.is_ipv4(),
        (None, Some(address)) => address.0.is_ipv6(),
        (None, None) => false,
    }
}

/// Whether pods may find a DNS server there without a service: a cache on every node listens on a link-local address.
pub(crate) fn is_on_the_node(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// What an address of a service range is kept for, if the cluster's DNS cannot have it.
pub(crate) fn kept_for(network: &Network, address: IpAddr) -> Option<&'static str> {
    let range = network.service_ranges.iter().find(|range| range.contains(address))?;
    let is_last = match address {
        IpAddr::V4(address) => {
            u32::from(address).checked_add(1).is_none_or(|next| !range.contains(IpAddr::V4(next.into())))
        }
        IpAddr::V6(_) => false,
    };
    if range.nth(0) == Some(address) {
        Some("the range itself")
    } else if range.nth(1) == Some(address) {
        Some("the API server's own service")
    } else {
        is_last.then_some("broadcasts")
    }
}

/// Checks addresses and ranges of the whole document.
pub(crate) fn check(document: &Document, findings: &mut Findings) {
    let network = &document.cluster.spec.network;
    let as_given = document.cluster.spec.takes_as_given();
    let path = Context::spec_path(["network"]);
    let mut error = |code, path: &bringup_yaml::Path, message: String, hint: String| {
        findings.push(own_fault(as_given, code, message).at(document.place(path)).hint(hint));
    };
    let ranges = &network.service_ranges;
    for (index, address) in network.dns.iter().enumerate() {
        let same_family: Vec<Cidr> =
            ranges.iter().copied().filter(|range| range.is_ipv4() == address.0.is_ipv4()).collect();
        let place = path.key("dns").index(index);
        if ranges.is_empty() || is_on_the_node(address.0) {
            continue;
        }
        if let Some(what) = kept_for(network, address.0) {
            let usual: Vec<String> = ranges
                .iter()
                .filter_map(|range| range.nth(DNS_OFFSET))
                .map(|usual| format!("`{usual}`"))
                .collect();
            error(
                codes::DNS_TAKEN,
                &place,
                format!("`{address}` is kept for {what}: no service of DNS can have it"),
                format!("write {}, or leave `dns` out", usual.join(" or ")),
            );
            continue;
        }
        if same_family.is_empty() {
            let family = if address.0.is_ipv4() { "IPv4" } else { "IPv6" };
            error(
                codes::NETWORK_MIXED,
                &place,
                format!("`{address}` is an {family} address, and no service range is"),
                format!("add an {family} range to `serviceRanges`, or drop the address"),
            );
        } else if !same_family.iter().any(|range| range.contains(address.0)) {
            let suggestions: Vec<String> = same_family
                .iter()
                .filter_map(|range| range.nth(DNS_OFFSET))
                .map(|address| format!("`{address}`"))
                .collect();
            let shown: Vec<String> = same_family.iter().map(|range| format!("`{range}`")).collect();
            error(
                codes::DNS_OUTSIDE,
                &place,
                format!("the cluster's DNS `{address}` is outside the service range {}", shown.join(", ")),
                format!("write {}, or leave `dns` out", suggestions.join(" or ")),
            );
        }
    }
    if network.dns.is_empty() {
        for (index, range) in ranges.iter().enumerate().filter(|(_, range)| range.nth(DNS_OFFSET).is_none()) {
            error(
                codes::DNS_OUTSIDE,
                &path.key("serviceRanges").index(index),
                format!("`{range}` is too small to have a tenth address for the cluster's DNS"),
                "give `dns`, or a larger range".to_owned(),
            );
        }
    }
    check_addresses(document, findings);
    let mut error = |code, path: &bringup_yaml::Path, message: String, hint: String| {
        findings.push(Finding::error(code, message).at(document.place(path)).hint(hint));
    };
    for (name, list) in [("serviceRanges", ranges), ("podRanges", &network.pod_ranges)] {
        let families = (list.iter().filter(|range| range.is_ipv4()).count(), list.len());
        if families.0 > 1 || families.1 - families.0 > 1 {
            error(
                codes::NETWORK_MIXED,
                &path.key(name),
                format!("`{name}` has several ranges of one family"),
                "write one range, or one IPv4 and one IPv6 range".to_owned(),
            );
        }
    }
    for (index, pod) in network.pod_ranges.iter().enumerate() {
        for service in ranges.iter().filter(|service| overlap(**service, *pod)) {
            error(
                codes::NETWORK_OVERLAP,
                &path.key("podRanges").index(index),
                format!("the pod range `{pod}` overlaps the service range `{service}`"),
                "choose ranges that share no address".to_owned(),
            );
        }
    }
    let (service, pod) = (ranges.first(), network.pod_ranges.first());
    if let (Some(service), Some(pod)) = (service, pod)
        && service.is_ipv4() != pod.is_ipv4()
    {
        error(
            codes::NETWORK_MIXED,
            &path.key("podRanges"),
            "the first pod range and the first service range are of different families".to_owned(),
            "put the ranges of the primary family first in both lists".to_owned(),
        );
    }
    let domain = &network.domain;
    let is_label = |part: &str| {
        !part.is_empty()
            && part.len() <= 63
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    if domain.len() > 253 || !domain.split('.').all(is_label) {
        error(
            codes::NETWORK_DOMAIN,
            &path.key("domain"),
            format!("`{domain}` is no DNS domain"),
            "write one such as `cluster.local`".to_owned(),
        );
    }
}

/// Addresses and ranges that are for something else, and ranges of services that the API server does not take.
fn check_addresses(document: &Document, findings: &mut Findings) {
    let spec = &document.cluster.spec;
    let network = &spec.network;
    let as_given = spec.takes_as_given();
    let limited = spec.kubernetes.version.minor < 34 || spec.join.method == JoinMethod::Kubeadm;
    let path = Context::spec_path(["network"]);
    for (key, list) in [("serviceRanges", &network.service_ranges), ("podRanges", &network.pod_ranges)] {
        for (index, range) in list.iter().enumerate() {
            let place = document.place(&path.key(key).index(index));
            let within = |wide: &str| Cidr::parse(wide).is_ok_and(|wide| overlap(wide, *range));
            if let Some((_, what)) = SPECIAL.iter().find(|(wide, _)| within(wide)) {
                let message = format!("`{range}` has addresses that are for {what}");
                let hint = "choose a private range, such as `10.100.0.0/16`";
                findings.push(own_fault(as_given, codes::NETWORK_RANGE, message).at(place).hint(hint));
            } else if key == "serviceRanges" && limited && range.host_bits() > SERVICE_BITS {
                let least = if range.is_ipv4() { 32 } else { 128 } - SERVICE_BITS;
                let message = format!(
                    "`{range}` has more than 2^{SERVICE_BITS} addresses, the most that kubeadm and an API server before 1.34 take"
                );
                let hint = format!("write a prefix of {least} or more");
                findings.push(Finding::warning(codes::NETWORK_RANGE, message).at(place).hint(hint));
            }
        }
    }
    for (index, address) in network.dns.iter().enumerate() {
        let place = document.place(&path.key("dns").index(index));
        if network.dns.iter().take(index).any(|earlier| earlier == address) {
            let message = format!("`{address}` is there already");
            findings.push(own_fault(as_given, codes::DNS_TAKEN, message).at(place).hint("keep one of them"));
        }
    }
    if network.dns.len() > MOST_SERVERS {
        let place = document.place(&path.key("dns").index(MOST_SERVERS));
        let message =
            format!("programs ask only the first {MOST_SERVERS} servers: kubelet leaves out the others");
        findings.push(Finding::warning(codes::DNS_TAKEN, message).at(place).hint("remove it"));
    }
}

/// Two ranges overlap if one holds the other's first address.
fn overlap(one: Cidr, other: Cidr) -> bool {
    let holds = |range: Cidr, other: Cidr| other.nth(0).is_some_and(|first| range.contains(first));
    holds(one, other) || holds(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn dns_is_the_tenth_address_of_each_range() {
        let mut network =
            Network { service_ranges: vec![cidr("10.100.0.0/16"), cidr("fd00::/108")], ..Network::default() };
        let expected: Vec<IpAddr> = vec!["10.100.0.10".parse().unwrap(), "fd00::a".parse().unwrap()];
        assert_eq!(dns_addresses(&network), expected);
        network.service_ranges = vec![cidr("10.0.0.16/28")];
        assert_eq!(dns_addresses(&network), ["10.0.0.26".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn overlap_is_symmetric() {
        assert!(overlap(cidr("10.0.0.0/8"), cidr("10.1.0.0/16")));
        assert!(overlap(cidr("10.1.0.0/16"), cidr("10.0.0.0/8")));
        assert!(!overlap(cidr("10.0.0.0/16"), cidr("10.1.0.0/16")));
        assert!(!overlap(cidr("10.0.0.0/16"), cidr("fd00::/8")));
    }
}
