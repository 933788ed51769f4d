//! `NodeConfig` of nodeadm.
//!
//! All of them together are one node group, as nodeadm lays them over each other. A NodeConfig says nothing of the version
//! of Kubernetes, which is the image's; it is added beside it. On a node, NodeConfigs are run as they are, with
//! `bringup-node up --config`: this is for those who want to see, prove and change what will happen.

mod containerd;
mod flags;
mod instance;
mod merge;
pub(crate) mod settings;
pub(crate) mod tables;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::Span;
use bringup_spec::Name;
use bringup_spec::codes::NODECONFIG_VALUE;
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
            tell_authority(document, tell);
            known.push(document);
        } else {
            let hint = format!("write `apiVersion: {VERSION}` and `kind: NodeConfig`");
            tell.error(codes::FIELD_REFUSED, document.span, "of nodeadm only NodeConfigs are known", hint);
        }
    }
    let Some(whole) = merge::merged(&known, tell) else { return Vec::new() };
    translated(&whole, tell).into_iter().collect()
}

/// nodeadm reads each NodeConfig by itself, and refuses an authority that is no base64, also where a later one replaces it.
fn tell_authority(document: &Node, tell: &mut Teller<'_>) {
    let cluster = document.get("spec").and_then(|spec| spec.get("cluster"));
    let Some(authority) = cluster.and_then(|cluster| cluster.get("certificateAuthority")) else { return };
    let letters = authority.text().unwrap_or_default().replace(['\r', '\n'], "");
    if BASE64_STANDARD.decode(letters).is_err() {
        let message = "nodeadm refuses this authority, which is no base64";
        tell.warning(NODECONFIG_VALUE, authority.span, message, "write the base64 that EKS gives");
    }
}

fn translated(document: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let span = document.span;
    let Some(given) = document.get("spec") else {
        tell.error(codes::MISSING, span, "this NodeConfig has no `spec`", "add `spec: {cluster: {…}}`");
        return None;
    };
    let spec = tell.record(given, "`spec` of a NodeConfig", tables::SPEC);
    let cluster = record(spec.get("cluster"), "`cluster` of a NodeConfig", tables::CLUSTER, tell);
    let [name, endpoint, authority, range] = [
        ("name", ["metadata", "name"].as_slice()),
        ("apiServerEndpoint", &["spec", "api", "endpoint"]),
        ("certificateAuthority", &["spec", "api", "certificateAuthority"]),
        ("cidr", &["spec", "network", "serviceRanges"]),
    ]
    .map(|(key, path)| required(&cluster, key, path, given.span, tell));

    let mut api = Branch::new(endpoint.map_or(given.span, |endpoint| endpoint.span));
    // A block of text ends with a line break, which nodeadm writes behind the address.
    let on_one_line =
        |node: &Node| node.text().map_or_else(|| node.clone(), |address| text(node.span, address.trim_end()));
    api.put_some("endpoint", endpoint.map(on_one_line));
    api.put_some("certificateAuthority", authority.cloned());
    if cluster.flag("enableOutpost") == Some(true) {
        api.put_some("clusterId", cluster.get("id").cloned());
    }
    let mut network = Branch::new(given.span);
    network.put_some("serviceRanges", range.map(|range| list(range.span, vec![range.clone()])));
    let mut join = Branch::new(span);
    join.put("method", text(span, "eks-token"));
    let mut aws = Branch::new(given.span);
    // Only hybrid nodes' has the region itself.
    let said = cluster.get("region").and_then(|region| Some((region.span, region.text()?)));
    let region =
        said.or_else(|| endpoint.and_then(|endpoint| Some((endpoint.span, region_of(endpoint.text()?)?))));
    if let Some((span, region)) = region {
        aws.put("region", text(span, region));
    } else {
        let example = "spec: {aws: {region: us-west-2}}";
        let span = endpoint.map_or(given.span, |endpoint| endpoint.span);
        told_elsewhere(tell, span, &["spec", "aws", "region"], ("the region", example));
    }
    let mut metadata = Branch::new(given.span);
    if let Some(name) = name {
        let plain_name = plain_name(name.text().unwrap_or_default());
        if Some(plain_name.as_str()) != name.text() {
            aws.put("clusterName", name.clone());
        }
        metadata.put("name", text(name.span, plain_name));
    }
    let example = "spec: {kubernetes: {version: \"1.34\"}}";
    let version = ["spec", "kubernetes", "version"];
    told_elsewhere(tell, given.span, &version, ("the version of Kubernetes", example));

    let mut whole = Branch::new(given.span);
    whole.put("flavour", plain(span, "eks"));
    whole.put_full("api", api.into_node());
    whole.put_full("network", network.into_node());
    whole.put("join", join.into_node());
    whole.put_full("aws", aws.into_node());
    whole.put("nodeGroups", list(given.span, vec![group(&spec, given.span, tell)]));
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
    group.put("inPlaceOf", plain(span, "nodeadm"));
    let said = settings::of(spec, span, tell);
    group.put("nodeName", text(span, if said.named_by_id { "instance-id" } else { "private-dns" }));
    group.put_full("labels", said.labels.into_node());
    group.put_full("taints", list(span, said.taints));
    group.put_some("maxPods", said.max_pods);
    let mut kubelet = Branch::new(span);
    kubelet.put_full("config", said.config);
    kubelet.put_full("flags", said.flags.into_node());
    kubelet.put_full("environment", said.environment);
    group.put_full("kubelet", kubelet.into_node());
    group.put_full("runtime", said.runtime);
    group.put_full("files", list(span, said.files));
    group.put_full("units", list(span, said.units));
    group.put_full(
        "steps",
        list(span, said.disks.into_iter().chain(said.name_resolution).chain(said.import).collect()),
    );
    group.into_node()
}

/// What nodeadm learns on the machine has to be said here.
fn told_elsewhere(tell: &mut Teller<'_>, span: Span, path: &[&'static str], (what, example): (&str, &str)) {
    let message = format!("a NodeConfig does not say {what}: nodeadm learns it on the machine");
    let hint = format!("say it with `--with additions.yaml`: `kind: Additions`, `{example}`");
    tell.note_of_missing(path, (codes::DIFFERENCE, span), message, hint);
}

/// What nodeadm needs. Groups that EKS or karpenter makes have it from them: then additions say it.
fn required<'a>(
    cluster: &Record<'a>,
    key: &str,
    path: &[&'static str],
    span: Span,
    tell: &mut Teller<'_>,
) -> Option<&'a Node> {
    let found = cluster.get(key).filter(|value| value.text() != Some(""));
    if found.is_none() {
        let message = format!("nodeadm needs `{key}` of `cluster`");
        let hint = format!(
            "add `{key}` under `spec.cluster`; where EKS or karpenter adds it, say it as `{}` with `--with additions.yaml`",
            path.join(".")
        );
        tell.error_of_missing(path, (codes::MISSING, span), message, hint);
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
