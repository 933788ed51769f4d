//! Findings about a group that concern several of its fields at once.

use std::collections::BTreeSet;

use bringup_spec::{Agent, AgentSource, Carrier, Fact, Flavour, JoinMethod, OsFamily, Role};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::ARGUMENTS_VARIABLE;
use crate::kubelet::credential_provider::{self, FIRST};
use crate::kubelet::flags::has_line_end;
use crate::operator::check_variables;
use crate::{carriers, codes, software};

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
    // EKS' images of Amazon Linux 2 and Ubuntu have a program that makes the token; those of Amazon Linux 2023 have nodeadm,
    // which reads a NodeConfig and does it.
    let without = decisions.join == JoinMethod::EksToken && decisions.agent == AgentSource::None;
    let has_program = matches!(group.os.family, OsFamily::AmazonLinux2 | OsFamily::Ubuntu);
    let ours =
        group.carriers.is_empty() || group.carriers.iter().any(|carrier| *carrier != Carrier::NodeConfig);
    let by_nodeadm = context.spec.leaves_to_nodeadm(group);
    let bundled = group.carriers.contains(&Carrier::Bundle);
    if without && (if by_nodeadm { bundled } else { ours && !has_program }) {
        let path = context.at(["agent"]);
        let hint = if by_nodeadm {
            "write `carriers: [nodeconfig]` and leave it to the image's nodeadm, or let the agent be fetched"
        } else {
            "write `agent: image`, or let the agent be fetched"
        };
        context.error(
            codes::JOIN_AGENT,
            &path,
            "a token of EKS is made by the agent, and there is none",
            hint,
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
    check_os_version(context);
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
    carriers::check(context);
    check_swap_version(context);
    check_flavour(context, decisions);
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
    if context.minor < FIRST && context.group.image_credential_provider.is_some() {
        let path = context.at(["imageCredentialProvider"]);
        context.key_error(
            codes::FLAG_NOT_YET,
            &path,
            format!("kubelet asks a program for credentials since {FIRST}, and this is {}", context.minor),
            "remove it, or use a newer kubelet",
        );
    }
    check_environment(context);
    if context.group.in_place_of.is_some() && !context.takes_as_given() {
        let path = context.at(["inPlaceOf"]);
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "`inPlaceOf` has no effect: only the flavours `eks` and `eksctl` stand in for a program of the image",
            "write `flavour: eks`, or remove it",
        );
    }
    credential_provider::check(context);
}

/// Kubelet's variables travel in a file of systemd's, one to a line.
fn check_environment(context: &mut Context<'_>) {
    let path = context.at(["kubelet", "environment"]);
    let environment = &context.group.kubelet.environment;
    check_variables(context, &path, environment.keys(), codes::ENVIRONMENT_NAME);
    if environment.contains_key(ARGUMENTS_VARIABLE) {
        let message = format!("`{ARGUMENTS_VARIABLE}` is the variable of the plan's own flags");
        let path = path.key(ARGUMENTS_VARIABLE);
        context.key_error(codes::ENVIRONMENT_NAME, &path, message, "write flags under `kubelet.flags`");
    }
    for (name, value) in environment {
        if has_line_end(value) {
            context.error(
                codes::ENVIRONMENT_VALUE,
                &path.key(name.as_str()),
                format!("the value of `{name}` has a line end, and variables travel on one line each"),
                "write it on one line",
            );
        }
    }
}

/// Names of releases, which people use in place of their numbers.
const RELEASES: [(OsFamily, &str, &str); 11] = [
    (OsFamily::Debian, "stretch", "9"),
    (OsFamily::Debian, "buster", "10"),
    (OsFamily::Debian, "bullseye", "11"),
    (OsFamily::Debian, "bookworm", "12"),
    (OsFamily::Debian, "trixie", "13"),
    (OsFamily::Debian, "forky", "14"),
    (OsFamily::Ubuntu, "bionic", "18.04"),
    (OsFamily::Ubuntu, "focal", "20.04"),
    (OsFamily::Ubuntu, "jammy", "22.04"),
    (OsFamily::Ubuntu, "noble", "24.04"),
    (OsFamily::Ubuntu, "resolute", "26.04"),
];

/// Versions decide what systemd can do: one that cannot be read would be taken for the newest, silently.
fn check_os_version(context: &mut Context<'_>) {
    let os = &context.group.os;
    let Some(version) = os.version.as_deref() else { return };
    let numbers: Vec<&str> = version.split('.').collect();
    let numeric =
        numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let (fits, usual) = match os.family {
        OsFamily::Debian => (numeric && numbers.len() <= 2, "12"),
        OsFamily::Ubuntu => {
            (numeric && matches!(numbers.as_slice(), [_, month, ..] if month.len() == 2), "24.04")
        }
        _ => return,
    };
    if fits {
        return;
    }
    let named =
        RELEASES.iter().find(|(family, name, _)| *family == os.family && *name == version.to_lowercase());
    let number = match named {
        Some((_, _, number)) => (*number).to_owned(),
        None if numeric && numbers.len() == 1 && os.family == OsFamily::Ubuntu => format!("{version}.04"),
        None => usual.to_owned(),
    };
    let message = format!("`{version}` is no version of `{}`", os.family);
    let path = context.at(["os", "version"]);
    context.error(codes::OS_VERSION, &path, message, format!("write a number such as \"{number}\""));
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

/// Units under a flavour's names are the agent's work.
fn check_flavour(context: &mut Context<'_>, decisions: &Decisions) {
    let [unit, ..] = decisions.layout.aliases else { return };
    if decisions.agent != AgentSource::None {
        return;
    }
    let flavour = context.spec.flavour;
    let path = context.at(["agent"]);
    let hint = "write `agent: image` or `agent: fetch`, or another `flavour` of the cluster";
    if flavour == Flavour::Tectonic {
        let message = format!(
            "with `flavour: {flavour}`, `{unit}` and the stages behind it are the agent's work, and there is no agent"
        );
        context.error(codes::FLAVOUR_AGENT, &path, message, hint);
    } else {
        let message = format!(
            "with `flavour: {flavour}`, `{unit}` is the agent, and there is none: drop-ins of that unit are never read"
        );
        context.warning(codes::FLAVOUR_AGENT, &path, message, hint);
    }
}

fn check_agent_downloads(context: &mut Context<'_>, agent: &Agent) {
    let path = context.at(["agent"]);
    match agent.from {
        AgentSource::Fetch => {
            let downloads = path.key("downloads");
            software::check_architectures(context, &downloads, &agent.downloads, codes::AGENT_DOWNLOAD);
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
            ) || fact.is_of_cluster()
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
