//! `NodeConfig` of nodeadm.
//!
//! All of them together are one node group, as nodeadm lays them over each other. A NodeConfig says nothing of the version
//! of Kubernetes, which is the image's; it is added beside it. On a node, NodeConfigs are run as they are, with
//! `bringup-node up --config`: this is for those who want to see, prove and change what will happen.

mod containerd;
mod flags;
mod instance;
mod merge;
mod tables;

use bringup_diag::Span;
use bringup_spec::Name;
use bringup_yaml::Node;

use crate::codes;
use crate::fields::{Field, Record};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// The version of the format.
const VERSION: &str = "node.eks.aws/v1alpha1";

/// Translates the documents of nodeadm, all to one.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let mut known = Vec::new();
    for document in documents {
        let says = |key: &str| document.get(key).and_then(Node::text);
        if says("kind") == Some("NodeConfig") && says("apiVersion") == Some(VERSION) {
            // Before they are merged, each is accounted for by itself.
            tell.record(document, "a NodeConfig", tables::TOP);
            known.push(document);
        } else {
            let hint = format!("write `apiVersion: {VERSION}` and `kind: NodeConfig`");
            tell.error(codes::FIELD_REFUSED, document.span, "of nodeadm only NodeConfigs are known", hint);
        }
    }
    let Some(whole) = merge::merged(&known, tell) else { return Vec::new() };
    translated(&whole, tell).into_iter().collect()
}

fn translated(document: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let span = document.span;
    let Some(given) = document.get("spec") else {
        tell.error(codes::MISSING, span, "this NodeConfig has no `spec`", "add `spec: {cluster: {…}}`");
        return None;
    };
    let spec = tell.record(given, "`spec` of a NodeConfig", tables::SPEC);
    let cluster = record(spec.get("cluster"), "`cluster` of a NodeConfig", tables::CLUSTER, tell);
    let name = required(&cluster, "name", given.span, tell)?;
    let endpoint = required(&cluster, "apiServerEndpoint", given.span, tell)?;
    let authority = required(&cluster, "certificateAuthority", given.span, tell)?;
    let range = required(&cluster, "cidr", given.span, tell)?;

    let mut api = Branch::new(endpoint.span);
    api.put("endpoint", endpoint.clone());
    api.put("certificateAuthority", authority.clone());
    if cluster.flag("enableOutpost") == Some(true) {
        api.put_some("clusterId", cluster.get("id").cloned());
    }
    let mut network = Branch::new(range.span);
    network.put("serviceRanges", list(range.span, vec![range.clone()]));
    let mut join = Branch::new(span);
    join.put("method", text(span, "eks-token"));
    let mut aws = Branch::new(endpoint.span);
    if let Some(region) = endpoint.text().and_then(region_of) {
        aws.put("region", text(endpoint.span, region));
    } else {
        told_elsewhere(tell, endpoint.span, "the region", "spec: {aws: {region: us-west-2}}");
    }
    let plain_name = plain_name(name.text().unwrap_or_default());
    if Some(plain_name.as_str()) != name.text() {
        aws.put("clusterName", name.clone());
    }
    told_elsewhere(tell, given.span, "the version of Kubernetes", "spec: {kubernetes: {version: \"1.34\"}}");

    let mut whole = Branch::new(given.span);
    whole.put("flavour", plain(span, "eks"));
    whole.put("api", api.into_node());
    whole.put("network", network.into_node());
    whole.put("join", join.into_node());
    whole.put("aws", aws.into_node());
    whole.put("nodeGroups", list(given.span, vec![group(&spec, given.span, tell)]));
    let mut metadata = Branch::new(name.span);
    metadata.put("name", text(name.span, plain_name));
    let mut tree = Branch::new(span);
    tree.put("apiVersion", text(span, "bringup.dev/v1alpha1"));
    tree.put("kind", text(span, "Cluster"));
    tree.put("metadata", metadata.into_node());
    tree.put("spec", whole.into_node());
    Some(tree.into_node())
}

fn group(spec: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Node {
    let mut os = Branch::new(span);
    os.put("family", text(span, "amazon-linux-2023"));
    let mut group = Branch::new(span);
    group.put("name", text(span, "nodes"));
    group.put("platform", text(span, "aws"));
    group.put("os", os.into_node());
    let gates = record(spec.get("featureGates"), "`featureGates` of a NodeConfig", tables::FEATURES, tell);
    let by_id = gates.flag("InstanceIdNodeName") == Some(true);
    group.put("nodeName", text(span, if by_id { "instance-id" } else { "private-dns" }));
    let kubelet = record(spec.get("kubelet"), "`kubelet` of a NodeConfig", tables::KUBELET, tell);
    let flags = flags::taken_apart(kubelet.items("flags"), span);
    group.put_full("labels", flags.labels.into_node());
    group.put_full("taints", list(span, flags.taints));
    let instance = record(spec.get("instance"), "`instance` of a NodeConfig", tables::INSTANCE, tell);
    let mut settings = Branch::new(span);
    if let Some(config) = kubelet.entry("config") {
        settings.put_field("config", config);
    }
    settings.put_full("flags", flags.others.into_node());
    settings.put_full("environment", instance::environment_of_kubelet(&instance, span, tell));
    group.put_full("kubelet", settings.into_node());
    let containerd = record(spec.get("containerd"), "`containerd` of a NodeConfig", tables::CONTAINERD, tell);
    let (runtime, base_spec) = containerd::translated(&containerd, span, tell);
    group.put_full("runtime", runtime);
    let (resolution, restart) = instance::name_resolution(&instance, tell).unzip();
    group.put_full("files", list(span, base_spec.into_iter().chain(resolution).collect()));
    group.put_full("units", list(span, instance::drop_ins(&instance)));
    let steps = instance::disks(&instance, tell).into_iter().chain(restart);
    group.put_full("steps", list(span, steps.collect()));
    group.into_node()
}

/// What nodeadm learns on the machine has to be said here.
fn told_elsewhere(tell: &mut Teller<'_>, span: Span, what: &str, example: &str) {
    let message = format!("a NodeConfig does not say {what}: nodeadm learns it on the machine");
    let hint = format!("say it with `--with additions.yaml`: `kind: Additions`, `{example}`");
    tell.note(codes::DIFFERENCE, span, message, hint);
}

fn required<'a>(cluster: &Record<'a>, key: &str, span: Span, tell: &mut Teller<'_>) -> Option<&'a Node> {
    let found = cluster.get(key).filter(|value| value.text() != Some(""));
    if found.is_none() {
        let message = format!("nodeadm needs `{key}` of `cluster`");
        tell.error(codes::MISSING, span, message, format!("add `{key}` under `spec.cluster`"));
    }
    found
}

/// The region in the name of an API server of EKS: `ID.SHARD.REGION.eks.amazonaws.com`.
pub(crate) fn region_of(endpoint: &str) -> Option<&str> {
    let host = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest).split(['/', ':']).next()?;
    let (before, _) = host.split_once(".eks.").or_else(|| host.split_once(".eks-fips."))?;
    before.rsplit('.').next().filter(|region| region.matches('-').count() >= 2)
}

/// A name in the letters that one may have here.
pub(crate) fn plain_name(given: &str) -> String {
    if Name::parse(given).is_ok() {
        return given.to_owned();
    }
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let lower = given.to_ascii_lowercase();
    let short: String =
        lower.chars().map(|letter| if fits(letter) { letter } else { '-' }).take(63).collect();
    let short = short.trim_matches('-');
    if short.is_empty() { "cluster".to_owned() } else { short.to_owned() }
}

/// A mapping that may be missing, accounted for.
fn record<'a>(node: Option<&'a Node>, what: &str, table: &[Field], tell: &mut Teller<'_>) -> Record<'a> {
    node.map(|node| tell.record(node, what, table)).unwrap_or_default()
}
