//! What the machines of a group are for, in kops' words.

use bringup_yaml::Node;

use crate::fields::Record;

/// A role of kops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A worker.
    Node,
    /// A machine of the control plane; v1alpha2 says `Master`.
    ControlPlane,
    /// A machine with an API server and nothing else of the control plane.
    ApiServer,
    /// A host to go through, without kubelet.
    Bastion,
    /// One of the parts of the control plane that newer releases try out.
    Part,
}

impl Role {
    /// The role of this name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let plain: String = text.chars().filter(char::is_ascii_alphabetic).collect();
        match plain.to_ascii_lowercase().as_str() {
            "node" | "nodes" => Some(Self::Node),
            "master" | "masters" | "controlplane" => Some(Self::ControlPlane),
            "apiserver" => Some(Self::ApiServer),
            "bastion" => Some(Self::Bastion),
            "etcd" | "scheduler" | "kubecontrollermanager" => Some(Self::Part),
            _ => None,
        }
    }

    /// Whether something with a list of roles is for this one; without the list it is for all.
    pub(super) fn is_meant(self, record: &Record<'_>) -> bool {
        let roles = record.items("roles");
        roles.is_empty() || roles.iter().filter_map(Node::text).any(|role| Self::parse(role) == Some(self))
    }
}
