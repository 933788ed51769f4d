//! What a node finds around it and a container does not: downloads, credentials, EKS. What nobody gives is made up, and said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_aws::partition;
use bringup_lab::{Authority, Given, Kubernetes, Wishes, certificate};
use bringup_plan::{Plan, sha256_hex};
use bringup_spec::{
    ClusterSpec, Download, Fact, File, NodeGroup, SecretSource, Sha256, SoftwareItem, SoftwareSource, Unpack,
    Url,
};
use serde_json::json;

use super::of_lab;
use crate::Terminal;
use crate::outcome::Stop;

/// What stands in for a program or a file that is fetched.
const FETCHED: &[u8] = b"#!/bin/sh\n# stands in for what would be fetched\n";
/// A zip with nothing in it.
const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// The end of a tar, and so a tar with nothing in it.
const EMPTY_TAR: [u8; 1024] = [0; 1024];

/// A token of the form that kubeadm and the API server take; a cluster that knew it would be a strange one.
const TOKEN: &[u8] = b"laboratory.0000000000000000";
/// Credentials of nobody.
const KUBECONFIG: &[u8] = br#"{"apiVersion":"v1","kind":"Config","current-context":"lab","clusters":[{"name":"lab","cluster":{"server":"https://api.lab.example"}}],"contexts":[{"name":"lab","context":{"cluster":"lab","user":"lab"}}],"users":[{"name":"lab","user":{"token":"lab"}}]}"#;

/// What is given to a machine, by the person and by the lab.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// What URLs give.
    pub(super) served: Vec<(String, Given)>,
    /// What paths of the image hold.
    pub(super) files: Vec<(String, Given)>,
    /// Who vouches for what is served, where the document names it.
    pub(super) authority: Option<Arc<Authority>>,
    /// What is made up, for people.
    pub(super) stand_ins: Vec<String>,
}

impl Surroundings {
    /// Makes up whatever a document expects of the world and the person has not given.
    pub(super) fn complete(&mut self, spec: &mut ClusterSpec, group: usize, wishes: &Wishes) {
        let mut fetched = BTreeSet::new();
        let shared = spec
            .files
            .iter_mut()
            .chain(spec.node_groups.get_mut(group).into_iter().flat_map(|group| &mut group.files));
        for file in shared {
            fetched.extend(self.file(file));
        }
        let assets = spec
            .assets
            .iter_mut()
            .chain(spec.node_groups.get_mut(group).into_iter().flat_map(|group| &mut group.assets));
        for asset in assets {
            if let Some(digest) = self.fetched(&asset.urls, asset.unpack) {
                asset.sha256 = digest;
                fetched.insert(asset.name.to_string());
            }
        }
        if !wishes.is_real()
            && let Some(group) = spec.node_groups.get_mut(group)
        {
            fetched.extend(self.software(group));
        }
        if !fetched.is_empty() {
            let names: Vec<String> = fetched.into_iter().collect();
            self.stand_ins.push(format!("what is fetched ({})", names.join(", ")));
        }
        if wishes.kubernetes.is_none() {
            self.credentials(spec);
        }
    }

    /// Says what is made up, and how it can be given.
    pub(super) fn tell(&self, terminal: &mut Terminal) {
        if let [first, rest @ ..] = self.stand_ins.as_slice() {
            let all = rest.iter().fold(first.clone(), |all, next| format!("{all}, {next}"));
            terminal.say(&format!(
                "made up: {all}; `--serve URL=FILE` and `--file PATH=FILE` give the real thing\n"
            ));
        }
    }

    /// The digest of what stands in for a download; nothing where the person gives it, or where it is no address of the web.
    fn fetched(&mut self, urls: &[Url], unpack: Unpack) -> Option<Sha256> {
        let first = urls.first().map(Url::as_str).filter(|url| is_of_web(url))?;
        if urls.iter().any(|url| self.serves(url.as_str())) {
            return None;
        }
        let bytes = match unpack {
            Unpack::No => FETCHED.to_vec(),
            Unpack::TarGz => bringup_carry::gzip(&EMPTY_TAR),
            Unpack::Zip => EMPTY_ZIP.to_vec(),
        };
        let digest = Sha256::parse(&sha256_hex(&bytes)).ok();
        self.served.push((first.to_owned(), Given::Made(bytes)));
        digest
    }

    fn file(&mut self, file: &mut File) -> Option<String> {
        let digest = self.fetched(&file.urls, Unpack::No)?;
        file.sha256 = Some(digest);
        Some(file.path.to_string())
    }

    /// Takes software for part of the image, where the lab's own stand-ins are.
    fn software(&self, group: &mut NodeGroup) -> Vec<String> {
        let (software, versions) = (&mut group.software, &mut group.runtime.versions);
        let is_given = |downloads: &BTreeMap<String, Download>| {
            let urls = downloads.values().flat_map(|download| &download.urls).map(Url::as_str);
            urls.into_iter().any(|url| self.serves(url) || !is_of_web(url))
        };
        let mut names = Vec::new();
        let mut take = |name: &str, item: &mut SoftwareItem, is_given: bool| {
            let is_there = match item.from {
                SoftwareSource::Image => true,
                SoftwareSource::Package => self.has_tool(),
                SoftwareSource::Url | SoftwareSource::Extension => is_given,
            };
            if !is_there {
                *item = SoftwareItem { version: item.version.take(), ..SoftwareItem::in_image() };
                names.push(name.to_owned());
            }
            !is_there
        };
        for (name, item) in [
            ("kubelet", &mut software.kubelet),
            ("kubeadm", &mut software.kubeadm),
            ("the CNI plugins", &mut software.cni),
        ] {
            let given = is_given(&item.downloads);
            take(name, item, given);
        }
        let runtime = &mut software.runtime;
        let given =
            is_given(&runtime.downloads) || versions.iter().any(|version| is_given(&version.downloads));
        if take("the container runtime", runtime, given) {
            for version in versions {
                version.downloads.clear();
            }
        }
        names
    }

    /// Whether the person gives a tool that installs packages.
    fn has_tool(&self) -> bool {
        let tools = ["/usr/bin/apt-get", "/usr/bin/dnf", "/usr/bin/yum"];
        self.files.iter().any(|(path, _)| tools.contains(&path.as_str()))
    }

    /// What nodes join with.
    fn credentials(&mut self, spec: &mut ClusterSpec) {
        let join = &mut spec.join;
        let key = join.kubeadm.as_mut().and_then(|kubeadm| kubeadm.certificate_key.as_mut());
        let secrets = [(join.token.as_mut(), TOKEN), (join.kubeconfig.as_mut(), KUBECONFIG), (key, TOKEN)];
        for (secret, made) in secrets.into_iter().filter_map(|(secret, made)| Some((secret?, made))) {
            let path = match &*secret {
                SecretSource::File(path) => path.clone(),
                // The node would ask AWS for it.
                _ => format!("/lab/credentials-{}", made.len()),
            };
            if self.files.iter().any(|(given, _)| *given == path) {
                continue;
            }
            self.files.push((path.clone(), Given::Made(made.to_vec())));
            *secret = SecretSource::File(path);
            self.stand_in("what nodes join with");
        }
    }

    /// What EKS tells of a cluster, where a plan asks.
    pub(super) fn describe(&mut self, plan: &Plan, cluster: Option<&Kubernetes>) -> Result<(), Stop> {
        let (Some(eks), true) = (&plan.eks, plan.facts.iter().any(Fact::is_of_cluster)) else {
            return Ok(());
        };
        let url = format!("https://{}/clusters/{}", partition::endpoint("eks", &eks.region), eks.name);
        if self.serves(&url) {
            return Ok(());
        }
        let (endpoint, authority) = match cluster {
            Some(cluster) => (cluster.endpoint(), cluster.authority().to_owned()),
            None => ("https://api.lab.example".to_owned(), certificate().map_err(|fault| of_lab(&fault))?),
        };
        let family = if plan.ipv6 { "ipv6" } else { "ipv4" };
        let described = json!({"cluster": {
            "name": eks.name,
            "status": "ACTIVE",
            "endpoint": endpoint,
            "certificateAuthority": {"data": BASE64_STANDARD.encode(authority)},
            "kubernetesNetworkConfig": {
                "ipFamily": family, "serviceIpv4Cidr": "10.100.0.0/16", "serviceIpv6Cidr": "fd30:9c3b:5c1b::/108",
            },
        }});
        self.served.push((url, Given::Made(described.to_string().into_bytes())));
        self.stand_in("EKS' description of the cluster");
        Ok(())
    }

    pub(super) fn stand_in(&mut self, what: &str) {
        if !self.stand_ins.iter().any(|told| told == what) {
            self.stand_ins.push(what.to_owned());
        }
    }

    pub(super) fn serves(&self, url: &str) -> bool {
        self.served.iter().any(|(given, _)| given == url)
    }
}

fn is_of_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
