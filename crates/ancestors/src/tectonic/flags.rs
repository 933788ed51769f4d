//! The flags of a kubelet that is started by its unit, each in the place that it has here.

use bringup_diag::Span;
use bringup_yaml::{Limits, Node, parse_one};

use super::group::{Cluster, Group, literal, put_at, say};
use super::own_fields;
use super::words::Word;
use crate::codes;
use crate::kubelet_flags;
use crate::tell::Teller;
use crate::tree::{Branch, list, moved, plain, text};

/// What a flag becomes of KubeletConfiguration.
enum Shape {
    /// A number, a truth value or a text.
    Plain,
    /// Texts between commas.
    Commas,
    /// `key=value` between commas; the letter between the two.
    Pairs(char),
}

/// Flags that are fields of KubeletConfiguration.
const FIELDS: &[(&str, &[&str], Shape)] = &[
    ("anonymous-auth", &["authentication", "anonymous", "enabled"], Shape::Plain),
    ("authentication-token-webhook", &["authentication", "webhook", "enabled"], Shape::Plain),
    ("authorization-mode", &["authorization", "mode"], Shape::Plain),
    ("cgroup-driver", &["cgroupDriver"], Shape::Plain),
    ("container-log-max-files", &["containerLogMaxFiles"], Shape::Plain),
    ("container-log-max-size", &["containerLogMaxSize"], Shape::Plain),
    ("cpu-cfs-quota", &["cpuCFSQuota"], Shape::Plain),
    ("cpu-manager-policy", &["cpuManagerPolicy"], Shape::Plain),
    ("enforce-node-allocatable", &["enforceNodeAllocatable"], Shape::Commas),
    ("event-burst", &["eventBurst"], Shape::Plain),
    ("event-qps", &["eventRecordQPS"], Shape::Plain),
    ("eviction-hard", &["evictionHard"], Shape::Pairs('<')),
    ("eviction-soft", &["evictionSoft"], Shape::Pairs('<')),
    ("eviction-soft-grace-period", &["evictionSoftGracePeriod"], Shape::Pairs('=')),
    ("eviction-minimum-reclaim", &["evictionMinimumReclaim"], Shape::Pairs('=')),
    ("fail-swap-on", &["failSwapOn"], Shape::Plain),
    ("feature-gates", &["featureGates"], Shape::Pairs('=')),
    ("healthz-port", &["healthzPort"], Shape::Plain),
    ("image-gc-high-threshold", &["imageGCHighThresholdPercent"], Shape::Plain),
    ("image-gc-low-threshold", &["imageGCLowThresholdPercent"], Shape::Plain),
    ("kube-api-burst", &["kubeAPIBurst"], Shape::Plain),
    ("kube-api-qps", &["kubeAPIQPS"], Shape::Plain),
    ("kube-reserved", &["kubeReserved"], Shape::Pairs('=')),
    ("pod-manifest-path", &["staticPodPath"], Shape::Plain),
    ("pod-max-pids", &["podPidsLimit"], Shape::Plain),
    ("protect-kernel-defaults", &["protectKernelDefaults"], Shape::Plain),
    ("read-only-port", &["readOnlyPort"], Shape::Plain),
    ("register-node", &["registerNode"], Shape::Plain),
    ("resolv-conf", &["resolvConf"], Shape::Plain),
    ("rotate-certificates", &["rotateCertificates"], Shape::Plain),
    ("serialize-image-pulls", &["serializeImagePulls"], Shape::Plain),
    ("streaming-connection-idle-timeout", &["streamingConnectionIdleTimeout"], Shape::Plain),
    ("system-reserved", &["systemReserved"], Shape::Pairs('=')),
    ("volume-plugin-dir", &["volumePluginDir"], Shape::Plain),
];

/// Flags that kubelet has lost: since which minor, and what to do if the node differs for it.
const GONE: &[(&str, u16, Option<&str>)] = &[
    ("allow-privileged", 15, None),
    ("api-servers", 10, None),
    ("cadvisor-port", 12, None),
    (
        "cni-bin-dir",
        24,
        Some("let the plugins lie in `/opt/cni/bin`, or set `bin_dir` of containerd in `runtime.config`"),
    ),
    ("cni-cache-dir", 24, None),
    (
        "cni-conf-dir",
        24,
        Some(
            "let the pod network write to `/etc/cni/net.d`, or set `conf_dir` of containerd in `runtime.config`",
        ),
    ),
    ("container-runtime", 27, None),
    ("docker-disable-shared-pid", 24, None),
    ("docker-endpoint", 24, None),
    ("enable-custom-metrics", 16, None),
    ("image-pull-progress-deadline", 24, None),
    ("network-plugin", 24, None),
    ("network-plugin-mtu", 24, None),
    ("non-masquerade-cidr", 24, None),
    (
        "register-schedulable",
        16,
        Some("write a taint `{key: node.kubernetes.io/unschedulable, effect: NoSchedule}`"),
    ),
    ("require-kubeconfig", 10, None),
];

/// Takes kubelet's words apart, as kubelet takes a flag that stands twice: labels add up, of anything else the last counts.
pub(super) fn take(
    words: &[Word],
    span: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    // What is fetched, or traded for others, goes before what a flag says of the place that it is kept at.
    let is_elsewhere = cluster.kubeconfig.as_ref().is_some_and(|source| source.get("file").is_none())
        || words.iter().any(|word| word.text.trim_start_matches('-').starts_with("bootstrap-kubeconfig"));
    let mut words = words.iter().peekable();
    let mut flags: Vec<(String, String)> = Vec::new();
    while let Some(Word { text: word, is_known }) = words.next() {
        let Some(flag) =
            word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|flag| !flag.is_empty())
        else {
            let message = format!("`{word}` is no flag of kubelet, and is not taken over");
            tell.warning(codes::FIELD_DIFFERS, span, message, "write flags as `--NAME=VALUE`");
            continue;
        };
        let (name, value) = if let Some((name, value)) = flag.split_once('=') {
            (name, Word { text: value.to_owned(), is_known: *is_known })
        } else {
            let value = words.next_if(|next| !next.text.starts_with('-'));
            (flag, value.cloned().unwrap_or_else(|| Word::known("true")))
        };
        let Word { text: value, is_known } = value;
        // systemd puts nothing in for `--a=$B`, and nobody means those letters.
        if !is_known || value.contains('$') {
            let message = format!("what `--{name}` is only the machine knows: `{value}` is not taken over");
            let hint = "write the value, or a fact such as `@{address}`, with `--with additions.yaml`: `kubelet: {flags: {…}}`";
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
            continue;
        }
        if name == "kubeconfig" && is_elsewhere {
            continue;
        }
        // As kubelet does.
        flags.push((name.replace('_', "-"), value));
    }
    // A flag goes before the field of the file, wherever it stands.
    flags.sort_by_key(|(name, _)| name != "config");
    for (name, value) in &flags {
        one(name, value, span, group, cluster, tell);
    }
    own_fields::take(group, span, tell);
}

fn one(name: &str, value: &str, span: Span, group: &mut Group, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let differs = |tell: &mut Teller<'_>, hint: &str| {
        let message = format!("`--{name}={value}` is not taken over: the node will differ");
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    };
    match name {
        "node-labels" => labels(value, span, group, tell),
        "register-with-taints" => {
            group.taints = kubelet_flags::taints(value, span);
            group.is_master |= group.taints.iter().any(own_fields::is_of_control_plane);
        }
        "max-pods" => group.max_pods = Some(plain(span, value)),
        "cluster-dns" => {
            let servers = value.split(',').filter(|server| !server.is_empty());
            let servers = list(span, servers.map(|server| text(span, server)).collect());
            say(&mut cluster.dns, servers, "`--cluster-dns`", tell);
        }
        "cluster-domain" => say(&mut cluster.domain, text(span, value), "`--cluster-domain`", tell),
        "kubeconfig" => {
            let mut file = Branch::new(span);
            file.put("file", text(span, value));
            say(&mut cluster.kubeconfig, file.into_node(), "`--kubeconfig`", tell);
        }
        "bootstrap-kubeconfig" => {
            let message =
                format!("the credentials in `{value}` are kubelet's own here, and not traded for others");
            let hint = "where they are a token's, say so with `--with additions.yaml`: `join: {method: bootstrap-token, token: {…}}`";
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
            let mut file = Branch::new(span);
            file.put("file", text(span, value));
            cluster.kubeconfig = Some(file.into_node());
        }
        "config" => config_file(value, span, group, cluster, tell),
        "client-ca-file" => put_at(&mut group.config, own_fields::AUTHORITY, text(span, value)),
        "cloud-provider" => {
            group.on_aws |= value == "aws";
            // In-tree providers went with 1.27; what is left is `external`, which the plan decides.
            if !matches!(value, "" | "external") && cluster.minor.is_none_or(|minor| minor >= 27) {
                differs(
                    tell,
                    "run the cloud's controller manager in the cluster, and write `kubelet: {flags: {cloud-provider: external}}`",
                );
            } else if !value.is_empty() {
                group.flags.put(name, literal(span, value));
            }
        }
        "cloud-config" if cluster.minor.is_none_or(|minor| minor >= 27) => {
            differs(tell, "give it to the cloud's controller manager");
        }
        "hostname-override" => {
            differs(tell, "write `nodeName: hostname` or another of its words with `--with additions.yaml`");
        }
        "pod-infra-container-image" => group.runtime.put("sandboxImage", text(span, value)),
        "v" if cluster.minor.is_none_or(|minor| minor >= 23) => {
            put_at(&mut group.config, &["logging", "verbosity"], plain(span, value));
        }
        "lock-file" | "exit-on-lock-contention" => {
            let message =
                format!("`--{name}` is for a second kubelet that takes over, and there is none here");
            tell.note(codes::DIFFERENCE, span, message, "nothing has to be done");
        }
        _ => other(name, value, span, group, cluster, tell),
    }
}

fn other(name: &str, value: &str, span: Span, group: &mut Group, cluster: &Cluster, tell: &mut Teller<'_>) {
    if let Some((_, since, hint)) = GONE.iter().find(|(known, ..)| *known == name)
        && cluster.minor.is_none_or(|minor| minor >= *since)
    {
        let message = format!("kubelet has had no flag `--{name}` since 1.{since}");
        if let Some(hint) = hint {
            tell.warning(codes::FIELD_DIFFERS, span, format!("{message}: the node will differ"), *hint);
        } else {
            let hint = "the node comes up the same without it";
            tell.note(codes::FIELD_ASIDE, span, format!("{message}: it is left aside"), hint);
        }
        return;
    }
    let Some((_, path, shape)) = FIELDS.iter().find(|(known, ..)| *known == name) else {
        group.flags.put(name, literal(span, value));
        return;
    };
    let node = match shape {
        Shape::Plain => plain(span, value),
        Shape::Commas => {
            let items = value.split(',').filter(|item| !item.is_empty());
            list(span, items.map(|item| text(span, item)).collect())
        }
        Shape::Pairs(between) => {
            let mut pairs = Branch::new(span);
            for pair in value.split(',').filter(|pair| !pair.is_empty()) {
                let (key, value) = pair.split_once(*between).unwrap_or((pair, ""));
                let gate = name == "feature-gates";
                pairs
                    .put(key.trim(), if gate { plain(span, value.trim()) } else { text(span, value.trim()) });
            }
            pairs.into_node()
        }
    };
    put_at(&mut group.config, path, node);
}

/// A KubeletConfiguration among the files of the config: its fields, instead of the file.
fn config_file(path: &str, span: Span, group: &mut Group, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let said = |file: &Node| file.get("path").and_then(Node::text) == Some(path);
    let at = group.files.iter().position(said);
    let content = at.and_then(|at| group.files.get(at)?.get("content")).cloned();
    let parsed =
        content.as_ref().and_then(Node::text).and_then(|text| parse_one(text, Limits::default()).ok()?);
    let (Some(at), Some(content), Some(given)) = (at, content, parsed) else {
        let message =
            format!("`{path}` is not among these files: kubelet's configuration is not known from it");
        let hint = "write its fields with `--with additions.yaml`: `kubelet: {config: {…}}`";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        return;
    };
    group.files.remove(at);
    for entry in given.entries().unwrap_or_default() {
        let value = moved(entry.value.clone(), content.span);
        match entry.key.as_str() {
            "apiVersion" | "kind" => {}
            "clusterDNS" => say(&mut cluster.dns, value, "`clusterDNS`", tell),
            "clusterDomain" => say(&mut cluster.domain, value, "`clusterDomain`", tell),
            "maxPods" => group.max_pods = Some(value),
            "registerWithTaints" if value.items().is_some() => {
                group.taints = value.items().unwrap_or_default().to_vec();
                group.is_master |= group.taints.iter().any(own_fields::is_of_control_plane);
            }
            key => group.config.put(key, value),
        }
    }
}

/// Since 1.16 a node may not give itself the labels of roles.
fn labels(value: &str, span: Span, group: &mut Group, tell: &mut Teller<'_>) {
    for label in value.split(',').filter(|label| !label.is_empty()) {
        let (key, value) = label.split_once('=').unwrap_or((label, ""));
        let is_role = key.starts_with("node-role.kubernetes.io/");
        group.is_master |= own_fields::LABELS.contains(&key);
        if is_role {
            let message =
                format!("kubelet may not give its node the label `{key}` since 1.16: it is not taken over");
            let hint = "set it from outside, with `kubectl label node`, or in what starts the cluster";
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        } else {
            group.labels.put(key, literal(span, value));
        }
    }
}
