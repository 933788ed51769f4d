//! The other systems, and how their documents are known.

use bringup_yaml::Node;

use crate::tell::Teller;
use crate::{eksctl, kops, nodeadm, tectonic, tkestack, user_data};

/// A system whose documents are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// eksctl: `ClusterConfig`.
    Eksctl,
    /// kops: `Cluster` and `InstanceGroup`.
    Kops,
    /// nodeadm: `NodeConfig`.
    Nodeadm,
    /// Tectonic: Ignition configs and unit files.
    Tectonic,
    /// tkestack: `Cluster` and `Machine`.
    Tkestack,
    /// A script of user-data that calls `bootstrap.sh`; last, as its steps go where a NodeConfig is.
    UserData,
}

/// How `apiVersion` begins, and whose it is then.
const GROUPS: [(&str, System); 6] = [
    ("eksctl.io/", System::Eksctl),
    ("kops.k8s.io/", System::Kops),
    ("kops/", System::Kops),
    ("node.eks.aws/", System::Nodeadm),
    ("platform.tkestack.io/", System::Tkestack),
    (user_data::GROUP, System::UserData),
];

impl System {
    /// Whose document it is, by its `apiVersion`; an Ignition config has none.
    pub(crate) fn of(tree: &Node) -> Option<Self> {
        if tectonic::is_theirs(tree) {
            return Some(Self::Tectonic);
        }
        let version = tree.get("apiVersion").and_then(Node::text)?;
        GROUPS.iter().find(|(group, _)| version.starts_with(group)).map(|(_, system)| *system)
    }

    /// Translates all documents of this system at once: an instance group belongs to the cluster beside it.
    /// `beside` are documents that have been translated already.
    pub(crate) fn translate(
        self,
        documents: &[Node],
        beside: &mut [Node],
        tell: &mut Teller<'_>,
    ) -> Vec<Node> {
        match self {
            Self::Eksctl => eksctl::translate(documents, tell),
            Self::Kops => kops::translate(documents, tell),
            Self::Nodeadm => nodeadm::translate(documents, tell),
            Self::Tectonic => tectonic::translate(documents, tell),
            Self::Tkestack => tkestack::translate(documents, tell),
            Self::UserData => user_data::translate(documents, beside, tell),
        }
    }
}
