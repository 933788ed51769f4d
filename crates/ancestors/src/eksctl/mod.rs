//! `ClusterConfig` of eksctl.
//!
//! A group is brought up as eksctl brings it up: its labels and taints, its commands before the node's own set-up, its
//! kubelet. What eksctl makes around the nodes (the VPC, the control plane, roles of pods) is left to it, and told.

mod call;
mod cluster;
mod fabric;
mod family;
mod flags;
mod group;
mod helper;
mod iam;
mod instances;
mod kubelet;
mod launch;
pub(crate) mod marks;
mod network;
mod node_config;
mod overtaken;
mod own_bootstrap;
mod scaling;
pub(crate) mod steps;
mod tables;
mod volumes;

use bringup_yaml::Node;

use crate::codes;
use crate::fields::{Field, Record};
use crate::tell::Teller;

/// The version of the format that eksctl itself still reads.
const VERSION: &str = "eksctl.io/v1alpha5";

/// Translates the documents of eksctl.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    documents.iter().filter_map(|document| translated(document, tell)).collect()
}

fn translated(document: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let kind = document.get("kind");
    if kind.and_then(Node::text) != Some("ClusterConfig") {
        let span = kind.map_or(document.span, |kind| kind.span);
        let message = "of eksctl only `kind: ClusterConfig` is known";
        tell.error(codes::FIELD_REFUSED, span, message, "write `kind: ClusterConfig`");
        return None;
    }
    if let Some(version) = document.get("apiVersion").filter(|version| version.text() != Some(VERSION)) {
        let message = format!("eksctl reads `{VERSION}` only, and so it is here");
        let hint = format!("write `apiVersion: {VERSION}`, and what changed since with `eksctl` itself");
        tell.error(codes::FIELD_REFUSED, version.span, message, hint);
        return None;
    }
    cluster::translated(document, tell)
}

/// A mapping that may be missing, accounted for.
fn record<'a>(node: Option<&'a Node>, what: &str, table: &[Field], tell: &mut Teller<'_>) -> Record<'a> {
    node.map(|node| tell.record(node, what, table)).unwrap_or_default()
}
