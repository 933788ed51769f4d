//! Where kubelet, the runtime and the plugins of CNI come from: kops fetches them, and its images have none of them.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::{Cluster, is_true};
use super::image::System;
use super::kubelet::value;
use super::releases::{Piece, Release, release};
use super::role::Role;
use super::runtime_fields::{PACKAGES, RUNC};
use crate::codes;
use crate::fields::is_nothing;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// What kops takes for itself where nobody names a version of containerd.
const CONTAINERD: &str = "2.3.4";
const RUNC_WITH_IT: &str = "1.4.3";

/// The first Kubernetes that the kops of today brings up: older ones came with another containerd.
const FIRST: u16 = 32;

/// The plugins of CNI by the first minor of Kubernetes that has them.
const CNI: [(u16, &str); 4] = [(36, "1.9.1"), (35, "1.8.0"), (34, "1.7.1"), (FIRST, "1.6.2")];

/// Where kops puts runc, and beneath what it puts containerd.
const RUNC_PATH: &str = "/usr/sbin/runc";
const CONTAINERD_ROOT: &str = "/usr";

/// Where kops puts kubectl; `/usr` of Flatcar cannot be written to.
const KUBECTL_PATH: &str = "/usr/local/bin/kubectl";
const KUBECTL_PATH_ON_FLATCAR: &str = "/opt/kops/bin/kubectl";

/// Whether the kops of today brings this Kubernetes up, with a containerd of its own choice.
pub(super) fn is_current(minor: Option<u16>) -> bool {
    minor.is_none_or(|minor| minor >= FIRST)
}

/// What the nodes of a cluster fetch, by version. A piece without a version is not fetched.
pub(super) struct Software<'a> {
    kubelet: Option<String>,
    containerd: Option<String>,
    runc: Option<String>,
    cni: Option<&'static str>,
    has_cni: bool,
    is_own_build: bool,
    runtime: Source,
    /// Archives that are named in full.
    own_containerd: Option<&'a Node>,
    own_runc: Option<&'a Node>,
    mirror: Option<&'a str>,
}

/// Where the runtime comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// containerd, from where kops has it.
    Fetched,
    /// containerd, which is there already.
    Image,
    /// docker, of which kops names no archive any more.
    Docker,
}

/// What software adds to a group.
pub(super) struct Fetched {
    /// `software`.
    pub(super) software: Node,
    /// runc, which is no part of containerd's archive, and kubectl, where an API server is to run.
    pub(super) assets: Vec<Node>,
}

impl<'a> Software<'a> {
    /// What a cluster says of it.
    pub(super) fn of(cluster: &'a Cluster<'_>) -> Self {
        let containerd = &cluster.containerd;
        let plain = |node: &Node| node.text().unwrap_or_default().trim_start_matches('v').to_owned();
        let usual = |version: &str| is_current(cluster.minor).then(|| version.to_owned());
        let runc = value(containerd, "runc");
        let cni = CNI.iter().find(|(first, _)| cluster.minor.is_some_and(|minor| minor >= *first));
        Self {
            kubelet: cluster.whole_version(),
            containerd: value(containerd, "version").map(plain).or_else(|| usual(CONTAINERD)),
            runc: runc.and_then(|runc| runc.get("version")).map(plain).or_else(|| usual(RUNC_WITH_IT)),
            cni: cni.map(|(_, version)| *version),
            has_cni: cluster.fetches_cni(),
            is_own_build: cluster.is_own_build(),
            runtime: if cluster.docker {
                Source::Docker
            } else if value(containerd, "skipInstall").is_some_and(is_true) {
                Source::Image
            } else {
                Source::Fetched
            },
            own_containerd: value(containerd, "packages"),
            own_runc: runc.and_then(|runc| runc.get("packages")),
            mirror: cluster.mirror(),
        }
    }

    /// The software of a group. `has_runtime` is whether the group itself says that its image has one.
    pub(super) fn group(
        &self,
        system: System,
        role: Role,
        (is_arm, has_runtime): (bool, bool),
        span: Span,
    ) -> Fetched {
        let mut software = Branch::new(span);
        let fetched = |piece, version: Option<&str>| {
            let found = release(piece, version?, is_arm, self.mirror);
            Some(download(&found.url, found.digest?, is_arm, span))
        };
        let has_packages = !matches!(system.family, "flatcar" | "generic");
        let package = || has_packages.then(|| source(span, "package"));
        let kubelet = fetched(Piece::Kubelet, self.kubelet.as_deref()).map(Branch::into_node);
        software.put_some("kubelet", kubelet.or_else(|| package().map(Branch::into_node)));
        let mut assets = Vec::new();
        if self.runtime == Source::Docker {
            software.put_some("runtime", package().map(Branch::into_node));
        } else if self.runtime == Source::Image || has_runtime || system.has_containerd() {
            software.put("runtime", source(span, "image").into_node());
        } else {
            let own = self.own_containerd.and_then(|given| named(given, is_arm));
            let runtime = own.or_else(|| fetched(Piece::Containerd, self.containerd.as_deref()));
            let runtime = runtime.map(|mut runtime| {
                runtime.put("path", text(span, CONTAINERD_ROOT));
                runtime.put_some("version", self.containerd.as_deref().map(|version| text(span, version)));
                runtime
            });
            if runtime.is_some() {
                assets.extend(self.runc(is_arm, span));
            }
            software.put_some("runtime", runtime.or_else(package).map(Branch::into_node));
        }
        if self.has_cni {
            let cni = fetched(Piece::Cni, self.cni);
            software.put_some("cni", cni.or_else(package).map(Branch::into_node));
        }
        if role.has_api_server() {
            assets.extend(self.kubectl(system, is_arm, span));
        }
        Fetched { software: software.into_node(), assets }
    }

    fn runc(&self, is_arm: bool, span: Span) -> Option<Node> {
        let named = self.own_runc.and_then(|given| address(given, is_arm));
        let (url, digest) = match (named, &self.runc) {
            (Some(named), _) => named,
            (None, Some(version)) => {
                let Release { url, digest } = release(Piece::Runc, version, is_arm, self.mirror);
                (text(span, url), text(span, digest?))
            }
            (None, None) => return None,
        };
        Some(program(Piece::Runc, RUNC_PATH, url, digest, span))
    }

    fn kubectl(&self, system: System, is_arm: bool, span: Span) -> Option<Node> {
        let Release { url, digest } = release(Piece::Kubectl, self.kubelet.as_deref()?, is_arm, self.mirror);
        let path = if system.family == "flatcar" { KUBECTL_PATH_ON_FLATCAR } else { KUBECTL_PATH };
        Some(program(Piece::Kubectl, path, text(span, url), text(span, digest?), span))
    }

    /// Tells what is fetched, and what kops would fetch and nobody here knows the digest of.
    pub(super) fn tell(&self, has_api_server: bool, place: Span, tell: &mut Teller<'_>) {
        let mut known: Vec<String> = Vec::new();
        let mut unknown: Vec<(Piece, Option<&str>)> = Vec::new();
        let containerd = self.runtime == Source::Fetched;
        for (piece, version, is_wanted) in [
            (Piece::Kubelet, self.kubelet.as_deref(), !self.is_own_build),
            (Piece::Kubectl, self.kubelet.as_deref(), has_api_server && !self.is_own_build),
            (
                Piece::Containerd,
                self.containerd.as_deref(),
                containerd && !self.own_containerd.is_some_and(is_whole),
            ),
            (Piece::Runc, self.runc.as_deref(), containerd && !self.own_runc.is_some_and(is_whole)),
            (Piece::Cni, self.cni, self.has_cni),
        ] {
            match version.map(|version| (version, release(piece, version, false, self.mirror))) {
                _ if !is_wanted => {}
                Some((version, Release { digest: Some(_), .. })) => {
                    known.push(format!("{} {version}", piece.name()));
                }
                _ => unknown.push((piece, version)),
            }
        }
        for given in [self.own_containerd, self.own_runc].into_iter().flatten() {
            tell_halves(given, tell);
            if self.runtime == Source::Image {
                let message = "with `skipInstall` these archives are not fetched, with kops as here";
                tell.note(codes::DIFFERENCE, given.span, message, "take one of the two away");
            }
        }
        if !known.is_empty() {
            let message = format!(
                "fetched from where kops has it, and with the digest that kops expects: {}",
                known.join(", ")
            );
            let hint = "write `software` in additions to have it from elsewhere, such as `software: {kubelet: {from: image}}`";
            tell.note(codes::DIFFERENCE, place, message, hint);
        }
        for (piece, version) in unknown {
            self.tell_unknown(piece, version, place, tell);
        }
    }

    fn tell_unknown(&self, piece: Piece, version: Option<&str>, place: Span, tell: &mut Teller<'_>) {
        let key = if piece == Piece::Containerd { "runtime" } else { piece.name() };
        let shown = version.unwrap_or("VERSION");
        let url = release(piece, shown, false, self.mirror).url;
        let digest = match piece {
            Piece::Kubelet | Piece::Kubectl | Piece::Cni => format!("from `{url}.sha256`"),
            Piece::Containerd => format!("from `{url}.sha256sum`"),
            Piece::Runc => "from `runc.sha256sum` of the release".to_owned(),
        };
        let named =
            version.map_or_else(|| piece.name().to_owned(), |version| format!("{} {version}", piece.name()));
        let instead = if piece == Piece::Kubectl {
            "machines of the control plane are without it"
        } else {
            "nodes take the system's own, which images that kops takes may not have"
        };
        let message = format!("kops fetches {named}, whose digest nobody here knows: {instead}");
        let asset = |path: &str| {
            let name = piece.name();
            format!("`assets: [{{name: {name}, urls: [{url}], sha256: ..., path: {path}, mode: \"0755\"}}]`")
        };
        let (block, groups) = match piece {
            Piece::Runc => (asset(RUNC_PATH), "the groups"),
            Piece::Kubectl => (asset(KUBECTL_PATH), "groups of the control plane"),
            _ => (
                format!(
                    "`software: {{{key}: {{from: url, downloads: {{x86_64: {{urls: [{url}], sha256: ...}}}}}}}}`"
                ),
                "the groups",
            ),
        };
        let hint = format!("write {block} for {groups} in additions, with the digest {digest}");
        let says: fn(&Node) -> bool = match piece {
            Piece::Kubelet => |document| has_software(document, "kubelet"),
            Piece::Containerd => |document| has_software(document, "runtime"),
            Piece::Cni => |document| has_software(document, "cni"),
            Piece::Runc => has_runc,
            Piece::Kubectl => has_kubectl,
        };
        tell.warning_unless(says, (codes::FIELD_DIFFERS, place), message, hint);
    }
}

fn groups(document: &Node) -> &[Node] {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups"));
    groups.and_then(Node::items).unwrap_or_default()
}

/// Whether every group says where a piece comes from, and not from the system's packages, which stand for what is unknown.
fn has_software(document: &Node, key: &str) -> bool {
    let word = |group: &Node| {
        let source = group.get("software")?.get(key)?;
        source.get("from").unwrap_or(source).text().map(str::to_owned)
    };
    groups(document).iter().all(|group| word(group).is_some_and(|word| word != "package"))
}

/// Whether every group has a runc of its own, or a runtime that brings one.
fn has_runc(document: &Node) -> bool {
    groups(document).iter().all(|group| {
        let runtime = group.get("software").and_then(|software| software.get("runtime"));
        let from = runtime.and_then(|runtime| runtime.get("from").unwrap_or(runtime).text());
        has_program(group, "/runc") || matches!(from, Some("image"))
    })
}

/// Whether every group of the control plane has a kubectl.
fn has_kubectl(document: &Node) -> bool {
    let is_worker = |group: &Node| group.get("role").is_none_or(|role| role.text() == Some("worker"));
    groups(document).iter().all(|group| is_worker(group) || has_program(group, "/kubectl"))
}

/// Whether an asset of a group is put to a path that ends so.
fn has_program(group: &Node, end: &str) -> bool {
    let assets = group.get("assets").and_then(Node::items).unwrap_or_default();
    assets.iter().any(|asset| asset.get("path").and_then(Node::text).is_some_and(|path| path.ends_with(end)))
}

/// An asset that is a program by itself.
fn program(piece: Piece, path: &str, url: Node, digest: Node, span: Span) -> Node {
    let mut asset = Branch::new(span);
    asset.put("name", text(span, piece.name()));
    asset.put("urls", list(url.span, vec![url]));
    asset.put("sha256", digest);
    asset.put("path", text(span, path));
    asset.put("mode", text(span, "0755"));
    asset.into_node()
}

fn source(span: Span, word: &str) -> Branch {
    let mut item = Branch::new(span);
    item.put("from", text(span, word));
    item
}

fn download(url: &str, digest: &str, is_arm: bool, span: Span) -> Branch {
    fetched(text(span, url), text(span, digest), is_arm, span)
}

fn fetched(url: Node, digest: Node, is_arm: bool, span: Span) -> Branch {
    let mut download = Branch::new(span);
    download.put("urls", list(url.span, vec![url]));
    download.put("sha256", digest);
    let mut downloads = Branch::new(span);
    downloads.put(if is_arm { "aarch64" } else { "x86_64" }, download.into_node());
    let mut item = source(span, "url");
    item.put("downloads", downloads.into_node());
    item
}

/// The archive for this processor that a document names.
fn named(packages: &Node, is_arm: bool) -> Option<Branch> {
    let (url, digest) = address(packages, is_arm)?;
    Some(fetched(url, digest, is_arm, packages.span))
}

fn address(packages: &Node, is_arm: bool) -> Option<(Node, Node)> {
    let (url, digest) = if is_arm { ("urlArm64", "hashArm64") } else { ("urlAmd64", "hashAmd64") };
    Some((packages.get(url)?.clone(), packages.get(digest)?.clone()))
}

/// The two keys of an archive, by processor.
const HALVES: [(&str, &str); 2] = [("urlAmd64", "hashAmd64"), ("urlArm64", "hashArm64")];

/// Whether an archive is named with its digest, for one of the processors.
fn is_whole(packages: &Node) -> bool {
    HALVES.iter().any(|(url, digest)| packages.get(url).is_some() && packages.get(digest).is_some())
}

/// Tells of an address without a digest, or the other way round: kops then fetches its own.
fn tell_halves(packages: &Node, tell: &mut Teller<'_>) {
    for (url, digest) in HALVES {
        let (here, missing) = match (packages.get(url), packages.get(digest)) {
            (Some(url), None) => (url, digest),
            (None, Some(digest)) => (digest, url),
            _ => continue,
        };
        let message = format!(
            "this has no effect without `{missing}`, with kops as here: what kops has itself is fetched"
        );
        tell.warning(codes::FIELD_DIFFERS, here.span, message, format!("add `{missing}`, or take it away"));
    }
}

/// Tells of archives that a group asks for: kops fetches the same ones for all groups.
pub(super) fn tell_of_group(containerd: &Node, tell: &mut Teller<'_>) {
    for entry in containerd.entries().unwrap_or_default() {
        if matches!(entry.key.as_str(), "packages" | "runc" | "version") && !is_nothing(&entry.value) {
            let message = format!(
                "`{}` of a group has no effect, with kops as here: nodes fetch what the Cluster names",
                entry.key
            );
            let hint = "write it under `containerd` of the Cluster, or take it away";
            tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
        }
    }
}

/// Accounts for the fields of `containerd.packages` and `containerd.runc`.
pub(super) fn account_for(containerd: &Node, tell: &mut Teller<'_>) {
    if let Some(packages) = containerd.get("packages") {
        tell.record(packages, "`packages` of kops' containerd", PACKAGES);
    }
    let runc = containerd.get("runc").map(|runc| tell.record(runc, "`runc` of kops' containerd", RUNC));
    if let Some(packages) = runc.and_then(|runc| runc.get("packages")) {
        tell.record(packages, "`packages` of kops' runc", PACKAGES);
    }
}
