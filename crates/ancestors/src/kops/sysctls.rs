//! Settings of the kernel: kops' own, and those of the group and the cluster.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bringup_diag::Span;
use bringup_yaml::Node;

use super::names::Names;
use super::steps::{step, words};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// Where kops has its settings.
const FILE: &str = "/etc/sysctl.d/99-k8s-general.conf";

/// What kops sets on every node, but for what every kubelet needs.
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

/// What the kernel is told.
pub(super) struct Kernel {
    /// `sysctls`: what the documents say. Like kops, the node goes on where the kernel refuses a setting or does not have it yet.
    pub(super) given: Node,
    /// kops' own settings in the file that it has them in; they are set as far as the kernel has them. Globs of the documents are
    /// there, too: what they find, and what not, hangs on all files of the system.
    pub(super) file: Node,
    /// Has them set on the first boot. Later ones read the file by themselves.
    pub(super) step: Node,
}

/// The settings of a group.
pub(super) fn kernel(
    surroundings: Surroundings<'_>,
    group: &[Node],
    cluster: &[Node],
    span: Span,
    names: &mut Names,
    tell: &mut Teller<'_>,
) -> Kernel {
    let Given { named: given, globs } = given(group, cluster, tell);
    let mut own: BTreeMap<String, &str> =
        OURS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    own.insert("net.ipv4.ip_local_reserved_ports".to_owned(), surroundings.node_ports);
    if surroundings.on_aws {
        own.insert("net.ipv4.neigh.default.gc_thresh1".to_owned(), "0");
    }
    if surroundings.cilium {
        for name in ["all", "cilium_*", "lxc*"] {
            own.insert(format!("net.ipv4.conf.{name}.rp_filter"), "0");
        }
    }
    own.retain(|name, _| !given.contains_key(name) && !globs.iter().any(|glob| glob.name == name));
    let mut content = String::new();
    for (name, value) in own {
        let _ = writeln!(content, "{name} = {value}");
    }
    for glob in globs {
        let _ = writeln!(content, "{}", glob.line);
    }
    let mut file = Branch::new(span);
    file.put("path", text(span, FILE));
    file.put("content", text(span, content));
    file.put("mode", text(span, "0644"));
    let mut step = step(span, &names.give("kernel-settings"));
    step.put("run", words(span, &["/usr/bin/systemctl", "restart", "systemd-sysctl.service"]));
    step.put("before", words(span, &["runtime"]));
    let mut branch = Branch::new(span);
    for (name, (value, span)) in given {
        branch.put(&format!("-{name}"), text(span, value));
    }
    Kernel { given: branch.into_node(), file: file.into_node(), step: step.into_node() }
}

/// What the documents say.
#[derive(Default)]
struct Given<'a> {
    named: BTreeMap<String, (String, Span)>,
    globs: Vec<Glob<'a>>,
}

/// A line that is about whatever settings there are: one with a glob, or one that keeps globs from a setting.
struct Glob<'a> {
    name: &'a str,
    line: &'a str,
}

/// What the documents say. kops writes the cluster's settings behind the group's, and the last of a name counts.
fn given<'a>(group: &'a [Node], cluster: &'a [Node], tell: &mut Teller<'_>) -> Given<'a> {
    let mut given = Given::default();
    for node in group.iter().chain(cluster) {
        let line = node.text().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A dash before the name lets a setting fail, which it may anyway; without a value it keeps globs from it.
        let (bare, has_dash) = line.strip_prefix('-').map_or((line, false), |bare| (bare, true));
        let (name, value) = match bare.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (bare, None),
        };
        match value {
            Some(value) if !name.contains(['*', '?', '[']) => {
                let earlier = given.named.get(name).filter(|(earlier, _)| earlier != value);
                if let Some((earlier, _)) = earlier {
                    let message = format!(
                        "`{name}` is `{earlier}` and `{value}`: the later counts, the cluster's behind the group's"
                    );
                    tell.warning(codes::DIFFERENCE, node.span, message, "keep one of them");
                }
                given.named.insert(name.to_owned(), (value.to_owned(), node.span));
            }
            None if !has_dash => {
                let message = format!("`{line}` is no setting of the kernel");
                let hint = "write `name=value`, such as `vm.swappiness=10`";
                tell.error(codes::WRONG_TYPE, node.span, message, hint);
            }
            _ => given.globs.push(Glob { name, line }),
        }
    }
    given
}
