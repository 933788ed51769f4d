//! How a step of a plan is told of: by the name that people know, where they wrote it.

use bringup_diag::Place;
use bringup_plan::Step;
use bringup_spec::Hook;
use bringup_yaml::Path;

use crate::load::Load;

/// A step as people know it.
pub(crate) fn said(step: &Step) -> String {
    match step.name.split_once(':') {
        Some((kind, name)) => format!("{kind} `{name}`"),
        None => format!("step `{}`", step.name),
    }
}

/// Whether the document has the step, by name or as one of its files, directories, links or hooks.
fn is_written(load: &Load<'_>, step: &Step) -> bool {
    step.name.contains(':') || load.group.steps.iter().any(|given| given.name.as_str() == step.name)
}

/// What to do about a step that only the agent can do. Nobody can leave out what follows from something else.
pub(crate) fn way_out(load: &Load<'_>, step: &Step) -> String {
    let agent = "write `agent: image` or `agent: fetch`";
    let joins = matches!(step.name.as_str(), "kubeconfig" | "bootstrap-token" | "kubeadm-join");
    if is_written(load, step) {
        format!("{agent}, or leave it out")
    } else if joins {
        let method = load.document.cluster.spec.join.method;
        format!("{agent}: without it, no node of this system joins by `{method}`")
    } else {
        agent.to_owned()
    }
}

/// Where the step is written; what follows from something else is done by the agent.
pub(crate) fn place(load: &Load<'_>, step: &Step) -> Place {
    let group = load.group;
    let (key, index) = match step.name.split_once(':') {
        Some(("hook", name)) => return hook_place(load, name),
        Some(("file", path)) => ("files", group.files.iter().position(|file| file.path.as_str() == path)),
        Some(("directory", _)) => ("directories", None),
        Some(("link", _)) => ("links", None),
        _ if !is_written(load, step) => ("agent", None),
        _ => ("steps", group.steps.iter().position(|given| given.name.as_str() == step.name)),
    };
    match index {
        Some(index) => load.document.place(&load.group_path.key(key).index(index)),
        None => load.place(key),
    }
}

/// Where a hook is written: in the group, or for all groups.
pub(crate) fn hook_place(load: &Load<'_>, name: &str) -> Place {
    let number = |hooks: &[Hook]| hooks.iter().position(|hook| hook.name.as_str() == name);
    let path = match (number(&load.group.hooks), number(&load.document.cluster.spec.hooks)) {
        (Some(index), _) => load.group_path.key("hooks").index(index),
        (None, Some(index)) => Path::root().keys(["spec", "hooks"]).index(index),
        (None, None) => return load.place("hooks"),
    };
    load.document.place(&path)
}
