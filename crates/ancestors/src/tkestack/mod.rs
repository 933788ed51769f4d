//! `Cluster` and `Machine` of tkestack.
//!
//! tkestack drives machines over SSH: those in the cluster's own list are its masters, which kubeadm starts and joins;
//! each `Machine` is a worker. The first master starts the cluster. So there is a node group of masters and one of
//! workers, and further ones where machines of a kind differ in labels or taints.

mod addresses;
mod arguments;
mod cluster;
mod conditions;
mod control_plane;
mod groups;
mod hooks;
mod machines;
mod naming;
mod runtime;
mod tables;
mod types;

use bringup_diag::closest;
use bringup_yaml::Node;

use self::cluster::Cluster;
use self::machines::Worker;
use crate::codes;
use crate::tell::Teller;

const VERSION: &str = "platform.tkestack.io/v1";

/// Translates the documents of tkestack.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let mut clusters = Vec::new();
    let mut machines = Vec::new();
    for document in documents {
        check_version(document, tell);
        let kind = document.get("kind").and_then(Node::text).unwrap_or_default();
        match kind {
            "Cluster" => clusters.push(document),
            "Machine" => machines.push(document),
            "ClusterList" => clusters.extend(items(document, tell)),
            "MachineList" => machines.extend(items(document, tell)),
            _ => refuse(document, kind, tell),
        }
    }
    let workers: Vec<Worker<'_>> =
        machines.into_iter().filter_map(|machine| Worker::read(machine, tell)).collect();
    let names = naming::names(&clusters, &workers);
    let clusters: Vec<(Cluster<'_>, bool)> =
        clusters.into_iter().zip(names).map(|(document, name)| Cluster::read(document, name, tell)).collect();
    for worker in &workers {
        if !clusters.iter().any(|(cluster, _)| cluster.is_named(worker.cluster)) {
            let message = match worker.cluster {
                Some(name) => format!("there is no cluster `{name}` that this machine could join"),
                None => "nothing says which cluster this machine joins".to_owned(),
            };
            let hint = "give the `Cluster` in the same call, and write its name to `spec.clusterName`";
            tell.error(codes::MISSING, worker.cluster_span, message, hint);
        }
    }
    let mut trees = Vec::new();
    for (cluster, is_possible) in clusters {
        if is_possible {
            let own: Vec<&Worker<'_>> =
                workers.iter().filter(|worker| cluster.is_named(worker.cluster)).collect();
            trees.push(cluster.translate(&own, tell));
        }
    }
    trees
}

/// tkestack has one version of its documents.
fn check_version(document: &Node, tell: &mut Teller<'_>) {
    let Some(version) = document.get("apiVersion") else { return };
    let given = version.text().unwrap_or_default();
    if given != VERSION {
        let message = format!("version `{given}` of tkestack's documents is not understood");
        tell.error(codes::FIELD_REFUSED, version.span, message, format!("write `apiVersion: {VERSION}`"));
    }
}

fn items<'a>(document: &'a Node, tell: &mut Teller<'_>) -> &'a [Node] {
    tell.record(document, "a list of tkestack", tables::LIST).items("items")
}

fn refuse(document: &Node, kind: &str, tell: &mut Teller<'_>) {
    let span = document.get("kind").map_or(document.span, |kind| kind.span);
    if kind.is_empty() {
        tell.error(codes::MISSING, span, "this document of tkestack has no `kind`", "add `kind: Cluster`");
    } else if tables::OTHER_KINDS.contains(&kind) {
        let message = format!("a `{kind}` of tkestack makes no node: it is left aside");
        tell.note(codes::FIELD_ASIDE, span, message, "the nodes come up the same without it");
    } else {
        let hint = match closest(kind, ["Cluster", "Machine"]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the kinds that make nodes are `Cluster` and `Machine`".to_owned(),
        };
        tell.error(codes::FIELD_REFUSED, span, format!("`{kind}` is no kind of tkestack"), hint);
    }
}
