//! A template whose user-data calls the image's `bootstrap.sh`: what the script's flags can say of a document, and what they
//! cannot.

use bringup_cloudformation::{Template, write_call};
use bringup_diag::{Finding, Findings};
use bringup_plan::AGENT;
use bringup_spec::{
    AgentSource, Flavour, ImageProgram, JoinMethod, LaunchUserData, MaxPods, NodeNamePolicy, OsFamily,
    RuntimeName, SignalKind,
};
use serde_json::Value;

use crate::codes;
use crate::load::Load;
use crate::lost::Lost;

const LOST: Lost = Lost {
    who: "`bootstrap.sh`",
    carried: &[],
    code: codes::BOOTSTRAP_LOST,
    hint: "write `userData: plan` in `launch`, whose agent does it, or leave it out",
};

/// Whether the group asks for such a template.
pub(crate) fn is_asked(load: &Load<'_>) -> bool {
    load.group.launch.as_ref().is_some_and(|launch| launch.user_data == LaunchUserData::Bootstrap)
}

/// The template.
pub(crate) fn template(load: &Load<'_>, findings: &mut Findings) -> Template {
    check_image(load, findings);
    let arguments = arguments(load, findings);
    tell_what_is_lost(load, findings);
    let agent = (load.group.agent.from == AgentSource::Image).then_some(AGENT);
    write_call(load.document, &load.group_path, load.group, load.plan, &arguments, agent)
}

/// Only some images have the script; ours can take its place in any.
fn check_image(load: &Load<'_>, findings: &mut Findings) {
    let agent = load.group.agent.from;
    let mut fault = |message: &str, hint: &str| {
        let place = load.document.place(&load.group_path.keys(["launch", "userData"]));
        findings.push(Finding::error(codes::BOOTSTRAP_SCRIPT, message).at(place).hint(hint));
    };
    if load.document.cluster.spec.join.method != JoinMethod::EksToken {
        fault("`bootstrap.sh` joins clusters of EKS only", "write `userData: plan`");
    } else if agent == AgentSource::Fetch {
        fault(
            "this user-data fetches no agent",
            "write `agent: image`, or `agent: none` for the image's own script",
        );
    } else if agent == AgentSource::None
        && !matches!(load.group.os.family, OsFamily::AmazonLinux2 | OsFamily::Ubuntu)
    {
        fault(
            "images of this system have no `/etc/eks/bootstrap.sh` that joins a cluster",
            "write `os: amazon-linux-2`, or `agent: image` for an image with `bringup-node` in its place",
        );
    }
}

/// The words of the call behind the cluster's name, for a shell.
fn arguments(load: &Load<'_>, findings: &mut Findings) -> String {
    let spec = &load.document.cluster.spec;
    let group = load.group;
    let mut words: Vec<(&str, String)> = Vec::new();
    if let Some(api) = &spec.api
        && let Some(authority) = &api.certificate_authority
    {
        words.push(("apiserver-endpoint", api.endpoint.clone()));
        words.push(("b64-cluster-ca", authority.base64()));
        if let Some(id) = &api.cluster_id {
            words.push(("cluster-id", id.clone()));
            words.push(("enable-local-outpost", "true".to_owned()));
        }
    }
    if !spec.network.dns.is_empty() {
        let addresses: Vec<String> = spec.network.dns.iter().map(ToString::to_string).collect();
        words.push(("dns-cluster-ip", addresses.join(",")));
    }
    if let Some(range) = spec.network.service_ranges.first() {
        let (family, flag) =
            if range.is_ipv4() { ("ipv4", "service-ipv4-cidr") } else { ("ipv6", "service-ipv6-cidr") };
        words.push(("ip-family", family.to_owned()));
        words.push((flag, range.to_string()));
    }
    if group.runtime.name == RuntimeName::Docker {
        words.push(("container-runtime", "dockerd".to_owned()));
        if !group.runtime.docker_config.is_empty() {
            let config: serde_json::Map<String, Value> =
                group.runtime.docker_config.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            words.push(("docker-config-json", Value::Object(config).to_string()));
        }
    }
    let (extra, fixed) = kubelet(load, findings);
    if fixed {
        words.push(("use-max-pods", "false".to_owned()));
    }
    if !extra.is_empty() {
        words.push(("kubelet-extra-args", extra.join(" ")));
    }
    let words: Vec<String> =
        words.into_iter().map(|(flag, value)| format!("--{flag} {}", quoted(&value))).collect();
    words.join(" ")
}

/// kubelet's arguments, and whether the number of pods is among them.
fn kubelet(load: &Load<'_>, findings: &mut Findings) -> (Vec<String>, bool) {
    let group = load.group;
    let mut extra = Vec::new();
    let mut labels = Vec::new();
    for (key, value) in &group.labels {
        if let Some(value) = value.as_literal() {
            labels.push(format!("{key}={value}"));
        } else {
            let why = format!("the value of label `{key}` is known only on the node");
            LOST.one(load, "labels", &why, findings);
        }
    }
    if !labels.is_empty() {
        extra.push(format!("--node-labels={}", labels.join(",")));
    }
    if !group.taints.is_empty() {
        let taint =
            |taint: &bringup_spec::Taint| format!("{}={}:{}", taint.key, taint.value, taint.effect.word());
        let taints: Vec<String> = group.taints.iter().map(taint).collect();
        extra.push(format!("--register-with-taints={}", taints.join(",")));
    }
    let mut fixed = false;
    match &group.max_pods {
        Some(MaxPods::Fixed(pods)) => {
            extra.push(format!("--max-pods={pods}"));
            fixed = true;
        }
        Some(MaxPods::Interfaces(_)) => {
            LOST.one(load, "maxPods", "it has a table of its own", findings);
        }
        None => {}
    }
    for (name, value) in &group.kubelet.flags {
        if let Some(value) = value.as_literal() {
            // Its words are split again where they are read.
            extra.push(format!("--{name}={}", quoted(value)));
        } else {
            let why = format!("the value of flag `{name}` is known only on the node");
            LOST.one(load, "kubelet", &why, findings);
        }
    }
    (extra, fixed)
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn tell_what_is_lost(load: &Load<'_>, findings: &mut Findings) {
    let group = load.group;
    let others = group.signals.iter().any(|signal| signal.kind != SignalKind::CloudFormation);
    let named = group.node_name.is_some_and(|name| name != NodeNamePolicy::PrivateDns);
    let own = [
        ("parts", !group.parts.is_empty(), "this user-data is one script"),
        ("kubelet", !group.kubelet.config.is_empty(), "it takes flags only; write `kubelet.flags`"),
        ("kubelet", !group.kubelet.environment.is_empty(), "it sets no variables of kubelet"),
        ("runtime", group.runtime.config.is_some(), "it takes containerd's settings from the image"),
        ("runtime", group.runtime.sandbox_image.is_some(), "it takes the sandbox image from EKS"),
        ("signals", others, "only the stack is told how it ended"),
        ("nodeName", named, "it names nodes by their private DNS name"),
    ];
    LOST.tell(load, own, findings);
    let flavour = load.document.cluster.spec.flavour;
    let by_eksctl =
        group.os.family == OsFamily::AmazonLinux2 && group.in_place_of != Some(ImageProgram::Bootstrap);
    if flavour == Flavour::Eks && by_eksctl {
        let what = "the flavour's labels `alpha.eksctl.io/instance-id` and `node-lifecycle` and its files under `/etc/eksctl`";
        let place = load.document.place(&load.group_path.keys(["launch", "userData"]));
        let finding = LOST.finding(what, "it knows of none of them").at(place);
        let hint = "write `userData: plan`, or `inPlaceOf: bootstrap` in the group if nobody relies on them";
        findings.push(finding.hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        assert_eq!(quoted("--node-labels=a=b,c=d"), "--node-labels=a=b,c=d");
        assert_eq!(quoted("--a=b --c=d"), "'--a=b --c=d'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
