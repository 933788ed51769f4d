//! Flags of kubelet that an own bootstrap passes on.

use bringup_yaml::Node;

use super::group::Parts;
use super::marks;
use crate::tree::{plain, text};

/// Lays flags over what the group says, as kubelet takes a flag that stands twice: labels add up, taints are replaced.
pub(super) fn lay_over(words: &[String], at: &Node, parts: &mut Parts) {
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else { continue };
        let (name, value) = if let Some((name, value)) = flag.split_once('=') {
            (name, value.to_owned())
        } else {
            let value = words.next_if(|next| !next.starts_with("--"));
            (flag, value.cloned().unwrap_or_else(|| "true".to_owned()))
        };
        match name {
            "node-labels" => {
                for label in value.split(',').filter(|label| !label.is_empty()) {
                    let (key, value) = label.split_once('=').unwrap_or((label, ""));
                    parts.labels.put(key, text(at.span, value));
                }
            }
            "register-with-taints" => parts.taints = marks::taints_of_flag(&value, at),
            "max-pods" => parts.settings.max_pods = Some(plain(at.span, value)),
            _ => parts.settings.flags.put(name, text(at.span, value)),
        }
    }
}
