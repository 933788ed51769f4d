//! Tectonic: Ignition configs and unit files that bring a node up by `k8s-node-bootstrap.service` and `kubelet.service`.
//!
//! Each config is a node group; several unit files without a config are one. What the units do is the agent's work here, so
//! that they are read for what they ask for; everything else of a config is carried out as it is. The forms that people
//! write configs in, Container Linux Config and Butane, are read like what they become.

mod commands;
mod content;
mod directories;
mod effective;
mod flags;
mod group;
mod inputs;
mod known_files;
mod names;
mod node_units;
mod own_fields;
mod stages;
mod started;
mod storage;
mod tables;
mod torcx;
mod unit_text;
mod units;
mod words;

use bringup_diag::Span;
use bringup_yaml::{Limits, Node, parse_one};

use self::group::{Cluster, Group};
use self::unit_text::Lines;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

pub(crate) use self::inputs::{is_carrier, is_ours, is_theirs, is_unit_file, tree};

/// Translates configs and units, all to one document.
pub(crate) fn translate(documents: &[Node], tell: &mut Teller<'_>) -> Vec<Node> {
    let Some(first) = documents.first() else { return Vec::new() };
    let mut cluster = Cluster { minor: tell.added_minor, ..Cluster::default() };
    let manifest = documents.iter().find(|document| inputs::is_manifest(document));
    let configs: Vec<(Node, Lines)> = inputs::configs(documents);
    let mut groups = Vec::new();
    for (config, lines) in &configs {
        groups.extend(translated(config, *lines, manifest, &mut cluster, tell));
    }
    if configs.is_empty() {
        let message = "a mapping of runtimes alone brings no node up";
        tell.error(codes::MISSING, first.span, message, "give the config or the units that it goes with");
    }
    if groups.is_empty() {
        return Vec::new();
    }
    vec![document(groups, cluster, first.span, tell)]
}

/// The node group of a config; none if it brings no node up, which is told.
fn translated(
    config: &Node,
    lines: Lines,
    manifest: Option<&Node>,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> Option<Group> {
    if inputs::is_ours(config) {
        let message = "this config has been built by Bringup: there is nothing to translate in it";
        let hint = "build the document that it was built from; `bringup inspect` shows what it does";
        tell.error(codes::FIELD_REFUSED, config.span, message, hint);
        return None;
    }
    let top = tell.record(config, "an Ignition config", tables::TOP);
    if let Some(ignition) = top.get("ignition") {
        let ignition = tell.record(ignition, "`ignition` of a config", tables::IGNITION);
        if let Some(references) = ignition.get("config") {
            refers(references, tell)?;
        }
    }
    let mut group = Group::new(config.span);
    // Butane says for whom it writes; a config itself does not.
    if top.text("variant").is_some_and(|variant| variant != "flatcar") {
        group.os = "generic";
    }
    // The version first: which flags kubelet has hangs on it.
    let mapping = storage::take(&top, &mut group, cluster, tell);
    let skips_runtime = units::take(&top, lines, &mut group, cluster, tell);
    if group.joins.is_none() {
        let message = "this config brings no node up: it has neither `kubelet.service` nor `k8s-node-bootstrap.service`";
        let hint = "give the config of a master or a worker; `bringup inspect` shows what this one does";
        tell.error(codes::MISSING, config.span, message, hint);
        return None;
    }
    let within = mapping.as_ref().and_then(|inline| {
        let content = std::str::from_utf8(&inline.bytes).ok()?;
        Some((parse_one(content, Limits::default()).ok()??, inline.at.span))
    });
    let given = within.or_else(|| manifest.map(|manifest| (manifest.clone(), manifest.span)));
    match (given, &mapping) {
        (Some((manifest, span)), _) if !skips_runtime => {
            known_files::mappings(&manifest, span, &mut group, cluster.minor, tell);
        }
        (Some((_, span)), _) => {
            let message =
                "the mapping of runtimes is not used: `--torcx-skip-setup` leaves the runtime as it is";
            tell.note(codes::FIELD_ASIDE, span, message, "the node comes up the same without it");
        }
        (None, Some(inline)) => {
            let message = format!("`{}` is no YAML, and is left aside", inline.path);
            tell.warning(codes::FIELD_DIFFERS, inline.at.span, message, "correct it");
        }
        (None, None) => {}
    }
    Some(group)
}

/// What a config says of others. None if it is only a pointer.
fn refers(references: &Node, tell: &mut Teller<'_>) -> Option<()> {
    // Tools write an empty list, or a mapping without an address, where nothing is meant.
    let says = |key: &str| {
        references.get(key).is_some_and(|node| match node.items() {
            Some(items) => !items.is_empty(),
            None => node.get("source").and_then(Node::text).is_some_and(|source| !source.is_empty()),
        })
    };
    let mut said = Branch::new(references.span);
    for entry in references.entries().unwrap_or_default() {
        let known = tables::CONFIG.iter().any(|(name, _)| *name == entry.key);
        if !known || says(&entry.key) {
            said.put_field(&entry.key, entry);
        }
    }
    tell.record(&said.into_node(), "`config` of a config", tables::CONFIG);
    (!says("replace")).then_some(())
}

/// The document of all groups.
fn document(groups: Vec<Group>, cluster: Cluster, span: Span, tell: &mut Teller<'_>) -> Node {
    missing(span, tell);
    let mut kubernetes = Branch::new(span);
    kubernetes.put_some("version", cluster.version);
    if let Some(at) = cluster.detect {
        kubernetes.put("detect", plain(at, true));
    }
    let mut api = Branch::new(span);
    api.put_some("endpoint", cluster.endpoint);
    api.put_some("certificateAuthority", cluster.authority);
    let mut network = Branch::new(span);
    network.put_some("dns", cluster.dns);
    network.put_some("domain", cluster.domain);
    let mut join = Branch::new(span);
    join.put("method", plain(span, "kubeconfig"));
    join.put(
        "kubeconfig",
        cluster.kubeconfig.unwrap_or_else(|| {
            let mut file = Branch::new(span);
            file.put("file", text(span, "/etc/kubernetes/kubeconfig"));
            file.into_node()
        }),
    );
    let mut spec = Branch::new(span);
    spec.put("flavour", plain(span, "tectonic"));
    spec.put("kubernetes", kubernetes.into_node());
    spec.put_full("api", api.into_node());
    spec.put_full("network", network.into_node());
    spec.put("join", join.into_node());
    spec.put_some("proxy", cluster.proxy);
    spec.put("nodeGroups", list(span, named(groups, tell)));
    let mut metadata = Branch::new(span);
    metadata.put_some("name", cluster.name);
    let mut tree = Branch::new(span);
    tree.put("apiVersion", text(span, "bringup.dev/v1alpha1"));
    tree.put("kind", text(span, "Cluster"));
    tree.put("metadata", metadata.into_node());
    tree.put("spec", spec.into_node());
    tree.into_node()
}

/// The groups, with names that say what they are for.
fn named(groups: Vec<Group>, tell: &mut Teller<'_>) -> Vec<Node> {
    let mut given: Vec<String> = Vec::new();
    let mut nodes = Vec::new();
    for group in groups {
        let starts = group.control_plane.is_some();
        let stem = if group.is_master { "masters" } else { "workers" };
        let twins = given.iter().filter(|name| name.starts_with(stem)).count();
        let name = if twins == 0 { stem.to_owned() } else { format!("{stem}-{}", twins.saturating_add(1)) };
        if starts {
            let message =
                "every machine of this config starts a cluster once it has the assets: there must be one";
            let hint = format!(
                "say which with `--with additions.yaml`: `spec: {{nodeGroups: [{{name: {name}, bootstrap: {{fact: hostname, equals: NAME}}}}]}}`; the first to make an object: `bootstrap: {{store: \"s3://BUCKET/KEY\"}}`; where there is one machine: `bootstrap: true`"
            );
            let at = (codes::DIFFERENCE, group.joins.unwrap_or(group.span));
            tell.warning_unless(says_who_starts, at, message, hint);
        }
        let message = "the agent and kubelet are taken to be in the image, and Flatcar's has neither";
        let hint = "put them there, or have them fetched with `--with additions.yaml`: `spec: {nodeGroups: [{agent: {from: fetch, …}, software: {kubelet: {from: url, …}}}]}`";
        tell.note_of_agent((group.span, true), (codes::DIFFERENCE, group.span), message, hint);
        nodes.push(group.into_node(&name, starts));
        given.push(name);
    }
    nodes
}

/// Whether somebody has said which machine starts the cluster: what is translated stands where its group does.
fn says_who_starts(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
    groups
        .unwrap_or_default()
        .iter()
        .all(|group| group.get("bootstrap").is_none_or(|bootstrap| bootstrap.span != group.span))
}

/// What configs and units cannot say, or these do not.
fn missing(span: Span, tell: &mut Teller<'_>) {
    let hint = |example: &str| {
        format!(
            "say it with `--with additions.yaml`: `apiVersion: bringup.dev/v1alpha1`, `kind: Additions`, `{example}`"
        )
    };
    let at = (codes::MISSING, span);
    let message = "these files do not say the cluster's name";
    tell.error_of_missing(&["metadata", "name"], at, message, hint("metadata: {name: NAME}"));
    let message = "these files do not say the version of Kubernetes";
    let example = "spec: {kubernetes: {version: \"1.33.4\"}}";
    tell.error_of_missing(&["spec", "kubernetes", "version"], at, message, hint(example));
    let message = "these files do not say the API's address";
    let example = "spec: {api: {endpoint: https://HOST, certificateAuthority: …}}";
    tell.note_of_missing(&["spec", "api", "endpoint"], at, message, hint(example));
}
