//! eksctl's own `bootstrap.helper.sh`, which own scripts read in: its variables reach them without it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::Cluster;
use super::group::{Given, Parts};
use super::{kubelet, marks};
use crate::codes;
use crate::shell::{halves, script};
use crate::tell::Teller;
use crate::user_data::paths::Paths;

/// What else the helper defines, and no step gets.
const MISSING: [&str; 3] = ["KUBELET_ARGS", "TOKEN", "get_metadata"];

/// What eksctl learns from EKS: the variable, the flag of the image's script that takes it, and where the file may say it.
const OF_CLUSTER: [(&str, &str, &str); 4] = [
    ("API_SERVER_URL", "apiserver-endpoint", "`status: {endpoint: …}`"),
    ("B64_CLUSTER_CA", "b64-cluster-ca", "`status: {certificateAuthorityData: …}`"),
    ("CLUSTER_DNS", "dns-cluster-ip", "`clusterDNS` or `kubernetesNetworkConfig: {serviceIPv4CIDR: …}`"),
    ("CLUSTER_ID", "cluster-id", "`status: {id: …}`"),
];

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
    let mut variables = BTreeMap::from([
        ("CLUSTER_NAME", cluster.name.to_owned()),
        ("NODE_LABELS", labels.join(",")),
        ("NODE_TAINTS", taints.join(",")),
        ("MAX_PODS", pods),
        ("KUBELET_EXTRA_ARGS", arguments.join(" ")),
        ("CLUSTER_DNS", dns(given, cluster).unwrap_or_default()),
        ("CONTAINER_RUNTIME", kubelet::runtime_word(given, cluster).to_owned()),
        // Where the file does not say them, the plan knows them from elsewhere.
        ("API_SERVER_URL", cluster.endpoint.unwrap_or_default().to_owned()),
        ("B64_CLUSTER_CA", cluster.certificate_authority.unwrap_or_default().to_owned()),
        ("KUBELET_CONFIG", "/etc/kubernetes/kubelet/kubelet-config.json".to_owned()),
        ("KUBELET_EXTRA_CONFIG", "/etc/eksctl/kubelet-extra.json".to_owned()),
        ("TMP_KUBE_CONF", "/tmp/kubelet-conf.json".to_owned()),
        ("INSTANCE_ID", "@{instanceId}".to_owned()),
        ("INSTANCE_LIFECYCLE", "@{lifecycle}".to_owned()),
    ]);
    // eksctl sets these on an Outpost alone.
    if cluster.on_outpost {
        variables.insert("CLUSTER_ID", cluster.id.unwrap_or_default().to_owned());
        variables.insert("ENABLE_LOCAL_OUTPOST", "true".to_owned());
    }
    variables
}

/// Where eksctl says that the cluster's DNS is: where the group does, or at the tenth address of the services.
fn dns(given: &Given<'_>, cluster: &Cluster<'_>) -> Option<String> {
    if let Some(own) = given.fields.text("clusterDNS") {
        return Some(own.to_owned());
    }
    let (address, _) = cluster.service_range?.split_once('/')?;
    let tenth = match address.parse().ok()? {
        IpAddr::V4(address) => {
            let [first, second, third, _] = address.octets();
            IpAddr::from([first, second, third, 10])
        }
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !0xff | 0xa)),
    };
    Some(tenth.to_string())
}

/// The variables for the words of a call: what only EKS knows is there by its name, as something that no fact is called.
pub(super) fn for_call(variables: &BTreeMap<&'static str, String>) -> BTreeMap<&'static str, String> {
    let mut variables = variables.clone();
    for (name, ..) in OF_CLUSTER {
        if let Some(value) = variables.get_mut(name).filter(|value| value.is_empty()) {
            *value = stand_in(name);
        }
    }
    variables
}

fn stand_in(variable: &str) -> String {
    format!("@{{{variable}}}")
}

/// The variable in a value of a call that only EKS knows.
pub(super) fn unsaid(value: &str) -> Option<&'static str> {
    OF_CLUSTER.iter().map(|(name, ..)| *name).find(|name| value.contains(&stand_in(name)))
}

/// Whether a value is such a variable and nothing else.
pub(super) fn is_whole(value: &str, variable: &str) -> bool {
    value == stand_in(variable)
}

/// Whether the image's script finds out by itself what a flag would say with a variable.
pub(super) fn fits(variable: &str, flag: &str) -> bool {
    OF_CLUSTER.iter().any(|(name, taken_by, _)| *name == variable && *taken_by == flag)
}

/// Where the file may say what a variable holds.
pub(super) fn where_said(variable: &str) -> &'static str {
    OF_CLUSTER.iter().find(|(name, ..)| *name == variable).map_or("it", |(.., place)| *place)
}

/// A script with the helper's paths in the place of its variables, line by line.
pub(super) fn with_paths(script: &str, variables: &BTreeMap<&'static str, String>) -> String {
    let is_own = |name: &str| script.contains(&format!("{name}="));
    let paths = ["KUBELET_CONFIG", "KUBELET_EXTRA_CONFIG"].into_iter().filter(|name| !is_own(name));
    Paths::given(paths.filter_map(|name| Some((name, variables.get(name)?.as_str())))).filled(script)
}

/// Variables of the helper that a script uses, and that hold nothing.
pub(super) fn empty(script: &str, variables: &BTreeMap<&'static str, String>) -> Vec<&'static str> {
    let used = halves::used(script);
    let known = OF_CLUSTER.map(|(name, ..)| name);
    let empty = variables.iter().filter(|(name, value)| value.is_empty() && !known.contains(*name));
    empty.map(|(name, _)| *name).filter(|name| used.contains(*name)).collect()
}

/// Tells of what a script takes from the helper, and does not find.
pub(super) fn tell_of_missing(
    script: &str,
    span: Span,
    variables: &BTreeMap<&'static str, String>,
    tell: &mut Teller<'_>,
) {
    let used = halves::used(&script::without_call(script));
    for (name, _, place) in OF_CLUSTER {
        if used.contains(name) && variables.get(name).is_some_and(String::is_empty) {
            let message = format!("this script uses `{name}`, which is empty here: the file does not say it");
            let hint = format!("add {place} to the file, or write the value into the script");
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
