//! Which instance types a group has, and with which processor.

use bringup_yaml::Node;

use super::group::Given;
use super::{record, tables};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::text;

/// What eksctl launches where nothing is said.
const DEFAULT: &str = "m5.large";

/// The instance types: the first is the one to launch.
pub(super) fn types(given: &Given<'_>, tell: &mut Teller<'_>) -> Vec<Node> {
    let fields = &given.fields;
    let distribution =
        record(fields.get("instancesDistribution"), "`instancesDistribution`", tables::DISTRIBUTION, tell);
    record(fields.get("instanceSelector"), "`instanceSelector`", tables::INSTANCE_SELECTOR, tell);
    tell_of_others(given, &distribution, tell);
    let listed = [distribution.items("instanceTypes"), fields.items("instanceTypes")].concat();
    if !listed.is_empty() {
        return listed;
    }
    let single = fields.get("instanceType").filter(|name| !matches!(name.text(), Some("mixed" | "")));
    if let Some(name) = single {
        return vec![name.clone()];
    }
    let selector = fields
        .entry("instanceSelector")
        .filter(|selector| selector.value.entries().is_some_and(|entries| !entries.is_empty()));
    if let Some(selector) = selector {
        let message = "eksctl asks EC2 which instance types `instanceSelector` means; here nobody is asked";
        let hint = "write the types: `eksctl create nodegroup --config-file FILE --dry-run` prints them";
        tell.warning(codes::FIELD_DIFFERS, selector.key_span, message, hint);
        return Vec::new();
    }
    vec![text(given.span, DEFAULT)]
}

/// Tells of a way to name types that counts for nothing beside another: eksctl refuses the two together, and a list beside
/// a selector unless EC2 finds the same types by it.
fn tell_of_others(given: &Given<'_>, distribution: &Record<'_>, tell: &mut Teller<'_>) {
    let fields = &given.fields;
    let list = distribution.entry("instanceTypes").or_else(|| fields.entry("instanceTypes"));
    let list = list.filter(|list| list.value.items().is_some_and(|types| !types.is_empty()));
    let single = fields.entry("instanceType");
    let single = single.filter(|single| !matches!(single.value.text(), Some("mixed" | "")));
    let selector = fields.entry("instanceSelector");
    let selector =
        selector.filter(|selector| selector.value.entries().is_some_and(|entries| !entries.is_empty()));
    let hint = "keep one of the two";
    if let (Some(_), Some(single)) = (list, single) {
        let message = "beside `instanceTypes`, `instanceType` counts for nothing, and eksctl refuses the two";
        tell.warning(codes::FIELD_DIFFERS, single.key_span, message, hint);
    }
    match (list, single, selector) {
        (Some(_), _, Some(selector)) => {
            let message = "the types that are listed are taken; whether `instanceSelector` means the same, nobody is asked";
            tell.note(codes::DIFFERENCE, selector.key_span, message, hint);
        }
        (None, Some(_), Some(selector)) => {
            let message =
                "beside `instanceType`, `instanceSelector` counts for nothing, and eksctl refuses the two";
            tell.warning(codes::FIELD_DIFFERS, selector.key_span, message, hint);
        }
        _ => {}
    }
}

/// Whether the group's processors are ARM's: by the selector's word, else by the name of the first type.
pub(super) fn is_arm(given: &Given<'_>, types: &[Node]) -> bool {
    let selected = given.fields.get("instanceSelector").and_then(|selector| selector.get("cpuArchitecture"));
    match types.first().and_then(Node::text) {
        Some(name) => is_graviton(name),
        None => matches!(selected.and_then(Node::text), Some("arm64" | "aarch64")),
    }
}

/// Families of Graviton have a `g` behind the number of their generation; `a1` was the first of them.
fn is_graviton(instance_type: &str) -> bool {
    let family = instance_type.split('.').next().unwrap_or_default();
    let behind = family.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let attributes = behind.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let attributes = attributes.split('-').next().unwrap_or_default();
    family == "a1" || attributes.contains('g')
}
