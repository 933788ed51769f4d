//! The words of a call of `/etc/eks/bootstrap.sh` within an own bootstrap.

use bringup_spec::bootstrap_flags::{FLAGS, split};
use bringup_yaml::{Limits, Node};

use super::cluster::Cluster;
use super::group::Parts;
use super::{flags, helper, kubelet, node_config};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{list, text};
use crate::user_data::bpf;
use crate::user_data::call::{beside_the_point, tell_of_family};

/// What a call says that the group may say, too.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// How many pods there may be.
    pub(super) pods: Option<String>,
    /// Where the cluster's DNS is.
    pub(super) dns: Option<String>,
    /// Whether the image's own number of pods is not wanted.
    pub(super) without_max_pods: bool,
    /// The family of the cluster's addresses.
    family: Option<String>,
    /// The id of a local cluster on an Outpost.
    id: Option<Node>,
    /// Whether it is one.
    outpost: bool,
}

/// Carries out the flags of a call; `empty` are variables that it may have been written with, and that hold nothing.
pub(super) fn carry_out(
    words: &[String],
    empty: &[&str],
    at: &Node,
    cluster: &Cluster<'_>,
    parts: &mut Parts,
    tell: &mut Teller<'_>,
) -> Said {
    let mut said = Said::default();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            if word != cluster.name {
                let message = format!(
                    "the script joins the cluster `{word}`, and the document is about `{}`",
                    cluster.name
                );
                let hint = "write `${CLUSTER_NAME}`; the document's is joined";
                tell.warning(codes::FIELD_DIFFERS, at.span, message, hint);
            }
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some(pair) => pair,
            None => match words.next().filter(|value| !is_flag(value)) {
                Some(value) => (flag, value),
                None if FLAGS.iter().any(|known| known.name == flag) => {
                    refuse_without_value(flag, empty, at, tell);
                    return said;
                }
                None => (flag, ""),
            },
        };
        match helper::unsaid(value) {
            // EKS is asked for it.
            Some(variable) if helper::is_whole(value, variable) && helper::fits(variable, name) => {}
            Some(variable) if name != "kubelet-extra-args" => hangs_on(name, variable, at, tell),
            _ => apply(name, value, at, parts, &mut said, tell),
        }
    }
    leave_out_half(at, cluster, parts, tell);
    settle_outpost(&mut said, at, cluster, parts, tell);
    settle_family(&said, at, cluster, parts, tell);
    said
}

/// The image's script heeds the id of a cluster only if it is told that it is a local one.
fn settle_outpost(
    said: &mut Said,
    at: &Node,
    cluster: &Cluster<'_>,
    parts: &mut Parts,
    tell: &mut Teller<'_>,
) {
    let id = said.id.take();
    if said.outpost {
        parts.learnt.id = id.or(parts.learnt.id.take());
        if parts.learnt.id.is_none() && cluster.id.is_none() {
            let message = "`--enable-local-outpost` of the call has no `--cluster-id`: nodes of a cluster on an Outpost must know its id";
            let hint = "add `--cluster-id ID`; `aws eks describe-cluster` prints it";
            tell.warning(codes::MISSING, at.span, message, hint);
        }
    } else if id.is_some() {
        beside_the_point("cluster-id", "it goes with `--enable-local-outpost true`", at, tell);
    }
}

fn settle_family(said: &Said, at: &Node, cluster: &Cluster<'_>, parts: &Parts, tell: &mut Teller<'_>) {
    let learnt = parts.learnt.service_range.as_ref().and_then(Node::text);
    let sixth = cluster.service_range.or(learnt).map(|range| range.contains(':'));
    match (said.family.as_deref(), sixth) {
        (Some("ipv6"), None | Some(false)) => tell_of_family(at, tell),
        (Some("ipv4"), Some(true)) => {
            differs("ip-family", "the range of services is one of IPv6: remove one of the two", at, tell);
        }
        (None | Some("ipv4" | "ipv6"), _) => {}
        (Some(other), _) => {
            let message = format!("`--ip-family` of the call cannot be `{other}`");
            tell.error(codes::FIELD_REFUSED, at.span, message, "write `ipv4` or `ipv6`");
        }
    }
}

/// Whether a word is a flag of the image's script.
fn is_flag(word: &str) -> bool {
    let name = word.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or_default());
    name.is_some_and(|name| FLAGS.iter().any(|flag| flag.name == name))
}

/// A shell leaves out what holds nothing and is not in quotes: all words behind it then have another meaning.
fn refuse_without_value(flag: &str, empty: &[&str], at: &Node, tell: &mut Teller<'_>) {
    let why = match empty {
        [] => String::new(),
        [one] => format!(", for `{one}` is empty"),
        several => format!(", for one of `{}` is empty", several.join("`, `")),
    };
    let message = format!("`--{flag}` of the call has no value{why}: what follows would be taken for it");
    let hint = "put the variable in quotes, or leave the flag out";
    tell.error(codes::FIELD_REFUSED, at.span, message, hint);
}

fn hangs_on(flag: &str, variable: &str, at: &Node, tell: &mut Teller<'_>) {
    let message = format!("`--{flag}` of the call hangs on `{variable}`, which the file does not say");
    let hint =
        format!("add {} to the file, or write the value into the script", helper::where_said(variable));
    tell.error(codes::FIELD_REFUSED, at.span, message, hint);
}

/// The image's script asks EKS for the address and the authority unless it has both.
fn leave_out_half(at: &Node, cluster: &Cluster<'_>, parts: &mut Parts, tell: &mut Teller<'_>) {
    let learnt = &mut parts.learnt;
    let address = learnt.endpoint.is_some() || cluster.endpoint.is_some();
    let authority = learnt.certificate_authority.is_some() || cluster.certificate_authority.is_some();
    let given = match (&learnt.endpoint, &learnt.certificate_authority) {
        (Some(_), _) if !authority => "apiserver-endpoint",
        (_, Some(_)) if !address => "b64-cluster-ca",
        _ => return,
    };
    learnt.endpoint = None;
    learnt.certificate_authority = None;
    let message = format!(
        "`--{given}` of the call is left out, for nothing says the other half of address and authority: EKS is asked for both"
    );
    tell.note(codes::DIFFERENCE, at.span, message, "give both in the call, or neither");
}

fn apply(name: &str, value: &str, at: &Node, parts: &mut Parts, said: &mut Said, tell: &mut Teller<'_>) {
    let given = || (!value.is_empty()).then(|| text(at.span, value));
    match name {
        "kubelet-extra-args" => kubelet_arguments(value, at, parts, said, tell),
        "container-runtime" if matches!(value, "dockerd" | "docker") => {
            parts.settings.runtime.put("name", text(at.span, "docker"));
        }
        "container-runtime" => {
            parts.settings.runtime.put_some("name", given().map(|_| text(at.span, "containerd")));
        }
        "dns-cluster-ip" if !value.is_empty() => {
            said.dns = Some(value.to_owned());
            let servers = value.split(',').map(|server| text(at.span, server.trim())).collect();
            kubelet::lay_field(&mut parts.settings.config, "clusterDNS", list(at.span, servers));
        }
        "docker-config-json" => match bringup_yaml::parse_one(value, Limits::default()) {
            Ok(Some(config)) if config.entries().is_some() => {
                parts
                    .settings
                    .runtime
                    .put("dockerConfig", node_config::within(config, &text(at.span, value)));
            }
            _ => differs(name, "write it as a JSON object", at, tell),
        },
        "apiserver-endpoint" => parts.learnt.endpoint = given().or(parts.learnt.endpoint.take()),
        "b64-cluster-ca" => {
            parts.learnt.certificate_authority = given().or(parts.learnt.certificate_authority.take());
        }
        "cluster-id" => said.id = given().or(said.id.take()),
        "enable-local-outpost" => said.outpost = value.eq_ignore_ascii_case("true"),
        "ip-family" => said.family = given().map(|_| value.to_ascii_lowercase()).or(said.family.take()),
        "service-ipv4-cidr" | "service-ipv6-cidr" => {
            parts.learnt.service_range = given().or(parts.learnt.service_range.take());
        }
        "use-max-pods" => said.without_max_pods = value == "false",
        "pause-container-account" | "pause-container-version" => {
            differs(name, "the sandbox image is the one of the region, in the version of the plan", at, tell);
        }
        "containerd-config-file" | "enable-docker-bridge" | "local-disks" => {
            differs(name, "do it with a command of `preBootstrapCommands`", at, tell);
        }
        "mount-bpf-fs" if value == "false" => {
            let mounts = |unit: &Node| unit.get("name").and_then(Node::text) == Some(bpf::NAME);
            parts.settings.units.retain(|unit| !mounts(unit));
        }
        "aws-api-retry-attempts" if !value.is_empty() => {
            beside_the_point(name, "the agent asks again by rules of its own", at, tell);
        }
        "dns-cluster-ip" | "aws-api-retry-attempts" | "mount-bpf-fs" => {}
        _ => {
            let message = format!("`/etc/eks/bootstrap.sh` has no flag `--{name}`");
            tell.error(codes::UNKNOWN_FIELD, at.span, message, "remove it, or correct its spelling");
        }
    }
}

fn kubelet_arguments(value: &str, at: &Node, parts: &mut Parts, said: &mut Said, tell: &mut Teller<'_>) {
    // Variables have been filled in: what is left is split as the image's own script splits it.
    let mut words: Vec<String> =
        split(value).unwrap_or_else(|| value.split_whitespace().map(str::to_owned).collect());
    for word in &words {
        if let Some(address) = word.strip_prefix("--cluster-dns=") {
            said.dns = Some(address.to_owned());
        }
    }
    // What the node takes by itself.
    words.retain(|word| {
        word.strip_prefix("--cluster-dns=").is_none_or(|address| !helper::is_whole(address, "CLUSTER_DNS"))
    });
    if let Some(variable) = words.iter().find_map(|word| helper::unsaid(word)) {
        hangs_on("kubelet-extra-args", variable, at, tell);
        return;
    }
    flags::lay_over(&words, at, parts);
    said.pods = parts.settings.max_pods.as_ref().and_then(Node::text).map(str::to_owned);
}

pub(super) fn differs(flag: &str, hint: &str, at: &Node, tell: &mut Teller<'_>) {
    let message = format!("`--{flag}` of the call is not carried out: the node will differ");
    tell.warning(codes::FIELD_DIFFERS, at.span, message, hint);
}
