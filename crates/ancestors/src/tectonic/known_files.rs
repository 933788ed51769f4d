//! Files of a Tectonic node that say something about the cluster: they are read, not written.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::{Limits, Node, parse_one};

use super::group::{Cluster, Group, literal, say};
use super::words::{assignments, file_variables};
use crate::codes;
use crate::nodeadm::plain_name;
use crate::tell::Teller;
use crate::tree::{Branch, list, moved, plain, text};

/// Where the installer leaves the version of kubelet, and where the bootstrap unit writes what it has decided.
pub(super) const ENVIRONMENTS: [&str; 2] =
    ["/etc/kubernetes/installer/kubelet.env", "/etc/kubernetes/kubelet.env"];
const KUBECONFIG: &str = "/etc/kubernetes/kubeconfig";
pub(super) const MAPPINGS: &str = "/etc/kubernetes/installer/runtime-mappings.yaml";
/// The image that the flavour names in `kubelet.env`.
const IMAGE: &str = "quay.io/coreos/hyperkube";

/// The version in a tag, `v1.9.6_coreos.0`.
pub(super) fn tag(tag: &str) -> Option<String> {
    let version = tag.strip_prefix('v').unwrap_or(tag).split(['_', '+', '-']).next()?;
    let numbers: Vec<&str> = version.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    ((2..=3).contains(&numbers.len()) && numbers.iter().all(is_number)).then(|| version.to_owned())
}

/// The version in the name of kubelet's image.
pub(super) fn image_of(word: &str) -> Option<String> {
    let (name, version) = word.rsplit_once(':')?;
    let is_kubelet =
        name.ends_with("hyperkube") || name.ends_with("/kubelet") || name.ends_with("hyperkube-amd64");
    (is_kubelet && !word.starts_with('-')).then(|| tag(version)).flatten()
}

/// Takes a file for what it says, if it is one of those; whether it was.
pub(super) fn take(
    path: &str,
    bytes: &[u8],
    span: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> bool {
    let Ok(content) = std::str::from_utf8(bytes) else { return false };
    if ENVIRONMENTS.contains(&path) {
        environment(content, span, group, cluster, tell);
        return true;
    }
    if path == KUBECONFIG {
        kubeconfig(content, span, cluster, tell);
        return true;
    }
    if path == "/etc/containerd/config.toml" {
        group.runtime.put("config", text(span, content));
        return true;
    }
    if path.starts_with("/etc/systemd/system.conf.d/") {
        proxy(content, span, cluster, tell);
    }
    false
}

/// `kubelet.env`: the version, and variables of kubelet.
fn environment(content: &str, span: Span, group: &mut Group, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let message = "`kubelet.env` is written from the document, in one piece, and is no mark: the agent knows by its journal what is done";
    tell.note(codes::DIFFERENCE, span, message, "nothing has to be done");
    for (name, value) in file_variables(content) {
        let Some(value) = value else {
            let message = "a line of `kubelet.env` sets no variable, and is left aside as systemd does";
            tell.note(codes::FIELD_ASIDE, span, message, "write `NAME=VALUE`");
            continue;
        };
        match name.as_str() {
            "KUBELET_IMAGE_TAG" => {
                if let Some(version) = tag(&value) {
                    cluster.say_version(&version, span, tell);
                } else {
                    let message = format!("`{value}` is no tag of a version of Kubernetes");
                    let hint = "say the version with `--with additions.yaml`: `spec: {kubernetes: {version: \"1.33.4\"}}`";
                    tell.warning(codes::FIELD_DIFFERS, span, message, hint);
                }
            }
            "KUBELET_IMAGE_URL" | "KUBELET_ACI" if value == IMAGE => {}
            "KUBELET_IMAGE_URL" | "KUBELET_ACI" => {
                let message = format!("kubelet is a program here, and no container of `{value}`");
                let hint = "say where it comes from with `--with additions.yaml`: `software: {kubelet: {from: url, …}}`; by default it is in the image";
                tell.note(codes::DIFFERENCE, span, message, hint);
            }
            other => {
                group.environment.put(other, literal(span, &value));
                group.variables.insert(other.to_owned(), value);
            }
        }
    }
}

/// A kubeconfig says where the API is; who may use it is not taken over.
fn kubeconfig(content: &str, span: Span, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let tree = parse_one(content, Limits::default()).ok().flatten().unwrap_or_default();
    let first = tree.get("clusters").and_then(Node::items).and_then(<[Node]>::first);
    let said = |node: Option<&Node>| node.and_then(Node::text).map(str::to_owned);
    let inner = first.and_then(|first| first.get("cluster"));
    if let Some(name) = said(first.and_then(|first| first.get("name"))) {
        say(&mut cluster.name, text(span, plain_name(&name)), "the cluster's name", tell);
    }
    if let Some(server) = said(inner.and_then(|inner| inner.get("server"))) {
        say(&mut cluster.endpoint, text(span, server), "the API's address", tell);
    }
    if let Some(authority) = said(inner.and_then(|inner| inner.get("certificate-authority-data"))) {
        say(&mut cluster.authority, text(span, authority), "the cluster's authority", tell);
    }
    let message = format!("`{KUBECONFIG}` holds credentials, and is not taken over");
    let hint = "have it put there over SSH, or fetched with `--with additions.yaml`: `join: {method: kubeconfig, kubeconfig: {s3: \"s3://BUCKET/KEY\"}}`; take it out of this config, which every process of the machine can read";
    tell.warning(codes::INLINE_SECRET, span, message, hint);
}

/// `DefaultEnvironment=HTTP_PROXY=…` of the manager: the agent and the runtime need it too.
fn proxy(content: &str, span: Span, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let mut variables = BTreeMap::new();
    for line in content.lines() {
        let Some(value) = line.trim().strip_prefix("DefaultEnvironment=") else { continue };
        for (name, value) in assignments(value).into_iter().filter(|(_, value)| !value.text.is_empty()) {
            variables.insert(name.to_ascii_lowercase(), value.text);
        }
    }
    let mut proxy = Branch::new(span);
    for (key, name) in [("http", "http_proxy"), ("https", "https_proxy")] {
        proxy.put_some(key, variables.get(name).map(|value| text(span, value.as_str())));
    }
    if proxy.is_empty() {
        return;
    }
    let direct = variables.get("no_proxy").map(String::as_str).unwrap_or_default();
    let direct = direct.split(',').map(str::trim).filter(|name| !name.is_empty());
    proxy.put_full("noProxy", list(span, direct.map(|name| text(span, name)).collect()));
    say(&mut cluster.proxy, proxy.into_node(), "the proxy", tell);
}

/// `VersionManifestV1`: which versions of the runtime go with which minor of Kubernetes. The first of each is the one.
pub(super) fn mappings(
    manifest: &Node,
    span: Span,
    group: &mut Group,
    minor: Option<u16>,
    tell: &mut Teller<'_>,
) {
    let by_minor = manifest.get("versions").and_then(|versions| versions.get("k8s")).and_then(Node::entries);
    let mut versions = Vec::new();
    let mut runtime = None;
    let mut covered = false;
    for entry in by_minor.unwrap_or_default() {
        for (name, given) in ["containerd", "docker"].map(|name| (name, entry.value.get(name))) {
            let Some(first) = given.and_then(Node::items).and_then(<[Node]>::first).and_then(Node::text)
            else {
                continue;
            };
            if *runtime.get_or_insert(name) != name {
                continue;
            }
            covered |= minor.is_some_and(|minor| entry.key == format!("1.{minor}"));
            let mut version = Branch::new(span);
            version.put("kubernetes", text(span, entry.key.as_str()));
            version.put("version", text(span, first));
            versions.push(version.into_node());
        }
    }
    let Some(runtime) = runtime else {
        let message = "this maps no version of Kubernetes to one of docker or containerd";
        tell.warning(
            codes::FIELD_DIFFERS,
            span,
            message,
            "write `versions: {k8s: {1.33: {containerd: [\"2.1.4\"]}}}`",
        );
        return;
    };
    if let Some(minor) = minor
        && !covered
    {
        let message =
            format!("`runtime-mappings.yaml` names no runtime for Kubernetes 1.{minor}: it is left aside");
        let hint = "name one with `--with additions.yaml`: `runtime: {versions: [{kubernetes: \"1.33\", version: \"2.1.4\"}]}`; without it the runtime is the image's";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        return;
    }
    group.runtime.put("name", plain(span, runtime));
    group.runtime.put("versions", moved(list(span, versions), span));
}
