//! Settings of the kernel: kops' own, and those of the group and the cluster.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// What kops sets on every node.
const OURS: &[(&str, &str)] = &[
    ("fs.file-max", "2097152"),
    ("fs.inotify.max_user_instances", "8192"),
    ("kernel.softlockup_all_cpu_backtrace", "1"),
    ("kernel.softlockup_panic", "1"),
    ("net.core.netdev_max_backlog", "16384"),
    ("net.core.rmem_max", "16777216"),
    ("net.core.somaxconn", "32768"),
    ("net.core.wmem_max", "16777216"),
    ("net.ipv4.tcp_max_syn_backlog", "8096"),
    ("net.ipv4.tcp_rmem", "4096 87380 16777216"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.tcp_tw_reuse", "1"),
    ("net.ipv4.tcp_wmem", "4096 87380 16777216"),
    ("vm.max_map_count", "1048576"),
];

/// What the cluster is like, as far as the kernel is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) on_aws: bool,
    pub(super) cilium: bool,
    /// Ports of services of the type `NodePort`.
    pub(super) node_ports: &'a str,
}

/// The settings of a group. kops writes the cluster's behind the group's, and the last of a name counts.
pub(super) fn sysctls(
    surroundings: Surroundings<'_>,
    group: &[Node],
    cluster: &[Node],
    span: Span,
    tell: &mut Teller<'_>,
) -> Node {
    let mut settings: BTreeMap<String, (String, Span)> =
        OURS.iter().map(|(name, value)| ((*name).to_owned(), ((*value).to_owned(), span))).collect();
    let mut set = |name: &str, value: &str| {
        settings.insert(name.to_owned(), (value.to_owned(), span));
    };
    set("net.ipv4.ip_local_reserved_ports", surroundings.node_ports);
    if surroundings.on_aws {
        set("net.ipv4.neigh.default.gc_thresh1", "0");
    }
    if surroundings.cilium {
        set("net.ipv4.conf.all.rp_filter", "0");
    }
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for node in group.iter().chain(cluster) {
        let line = node.text().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A dash before the name lets systemd pass over a setting that the kernel does not have.
        let Some((name, value)) = line.split_once('=') else {
            let message = format!("`{line}` is no setting of the kernel");
            tell.error(
                codes::WRONG_TYPE,
                node.span,
                message,
                "write `name=value`, such as `vm.swappiness=10`",
            );
            continue;
        };
        let (name, value) = (name.trim().trim_start_matches('-').to_owned(), value.trim().to_owned());
        if let Some(earlier) = given.get(&name).filter(|earlier| **earlier != value) {
            let message = format!(
                "`{name}` is `{earlier}` and `{value}`: the later counts, the cluster's behind the group's"
            );
            tell.warning(codes::DIFFERENCE, node.span, message, "keep one of them");
        }
        given.insert(name.clone(), value.clone());
        settings.insert(name, (value, node.span));
    }
    let mut branch = Branch::new(span);
    for (name, (value, span)) in settings {
        branch.put(&name, text(span, value));
    }
    branch.into_node()
}
