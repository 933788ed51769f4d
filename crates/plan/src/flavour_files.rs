//! Files that the users of another system rely on, beside the ones that we need ourselves.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_spec::{AgentSource, Fact, Flavour, ImageProgram, JoinMethod, Phase, RuntimeName, Text};
use serde_json::Value;

use crate::context::Context;
use crate::decisions::Decisions;
use crate::kubelet::config;
use crate::kubelet::flags::{self, Flags};
use crate::runtime::docker;
use crate::steps::write_file;
use crate::{Content, PodLimit, Step, eksctl, labels};

/// Files for the phase `configure`; `flags` are kubelet's.
pub(crate) fn steps(context: &Context<'_>, decisions: &Decisions, flags: &Flags) -> Vec<Step> {
    match context.spec.flavour {
        Flavour::Bringup | Flavour::Kops => Vec::new(),
        Flavour::Eks => {
            if context.group.in_place_of == Some(ImageProgram::Bootstrap) {
                return Vec::new();
            }
            let variables = [("NODEADM_KUBELET_ARGS", flags::line(flags))];
            let mut steps = vec![environment("eks-environment", "/etc/eks/kubelet/environment", &variables)];
            if context.has_eksctl_files() {
                steps.extend(scripted_eks(context, decisions));
            }
            steps
        }
        Flavour::Tectonic => {
            // A tag has no `+`; Tectonic's own have `_` there.
            let tag = format!("v{}", context.spec.kubernetes.version).replace('+', "_");
            let detect = context.spec.kubernetes.detect && decisions.agent != AgentSource::None;
            let tag = if detect { Text::fact(Fact::KubernetesTag) } else { Text::literal(tag) };
            vec![environment(
                "tectonic-environment",
                "/etc/kubernetes/kubelet.env",
                &[
                    ("KUBELET_IMAGE_URL", Text::literal("quay.io/coreos/hyperkube")),
                    ("KUBELET_IMAGE_TAG", tag),
                ],
            )]
        }
        Flavour::Eksctl => eksctl::steps(context, decisions, flags),
    }
}

/// A file of variables, for systemd and for shells.
pub(crate) fn environment(name: &str, path: &str, variables: &[(&str, Text)]) -> Step {
    let mut text = Text::default();
    for (name, value) in variables {
        text.push_str(name);
        text.push_str("=");
        text.push(&quoted(value));
        text.push_str("\n");
    }
    write_file(name, Phase::Configure, path, "0644", Content::Text(text))
}

/// A value as both systemd and a shell read it back.
fn quoted(value: &Text) -> Text {
    let special = |text: &str| {
        text.contains(|letter: char| letter.is_whitespace() || "\"'\\$`;&|<>()*?#".contains(letter))
    };
    let needs = value
        .segments()
        .iter()
        .any(|segment| matches!(segment, bringup_spec::Segment::Literal(text) if special(text)));
    if !needs {
        return value.clone();
    }
    let mut text = Text::literal("\"");
    for segment in value.segments() {
        match segment {
            bringup_spec::Segment::Literal(literal) => {
                let mut escaped = String::with_capacity(literal.len());
                for letter in literal.chars() {
                    if matches!(letter, '"' | '\\' | '$' | '`') {
                        escaped.push('\\');
                    }
                    escaped.push(letter);
                }
                text.push_str(&escaped);
            }
            bringup_spec::Segment::Fact { fact } => text.push(&Text::fact(fact.clone())),
        }
    }
    text.push_str("\"");
    text
}

/// The files of eksctl for images with `bootstrap.sh`.
fn scripted_eks(context: &Context<'_>, decisions: &Decisions) -> Vec<Step> {
    let file = |name: &str, text: Text| {
        let path = format!("/etc/eksctl/{name}.json");
        write_file(format!("eksctl-{name}"), Phase::Configure, &path, "0644", Content::Text(text))
    };
    let mut steps = Vec::new();
    if decisions.join != JoinMethod::Kubeadm {
        steps.push(file("kubelet-extra", config::extra(context)));
    }
    let runtime = match decisions.runtime {
        RuntimeName::Docker => {
            steps.push(file("docker-extra", docker::extra(context, decisions)));
            "dockerd"
        }
        RuntimeName::Containerd => "containerd",
    };
    // One that only the node learns is in the file of its own alone.
    let authority = context.spec.api.as_ref().and_then(|api| api.certificate_authority.as_ref());
    let authority = authority.map(|authority| BASE64_STANDARD.encode(authority.pem())).unwrap_or_default();
    let mut variables = vec![
        ("CLUSTER_NAME", Text::literal(context.eks_name())),
        ("API_SERVER_URL", endpoint(context)),
        ("B64_CLUSTER_CA", Text::literal(authority)),
        ("CLUSTER_DNS", name_servers(context, decisions)),
        ("CONTAINER_RUNTIME", Text::literal(runtime)),
        ("NODE_LABELS", labels::labels_flag(&context.labels())),
        ("NODE_TAINTS", Text::literal(labels::taints_flag(&context.group.taints))),
    ];
    if context.group.max_pods.is_some() {
        variables.push(("MAX_PODS", pods(decisions)));
    }
    steps.push(environment("eksctl-kubelet", "/etc/eksctl/kubelet.env", &variables));
    steps
}

/// The address of the API server; empty where nobody knows it.
pub(crate) fn endpoint(context: &Context<'_>) -> Text {
    match context.spec.api.as_ref() {
        None if context.learns_cluster() => Text::fact(Fact::ClusterEndpoint),
        api => Text::literal(api.map(|api| api.endpoint.clone()).unwrap_or_default()),
    }
}

/// The name servers that pods are told, as kubelet has them: its own flag and configuration stand above the cluster's.
pub(crate) fn name_servers(context: &Context<'_>, decisions: &Decisions) -> Text {
    let kubelet = &context.group.kubelet;
    if let Some(given) = kubelet.flags.get("cluster-dns") {
        return given.clone();
    }
    if let Some(given) = kubelet.config.get("clusterDNS").and_then(Value::as_array) {
        let servers: Vec<&str> = given.iter().filter_map(Value::as_str).collect();
        return Text::literal(servers.join(","));
    }
    match decisions.dns.as_slice() {
        [] if context.learns_cluster() => Text::fact(Fact::ClusterDns),
        [] if context.guesses_dns() => Text::fact(Fact::GuessedDns),
        addresses => {
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            Text::literal(addresses.join(","))
        }
    }
}

/// How many pods a node takes.
pub(crate) fn pods(decisions: &Decisions) -> Text {
    match decisions.max_pods {
        PodLimit::Fixed(pods) => Text::literal(pods.to_string()),
        PodLimit::Interfaces { .. } | PodLimit::Expression { .. } => Text::fact(Fact::MaxPods),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_where_a_shell_would_break_them() {
        assert_eq!(quoted(&Text::literal("a=b,c=d")).to_string(), "a=b,c=d");
        assert_eq!(quoted(&Text::literal("--a=b --c=$x")).to_string(), r#""--a=b --c=\$x""#);
    }
}
