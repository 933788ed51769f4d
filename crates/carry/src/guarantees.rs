//! What nobody promises where our agent is not on the node.

use bringup_diag::Finding;
use bringup_spec::{AgentSource, Carrier, Document, Flavour, HookPoint, LaunchUserData, NodeGroup, OsFamily};
use bringup_yaml::Path;

use crate::codes;
use crate::render::carriers_of;

/// The guarantees that a group loses with a carrier, each a phrase; none where our agent does the work.
pub fn lost_guarantees(document: &Document, group: &NodeGroup, carrier: Carrier) -> Vec<&'static str> {
    let spec = &document.cluster.spec;
    let template = matches!(carrier, Carrier::CloudFormation | Carrier::CloudFormationJson);
    if carrier == Carrier::NodeConfig || (template && spec.leaves_to_nodeadm(group)) {
        return with_nodeadm(document, group);
    }
    let script = group.launch.as_ref().is_some_and(|launch| launch.user_data == LaunchUserData::Bootstrap);
    if group.agent.from != AgentSource::None || (template && script) {
        return Vec::new();
    }
    let first = if has_early_programs(document, group) {
        [
            "nothing but steps is tried again",
            "files are in place before the first step, whatever the order says",
            "where a step fails for good, or what runs the steps is killed, kubelet is not started before somebody starts it \
             or the machine",
            "no journal is kept: a step that was cut short, or had ended and was not marked as done yet, runs again at the \
             next boot",
        ]
        .as_slice()
    } else {
        &["nothing is tried again", "no journal is kept, and what was cut short starts over"]
    };
    let mut lost = first.to_vec();
    lost.extend([
        "there is no gate: kubelet starts on later boots whether its files are up to date or not",
        "nobody sees whether it stays healthy",
        "nobody is told how it ended, by status or signal",
    ]);
    if group.is_scripted() {
        lost.push("facts come from a shell, which asks the metadata service with curl");
    } else {
        lost.push("facts are not learned at all, and kubelet reserves no CPU");
    }
    if spec.flavour == Flavour::Eksctl {
        lost.push("`max_pods.map` has only the instance types of this group");
    }
    lost
}

/// Whether programs of the operator come before kubelet: those behind it are refused.
fn has_early_programs(document: &Document, group: &NodeGroup) -> bool {
    let hooks = document.cluster.spec.hooks.iter().chain(&group.hooks);
    !group.steps.is_empty() || hooks.map(|hook| hook.on).any(|on| on == HookPoint::PreInstall)
}

fn with_nodeadm(document: &Document, group: &NodeGroup) -> Vec<&'static str> {
    let mut lost = Vec::new();
    let has_programs = has_early_programs(document, group);
    if has_programs {
        lost.extend([
            "a step runs once for each instance, without time limit, and is not tried again",
            "kubelet starts even where a step has failed",
        ]);
    }
    lost.extend([
        "there is no gate: nodeadm starts kubelet when cloud-init has ended, however it ended",
        if has_programs {
            "no journal is kept: where a step was cut short, the next boot runs neither it nor those behind it, and starts \
             kubelet"
        } else {
            "no journal is kept, and what was cut short is not resumed"
        },
        "nobody sees whether kubelet stays healthy",
        "nobody is told how it ended, by status or signal",
    ]);
    lost
}

/// What is lost where there is no agent, as one finding for each way of doing without.
pub fn without_agent(document: &Document, group_path: &Path, group: &NodeGroup) -> Vec<Finding> {
    let mut told: Vec<(bool, Vec<&str>)> = Vec::new();
    for carrier in carriers_of(document, group) {
        let lost = lost_guarantees(document, group, carrier);
        let by_nodeadm = lost == with_nodeadm(document, group);
        if !lost.is_empty() && !told.iter().any(|(known, _)| *known == by_nodeadm) {
            told.push((by_nodeadm, lost));
        }
    }
    let finding = |(by_nodeadm, lost): (bool, Vec<&str>)| {
        let has_nodeadm = group.os.family == OsFamily::AmazonLinux2023;
        let (who, hint) = match (by_nodeadm, has_nodeadm) {
            (true, _) => (
                "the image's nodeadm brings the node up, not our agent",
                "`agent: fetch` and a carrier of ours have all of it",
            ),
            (false, true) => (
                "without the agent",
                "`agent: fetch` has all of it; the carrier `nodeconfig` leaves it to the image's nodeadm",
            ),
            (false, false) => ("without the agent", "`agent: fetch` has all of it"),
        };
        let key = if group.agent.from == AgentSource::None { "agent" } else { "carriers" };
        let separator = if by_nodeadm { ":" } else { "" };
        Finding::note(codes::WITHOUT_AGENT, format!("{who}{separator} {}", listed(&lost)))
            .at(document.key_place(&group_path.key(key)))
            .hint(hint)
    };
    in_place(document, group_path, group).chain(told.into_iter().map(finding)).collect()
}

/// Carriers that the group asks for and does not get: where nodeadm brings the node up, it gets what nodeadm reads.
fn in_place<'a>(
    document: &'a Document,
    group_path: &'a Path,
    group: &'a NodeGroup,
) -> impl Iterator<Item = Finding> + 'a {
    let by_nodeadm = document.cluster.spec.leaves_to_nodeadm(group);
    let other = |carrier: &Carrier| matches!(carrier, Carrier::CloudInit | Carrier::Multipart);
    let asked = group.carriers.iter().enumerate().filter(move |(_, carrier)| by_nodeadm && other(carrier));
    asked.map(|(index, carrier)| {
        let message = format!(
            "`nodeconfig` is written in place of `{carrier}`: without our agent the image's nodeadm brings the node up, \
             which reads nothing else"
        );
        Finding::note(codes::WITHOUT_AGENT, message)
            .at(document.place(&group_path.key("carriers").index(index)))
            .hint(format!("write `nodeconfig` here, or `agent: image` or `agent: fetch` to have `{carrier}`"))
    })
}

/// Phrases as one sentence.
fn listed(phrases: &[&str]) -> String {
    match phrases {
        [before @ .., last] if !before.is_empty() => format!("{}; and {last}", before.join("; ")),
        phrases => phrases.concat(),
    }
}
