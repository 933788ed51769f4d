//! Findings about a group that concern several of its fields at once.

use std::collections::BTreeSet;

use bringup_spec::{Agent, AgentSource, Carrier, Fact, JoinMethod, OsFamily, Role};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::{assertions, codes};

/// Findings about a group that no other part makes.
pub(crate) fn check_group(context: &mut Context<'_>, decisions: &Decisions) {
    let group = context.group;
    if !context.on_aws() {
        for (key, given) in [
            ("launch", group.launch.is_some()),
            ("scaling", group.scaling.is_some()),
            ("instanceTypes", !group.instance_types.is_empty()),
        ] {
            if given {
                let path = context.at([key]);
                context.key_warning(
                    codes::WITHOUT_EFFECT,
                    &path,
                    format!("`{key}` has no effect: the platform is `{}`", group.platform),
                    "remove it, or write `platform: aws`",
                );
            }
        }
        if decisions.join == JoinMethod::EksToken {
            let path = context.at(["platform"]);
            context.error(
                codes::JOIN_PLATFORM,
                &path,
                "a token of EKS is made from the instance's own credentials, and this is no EC2 instance",
                "write `platform: aws`, or join with `bootstrap-token`",
            );
        }
    }
    // On images of EKS, their own agent reads a NodeConfig and makes the token.
    let ours =
        group.carriers.iter().any(|carrier| *carrier != Carrier::NodeConfig) || group.carriers.is_empty();
    if decisions.join == JoinMethod::EksToken && decisions.agent == AgentSource::None && ours {
        let path = context.at(["agent"]);
        context.error(
            codes::JOIN_AGENT,
            &path,
            "a token of EKS is made by the agent, and there is none",
            "write `agent: image`, or let the agent be fetched",
        );
    }
    if decisions.join == JoinMethod::EksToken && group.role == Role::ControlPlane {
        let path = context.at(["role"]);
        context.error(
            codes::JOIN_PLATFORM,
            &path,
            "EKS runs the control plane itself",
            "write `role: worker`, or join with `kubeadm`",
        );
    }
    let amazon = matches!(group.os.family, OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023);
    if amazon && group.os.version.is_some() {
        let path = context.at(["os", "version"]);
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "the family names the version of Amazon Linux already",
            "remove it",
        );
    }
    let order = context.at(["order"]);
    assertions::check(context.document, &order, &group.order, &mut context.findings);
    check_swap_version(context);
    check_agent_downloads(context, &group.agent);
    if decisions.join == JoinMethod::Kubeadm && context.group.image_credential_provider.is_some() {
        let path = context.at(["imageCredentialProvider"]);
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "kubeadm owns kubelet's files, and knows of no credential provider",
            "remove it",
        );
    }
    for name in context.group.kubelet.environment.keys() {
        let fits = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !fits || name == crate::flavour::ARGUMENTS_VARIABLE {
            let path = context.at(["kubelet", "environment", name.as_str()]);
            context.key_error(
                codes::ENVIRONMENT_NAME,
                &path,
                format!("`{name}` cannot be the name of a variable"),
                "use letters, digits and `_`",
            );
        }
    }
}

/// Pods cannot use swap with version 1 of control groups, which is what Amazon Linux 2 has.
fn check_swap_version(context: &mut Context<'_>) {
    let file = context.group.swap.as_ref().is_some_and(|swap| swap.policy == bringup_spec::SwapPolicy::File);
    if file && context.group.os.family == OsFamily::AmazonLinux2 {
        let path = context.at(["swap"]);
        context.warning(
            codes::SWAP_VERSION,
            &path,
            "pods use swap only with version 2 of control groups, which Amazon Linux 2 does not have",
            "write `keep`, or use a newer system",
        );
    }
}

fn check_agent_downloads(context: &mut Context<'_>, agent: &Agent) {
    let path = context.at(["agent"]);
    match agent.from {
        AgentSource::Fetch => {
            let architecture = context.group.architecture.word();
            if !agent.downloads.contains_key(architecture) {
                context.error(
                    codes::AGENT_DOWNLOAD,
                    &path,
                    format!("there is no download of the agent for {architecture}"),
                    format!("write `agent: {{from: fetch, downloads: {{{architecture}: {{urls: [...], sha256: ...}}}}}}`; `bringup publish` prints both"),
                );
            }
        }
        AgentSource::Image | AgentSource::None => {
            if !agent.downloads.is_empty() {
                context.key_warning(
                    codes::WITHOUT_EFFECT,
                    &path.key("downloads"),
                    format!("`downloads` has no effect with `from: {}`", agent.from),
                    "write `from: fetch`, or remove it",
                );
            }
        }
    }
}

/// Facts that only EC2 has, on another platform.
pub(crate) fn check_facts(context: &mut Context<'_>, facts: &BTreeSet<Fact>) {
    if context.on_aws() {
        return;
    }
    let given: Vec<String> = facts
        .iter()
        .filter(|fact| {
            matches!(
                fact,
                Fact::InstanceId
                    | Fact::InstanceType
                    | Fact::Region
                    | Fact::Zone
                    | Fact::Lifecycle
                    | Fact::Tag(_)
            )
        })
        .map(|fact| format!("`@{{{fact}}}`"))
        .collect();
    if !given.is_empty() {
        let path = context.at(["platform"]);
        context.warning(
            codes::FACT_PLATFORM,
            &path,
            format!("outside AWS only a facts file on the node can say {}", given.join(", ")),
            "write `platform: aws`, or give the agent a facts file",
        );
    }
}
