//! `nvidiaGPU`: what kops does to a group whose machines have processors of NVIDIA's.

use bringup_aws::Accelerator;
use bringup_diag::Span;
use bringup_yaml::Node;

use super::cluster::{Cluster, is_true};
use super::kubelet::value;
use crate::fields::Record;
use crate::tree::{Branch, text};

/// Keeps pods away that do not ask for such a processor.
pub(super) const TAINT: &str = "nvidia.com/gpu:NoSchedule";

/// Tells such a machine, to pods that see to it.
const LABEL: &str = "kops.k8s.io/gpu";

/// Whether kops sets a group up for them. On AWS the type of the machine tells whether there are any; elsewhere only a
/// group of OpenStack can say so.
pub(super) fn is_nvidia(cluster: &Cluster<'_>, group: &Record<'_>, types: &[Node]) -> bool {
    let enabled =
        |nvidia: Option<&Node>| nvidia.and_then(|nvidia| nvidia.get("enabled")).is_some_and(is_true);
    let own = enabled(group.get("containerd").and_then(|containerd| containerd.get("nvidiaGPU")));
    match cluster.cloud {
        "aws" => {
            (own || enabled(value(&cluster.containerd, "nvidiaGPU")))
                && types.first().and_then(Node::text).map(Accelerator::of) == Some(Accelerator::Nvidia)
        }
        "openstack" => own,
        _ => false,
    }
}

/// The labels of a group, with that of such a machine.
pub(super) fn labels(group: &Record<'_>, is_nvidia: bool, span: Span) -> Option<Node> {
    let own = group.get("nodeLabels");
    if !is_nvidia {
        return own.cloned();
    }
    let mut labels = Branch::new(own.map_or(span, |own| own.span));
    for entry in own.and_then(Node::entries).unwrap_or_default().iter().filter(|entry| entry.key != LABEL) {
        labels.put_field(&entry.key, entry);
    }
    labels.put(LABEL, text(span, "1"));
    Some(labels.into_node())
}

/// Whether a group has a taint for them already, whatever it says.
pub(super) fn is_tainted(group: &Record<'_>) -> bool {
    let taints = group.items("taints").iter().filter_map(Node::text);
    taints.into_iter().any(|taint| taint.starts_with("nvidia.com/gpu"))
}
