//! What every part of the compiler needs at hand: the document, the group, and where findings and origins go.

use std::collections::BTreeMap;

use bringup_diag::{Code, Finding, Findings};
use bringup_kubelet::Minor;
use bringup_spec::{
    AgentSource, ClusterSpec, Document, Fact, Flavour, ImageProgram, JoinMethod, NodeGroup, OsFamily,
    Platform, Text,
};
use bringup_yaml::Path;

use crate::{Accelerator, LocalFiles, Origin, Provenance, versions};

/// Labels that eksctl's script adds on images of EKS with `bootstrap.sh`, and that people select nodes by.
const SCRIPTED_LABELS: [(&str, Fact); 2] =
    [("alpha.eksctl.io/instance-id", Fact::InstanceId), ("node-lifecycle", Fact::Lifecycle)];

/// The label of machines on which nodeadm finds an accelerator of NVIDIA's.
const NVIDIA_LABEL: &str = "nvidia.com/gpu.present";

/// One node group on its way to a plan.
pub(crate) struct Context<'a> {
    pub(crate) document: &'a Document,
    pub(crate) spec: &'a ClusterSpec,
    pub(crate) group: &'a NodeGroup,
    /// The path of the group in the document.
    pub(crate) path: Path,
    pub(crate) files: &'a LocalFiles,
    /// kubelet's own minor, which may be older than the cluster's.
    pub(crate) minor: Minor,
    /// The cluster's minor: that of its API server.
    pub(crate) kubernetes: Minor,
    /// kubeadm's own minor.
    pub(crate) kubeadm: Minor,
    pub(crate) findings: Findings,
    pub(crate) provenance: Vec<Provenance>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        document: &'a Document,
        index: usize,
        group: &'a NodeGroup,
        files: &'a LocalFiles,
    ) -> Self {
        let kubernetes = Minor(document.cluster.spec.kubernetes.version.minor);
        Self {
            document,
            spec: &document.cluster.spec,
            group,
            path: document.group_path(index),
            files,
            minor: versions::minor(&group.software.kubelet, kubernetes),
            kubernetes,
            kubeadm: versions::minor(&group.software.kubeadm, kubernetes),
            findings: Findings::new(),
            provenance: Vec::new(),
        }
    }

    pub(crate) fn on_aws(&self) -> bool {
        self.group.platform == Platform::Aws
    }

    /// Whether the node asks EKS where its cluster is, because the document does not say it.
    pub(crate) fn learns_cluster(&self) -> bool {
        self.on_aws()
            && self.spec.api.is_none()
            && self.spec.join.method == JoinMethod::EksToken
            && self.group.agent.from != AgentSource::None
    }

    /// Whether the node guesses where the cluster's DNS is, as `bootstrap.sh` does where its call does not say.
    pub(crate) fn guesses_dns(&self) -> bool {
        self.spec.guesses_dns(self.group)
    }

    /// Whether the nodes keep the names of EKS' images with `bootstrap.sh`.
    pub(crate) fn is_scripted_eks(&self) -> bool {
        self.spec.flavour == Flavour::Eks && self.group.os.family == OsFamily::AmazonLinux2
    }

    /// Whether what was another program's input is taken as that program takes it.
    pub(crate) fn takes_as_given(&self) -> bool {
        self.spec.flavour.is_of_eks() && self.group.in_place_of.is_some()
    }

    /// Whether nodes of those images get eksctl's files and labels, too: the script itself knows of none.
    pub(crate) fn has_eksctl_files(&self) -> bool {
        self.is_scripted_eks() && self.group.in_place_of != Some(ImageProgram::Bootstrap)
    }

    /// The labels that a node registers with: the document's, and those of its flavour that the document does not give.
    pub(crate) fn labels(&self) -> BTreeMap<String, Text> {
        let mut labels = self.group.labels.clone();
        let count = match self.spec.flavour {
            _ if !self.on_aws() => 0,
            Flavour::Eks if self.has_eksctl_files() => SCRIPTED_LABELS.len(),
            // Its own script knows of the first only.
            Flavour::Eksctl if matches!(self.group.os.family, OsFamily::AmazonLinux2 | OsFamily::Ubuntu) => 1,
            _ => 0,
        };
        for (label, fact) in SCRIPTED_LABELS.into_iter().take(count) {
            labels.entry(label.to_owned()).or_insert_with(|| Text::fact(fact));
        }
        // nodeadm says so of machines on which it finds one.
        if self.minor >= Minor(35) && self.has_nvidia_by_nodeadm() {
            labels.entry(NVIDIA_LABEL.to_owned()).or_insert_with(|| Text::literal("true"));
        }
        labels
    }

    fn has_nvidia_by_nodeadm(&self) -> bool {
        let types = &self.group.instance_types;
        self.takes_as_given()
            && self.group.in_place_of == Some(ImageProgram::Nodeadm)
            && !types.is_empty()
            && types.iter().all(|name| Accelerator::of(name) == Accelerator::Nvidia)
    }

    /// The cluster's name in EKS.
    pub(crate) fn eks_name(&self) -> String {
        let named = self.spec.aws.as_ref().and_then(|aws| aws.cluster_name.clone());
        named.unwrap_or_else(|| self.document.cluster.metadata.name.to_string())
    }

    /// A path inside the group.
    pub(crate) fn at<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Path {
        self.path.keys(keys)
    }

    /// A path inside `spec`.
    pub(crate) fn spec_path<'k>(keys: impl IntoIterator<Item = &'k str>) -> Path {
        Path::root().key("spec").keys(keys)
    }

    pub(crate) fn error(
        &mut self,
        code: Code,
        path: &Path,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings.push(Finding::error(code, message).at(self.document.place(path)).hint(hint));
    }

    pub(crate) fn warning(
        &mut self,
        code: Code,
        path: &Path,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings.push(Finding::warning(code, message).at(self.document.place(path)).hint(hint));
    }

    /// An error about a key rather than its value.
    pub(crate) fn key_error(
        &mut self,
        code: Code,
        path: &Path,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings.push(Finding::error(code, message).at(self.document.key_place(path)).hint(hint));
    }

    /// A warning about a key rather than its value.
    pub(crate) fn key_warning(
        &mut self,
        code: Code,
        path: &Path,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings.push(Finding::warning(code, message).at(self.document.key_place(path)).hint(hint));
    }

    /// Remembers where a value came from.
    pub(crate) fn origin(&mut self, subject: impl Into<String>, value: impl Into<String>, origin: Origin) {
        self.provenance.push(Provenance { subject: subject.into(), value: shortened(value.into()), origin });
    }
}

/// The first sixty characters, for people.
pub(crate) fn shortened(value: String) -> String {
    const LENGTH: usize = 60;
    match value.char_indices().nth(LENGTH) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value,
    }
}
