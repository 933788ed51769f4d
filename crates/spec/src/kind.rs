//! Whose document it is: ours, another system's, or nobody's.

use bringup_diag::{Finding, Span, closest};
use bringup_yaml::Node;

use crate::decode::is_nothing;
use crate::{Files, codes};

/// The version of the format.
pub(crate) const API_VERSION: &str = "bringup.dev/v1alpha1";
/// The kind of a document.
pub(crate) const KIND: &str = "Cluster";

/// Groups of other systems' documents: how `apiVersion` begins, whose they are, and what to do.
const FOREIGN: [(&str, &str, &str); 9] = [
    ("eksctl.io/", "eksctl", ""),
    ("kops.k8s.io/", "kops", ""),
    ("kops/", "kops", ""),
    ("node.eks.aws/", "the EKS node agent", ""),
    ("platform.tkestack.io/", "tkestack", ""),
    ("bootstrap.cluster.x-k8s.io/", "Cluster API", ""),
    ("cluster.x-k8s.io/", "Cluster API", ""),
    ("kubelet.config.k8s.io/", "kubelet", "write its fields under `spec.nodeGroups[].kubelet.config`"),
    ("kubeadm.k8s.io/", "kubeadm", "write its fields under `spec.join.kubeadm`"),
];

/// Keys at the top of what is no document of ours, and what it is then.
const CARRIERS: [(&str, &str); 7] = [
    ("ignition", "an Ignition config"),
    ("AWSTemplateFormatVersion", "a CloudFormation template"),
    ("Resources", "a CloudFormation template"),
    ("TemplateBody", "what `aws cloudformation get-template` prints"),
    ("runcmd", "a cloud-config"),
    ("bootcmd", "a cloud-config"),
    ("write_files", "a cloud-config"),
];

/// Nothing if the tree says that it is one of our documents, else why not.
pub(crate) fn refusal(files: &Files, tree: &Node) -> Option<Finding> {
    let says = |key: &str| tree.get(key).filter(|node| !is_nothing(node)).and_then(Node::text);
    let (version, kind) = (says("apiVersion"), says("kind"));
    if version == Some(API_VERSION) && kind == Some(KIND) {
        return None;
    }
    let head = Span { end: tree.span.start, ..tree.span };
    let span_of = |key: &str| tree.get(key).map_or(head, |node| node.span);
    let finding = |span: Span, message: String, hint: String| {
        Some(Finding::error(codes::KIND, message).at(files.place(span)).hint(hint))
    };
    let ours = format!("write `apiVersion: {API_VERSION}` and `kind: {KIND}` at the top");
    if tree.entries().is_none() {
        return finding(head, "a document is a mapping".to_owned(), ours);
    }
    match (version, kind) {
        (Some(API_VERSION), Some(kind)) => {
            let hint = match closest(kind, [KIND]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write `kind: {KIND}`"),
            };
            finding(span_of("kind"), format!("`kind: {kind}` is not known"), hint)
        }
        (Some(API_VERSION), None) => {
            finding(head, "the document has no `kind`".to_owned(), format!("add `kind: {KIND}`"))
        }
        (Some(version), kind) => {
            if let Some((_, whose, hint)) = FOREIGN.iter().find(|(group, ..)| version.starts_with(group)) {
                let what = kind.map_or_else(|| "a document".to_owned(), |kind| format!("`{kind}`"));
                let message = format!("{what} of {whose} is not understood by this version");
                let hint = if hint.is_empty() {
                    format!(
                        "write it as `apiVersion: {API_VERSION}`, `kind: {KIND}`; `bringup init` shows how"
                    )
                } else {
                    (*hint).to_owned()
                };
                return finding(span_of("apiVersion"), message, hint);
            }
            let message = if version.starts_with("bringup.dev/") {
                format!("this version does not know the format `{version}`")
            } else {
                format!("`apiVersion: {version}` is not known")
            };
            finding(span_of("apiVersion"), message, format!("write `apiVersion: {API_VERSION}`"))
        }
        (None, _) => {
            if let Some((_, what)) = CARRIERS.iter().find(|(key, _)| tree.get(key).is_some()) {
                let message = format!("this is {what}, not a document");
                return finding(head, message, "`bringup inspect` shows what it does".to_owned());
            }
            finding(head, "the document has no `apiVersion`".to_owned(), ours)
        }
    }
}
