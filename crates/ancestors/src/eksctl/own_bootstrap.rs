//! `overrideBootstrapCommand` on Amazon Linux 2 and Ubuntu: a script in the place of eksctl's.
//!
//! Such scripts end in a call of `/etc/eks/bootstrap.sh`, which would start kubelet behind the plan's back. So the call
//! is read rather than run: what its flags say is carried out, and what the script does before and after are steps.

use std::collections::BTreeMap;

use bringup_spec::bootstrap_flags::split;
use bringup_yaml::{Entry, Limits, Node};

use super::cluster::Cluster;
use super::group::{Given, Parts};
use super::steps::escaped;
use super::{flags, helper, kubelet, marks, node_config, overtaken};
use crate::codes;
use crate::shell;
use crate::shell::script::{Call, Script};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

pub(super) fn carry_out(
    own: &Entry,
    given: &Given<'_>,
    cluster: &Cluster<'_>,
    parts: &mut Parts,
    tell: &mut Teller<'_>,
) {
    let at = &own.value;
    let Some(script) = at.text() else {
        let message = "`overrideBootstrapCommand` must be a text";
        tell.error(codes::WRONG_TYPE, at.span, message, "write `|` and the lines of the script");
        return;
    };
    if let Some(extra) = given.fields.entry("kubeletExtraConfig") {
        let message = "`kubeletExtraConfig` is carried out here; eksctl's own script does that, which `overrideBootstrapCommand` replaces, so that with eksctl it has no effect";
        let hint = "remove it to have the node that eksctl makes, or keep it if it is meant";
        tell.warning(codes::DIFFERENCE, extra.key_span, message, hint);
    }
    let variables = helper::variables(given, cluster, parts);
    match Script::of(script, &variables) {
        Script::Calls(Call { words, mut before, mut after, strict, dropped, .. }) => {
            let message = "the call of `/etc/eks/bootstrap.sh` is read and carried out by the plan; the rest of the script becomes steps before and after it";
            tell.note(codes::DIFFERENCE, own.key_span, message, "nothing has to be changed");
            helper::tell_of_missing(script, own.key_span, &variables, tell);
            shell::tell_of_dropped(&dropped, &|_| own.key_span, tell);
            let steps = before.iter_mut().chain(after.iter_mut());
            shell::reboots::mend(script, steps, &|_| own.key_span, tell);
            if let Some(script) = before {
                overtaken::tell_of(&script, own.key_span, tell);
                // A shell that goes on after a failure comes to the call in any case.
                let policy = if strict { "pause" } else { "continue" };
                push_step(parts, at, "before-bootstrap", &script, ("before", "runtime", policy), &variables);
            }
            if let Some(script) = after {
                // kubelet runs by then, whatever becomes of the rest.
                let place = ("after", "kubelet", "continue");
                push_step(parts, at, "after-bootstrap", &script, place, &variables);
            }
            // kubelet gets what the call says, and nothing of eksctl's own. EKS marks nodes of managed groups from outside.
            if !given.managed {
                tell_of_unmarked(script, given, tell);
                parts.labels = Branch::new(given.span);
                parts.taints = Vec::new();
            }
            call(&words, at, cluster, parts, tell);
        }
        Script::CallsNothing => {
            let message =
                "this script runs as a step before the node's own set-up, which takes place all the same";
            let hint = "take out of it what sets up kubelet; see `bringup explain` for what the plan does";
            tell.warning(codes::DIFFERENCE, own.key_span, message, hint);
            let shebang = if script.starts_with("#!") { "" } else { "#!/bin/bash\n" };
            let mut script = format!("{shebang}{script}");
            shell::reboots::mend(&script.clone(), [&mut script], &|_| own.key_span, tell);
            helper::tell_of_missing(&script, own.key_span, &variables, tell);
            push_step(parts, at, "before-bootstrap", &script, ("before", "runtime", "pause"), &variables);
            marks::add_facts(&mut parts.labels, given);
        }
        Script::Opaque(opaque) => {
            let message = format!(
                "the call of `/etc/eks/bootstrap.sh` in this script cannot be read beforehand, and running it would start kubelet behind the plan's back: {}",
                opaque.why
            );
            let hint = "call it once, by itself on a line and with words that are known; write other commands as `preBootstrapCommands`";
            tell.error(codes::FIELD_REFUSED, own.key_span, message, hint);
        }
    }
}

/// Names what the group says and the script does not pass on.
fn tell_of_unmarked(script: &str, given: &Given<'_>, tell: &mut Teller<'_>) {
    for (field, variable) in [("labels", "NODE_LABELS"), ("taints", "NODE_TAINTS")] {
        let Some(entry) = given.fields.entry(field).filter(|_| !script.contains(variable)) else { continue };
        let message = format!(
            "the node does not get these `{field}`: eksctl's own script passes them on, which `overrideBootstrapCommand` replaces, and the call of `/etc/eks/bootstrap.sh` does not"
        );
        let hint = format!(
            "pass them on with `--kubelet-extra-args`, as `${variable}` of eksctl's helper, or remove them"
        );
        tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
    }
    if let Some(entry) = given.fields.entry("maxPodsPerNode").filter(|_| !script.contains("max-pods")) {
        let message = "`maxPodsPerNode` is carried out here; with eksctl it has no effect beside `overrideBootstrapCommand`";
        let hint = "remove it to have the node that eksctl makes, or keep it if it is meant";
        tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
    }
}

fn push_step(
    parts: &mut Parts,
    at: &Node,
    name: &str,
    script: &str,
    (side, phase, policy): (&str, &str, &str),
    variables: &BTreeMap<&'static str, String>,
) {
    let span = at.span;
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("script", text(span, escaped(script)));
    if side == "before" {
        // Behind the commands that come before it.
        let earlier = parts.steps.last().and_then(|step| step.get("name")).and_then(Node::text);
        step.put("after", list(span, vec![text(span, earlier.unwrap_or("pre-install"))]));
    }
    step.put(side, list(span, vec![text(span, phase)]));
    let mut environment = Branch::new(span);
    for (name, value) in variables {
        if script.contains(name) {
            environment.put(name, text(span, value.as_str()));
        }
    }
    step.put_full("environment", environment.into_node());
    step.put("timeout", plain(span, "30m"));
    // What a script has done once, it need not bear twice.
    step.put("attempts", plain(span, 1));
    step.put("onFailure", text(span, policy));
    parts.steps.push(step.into_node());
}

/// Carries out the flags of a call.
fn call(words: &[String], at: &Node, cluster: &Cluster<'_>, parts: &mut Parts, tell: &mut Teller<'_>) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            if word != cluster.name {
                let message = format!(
                    "the script joins the cluster `{word}`, and the document is about `{}`",
                    cluster.name
                );
                tell.warning(
                    codes::FIELD_DIFFERS,
                    at.span,
                    message,
                    "write `${CLUSTER_NAME}`; the document's is joined",
                );
            }
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, value),
            None => (flag, words.next().map_or("", String::as_str)),
        };
        apply(name, value, at, parts, tell);
    }
}

fn apply(name: &str, value: &str, at: &Node, parts: &mut Parts, tell: &mut Teller<'_>) {
    let given = || (!value.is_empty()).then(|| text(at.span, value));
    match name {
        "kubelet-extra-args" => {
            // Variables have been filled in: what is left is split as the image's own script splits it.
            let words: Vec<String> =
                split(value).unwrap_or_else(|| value.split_whitespace().map(str::to_owned).collect());
            flags::lay_over(&words, at, parts);
        }
        "container-runtime" if matches!(value, "dockerd" | "docker") => {
            parts.settings.runtime.put("name", text(at.span, "docker"));
        }
        "container-runtime" => {
            parts.settings.runtime.put_some("name", given().map(|_| text(at.span, "containerd")));
        }
        "dns-cluster-ip" if !value.is_empty() => {
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
        "cluster-id" => parts.learnt.id = given().or(parts.learnt.id.take()),
        "service-ipv4-cidr" | "service-ipv6-cidr" => {
            parts.learnt.service_range = given().or(parts.learnt.service_range.take());
        }
        "use-max-pods" if value == "false" && parts.settings.max_pods.is_none() => {
            differs(name, "write the number as `maxPodsPerNode`", at, tell);
        }
        "pause-container-account" | "pause-container-version" => {
            differs(name, "the sandbox image is the one of the region, in the version of the plan", at, tell);
        }
        "containerd-config-file" | "enable-docker-bridge" | "local-disks" => {
            differs(name, "do it with a command of `preBootstrapCommands`", at, tell);
        }
        "dns-cluster-ip"
        | "use-max-pods"
        | "aws-api-retry-attempts"
        | "mount-bpf-fs"
        | "ip-family"
        | "enable-local-outpost" => {}
        _ => {
            let message = format!("`/etc/eks/bootstrap.sh` has no flag `--{name}`");
            tell.error(codes::UNKNOWN_FIELD, at.span, message, "remove it, or correct its spelling");
        }
    }
}

fn differs(flag: &str, hint: &str, at: &Node, tell: &mut Teller<'_>) {
    let message = format!("`--{flag}` of the call is not carried out: the node will differ");
    tell.warning(codes::FIELD_DIFFERS, at.span, message, hint);
}
