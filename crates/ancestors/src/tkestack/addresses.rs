//! Ranges of pods and services, by tkestack's rules.
//!
//! Where no range of services is written, the last part of the pods' range is theirs, as large as the most services that
//! are wanted. The controller manager, which hands out the ranges of nodes, leaves that part alone.

use bringup_diag::Span;
use bringup_spec::Cidr;
use bringup_yaml::{Node, Resolved, Scalar};

use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{list, text};

/// What tkestack takes where nothing is written.
const PODS: &str = "10.244.0.0/16";
const MOST: u32 = 256;

/// The ranges of a cluster.
#[derive(Debug)]
pub(super) struct Ranges {
    pub(super) pods: Vec<Node>,
    pub(super) services: Vec<Node>,
    /// Whether services live within the pods' range.
    pub(super) shared: bool,
    /// The arguments of the controller manager that say how large a node's range is.
    pub(super) masks: Vec<(&'static str, String)>,
    pub(super) most_pods: u32,
    pub(super) most_pods_span: Span,
}

impl Ranges {
    pub(super) fn read(spec: Record<'_>, properties: Record<'_>, span: Span, tell: &mut Teller<'_>) -> Self {
        let pods = split(spec.get("clusterCIDR")).unwrap_or_else(|| vec![text(span, PODS)]);
        let (most_services, services_span) = number(properties, "maxClusterServiceNum", span, tell);
        let (most_pods, most_pods_span) = number(properties, "maxNodePodNum", span, tell);
        let parsed = |nodes: &[Node]| -> Vec<Cidr> {
            nodes.iter().filter_map(|node| Cidr::parse(node.text()?).ok()).collect()
        };
        let pod_ranges = parsed(&pods);
        let mut ranges =
            Self { pods, services: Vec::new(), shared: false, masks: Vec::new(), most_pods, most_pods_span };
        if let Some(services) = split(spec.get("serviceCIDR")) {
            ranges.services = services;
            let services = parsed(&ranges.services);
            ranges.shared = pod_ranges.iter().any(|pod| services.iter().any(|one| overlap(*pod, *one)));
        } else if let [pod] = pod_ranges.as_slice() {
            let at = spec.get("clusterCIDR").map_or(span, |node| node.span);
            match last_part(*pod, most_services) {
                Some(range) => ranges.services = vec![text(at, range)],
                None if pod.is_ipv4() => {
                    let message = format!("`{pod}` has less than {most_services} addresses for services");
                    let hint = "write a larger `clusterCIDR`, or `serviceCIDR`";
                    tell.error(codes::MISSING, services_span, message, hint);
                }
                None => {
                    let message = "nothing says which addresses services have".to_owned();
                    tell.error(codes::MISSING, at, message, "add `serviceCIDR` with an IPv6 range");
                }
            }
            ranges.shared = true;
        }
        ranges.masks = masks(&pod_ranges, most_pods, most_pods_span, tell);
        ranges
    }

    /// The ranges of pods, one behind the other, as programs take them.
    pub(super) fn pods_text(&self) -> String {
        joined(&self.pods)
    }

    /// The ranges of services, likewise.
    pub(super) fn services_text(&self) -> String {
        joined(&self.services)
    }

    pub(super) fn list(nodes: &[Node], span: Span) -> Node {
        list(nodes.first().map_or(span, |node| node.span), nodes.to_vec())
    }
}

fn joined(nodes: &[Node]) -> String {
    nodes.iter().filter_map(Node::text).collect::<Vec<_>>().join(",")
}

/// One range, or one of each family with a comma between them.
fn split(node: Option<&Node>) -> Option<Vec<Node>> {
    let node = node?;
    let written = node.text().filter(|written| !written.is_empty())?;
    Some(written.split(',').map(|range| text(node.span, range.trim())).collect())
}

/// A number of properties, or tkestack's own.
fn number(properties: Record<'_>, name: &str, span: Span, tell: &mut Teller<'_>) -> (u32, Span) {
    let Some(node) = properties.get(name) else { return (MOST, span) };
    match node.scalar().map(Scalar::core) {
        Some(Resolved::Integer(number)) if number > 0 => match u32::try_from(number) {
            Ok(number) if i32::try_from(number).is_ok() => return (number, node.span),
            _ => {}
        },
        _ => {}
    }
    let message = format!("`{name}` must be a whole number above 0");
    tell.error(codes::WRONG_TYPE, node.span, message, format!("write one such as {MOST}"));
    (MOST, node.span)
}

/// How many bits tell so many things apart.
fn bits(count: u32) -> u32 {
    count.saturating_sub(1).checked_ilog2().map_or(0, |bits| bits + 1)
}

/// The last part of a range that has room for so many addresses.
fn last_part(range: Cidr, count: u32) -> Option<String> {
    let (host, bits) = (range.host_bits(), bits(count));
    if !range.is_ipv4() || host < bits || host >= 32 {
        return None;
    }
    let parts = 1_u32.checked_shl(host - bits)?;
    let offset = (parts - 1).checked_shl(bits)?;
    range.nth(offset).map(|base| format!("{base}/{}", 32 - bits))
}

fn overlap(one: Cidr, other: Cidr) -> bool {
    let holds = |range: Cidr, other: Cidr| other.nth(0).is_some_and(|first| range.contains(first));
    holds(one, other) || holds(other, one)
}

/// How large the range of each node is: with room for its pods, or as kubeadm has it where there are two families.
fn masks(pods: &[Cidr], most: u32, span: Span, tell: &mut Teller<'_>) -> Vec<(&'static str, String)> {
    match pods {
        [pod] if pod.is_ipv4() => {
            let bits = bits(most);
            if bits > pod.host_bits() {
                let message = format!("`{pod}` has no room for a node with {most} pods");
                let hint = "write a larger `clusterCIDR`, or a smaller `maxNodePodNum`";
                tell.error(codes::WRONG_TYPE, span, message, hint);
            }
            vec![("node-cidr-mask-size", (32 - bits.min(32)).to_string())]
        }
        [pod] => vec![("node-cidr-mask-size", six(*pod).to_string())],
        several => several
            .iter()
            .map(|pod| {
                if pod.is_ipv4() {
                    ("node-cidr-mask-size-ipv4", "24".to_owned())
                } else {
                    ("node-cidr-mask-size-ipv6", six(*pod).to_string())
                }
            })
            .collect(),
    }
}

/// Of IPv6 ranges: whole bytes, so that there are 512 nodes or more; a /112 is for 256 nodes with 256 pods each.
fn six(pod: Cidr) -> u32 {
    let host = pod.host_bits();
    match host {
        16 => 120,
        17.. => 128 - ((host - 1) / 8 - 1) * 8,
        _ => 128 - host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn services_have_the_last_part_of_the_range() {
        // 256 services are 8 bits: the last /24 of the /16.
        assert_eq!(last_part(cidr("10.244.0.0/16"), 256).as_deref(), Some("10.244.255.0/24"));
        // 257 need a ninth bit.
        assert_eq!(last_part(cidr("10.244.0.0/16"), 257).as_deref(), Some("10.244.254.0/23"));
        assert_eq!(last_part(cidr("192.168.0.0/24"), 256).as_deref(), Some("192.168.0.0/24"));
        assert_eq!(last_part(cidr("192.168.0.0/24"), 1).as_deref(), Some("192.168.0.255/32"));
        assert_eq!(last_part(cidr("192.168.0.0/24"), 257), None);
        assert_eq!(last_part(cidr("fd00::/64"), 256), None);
    }

    #[test]
    fn ranges_of_ipv6_nodes_are_whole_bytes() {
        assert_eq!(six(cidr("fd00::/112")), 120);
        // 64 bits of host: 128 - ((64-1)/8-1)*8 = 128 - 6*8.
        assert_eq!(six(cidr("fd00:10:16::/64")), 80);
        assert_eq!(six(cidr("fd00::/120")), 120);
    }
}
