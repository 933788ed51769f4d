//! User-data that no document can be made of, told by what it is.

use bringup_diag::{Finding, Place, Span};
use bringup_spec::codes::KIND;
use bringup_yaml::{Limits, parse};

use crate::codes;

/// How a file of a cloud-config begins that is one of eksctl's scripts.
const SCRIPTS_OF_EKSCTL: &str = "path: /var/lib/cloud/scripts/eksctl/";

/// Where eksctl has put what its nodes are set up with.
const OF_EKSCTL: [&str; 2] = ["/etc/eksctl/", "/var/lib/cloud/scripts/eksctl/"];

/// What there is to tell of a template that cloud-init fills in on the machine.
pub(crate) fn finding(name: &str, text: &str) -> Option<Finding> {
    let first = text.trim_start_matches('\u{feff}').lines().next()?.to_ascii_lowercase();
    let words: String = first.split_whitespace().collect();
    if !words.starts_with("##template:jinja") {
        return None;
    }
    let message = "this is a template of jinja, which cloud-init fills in on the machine: what it comes to cannot be read beforehand";
    let hint = "write what stands in `{{ }}` and take the first line out; what only the machine knows is a fact here: `{{ v1.instance_id }}` in a label is `labels: {id: \"@{instanceId}\"}` of the group with `--with additions.yaml`";
    Some(Finding::error(codes::FIELD_REFUSED, message).at(Place::new(name, Span::point(1, 1))).hint(hint))
}

/// The same of a cloud-config that brings eksctl's own scripts, whatever else it calls.
pub(crate) fn of_eksctl(name: &str, text: &str) -> Option<Finding> {
    let brings = text.lines().any(|line| line.trim_start().starts_with(SCRIPTS_OF_EKSCTL));
    cloud_config(name, text).filter(|_| brings)
}

/// The same of a cloud-config that joins no cluster.
pub(crate) fn cloud_config(name: &str, text: &str) -> Option<Finding> {
    let first = text.trim_start_matches('\u{feff}').lines().next()?.trim_end();
    if first != "#cloud-config" || parse(text, Limits::default()).is_err() {
        return None;
    }
    let (message, hint) = if OF_EKSCTL.iter().any(|folder| text.contains(folder)) {
        (
            "this is the user-data that eksctl makes, a cloud-config whose own scripts are to join the node, not a document",
            "give eksctl's ClusterConfig; or write a document of `flavour: eks` with what stands in its files: kubelet-extra.json as `kubelet: {config: {...}}`, docker-extra.json as `runtime: {dockerConfig: {...}}`, of kubelet.env the cluster's name as `aws: {clusterName: ...}`, CLUSTER_DNS as `network: {dns: [...]}`, NODE_LABELS as `labels`, NODE_TAINTS as `taints`",
        )
    } else {
        (
            "this is a cloud-config that joins no cluster, not a document",
            "`bringup inspect` shows what it does, and `bringup try` boots it; a call of `/etc/eks/bootstrap.sh` in its `runcmd` would be read, and a part of a document has it in `parts`",
        )
    };
    Some(Finding::error(KIND, message).at(Place::new(name, Span::point(1, 1))).hint(hint))
}
