//! `Cluster` and `InstanceGroup` of kops.
//!
//! All groups of a cluster become node groups of one document. What kops fills in by itself is filled in here, so that
//! the node is the one that kops would make; what its own programs do on a running cluster is told.

mod assets;
mod cilium;
mod circumstances;
mod cloud_fields;
mod cluster;
mod cluster_fields;
mod file_assets;
mod group;
mod group_fields;
mod hook_unit;
mod hooks;
mod image;
mod image_credentials;
mod imposed;
mod kubelet;
mod kubelet_fields;
mod kubelet_slices;
mod labels;
mod launch;
mod machine;
mod names;
mod network;
mod node_name;
mod nvidia;
mod parts;
mod releases;
mod role;
mod runtime;
mod runtime_fields;
mod scaling;
mod software;
mod steps;
mod sysctls;
mod updates;

use bringup_diag::closest;
use bringup_yaml::Node;

use self::cluster::Cluster;
use self::group::{Group, group};
use self::names::Names;
pub(crate) use self::names::plain_name;
use crate::codes;
use crate::fields::{Field, Use};
use crate::shapes::Shape::{Number, Text};
use crate::shapes::{LIST, TEXT_MAP, TEXTS};
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The label of a group that names its cluster.
const CLUSTER_LABEL: &str = "kops.k8s.io/cluster";

/// Translates the documents of kops.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let mut clusters: Vec<Cluster<'_>> = Vec::new();
    let mut groups: Vec<&Node> = Vec::new();
    for document in documents {
        if !is_readable(document, tell) {
            continue;
        }
        tell.record(document, "a document of kops", cluster_fields::DOCUMENT);
        match document.get("kind").and_then(Node::text).unwrap_or_default() {
            "Cluster" => clusters.extend(read_cluster(document, tell)),
            "InstanceGroup" => groups.push(document),
            kind => other_kind(document, kind, tell),
        }
    }
    let mut trees = Vec::new();
    for cluster in &clusters {
        let own: Vec<&Node> =
            groups.iter().copied().filter(|group| belongs(group, cluster.name, clusters.len())).collect();
        trees.extend(tree(cluster, &own, tell));
    }
    for group in groups {
        let known = clusters.iter().any(|cluster| belongs(group, cluster.name, clusters.len()));
        if !known {
            let named = cluster_of(group).map_or_else(String::new, |name| format!(" `{name}`"));
            let message = format!("the cluster{named} that this group belongs to is not there");
            let hint = "give the file with the `Cluster` in the same call; the label `kops.k8s.io/cluster` of a group names it";
            tell.error(codes::MISSING, group.span, message, hint);
        }
    }
    trees
}

/// Takes objects of Kubernetes out of other documents: kops applies what stands beside a cluster to the cluster itself.
pub(crate) fn leave_objects_aside(documents: &mut Vec<Node>, tell: &mut Teller<'_>) {
    documents.retain(|document| {
        let word = |key: &str| document.get(key).and_then(Node::text);
        let (Some(version), Some(kind)) = (word("apiVersion"), word("kind")) else { return true };
        if version.starts_with("bringup.dev/") {
            return true;
        }
        let message =
            format!("kops applies this `{kind}` to the cluster; it shapes no node, and is left aside");
        let hint = "apply it with `kubectl apply` once the cluster is there";
        tell.note(codes::FIELD_ASIDE, document.span, message, hint);
        false
    });
}

fn is_readable(document: &Node, tell: &mut Teller<'_>) -> bool {
    let version = document.get("apiVersion");
    let word = version.and_then(Node::text).unwrap_or_default().rsplit('/').next().unwrap_or_default();
    if matches!(word, "v1alpha2" | "v1alpha3") {
        return true;
    }
    let message = format!("version `{word}` of kops' documents is not understood");
    let hint = "write `kops.k8s.io/v1alpha2`: `kops get --name NAME -o yaml` prints it";
    tell.error(codes::FIELD_REFUSED, version.unwrap_or(document).span, message, hint);
    false
}

fn other_kind(document: &Node, kind: &str, tell: &mut Teller<'_>) {
    let place = document.get("kind").unwrap_or(document).span;
    if matches!(kind, "SSHCredential" | "Keyset" | "Host" | "Addons") {
        let message = format!("a `{kind}` of kops shapes no node group: it is left aside");
        tell.note(codes::FIELD_ASIDE, place, message, "the nodes come up the same without it");
        return;
    }
    let hint = closest(kind, ["Cluster", "InstanceGroup"]).map_or_else(
        || "write a `Cluster` and its `InstanceGroup`s".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    tell.error(
        codes::WRONG_TYPE,
        place,
        format!("kops has no documents of the kind `{kind}` that are known"),
        hint,
    );
}

fn name_of(document: &Node) -> Option<&Node> {
    document.get("metadata")?.get("name").filter(|name| name.text().is_some_and(|name| !name.is_empty()))
}

fn cluster_of(group: &Node) -> Option<&str> {
    group.get("metadata")?.get("labels")?.get(CLUSTER_LABEL)?.text()
}

/// A group without the label belongs to the cluster, if there is only one.
fn belongs(group: &Node, cluster: &str, clusters: usize) -> bool {
    cluster_of(group).map_or(clusters == 1, |name| name == cluster)
}

/// Fields of `metadata` that say nothing of a node: what kops and its store note down, and names.
const METADATA: &[Field] = &[
    ("annotations", Use::Is(TEXT_MAP)),
    ("creationTimestamp", Use::Is(Text)),
    ("deletionTimestamp", Use::Is(Text)),
    ("finalizers", Use::Is(TEXTS)),
    ("generateName", Use::Is(Text)),
    ("generation", Use::Is(Number)),
    ("labels", Use::Is(TEXT_MAP)),
    ("managedFields", Use::Is(LIST)),
    ("name", Use::Is(Text)),
    ("namespace", Use::Is(Text)),
    ("ownerReferences", Use::Is(LIST)),
    ("resourceVersion", Use::Is(Text)),
    ("selfLink", Use::Is(Text)),
    ("uid", Use::Is(Text)),
];

/// Names what is unknown in `metadata`.
fn account_for_metadata(document: &Node, tell: &mut Teller<'_>) {
    if let Some(metadata) = document.get("metadata") {
        tell.record(metadata, "`metadata` of an object of kops", METADATA);
    }
}

fn read_cluster<'a>(document: &'a Node, tell: &mut Teller<'_>) -> Option<Cluster<'a>> {
    account_for_metadata(document, tell);
    match (name_of(document), document.get("spec")) {
        (Some(name), Some(spec)) => Some(Cluster::read(document, name, spec, tell)),
        (None, _) => {
            let message = "this cluster has no name";
            tell.error(codes::MISSING, document.span, message, "add `metadata: {name: ...}`");
            None
        }
        (_, None) => {
            tell.error(codes::MISSING, document.span, "this cluster has no `spec`", "add `spec:`");
            None
        }
    }
}

fn tree(cluster: &Cluster<'_>, documents: &[&Node], tell: &mut Teller<'_>) -> Option<Node> {
    let mut names = Names::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut refused = false;
    let mut known: Vec<&Node> = Vec::new();
    for document in documents {
        account_for_metadata(document, tell);
        let Some(name) = name_of(document) else {
            let message = "this group has no name";
            tell.error(codes::MISSING, document.span, message, "add `metadata: {name: ...}`");
            continue;
        };
        if let Some(first) = known.iter().find(|known| known.text() == name.text()) {
            let word = name.text().unwrap_or_default();
            let message = format!("there are two groups `{word}`: the first is at {}", tell.line(first.span));
            tell.error(
                codes::FIELD_REFUSED,
                name.span,
                message,
                "keep one of them, or give one another name",
            );
            continue;
        }
        known.push(name);
        let name = names.give(name.text().unwrap_or_default());
        let translated = tell.group((&plain_name(cluster.name), document.span), |tell| {
            (group(document, name.clone(), cluster, tell), name)
        });
        refused |= translated.is_none();
        groups.extend(translated.flatten());
    }
    if groups.is_empty() && !refused {
        let message =
            format!("there is no group of nodes for the cluster `{}`: nothing is built", cluster.name);
        let hint = "give the file with its `InstanceGroup`s in the same call";
        tell.note(codes::DIFFERENCE, cluster.name_span, message, hint);
    }
    // Why there are none has been told.
    groups.first()?;
    let dns = shared_dns(&groups);
    let has_api_server = groups.iter().any(|group| group.has_api_server);
    let mut spec = cluster.branch(dns.clone(), has_api_server, tell);
    let groups = groups.into_iter().map(|group| finished(group, dns.is_some())).collect();
    spec.put("nodeGroups", list(cluster.span, groups));
    let mut metadata = Branch::new(cluster.name_span);
    metadata.put("name", cluster.plain_name());
    let mut tree = Branch::new(cluster.span);
    tree.put("apiVersion", text(cluster.span, "bringup.dev/v1alpha1"));
    tree.put("kind", text(cluster.span, "Cluster"));
    tree.put("metadata", metadata.into_node());
    tree.put("spec", spec.into_node());
    Some(tree.into_node())
}

/// The DNS that all groups are told, if it is one.
fn shared_dns(groups: &[Group]) -> Option<Node> {
    let first = groups.first()?.dns.clone()?;
    let same = |group: &Group| group.dns.as_ref().and_then(Node::text) == first.text();
    groups.iter().all(same).then_some(first)
}

/// A group with its kubelet, which is told its DNS itself where others have another.
fn finished(group: Group, is_shared: bool) -> Node {
    let Group { mut branch, kubelet, dns, .. } = group;
    let mut kubelet = kubelet.into_node();
    if let Some(dns) = dns.filter(|_| !is_shared)
        && let bringup_yaml::Content::Map(entries) = &mut kubelet.content
        && let Some(config) = entries.iter_mut().find(|entry| entry.key == "config")
        && let bringup_yaml::Content::Map(fields) = &mut config.value.content
    {
        let mut own = Branch::new(dns.span);
        own.put("clusterDNS", list(dns.span, vec![dns]));
        if let bringup_yaml::Content::Map(more) = own.into_node().content {
            fields.extend(more);
        }
    }
    branch.put_full("kubelet", kubelet);
    branch.into_node()
}
