//! Whether nodes update their system by themselves.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node};

use super::image::System;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

/// What says on Debian and Ubuntu whether packages are updated by themselves.
const PERIODIC: &str = "/etc/apt/apt.conf.d/20auto-upgrades";

/// What restarts a machine of Flatcar once its system has been updated.
const RESTARTS: &str = "locksmithd.service";

/// kops' own unit that keeps it from running; a hook of that name stands for it.
const KEEPS_OFF: [&str; 2] = ["update-service", "update-service.service"];

fn is_external(policy: &Entry) -> bool {
    policy.value.text() == Some("external")
}

/// kops has Debian and Ubuntu update themselves, unless it is told that others do: with `usual`, also where nothing is
/// said.
pub(super) fn told(policy: Option<&Entry>, usual: Option<Span>, tell: &mut Teller<'_>) {
    if let Some(policy) = policy {
        let word = policy.value.text().unwrap_or_default();
        if !word.is_empty() && !matches!(word, "automatic" | "external") {
            let message = format!("`{word}` is no policy for updates");
            tell.error(codes::WRONG_TYPE, policy.value.span, message, "write `automatic` or `external`");
            return;
        }
    }
    let place = match policy {
        Some(policy) => (!is_external(policy)).then_some(policy.key_span),
        None => usual,
    };
    let Some(place) = place else { return };
    let message = "kops has nodes of Debian and Ubuntu update their system by themselves; here nothing is set up that does";
    let hint = "write `update: {enabled: true}` in additions to update it before it joins, and install such a service with a step";
    match policy {
        Some(_) => tell.warning(codes::FIELD_DIFFERS, place, message, hint),
        None => tell.note(codes::DIFFERENCE, place, message, hint),
    }
}

/// The file that keeps packages as they are, where others see to updates. The group's word goes before the cluster's.
pub(super) fn file(
    system: System,
    (own, cluster): (Option<&Entry>, Option<&Entry>),
    others: &[Node],
) -> Option<Node> {
    let policy = own.or(cluster).filter(|policy| is_external(policy))?;
    let is_there = others.iter().any(|file| file.get("path").and_then(Node::text) == Some(PERIODIC));
    if is_there || !matches!(system.family, "debian" | "ubuntu") {
        return None;
    }
    let mut file = Branch::new(policy.key_span);
    file.put("path", text(policy.key_span, PERIODIC));
    file.put("content", text(policy.value.span, "APT::Periodic::Enable \"0\";\n"));
    file.put("mode", text(policy.key_span, "0644"));
    Some(file.into_node())
}

/// On Flatcar, kops lets nothing but an update of the group restart a machine, whatever the policy.
pub(super) fn unit(system: System, units: &[Node], span: Span) -> Option<Node> {
    let is_named = |unit: &Node| {
        let name = unit.get("name").and_then(Node::text).unwrap_or_default();
        name == RESTARTS || KEEPS_OFF.contains(&name)
    };
    if system.family != "flatcar" || units.iter().any(is_named) {
        return None;
    }
    let mut unit = Branch::new(span);
    unit.put("name", text(span, RESTARTS));
    unit.put("mask", plain(span, true));
    Some(unit.into_node())
}
