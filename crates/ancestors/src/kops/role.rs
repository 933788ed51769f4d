//! What the machines of a group are for, in kops' words.

use bringup_yaml::Node;

use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;

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

/// The names of roles; the older one of the control plane is v1alpha2's.
const WORDS: [(&str, Role); 8] = [
    ("Node", Role::Node),
    ("ControlPlane", Role::ControlPlane),
    ("Master", Role::ControlPlane),
    ("APIServer", Role::ApiServer),
    ("Bastion", Role::Bastion),
    ("Etcd", Role::Part),
    ("Scheduler", Role::Part),
    ("KubeControllerManager", Role::Part),
];

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

    /// Whether an API server runs on its machines.
    pub(super) fn has_api_server(self) -> bool {
        matches!(self, Self::ControlPlane | Self::ApiServer)
    }

    /// Whether something with a list of roles is for this one; without the list it is for all.
    pub(super) fn is_meant(self, record: &Record<'_>) -> bool {
        let roles = record.items("roles");
        roles.is_empty() || roles.iter().filter_map(Node::text).any(|role| Self::exact(role) == Some(self))
    }

    /// The role of exactly this name: in lists kops compares by the letter.
    fn exact(text: &str) -> Option<Self> {
        WORDS.iter().find(|(word, _)| *word == text).map(|(_, role)| *role)
    }

    /// Tells of names in a list of roles that are none: kops takes them for roles that no group has.
    pub(super) fn check_list(record: &Record<'_>, what: &str, tell: &mut Teller<'_>) {
        for node in record.items("roles") {
            let Some(word) = node.text().filter(|word| Self::exact(word).is_none()) else { continue };
            let near = match Self::parse(word) {
                Some(role) => WORDS.iter().find(|(_, known)| *known == role).map(|(word, _)| *word),
                None => bringup_diag::closest(word, WORDS.iter().map(|(word, _)| *word)),
            };
            let hint = near.map_or_else(
                || "write `Node`, `ControlPlane`, `APIServer` or `Bastion`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("kops has no role `{word}`: {what} is left out of every group for it");
            tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
        }
    }
}
