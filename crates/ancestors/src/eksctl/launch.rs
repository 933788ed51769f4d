//! How instances are launched.

use bringup_yaml::{Content, Node};

use super::cluster::Cluster;
use super::group::Given;
use super::{fabric, iam, record, tables, volumes};
use crate::codes;
use crate::ids;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

pub(super) fn translated(
    given: &Given<'_>,
    cluster: &Cluster<'_>,
    (types, arm): (&[Node], bool),
    tell: &mut Teller<'_>,
) -> Node {
    let (fields, span) = (&given.fields, given.span);
    let mut launch = Branch::new(span);
    image(&mut launch, given, cluster, arm, tell);
    put_key(&mut launch, given, tell);
    launch.put_full("volumes", list(span, volumes::translated(given, cluster, tell)));
    launch.put_full("metadata", metadata(given));
    launch.put_full("tags", tags(given, cluster));
    launch.put_full("securityGroups", list(span, security_groups(given, cluster, tell)));
    launch.put_full("role", iam::translated(given, cluster, tell));
    for (field, key) in [
        ("spot", "spot"),
        ("ebsOptimized", "ebsOptimized"),
        ("enableDetailedMonitoring", "monitoring"),
        ("enclaveEnabled", "enclave"),
    ] {
        // Spot capacity by one word is for groups that EKS makes; elsewhere it is unknown, and told so.
        if let Some(entry) = fields.entry(field).filter(|_| given.managed || field != "spot") {
            launch.put_field(key, entry);
        }
    }
    if let Some(credits) = fields.get("cpuCredits") {
        let word = credits.text().unwrap_or_default().to_ascii_lowercase();
        launch.put("cpuCredits", text(credits.span, word));
    }
    let place = record(fields.get("placement"), "`placement`", tables::PLACEMENT, tell);
    if let Some(name) = place.entry("groupName") {
        launch.put_field("placementGroup", name);
    }
    launch.put_some("efaInterfaces", fabric::interfaces(given, types, tell));
    launch.into_node()
}

/// An image of one's own; `auto` and the like are eksctl's words for the newest of the family.
fn image(launch: &mut Branch, given: &Given<'_>, cluster: &Cluster<'_>, arm: bool, tell: &mut Teller<'_>) {
    match given.fields.entry("ami").filter(|ami| ami.value.text() != Some("")) {
        Some(ami) if !matches!(ami.value.text(), Some("auto" | "auto-ssm" | "static")) => {
            let parameter = ami.value.text().and_then(|image| image.strip_prefix("resolve:ssm:"));
            match parameter {
                Some(parameter) => launch.put("imageParameter", text(ami.value.span, parameter)),
                None => launch.put_some("image", ids::real(&ami.value, "ami-", tell).cloned()),
            }
        }
        other => {
            if let Some(word) = other.filter(|ami| ami.value.text() == Some("static")) {
                let message = "`static` were images that older versions of eksctl knew by heart: the newest one is taken";
                tell.note(codes::DIFFERENCE, word.value.span, message, "remove it");
            }
            let parameter = cluster.minor.and_then(|minor| given.family.image_parameter(minor, arm));
            launch.put_some("imageParameter", parameter.map(|parameter| text(given.span, parameter)));
        }
    }
}

/// How `ssh` names a key.
const KEYS: [&str; 3] = ["publicKeyName", "publicKey", "publicKeyPath"];

/// What `ssh` says beside keys.
fn without_keys(ssh: &Node) -> Node {
    let mut ssh = ssh.clone();
    if let Content::Map(entries) = &mut ssh.content {
        entries.retain(|entry| !KEYS.contains(&entry.key.as_str()));
    }
    ssh
}

/// The key pair, where one is named, or the key itself.
fn put_key(launch: &mut Branch, given: &Given<'_>, tell: &mut Teller<'_>) {
    let Some(field) = given.fields.entry("ssh") else { return };
    // A key that is not allowed in says nothing.
    if field.value.get("allow").and_then(Node::text) == Some("false") {
        let rest = without_keys(&field.value);
        record(Some(&rest), "`ssh`", tables::SSH, tell);
        return;
    }
    let ssh = record(Some(&field.value), "`ssh`", tables::SSH, tell);
    let named = KEYS.iter().any(|field| ssh.entry(field).is_some());
    if !named && ssh.flag("allow") == Some(true) {
        let message =
            "eksctl would let in the key of whoever runs it (`~/.ssh/id_rsa.pub`); here nobody is let in";
        let hint = "import the key to EC2, and write its name as `publicKeyName`";
        tell.warning(codes::FIELD_DIFFERS, field.key_span, message, hint);
    }
    match (ssh.entry("publicKeyName"), ssh.get("publicKey")) {
        (Some(name), _) => launch.put_field("keyName", name),
        (None, Some(key)) => {
            launch.put("publicKey", text(key.span, key.text().unwrap_or_default().trim()));
        }
        (None, None) => {}
    }
}

/// Tokens are required unless the service's first version is asked for; one hop where pods are to be kept out.
fn metadata(given: &Given<'_>) -> Node {
    let mut metadata = Branch::new(given.span);
    let without_pods = given.fields.flag("disablePodIMDS") == Some(true);
    if let Some(first) = given.fields.entry("disableIMDSv1")
        && !without_pods
    {
        metadata.put_field("tokensRequired", first);
    }
    if let (true, Some(pods)) = (without_pods, given.fields.entry("disablePodIMDS")) {
        metadata.put("hopLimit", plain(pods.value.span, 1));
    }
    metadata.into_node()
}

/// Tags of the cluster, of the group over them, and the instances' name.
fn tags(given: &Given<'_>, cluster: &Cluster<'_>) -> Node {
    let own = given.fields.get("tags").and_then(Node::entries).unwrap_or_default();
    let mut tags = Branch::new(given.span);
    for entry in cluster.tags.iter().chain(own) {
        tags.put_field(&entry.key, entry);
    }
    let (prefix, name) = (given.fields.get("instancePrefix"), given.fields.get("instanceName"));
    if let Some(span) = name.or(prefix).map(|node| node.span) {
        let usual = || format!("{}-{}-Node", cluster.name, given.name);
        let name = name.and_then(Node::text).map_or_else(usual, str::to_owned);
        let full = match prefix.and_then(Node::text) {
            Some(prefix) => format!("{prefix}-{name}"),
            None => name,
        };
        tags.put("Name", text(span, full));
    }
    tags.into_node()
}

fn security_groups(given: &Given<'_>, cluster: &Cluster<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let table = tables::SECURITY_GROUPS;
    let groups = record(given.fields.get("securityGroups"), "`securityGroups`", table, tell);
    let mut ids = groups.items("attachIDs").to_vec();
    ids.retain(|id| ids::real(id, "sg-", tell).is_some());
    let shared = !given.managed && groups.flag("withShared") != Some(false);
    ids.extend(cluster.shared_security_group.filter(|_| shared).cloned());
    ids
}
