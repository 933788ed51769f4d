//! The files that eksctl's own design had on a node, with their names and their variables.

use bringup_spec::{AgentSource, Fact, Flavour, JoinMethod, OsFamily, Phase, SoftwareSource, Text};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::AGENT;
use crate::flavour_files::{endpoint, environment, name_servers, pods};
use crate::kubelet::flags::Flags;
use crate::steps::{plain, write_file};
use crate::{Action, Content, PodLimit, Snap, Step, aws, labels, max_pods, sha256_hex};

/// The snap that kubelet is on Ubuntu's images for EKS, and its service.
const SNAP: (&str, &str) = ("kubelet-eks", "daemon");

/// Names that eksctl's script gives to programs of the image's snaps.
const ALIASES: [(&str, &str); 2] = [("kubectl", "kubectl-eks.kubectl"), ("kubelet", "kubelet-eks.kubelet")];

const MAP: &str = "/etc/eksctl/max_pods.map";

/// Whether kubelet is the snap of Ubuntu's images: where the document says that it comes from elsewhere, it is not.
pub(crate) fn has_snap(context: &Context<'_>) -> bool {
    let kubelet = &context.group.software.kubelet;
    context.spec.flavour == Flavour::Eksctl
        && context.on_aws()
        && context.group.os.family == OsFamily::Ubuntu
        && context.spec.join.method != JoinMethod::Kubeadm
        && kubelet.from == SoftwareSource::Image
        && kubelet.path.is_none()
}

/// The snap with the settings that these flags are: each flag is a setting of its name.
pub(crate) fn snap(flags: Flags) -> Snap {
    let aliases = ALIASES.map(|(alias, program)| (alias.to_owned(), program.to_owned())).into();
    Snap { name: SNAP.0.to_owned(), service: SNAP.1.to_owned(), settings: flags, aliases }
}

/// All files but those that kubelet reads in every flavour.
pub(crate) fn steps(context: &Context<'_>, decisions: &Decisions, flags: &Flags) -> Vec<Step> {
    let pods = pods(decisions);
    let mut steps = vec![metadata(context), kubelet(context, decisions, &pods)];
    steps.push(environment(
        "eksctl-local",
        "/etc/eksctl/kubelet.local.env",
        &[
            ("NODE_IP", Text::fact(Fact::Address)),
            ("INSTANCE_ID", Text::fact(Fact::InstanceId)),
            ("INSTANCE_TYPE", Text::fact(Fact::InstanceType)),
            ("MAX_PODS", pods),
        ],
    ));
    steps.extend(map(context, decisions));
    steps.extend(entry(context, decisions, flags));
    steps
}

/// What is known of all nodes of a group.
fn metadata(context: &Context<'_>) -> Step {
    let region = context.spec.aws.as_ref().map(|aws| aws.region.clone()).unwrap_or_default();
    let account = context
        .spec
        .aws
        .as_ref()
        .and_then(|aws| aws.registry_account.clone())
        .unwrap_or_else(|| aws::registry_account(&region).to_owned());
    environment(
        "eksctl-metadata",
        "/etc/eksctl/metadata.env",
        &[
            ("AWS_DEFAULT_REGION", Text::literal(region)),
            ("AWS_EKS_CLUSTER_NAME", Text::literal(context.eks_name())),
            ("AWS_EKS_ENDPOINT", endpoint(context)),
            ("AWS_EKS_ECR_ACCOUNT", Text::literal(account)),
        ],
    )
}

/// What is kubelet's. Pods are there only where somebody chose them, and Ubuntu's file had the name server, too.
fn kubelet(context: &Context<'_>, decisions: &Decisions, pods: &Text) -> Step {
    let mut variables = vec![
        ("NODE_LABELS", labels::labels_flag(&context.group.labels)),
        ("NODE_TAINTS", Text::literal(labels::taints_flag(&context.group.taints))),
    ];
    if context.group.max_pods.is_some() {
        variables.push(("MAX_PODS", pods.clone()));
    }
    if context.group.os.family == OsFamily::Ubuntu {
        variables.push(("CLUSTER_DNS", name_servers(context, decisions)));
    }
    environment("eksctl-kubelet", "/etc/eksctl/kubelet.env", &variables)
}

/// Pods by instance type. The agent has the whole table; what travels without one is the rows of this group, as the whole
/// would be most of the user-data.
fn map(context: &Context<'_>, decisions: &Decisions) -> Option<Step> {
    let content = if decisions.agent == AgentSource::None {
        let limit = PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None };
        let mut types: Vec<&str> = context.group.instance_types.iter().map(String::as_str).collect();
        types.sort_unstable();
        types.dedup();
        let rows: String = types
            .into_iter()
            .filter_map(|name| Some(format!("{name} {}\n", max_pods::literal(&limit, name)?)))
            .collect();
        if rows.is_empty() {
            return None;
        }
        Content::Text(Text::literal(rows))
    } else {
        Content::PodTable(sha256_hex(max_pods::map().as_bytes()))
    };
    Some(write_file("eksctl-max-pods", Phase::Configure, MAP, "0644", content))
}

/// The name of the script that set a node up.
fn entry_path(os: OsFamily) -> Option<&'static str> {
    match os {
        OsFamily::AmazonLinux2 => Some("/var/lib/cloud/scripts/eksctl/bootstrap.al2.sh"),
        OsFamily::Ubuntu => Some("/var/lib/cloud/scripts/eksctl/bootstrap.ubuntu.sh"),
        _ => None,
    }
}

/// The script that set a node up, for whoever calls it: the agent under its name. Without an agent, all but the start of
/// kubelet has been done by the carrier.
fn entry(context: &Context<'_>, decisions: &Decisions, flags: &Flags) -> Option<Step> {
    let path = entry_path(context.group.os.family)?;
    if decisions.agent != AgentSource::None {
        let link = Action::MakeLink { path: path.to_owned(), target: AGENT.to_owned() };
        return Some(plain("eksctl-bootstrap", Phase::Configure, link));
    }
    let script = if decisions.is_snap() { snap_script(flags) } else { Text::literal(UNIT_SCRIPT) };
    Some(write_file("eksctl-bootstrap", Phase::Configure, path, "0755", Content::Text(script)))
}

const UNIT_SCRIPT: &str = "#!/bin/sh\n# Starts kubelet; its files are there already.\nset -eu\nsystemctl daemon-reload\nsystemctl enable kubelet.service\nsystemctl start kubelet.service\n";

/// What sets and starts the snap where no agent does.
fn snap_script(flags: &Flags) -> Text {
    let name = SNAP.0;
    let mut script = Text::literal(
        "#!/bin/sh\n# Sets kubelet, which is a snap, and starts it; its files are there already.\nset -eu\n",
    );
    for (alias, program) in ALIASES {
        // For people at a shell; kubelet starts without.
        script.push_str(&format!("snap alias {program} {alias} || :\n"));
    }
    // Its unit calls this on every boot: a snap that were enabled, too, would start twice on later ones.
    script.push_str(&format!("snap stop --disable {name}\nsnap set {name}"));
    for (flag, value) in flags {
        script.push_str(" \\\n    '");
        script.push_str(flag);
        script.push_str("=");
        if value.as_literal() == Some("") {
            script.push_str("true");
        }
        for segment in value.segments() {
            match segment {
                bringup_spec::Segment::Literal(text) => script.push_str(&text.replace('\'', "'\\''")),
                bringup_spec::Segment::Fact { fact } => script.push(&Text::fact(fact.clone())),
            }
        }
        script.push_str("'");
    }
    script.push_str(&format!("\nsnap start {name}\n"));
    script
}

/// The unit that calls that script, once there are snaps.
pub(crate) fn script_unit(context: &Context<'_>, decisions: &Decisions) -> Option<crate::Unit> {
    let path = entry_path(context.group.os.family)?;
    if decisions.agent != AgentSource::None || !decisions.is_snap() {
        return None;
    }
    let text = format!(
        "[Unit]\nDescription=Set kubelet and start it\nDocumentation=https://bringup.dev/\n\
         Wants=snapd.seeded.service network-online.target\nAfter=snapd.seeded.service network-online.target\n\n\
         [Service]\nType=oneshot\nExecStart={path}\nRemainAfterExit=true\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    );
    Some(crate::Unit {
        name: crate::SNAP_STARTER.to_owned(),
        content: Some(text),
        enabled: Some(true),
        mask: false,
        drop_ins: std::collections::BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: crate::PlacedBy::Carrier,
    })
}
