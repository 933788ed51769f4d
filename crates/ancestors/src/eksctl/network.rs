//! Addresses: the API server's, the services', the subnets of the nodes.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::Learnt;
use super::{record, tables};
use crate::codes;
use crate::fields::Record;
use crate::ids;
use crate::tell::{Says, Teller};
use crate::tree::{Branch, list};

/// The VPC, accounted for.
pub(super) fn vpc<'a>(top: &Record<'a>, tell: &mut Teller<'_>) -> Record<'a> {
    record(top.get("vpc"), "`vpc`", tables::VPC, tell)
}

/// Whether all node groups live in private subnets.
pub(super) fn all_private(top: &Record<'_>) -> bool {
    let mut groups = top.items("nodeGroups").iter().chain(top.items("managedNodeGroups")).peekable();
    groups.peek().is_some()
        && groups.all(|group| group.get("privateNetworking").and_then(Node::text) == Some("true"))
}

/// Ids of the subnets of the nodes: the private ones, or the public ones, as the groups ask.
pub(super) fn subnets(vpc: &Record<'_>, private: bool, tell: &mut Teller<'_>) -> Vec<Node> {
    let Some(subnets) = vpc.get("subnets") else { return Vec::new() };
    let kinds = tell.record(subnets, "`subnets`", tables::SUBNETS);
    let mut of_kind = |kind: &str| -> Vec<Node> {
        let zones = kinds.get(kind).and_then(Node::entries).unwrap_or_default();
        let records = zones.iter().map(|zone| tell.record(&zone.value, "a subnet", tables::SUBNET));
        records.filter_map(|subnet| subnet.get("id").cloned()).collect()
    };
    let (closed, open) = (of_kind("private"), of_kind("public"));
    let (wanted, other) = if private { (closed, open) } else { (open, closed) };
    let wanted = if wanted.is_empty() { other } else { wanted };
    wanted.into_iter().filter(|id| ids::real(id, "subnet-", tell).is_some()).collect()
}

/// Puts `api` and `network`, as far as they are known before the cluster is asked.
pub(super) fn put(spec: &mut Branch, top: &Record<'_>, learnt: Learnt, tell: &mut Teller<'_>) {
    let status = record(top.get("status"), "`status`", tables::STATUS, tell);
    let or = |field: &str, learnt: Option<Node>| status.get(field).cloned().or(learnt);
    let id = or("id", learnt.id);
    // What is left out, the node asks EKS for; the address and the rest belong together.
    if let Some(endpoint) = or("endpoint", learnt.endpoint) {
        let mut api = Branch::new(endpoint.span);
        api.put("endpoint", endpoint);
        api.put_some("certificateAuthority", or("certificateAuthorityData", learnt.certificate_authority));
        api.put_some("clusterId", id.clone());
        spec.put("api", api.into_node());
    }
    if let Some(outpost) = top.entry("outpost") {
        tell.record(&outpost.value, "`outpost`", tables::OUTPOST);
        if id.is_none() {
            let message = "nodes of a cluster on an Outpost must know its id, which EKS chooses";
            let hint = "add it with `--with additions.yaml`: `spec: {api: {endpoint: ..., certificateAuthority: ..., clusterId: ...}}`; `aws eks describe-cluster` prints them";
            let knows_id: Says = |document| {
                let api = document.get("spec").and_then(|spec| spec.get("api"));
                api.and_then(|api| api.get("clusterId")).is_some()
            };
            tell.warning_unless(knows_id, (codes::MISSING, outpost.key_span), message, hint);
        }
    }
    services(spec, top, &status, learnt.service_range, tell);
}

/// Where a document says how its cluster's addresses are made up.
const NETWORK: &str = "kubernetesNetworkConfig";

/// A field of that: what the person asks for, or what eksctl has written down.
fn network_field<'a>(top: &Record<'a>, field: &str) -> Option<&'a Node> {
    let told = top.get("status").and_then(|status| status.get(NETWORK));
    top.get(NETWORK).and_then(|asked| asked.get(field)).or_else(|| told.and_then(|told| told.get(field)))
}

fn is_sixth(top: &Record<'_>) -> bool {
    let family = network_field(top, "ipFamily").and_then(Node::text);
    family.is_some_and(|family| family.eq_ignore_ascii_case("ipv6"))
}

/// The addresses of the services, where the document says them.
pub(super) fn service_range<'a>(top: &Record<'a>) -> Option<&'a Node> {
    let [fourth, sixth] = ["serviceIPv4CIDR", "serviceIPv6CIDR"].map(|field| network_field(top, field));
    if is_sixth(top) { sixth } else { fourth.or(sixth) }
}

fn services(
    spec: &mut Branch,
    top: &Record<'_>,
    status: &Record<'_>,
    learnt: Option<Node>,
    tell: &mut Teller<'_>,
) {
    for from in [top, status] {
        record(from.get(NETWORK), "`kubernetesNetworkConfig`", tables::NETWORK, tell);
    }
    let family = network_field(top, "ipFamily");
    if let Some(family) = family.filter(|family| {
        !family
            .text()
            .is_some_and(|text| text.eq_ignore_ascii_case("ipv4") || text.eq_ignore_ascii_case("ipv6"))
    }) {
        let message = "this is no family of addresses of eksctl's";
        tell.error(codes::WRONG_TYPE, family.span, message, "write `IPv4` or `IPv6`");
    }
    let range = service_range(top).cloned().or(learnt);
    match (range, family) {
        (Some(range), _) => {
            let mut network = Branch::new(range.span);
            network.put("serviceRanges", list(range.span, vec![range]));
            spec.put("network", network.into_node());
        }
        (None, Some(family)) if is_sixth(top) => sixth_is_unknown(family.span, tell),
        (None, _) => {}
    }
}

/// EKS chooses the range of services of an IPv6 cluster when it makes it.
fn sixth_is_unknown(span: Span, tell: &mut Teller<'_>) {
    let message = "EKS chooses the service range of a cluster of IPv6, and without it nodes are known by their IPv4 addresses";
    let hint = "add it with `--with additions.yaml`: `spec: {network: {serviceRanges: [RANGE]}}`; `aws eks describe-cluster` prints it as `serviceIpv6Cidr`";
    tell.warning(codes::MISSING, span, message, hint);
}
