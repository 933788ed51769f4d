//! The cluster as a whole.

use bringup_diag::Span;
use bringup_spec::{KubernetesVersion, Name};
use bringup_yaml::{Entry, Node};

use super::family::Family;
use super::{group, network, tables};
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};
use crate::{ids, nodeadm};

/// The version of Kubernetes that eksctl takes where the document says none.
const DEFAULT_VERSION: &str = "1.34";

/// What a node group has to know of its cluster.
pub(super) struct Cluster<'a> {
    /// Its name at EKS.
    pub(super) name: &'a str,
    /// The region.
    pub(super) region: &'a str,
    /// The minor version of Kubernetes, where it can be read.
    pub(super) minor: Option<u16>,
    /// Tags of everything that is made for it.
    pub(super) tags: &'a [Entry],
    /// A security group that all of its nodes share.
    pub(super) shared_security_group: Option<&'a Node>,
    /// The address of its API server, where the file says it.
    pub(super) endpoint: Option<&'a str>,
    /// Its authority, likewise.
    pub(super) certificate_authority: Option<&'a str>,
    /// Its id, likewise.
    pub(super) id: Option<&'a str>,
    /// The addresses of its services, likewise.
    pub(super) service_range: Option<&'a str>,
    /// Whether its control plane stands on an Outpost.
    pub(super) on_outpost: bool,
}

/// What a node group's own bootstrap says of the cluster.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    pub(super) endpoint: Option<Node>,
    pub(super) certificate_authority: Option<Node>,
    pub(super) service_range: Option<Node>,
    pub(super) id: Option<Node>,
}

impl Learnt {
    /// What is known already, and of the rest what another says.
    fn or(self, other: &Self) -> Self {
        Self {
            endpoint: self.endpoint.or_else(|| other.endpoint.clone()),
            certificate_authority: self.certificate_authority.or_else(|| other.certificate_authority.clone()),
            service_range: self.service_range.or_else(|| other.service_range.clone()),
            id: self.id.or_else(|| other.id.clone()),
        }
    }
}

/// A node group on its way.
pub(super) struct Group {
    pub(super) tree: Node,
    pub(super) family: Family,
    pub(super) span: Span,
    pub(super) learnt: Learnt,
}

pub(super) fn translated(document: &Node, tell: &mut Teller<'_>) -> Option<Node> {
    let top = tell.record(document, "a ClusterConfig", tables::CLUSTER);
    let Some(metadata) = top.entry("metadata") else {
        let message = "a ClusterConfig without `metadata` names no cluster";
        tell.error(codes::MISSING, document.span, message, "add `metadata: {name: NAME, region: REGION}`");
        return None;
    };
    let about = tell.record(&metadata.value, "`metadata`", tables::METADATA);
    let span = metadata.value.span;
    if about.entry("name").is_none() {
        let message = "`metadata` has no `name`";
        tell.error(codes::MISSING, metadata.key_span, message, "add `name: demo`");
    }
    if about.entry("region").is_none() {
        let message = "`metadata` has no `region`, and nobody's AWS profile is asked for one";
        let hint =
            "add `region: eu-central-1`, or with `--with additions.yaml`: `spec: {aws: {region: REGION}}`";
        tell.warning(codes::MISSING, metadata.key_span, message, hint);
    }
    let version = version(&about, span, tell);
    let vpc = network::vpc(&top, tell);
    let status = |field: &str| top.get("status").and_then(|status| status.get(field)).and_then(Node::text);
    let cluster = Cluster {
        name: about.text("name").unwrap_or_default(),
        region: about.text("region").unwrap_or_default(),
        // What additions say stands above the file.
        minor: tell.added_minor.or_else(|| {
            let version = KubernetesVersion::parse(version.text()?).ok()?;
            Some(version.minor)
        }),
        tags: about.get("tags").and_then(Node::entries).unwrap_or_default(),
        shared_security_group: vpc
            .get("sharedNodeSecurityGroup")
            .and_then(|group| ids::real(group, "sg-", tell)),
        endpoint: status("endpoint"),
        certificate_authority: status("certificateAuthorityData"),
        id: status("id"),
        service_range: network::service_range(&top).and_then(Node::text),
        on_outpost: top.entry("outpost").is_some(),
    };
    let groups = groups(document, &top, &cluster, tell);
    // Why there are none has been told.
    groups.first()?;
    for group in &groups {
        agent(group, tell);
    }
    tell_of_reach(&groups, tell);

    let mut spec = Branch::new(span);
    spec.put("flavour", flavour(&groups, span, tell));
    let mut kubernetes = Branch::new(version.span);
    kubernetes.put("version", version);
    spec.put("kubernetes", kubernetes.into_node());
    let learnt = groups.iter().fold(Learnt::default(), |learnt, group| learnt.or(&group.learnt));
    network::put(&mut spec, &top, learnt, tell);
    let mut join = Branch::new(span);
    join.put("method", text(span, "eks-token"));
    spec.put("join", join.into_node());
    spec.put("aws", aws(&about, &vpc, &top, span, tell));
    spec.put("nodeGroups", list(span, groups.into_iter().map(|group| group.tree).collect()));

    let mut tree = Branch::new(document.span);
    tree.put("apiVersion", text(document.span, "bringup.dev/v1alpha1"));
    tree.put("kind", text(document.span, "Cluster"));
    let mut meta = Branch::new(span);
    if let Some(name) = about.get("name") {
        meta.put("name", plain_name(name, "the cluster", tell));
    }
    if let Some(annotations) = about.entry("annotations") {
        meta.put_field("annotations", annotations);
    }
    tree.put("metadata", meta.into_node());
    tree.put("spec", spec.into_node());
    Some(tree.into_node())
}

/// With eksctl, all nodes of a cluster are in one security group: its own for groups that it makes, EKS' for managed ones.
fn tell_of_reach(groups: &[Group], tell: &mut Teller<'_>) {
    let Some(first) = groups.iter().find(|group| !shares(&group.tree)) else { return };
    let message = "with eksctl, nodes also have a security group that all groups of the cluster share, and which one is not in this file: pods reach those of their own group only, the cluster's DNS among them";
    let hint = "write its id as `sharedNodeSecurityGroup` under `vpc`; for managed groups, write the cluster's under `securityGroups: {attachIDs: [...]}` of each";
    if groups.len() > 1 {
        tell.warning_unless(all_share, (codes::FIELD_DIFFERS, first.span), message, hint);
    } else {
        tell.note(codes::DIFFERENCE, first.span, message, hint);
    }
}

/// Whether a group has a security group beside its own.
fn shares(group: &Node) -> bool {
    group.get("launch").and_then(|launch| launch.get("securityGroups")).is_some()
}

fn all_share(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
    groups.unwrap_or_default().iter().all(shares)
}

/// Nobody's image has the agent by itself.
fn agent(group: &Group, tell: &mut Teller<'_>) {
    let message = "the agent is taken to be in the image, and images of EKS do not have it";
    let hint = "put it there, or have it fetched with `--with additions.yaml`: `spec: {nodeGroups: [{agent: {from: fetch, downloads: {...}}}]}`";
    tell.note_of_agent((group.span, true), (codes::DIFFERENCE, group.span), message, hint);
}

/// The version of Kubernetes, as it is written or as eksctl chooses it.
fn version(about: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Node {
    let given = about.get("version").filter(|version| version.text() != Some(""));
    match given {
        Some(version) if !matches!(version.text(), Some("auto" | "latest")) => version.clone(),
        other => {
            let span = other.map_or(span, |version| version.span);
            let message =
                format!("no version of Kubernetes is named: {DEFAULT_VERSION} is taken, eksctl's default");
            let hint = "write `version` under `metadata`: eksctl's default moves with its releases";
            if tell.added_minor.is_none() {
                tell.note(codes::DIFFERENCE, span, message, hint);
            }
            text(span, DEFAULT_VERSION)
        }
    }
}

/// A name in the letters that one may have here.
pub(super) fn plain_name(name: &Node, what: &str, tell: &mut Teller<'_>) -> Node {
    let Some(given) = name.text() else { return name.clone() };
    if Name::parse(given).is_ok() {
        return name.clone();
    }
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let lower = given.to_ascii_lowercase();
    let letters = lower.chars().map(|letter| if fits(letter) { letter } else { '-' });
    let short: String = letters.take(63).collect();
    let short = short.trim_matches('-');
    if short.is_empty() {
        return name.clone();
    }
    let message = format!("{what} is called `{short}` here; labels and EKS know it as `{given}` as before");
    tell.note(
        codes::DIFFERENCE,
        name.span,
        message,
        "nothing has to be changed: folders and files have the new name",
    );
    text(name.span, short)
}

fn groups(document: &Node, top: &Record<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut any = false;
    for (field, managed) in [("nodeGroups", false), ("managedNodeGroups", true)] {
        let Some(entry) = top.entry(field) else { continue };
        let Some(items) = entry.value.items() else {
            let message = format!("`{field}` must be a list");
            tell.error(codes::WRONG_TYPE, entry.value.span, message, "write each group behind a dash");
            any = true;
            continue;
        };
        any |= !items.is_empty();
        if let Some(first) = items.first().filter(|_| managed) {
            let message =
                "managed node groups are brought up like the others: EKS neither makes nor updates them";
            let hint = "deploy the template that is made for each; what EKS would do with nodes by itself is left to you";
            tell.note(codes::DIFFERENCE, first.span, message, hint);
        }
        for (index, item) in items.iter().enumerate() {
            if is_nothing(item) {
                let message = format!("this item of `{field}` is empty");
                tell.error(
                    codes::WRONG_TYPE,
                    item.span,
                    message,
                    "write the group behind the dash, or remove it",
                );
                continue;
            }
            groups.extend(tell.group((&nodeadm::plain_name(cluster.name), item.span), |tell| {
                let group = group::translated(item, index, managed, cluster, tell);
                let name = group.tree.get("name").and_then(Node::text).unwrap_or_default().to_owned();
                (group, name)
            }));
        }
    }
    let silent = |node: &&Node| node.entries().is_some() && node.get("volumeEncrypted").is_none();
    let both = ["nodeGroups", "managedNodeGroups"].into_iter().flat_map(|field| top.items(field));
    if let Some(first) = both.filter(|group| group.get("launchTemplate").is_none()).find(silent) {
        let message = "volumes are encrypted unless `volumeEncrypted` says otherwise; eksctl leaves that to the account";
        tell.note(
            codes::DIFFERENCE,
            first.span,
            message,
            "write `volumeEncrypted: false` for volumes that are not",
        );
    }
    if !any {
        let message =
            "this ClusterConfig has no node groups: there is no node to bring up, and nothing is made";
        let hint = "leave the cluster to eksctl as a whole; nodes of EKS' Auto Mode and of Fargate are brought up by AWS";
        tell.note(codes::DIFFERENCE, document.span, message, hint);
    }
    groups
}

/// Whose files the nodes have. A document has one flavour; where a group of Amazon Linux 2 or Ubuntu is among the groups,
/// the files under `/etc/eksctl` are the ones that people's own scripts look for.
fn flavour(groups: &[Group], span: Span, tell: &mut Teller<'_>) -> Node {
    let newer = |group: &&Group| group.family == Family::AmazonLinux2023;
    let count = groups.iter().filter(newer).count();
    if count == groups.len() {
        return plain(span, "eks");
    }
    for group in groups.iter().filter(newer) {
        let message = "kubelet's files of this group are under `/etc/eksctl`, like those of the groups of Amazon Linux 2 and Ubuntu";
        let hint = "to have them under `/etc/kubernetes`, as the image has them, put the groups of Amazon Linux 2023 in a document of their own";
        tell.note(codes::DIFFERENCE, group.span, message, hint);
    }
    plain(span, "eksctl")
}

fn aws(about: &Record<'_>, vpc: &Record<'_>, top: &Record<'_>, span: Span, tell: &mut Teller<'_>) -> Node {
    let mut aws = Branch::new(span);
    if let Some(region) = about.entry("region") {
        aws.put_field("region", region);
    }
    if let Some(name) = about
        .get("name")
        .filter(|name| name.text().is_some_and(|text| !text.trim().is_empty() && Name::parse(text).is_err()))
    {
        aws.put("clusterName", name.clone());
    }
    let id = vpc.get("id").and_then(|id| ids::real(id, "vpc-", tell));
    aws.put_some("vpc", id.cloned());
    let private = network::all_private(top);
    aws.put_full("subnets", list(span, network::subnets(vpc, private, tell)));
    let group = vpc.get("securityGroup").and_then(|group| ids::real(group, "sg-", tell));
    aws.put_some("controlPlaneSecurityGroup", group.cloned());
    aws.into_node()
}
