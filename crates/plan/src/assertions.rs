//! Assertions on order: their form, and whether what they name exists.

use std::collections::BTreeSet;

use bringup_diag::closest;
use bringup_spec::Phase;
use bringup_yaml::Path;

use crate::context::Context;
use crate::units::is_unit_name;
use crate::{HookStep, Step, Unit, codes};

/// Units that are on every node, whoever brings them.
const USUAL: [&str; 4] =
    ["kubelet.service", "containerd.service", "network-online.target", "multi-user.target"];

/// Checks the assertions of the cluster and of the group against what the node will have.
pub(crate) fn check(context: &mut Context<'_>, steps: &[Step], hooks: &[HookStep], units: &[Unit]) {
    if context.spec.order.is_empty() && context.group.order.is_empty() {
        return;
    }
    let mut names: BTreeSet<&str> = Phase::ALL.iter().map(|phase| phase.word()).collect();
    names.extend(steps.iter().map(|step| step.name.strip_prefix("hook:").unwrap_or(&step.name)));
    // Steps that wait for each other are in no order, and told elsewhere.
    names.extend(context.group.steps.iter().map(|step| step.name.as_str()));
    names.extend(hooks.iter().map(|hook| hook.name.as_str()));
    let own = units.iter().flat_map(|unit| unit.aliases.iter().chain([&unit.name])).map(String::as_str);
    let own: BTreeSet<&str> = own.collect();
    for (path, assertions) in
        [(Context::spec_path(["order"]), &context.spec.order), (context.at(["order"]), &context.group.order)]
    {
        for (index, assertion) in assertions.iter().enumerate() {
            let path = path.index(index);
            let Some(named) = subjects(assertion) else {
                let message = format!("`{assertion}` is no assertion on order");
                let hint = "write `A before B`, `A succeeds before B`, `B eventually active` or `B never while not network-online`, with units, phases or steps for A and B";
                context.error(codes::ORDER_SYNTAX, &path, message, hint);
                continue;
            };
            for name in named {
                check_name(context, &path, name, &names, &own);
            }
        }
    }
}

/// What an assertion is about; nothing if it is none.
fn subjects(text: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [first, "before", second] | [first, "succeeds", "before", second] => Some(vec![*first, *second]),
        [one, "eventually", "active"] | [one, "never", "while", "not", "network-online"] => Some(vec![*one]),
        _ => None,
    }
}

/// The unit of the same kind whose name is nearest; the suffixes would make all names alike.
fn nearly<'a>(name: &str, units: impl Iterator<Item = &'a str>) -> Option<String> {
    let (stem, suffix) = name.rsplit_once('.')?;
    let stems: Vec<&str> = units.filter_map(|unit| unit.strip_suffix(suffix)?.strip_suffix('.')).collect();
    closest(stem, stems).map(|near| format!("{near}.{suffix}"))
}

/// A unit may be the image's own, of which nothing is known here; a bare name must be a phase or a step.
fn check_name(
    context: &mut Context<'_>,
    path: &Path,
    name: &str,
    names: &BTreeSet<&str>,
    own: &BTreeSet<&str>,
) {
    let known = || own.iter().copied().chain(USUAL);
    if names.contains(name) || known().any(|unit| unit == name) {
        return;
    }
    if is_unit_name(name) {
        // Somebody else's unit, unless it is nearly one that is written here.
        if let Some(near) = nearly(name, context.group.units.iter().map(|unit| unit.name.as_str())) {
            let message = format!("neither the document nor the plan has a unit `{name}`");
            let hint = format!("did you mean `{near}`? A unit of the image is fine");
            context.warning(codes::ORDER_UNKNOWN, path, message, hint);
        }
        return;
    }
    let service = format!("{name}.service");
    let hint = if known().any(|unit| unit == service) {
        format!("did you mean `{service}`?")
    } else {
        closest(name, names.iter().copied().chain(known())).map_or_else(
            || {
                format!(
                    "write a unit with its suffix, such as `{service}`, a phase such as `gate`, or a step"
                )
            },
            |near| format!("did you mean `{near}`?"),
        )
    };
    context.error(
        codes::ORDER_UNKNOWN,
        path,
        format!("there is no phase, step, hook or unit `{name}`"),
        hint,
    );
}
