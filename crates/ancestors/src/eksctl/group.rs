//! A node group, of either kind.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use super::cluster::{Cluster, Group, Learnt, plain_name};
use super::family::Family;
use super::kubelet::Settings;
use super::{family, instances, launch, marks, node_config, own_bootstrap, scaling, steps, tables};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};
use crate::user_data::bpf;

/// What is known of a group while it is translated.
pub(super) struct Given<'a> {
    /// Its fields.
    pub(super) fields: Record<'a>,
    /// Where it stands.
    pub(super) span: Span,
    /// Its name at EKS.
    pub(super) name: String,
    /// Its system.
    pub(super) family: Family,
    /// Whether EKS would make it.
    pub(super) managed: bool,
}

/// What an own bootstrap may still change.
pub(super) struct Parts {
    pub(super) labels: Branch,
    pub(super) taints: Vec<Node>,
    pub(super) settings: Settings,
    pub(super) steps: Vec<Node>,
    pub(super) learnt: Learnt,
}

/// Fields that say nothing when they are false.
const IDLE_WHEN_FALSE: [&str; 6] = [
    "privateNetworking",
    "efaEnabled",
    "enclaveEnabled",
    "spot",
    "propagateASGTags",
    "disableASGTagPropagation",
];

pub(super) fn translated(
    node: &Node,
    index: usize,
    managed: bool,
    cluster: &Cluster<'_>,
    tell: &mut Teller<'_>,
) -> Group {
    let node = without_idle(node);
    let what = if managed { "a managed node group of eksctl" } else { "a node group of eksctl" };
    let table = [tables::BASE, if managed { tables::MANAGED } else { tables::SELF_MANAGED }].concat();
    let fields = tell.record(&node, what, &table);
    let span = node.span;
    let known = family::of(&fields, cluster, managed, tell);
    // What else is wrong with a group that is refused is told all the same, as if it had the usual system.
    let family = known.unwrap_or(Family::AmazonLinux2023);
    let name = named(&fields, index, managed, span, tell);
    let given = Given { fields, span, name: name.text().unwrap_or_default().to_owned(), family, managed };

    let mut tree = Branch::new(span);
    tree.put("name", plain_name(&name, "the group", tell));
    tree.put("platform", text(span, "aws"));
    tree.put("os", family.os(fields.get("amiFamily").map_or(span, |family| family.span)));
    tree.put("inPlaceOf", plain(span, family.program()));
    let types = instances::types(&given, tell);
    let arm = instances::is_arm(&given, &types);
    if arm {
        tree.put("architecture", text(span, "aarch64"));
    }
    tree.put_full("instanceTypes", list(span, types.clone()));
    let mut parts = Parts {
        labels: marks::labels(&given, cluster),
        taints: marks::taints(&given, tell),
        settings: Settings::of(&given, cluster, tell),
        // Commands and settings of another system are in its own language.
        steps: if known.is_some() { steps::before_bootstrap(&given, tell) } else { Vec::new() },
        learnt: Learnt::default(),
    };
    if family == Family::AmazonLinux2 {
        parts.settings.units.push(bpf::unit(span));
    }
    match fields.entry("overrideBootstrapCommand").filter(|_| known.is_some()) {
        Some(own) if family == Family::AmazonLinux2023 => {
            node_config::lay_over(own, &given, &mut parts, tell);
        }
        Some(own) => own_bootstrap::carry_out(own, &given, cluster, &mut parts, tell),
        None => marks::add_facts(&mut parts.labels, &given),
    }
    if known.is_some() {
        steps::tell_of_overtaken(&given, parts.settings.is_docker(), tell);
    }
    tree.put_full("labels", parts.labels.clone().into_node());
    tree.put_full("taints", list(span, parts.taints.clone()));
    parts.settings.put(&mut tree);
    tree.put_full("steps", list(span, parts.steps));
    tree.put_full("launch", launch::translated(&given, cluster, (&types, arm), tell));
    tree.put("scaling", scaling::translated(&given, cluster, &parts.labels, &parts.taints, tell));
    tree.put("carriers", list(span, family.carriers().into_iter().map(|word| plain(span, word)).collect()));
    Group { tree: tree.into_node(), family, span, learnt: parts.learnt }
}

/// The group's name. eksctl makes one up at random where there is none.
fn named(fields: &Record<'_>, index: usize, managed: bool, span: Span, tell: &mut Teller<'_>) -> Node {
    if let Some(name) = fields.get("name").filter(|name| name.text() != Some("")) {
        return name.clone();
    }
    let name = format!("{}-{}", if managed { "mng" } else { "ng" }, index + 1);
    let message = format!("this group has no name: it is called `{name}`, where eksctl makes one up");
    tell.note(codes::DIFFERENCE, span, message, "write `name`");
    text(span, name)
}

fn without_idle(node: &Node) -> Node {
    let mut node = node.clone();
    // That Bottlerocket is refused needs to be told once.
    let family = node.get("amiFamily").and_then(Node::text).unwrap_or_default().to_ascii_lowercase();
    let bottlerocket = family.starts_with("bottlerocket");
    if let Content::Map(entries) = &mut node.content {
        entries.retain(|entry| {
            let key = entry.key.as_str();
            let told = bottlerocket && key == "bottlerocket";
            let idle = IDLE_WHEN_FALSE.contains(&key) && entry.value.text() == Some("false");
            !told && !idle
        });
    }
    node
}
