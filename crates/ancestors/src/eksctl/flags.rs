//! Flags of kubelet that an own bootstrap passes on.

use bringup_yaml::Node;

use super::group::Parts;
use crate::kubelet_flags::{add_labels, flags, taints};
use crate::tree::{plain, text};

/// Lays flags over what the group says, as kubelet takes a flag that stands twice: labels add up, taints are replaced.
pub(super) fn lay_over(words: &[String], at: &Node, parts: &mut Parts) {
    for flag in flags(words.iter().map(|word| (word.as_str(), at.span))) {
        match flag.name {
            "node-labels" => add_labels(&mut parts.labels, &flag, flag.value),
            "register-with-taints" => parts.taints = taints(flag.value, at.span),
            "max-pods" => parts.settings.max_pods = Some(plain(at.span, flag.value)),
            name => parts.settings.flags.put(name, text(at.span, flag.value)),
        }
    }
}
