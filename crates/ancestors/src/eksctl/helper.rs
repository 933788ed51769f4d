//! eksctl's own `bootstrap.helper.sh`, which own scripts read in: its variables reach them without it.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::Cluster;
use super::group::{Given, Parts};
use super::marks;
use crate::codes;
use crate::shell::{halves, script};
use crate::tell::Teller;

/// What else the helper defines, and no step gets.
const MISSING: [&str; 3] = ["KUBELET_ARGS", "TOKEN", "get_metadata"];

/// What the file itself may hold.
const CLUSTERS: [(&str, &str); 2] =
    [("API_SERVER_URL", "endpoint: …"), ("B64_CLUSTER_CA", "certificateAuthorityData: …")];

/// The variables that eksctl's files hold on the node.
pub(super) fn variables(
    given: &Given<'_>,
    cluster: &Cluster<'_>,
    parts: &Parts,
) -> BTreeMap<&'static str, String> {
    let mut labels = parts.labels.clone();
    marks::add_facts(&mut labels, given);
    let labels = labels.into_node();
    let pair = |key: &str, value: &Node| format!("{key}={}", value.text().unwrap_or_default());
    let labels: Vec<String> =
        labels.entries().unwrap_or_default().iter().map(|entry| pair(&entry.key, &entry.value)).collect();
    let taint = |taint: &Node| {
        let part = |key: &str| taint.get(key).and_then(Node::text).unwrap_or_default().to_owned();
        format!("{}={}:{}", part("key"), part("value"), part("effect"))
    };
    let taints: Vec<String> = parts.taints.iter().map(taint).collect();
    let pods = given.fields.text("maxPodsPerNode").unwrap_or_default().to_owned();
    let mut arguments = vec![format!("--node-labels={}", labels.join(","))];
    if !taints.is_empty() {
        arguments.push(format!("--register-with-taints={}", taints.join(",")));
    }
    if !pods.is_empty() {
        arguments.push(format!("--max-pods={pods}"));
    }
    BTreeMap::from([
        ("CLUSTER_NAME", cluster.name.to_owned()),
        ("NODE_LABELS", labels.join(",")),
        ("NODE_TAINTS", taints.join(",")),
        ("MAX_PODS", pods),
        ("KUBELET_EXTRA_ARGS", arguments.join(" ")),
        ("CLUSTER_DNS", given.fields.text("clusterDNS").unwrap_or_default().to_owned()),
        ("CONTAINER_RUNTIME", given.fields.text("containerRuntime").unwrap_or_default().to_owned()),
        // Where the file does not say them, the plan knows them from elsewhere.
        ("API_SERVER_URL", cluster.endpoint.unwrap_or_default().to_owned()),
        ("B64_CLUSTER_CA", cluster.certificate_authority.unwrap_or_default().to_owned()),
        ("KUBELET_CONFIG", "/etc/kubernetes/kubelet/kubelet-config.json".to_owned()),
        ("KUBELET_EXTRA_CONFIG", "/etc/eksctl/kubelet-extra.json".to_owned()),
        ("TMP_KUBE_CONF", "/tmp/kubelet-conf.json".to_owned()),
        ("INSTANCE_ID", "@{instanceId}".to_owned()),
        ("INSTANCE_LIFECYCLE", "@{lifecycle}".to_owned()),
    ])
}

/// Tells of what a script takes from the helper, and does not find.
pub(super) fn tell_of_missing(
    script: &str,
    span: Span,
    variables: &BTreeMap<&'static str, String>,
    tell: &mut Teller<'_>,
) {
    let used = halves::used(&script::without_call(script));
    for (name, field) in CLUSTERS {
        if used.contains(name) && variables.get(name).is_none_or(String::is_empty) {
            let message = format!("this script uses `{name}`, which is empty here: the file does not say it");
            let hint = format!("add `status: {{{field}}}` to the file, or write the value into the script");
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        }
    }
    for name in MISSING {
        let is_used = used.contains(name) || (name == "get_metadata" && halves::mentions(script, name));
        let is_own = script.contains(&format!("{name}=")) || script.contains(&format!("{name}()"));
        if is_used && !is_own && script.contains(script::HELPER) {
            let message = format!("this script uses `{name}` of eksctl's helper, which is not on the node");
            let hint = "define it in the script itself; `INSTANCE_ID` and `INSTANCE_LIFECYCLE` are there";
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        }
    }
}
