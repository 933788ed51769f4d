//! Fields of kubelet's configuration that the plan has itself: they are taken for it, or told.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use super::group::Group;
use crate::codes;
use crate::tell::Teller;
use crate::tree::Branch;

/// The file of the authority that signs the certificates of clients.
pub(super) const AUTHORITY: &[&str] = &["authentication", "x509", "clientCAFile"];
const AUTHORITY_FILE: &str = "/etc/kubernetes/ca.crt";
/// Labels that say of a node that it is one of the control plane.
pub(super) const LABELS: [&str; 5] = [
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/controller",
    "node-role.kubernetes.io/master",
    "node.kubernetes.io/controller",
    "node.kubernetes.io/master",
];

/// Whether a taint keeps pods off a node of the control plane.
pub(super) fn is_of_control_plane(taint: &Node) -> bool {
    taint.get("key").and_then(Node::text).is_some_and(|key| LABELS.contains(&key))
}

/// Takes the fields out of what goes to kubelet as it is.
pub(super) fn take(group: &mut Group, span: Span, tell: &mut Teller<'_>) {
    let mut config = std::mem::replace(&mut group.config, Branch::new(span)).into_node();
    if let Some(file) = taken(&mut config, AUTHORITY) {
        of_authority(&file, tell);
    }
    let is_off = |port: &Node| port.text() == Some("0");
    if config.get("healthzPort").is_some_and(is_off)
        && let Some(port) = taken(&mut config, &["healthzPort"])
    {
        let message = "`healthzPort: 0` is not taken over: kubelet says on 127.0.0.1:10248 whether it is well, and the agent asks it there";
        let hint = "nothing has to be done; another port is `kubelet: {config: {healthzPort: PORT}}` with `--with additions.yaml`";
        tell.warning(codes::FIELD_DIFFERS, port.span, message, hint);
    }
    for entry in config.entries().unwrap_or_default() {
        group.config.put_field(&entry.key, entry);
    }
}

fn of_authority(file: &Node, tell: &mut Teller<'_>) {
    let name = file.text().unwrap_or_default();
    let message = if name == AUTHORITY_FILE {
        format!("`clientCAFile` is the plan's own: `{name}` is written from `api.certificateAuthority`")
    } else {
        format!("the cluster's authority is in `{AUTHORITY_FILE}`, not in `{name}`")
    };
    tell.note(codes::DIFFERENCE, file.span, message, "nothing has to be done");
    let message = format!(
        "nothing says the authority that `{name}` has: kubelet would take no client by its certificate"
    );
    let hint = "say it with `--with additions.yaml`: `spec: {api: {endpoint: https://HOST, certificateAuthority: …}}`";
    tell.warning_unless(says_authority, (codes::FIELD_DIFFERS, file.span), message, hint);
}

fn says_authority(document: &Node) -> bool {
    let path = ["spec", "api", "certificateAuthority"];
    path.iter().try_fold(document, |node, key| node.get(key)).is_some()
}

/// Takes the value at a path out of a mapping, and mappings that are empty then.
fn taken(node: &mut Node, path: &[&str]) -> Option<Node> {
    let (Content::Map(entries), [first, rest @ ..]) = (&mut node.content, path) else { return None };
    let at = entries.iter().position(|entry| entry.key == *first)?;
    if rest.is_empty() {
        return Some(entries.remove(at).value);
    }
    let inner = &mut entries.get_mut(at)?.value;
    let found = taken(inner, rest)?;
    if inner.entries().is_some_and(<[_]>::is_empty) {
        entries.remove(at);
    }
    Some(found)
}
