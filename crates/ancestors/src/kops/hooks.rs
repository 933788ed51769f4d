//! `hooks`: units of systemd that kops writes and starts, the group's before the cluster's.
//!
//! kops starts a hook and kubelet in one go and waits for neither, so that `before: [kubelet.service]` holds by luck. Here
//! such a hook is a unit that the agent starts, and waits for, before the gate: kubelet has not been started by then.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::file_assets::meet;
use super::group_fields::{EXEC_CONTAINER, HOOK};
use super::hook_unit::{container_unit, service_unit};
use super::names::Names;
use super::role::Role;
use super::steps::{step, words};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

const KUBELET: &str = "kubelet.service";
/// Names of the unit that starts hooks, and of what is there once it has ended.
pub(super) const AGENTS: [&str; 3] = ["kops-configuration.service", "bringup.service", "bringup-gate.target"];
const RUNTIMES: [&str; 2] = ["containerd.service", "docker.service"];

/// Suffixes that make a name one of a unit.
const SUFFIXES: [&str; 12] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "snapshot",
    "slice",
    "scope",
];

/// Settings that make one unit wait for another.
const FOLLOWS: [&str; 6] = ["After", "Requires", "Requisite", "BindsTo", "PartOf", "Wants"];

/// A hook that has been read.
pub(super) struct Hook<'a> {
    pub(super) node: &'a Node,
    pub(super) record: Record<'a>,
    pub(super) container: Option<Record<'a>>,
}

/// The hooks of a cluster or of a group.
pub(super) fn read<'a>(nodes: &'a [Node], tell: &mut Teller<'_>) -> Vec<Hook<'a>> {
    let mut hooks = Vec::new();
    for node in nodes {
        let record = tell.record(node, "a hook of kops", HOOK);
        let container = record
            .get("execContainer")
            .map(|node| tell.record(node, "`execContainer` of kops", EXEC_CONTAINER));
        let hook = Hook { node, record, container };
        hook.check(tell);
        let is_twin = |other: &Hook<'_>| {
            other.name().is_some() && other.name() == hook.name() && meet(&other.record, &hook.record)
        };
        if let Some(name) = hook.name().filter(|_| hooks.iter().any(is_twin)) {
            let message = format!("there is a hook `{name}` already: the first stands, with kops as here");
            let hint = "keep one of them, or give them other names or roles";
            tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
        }
        hooks.push(hook);
    }
    hooks
}

impl Hook<'_> {
    fn name(&self) -> Option<&str> {
        self.record.text("name").filter(|name| !name.is_empty())
    }

    fn is_disabled(&self) -> bool {
        self.record.flag("disabled") == Some(true) || self.record.flag("enabled") == Some(false)
    }

    /// Tells of what kops' own validation refuses, or passes over in silence.
    fn check(&self, tell: &mut Teller<'_>) {
        let what = self.name().map_or_else(|| "the hook".to_owned(), |name| format!("the hook `{name}`"));
        Role::check_list(&self.record, &what, tell);
        if self.is_disabled() {
            return;
        }
        let is_raw = self.record.flag("useRawManifest") == Some(true);
        let image = self.container.and_then(|container| container.text("image"));
        let has_image = image.is_some_and(|image| !image.trim().is_empty());
        if (self.container.is_none() && self.manifest().is_none()) || (self.container.is_some() && !has_image)
        {
            let message = format!("{what} has nothing to run, which kops refuses");
            let hint = "add `manifest`, or `execContainer` with an `image`";
            tell.error(codes::MISSING, self.node.span, message, hint);
        }
        for key in ["before", "requires", "execContainer"] {
            if let Some(entry) = self.record.entry(key).filter(|_| is_raw) {
                let message = format!("{what} has `{key}` beside `useRawManifest`, which kops refuses");
                let hint = match key {
                    "before" => "write `Before=` into the manifest's `[Unit]`",
                    "requires" => "write `Requires=` and `After=` into the manifest's `[Unit]`",
                    _ => "keep one of the two",
                };
                tell.error(codes::FIELD_REFUSED, entry.key_span, message, hint);
            }
        }
        if let Some(entry) = self.record.entry("manifest").filter(|_| self.container.is_some() && !is_raw) {
            let message =
                format!("`manifest` of {what} is not carried out: like kops, the container is run alone");
            tell.warning(
                codes::FIELD_DIFFERS,
                entry.key_span,
                message,
                "keep one of the two, or make two hooks",
            );
        }
    }

    fn manifest(&self) -> Option<&str> {
        self.record.text("manifest").filter(|text| !text.trim().is_empty())
    }

    /// The units that a list names.
    pub(super) fn units(&self, key: &str) -> Vec<&str> {
        self.record.items(key).iter().filter_map(Node::text).collect()
    }

    /// Whether the unit says that it comes before, or follows, another.
    fn says(&self, keys: &[&str], unit: &str) -> bool {
        let mut lines = self.manifest().unwrap_or_default().lines();
        lines.any(|line| {
            let Some((key, value)) = line.split_once('=') else { return false };
            keys.contains(&key.trim()) && value.split_whitespace().any(|word| word == unit)
        })
    }

    fn is_before(&self, unit: &str) -> bool {
        let stem = unit.strip_suffix(".service").unwrap_or(unit);
        self.units("before").iter().any(|word| *word == unit || *word == stem) || self.says(&["Before"], unit)
    }

    /// Whether it starts only when the unit that starts it has ended.
    fn waits_for_the_agent(&self) -> bool {
        AGENTS.iter().any(|unit| self.says(&["After"], unit))
    }

    fn follows(&self, unit: &str) -> bool {
        self.units("requires").contains(&unit) || self.says(&FOLLOWS, unit)
    }
}

/// What the hooks of a group add to it.
#[derive(Default)]
pub(super) struct Added {
    pub(super) units: Vec<Node>,
    pub(super) steps: Vec<Node>,
}

/// The hooks of a group: of two with one name the group's own stands.
pub(super) fn hooks(
    group: &[Hook<'_>],
    cluster: &[Hook<'_>],
    role: Role,
    docker: bool,
    given: &mut Names,
    tell: &mut Teller<'_>,
) -> Added {
    let mut added = Added::default();
    let mut names: Vec<String> = Vec::new();
    for (hooks, end) in [(group, "-ig"), (cluster, "")] {
        let meant = hooks.iter().filter(|hook| role.is_meant(&hook.record));
        for (index, hook) in meant.enumerate() {
            let own = hook.name();
            let name = own.map_or_else(|| format!("kops-hook-{index}{end}"), ToOwned::to_owned);
            if names.contains(&name) {
                continue;
            }
            if hook.is_disabled() {
                let known = cluster.iter().any(|other| {
                    other.record.text("name") == own && own.is_some() && !std::ptr::eq(other.node, hook.node)
                });
                let brings = hook.manifest().is_some() || hook.container.is_some();
                // One that neither brings a unit nor switches another hook off means a unit of the image.
                if !known && !brings {
                    disabled(&unit_name(&name), hook.node.span, given, &mut added);
                }
            } else {
                started(hook, &name, docker, given, &mut added, tell);
            }
            names.push(name);
        }
    }
    added
}

fn unit_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((_, suffix)) if SUFFIXES.contains(&suffix) => name.to_owned(),
        _ => format!("{name}.service"),
    }
}

fn disabled(unit: &str, span: Span, given: &mut Names, added: &mut Added) {
    let mut branch = Branch::new(span);
    branch.put("name", text(span, unit));
    branch.put("enabled", plain(span, false));
    added.units.push(branch.into_node());
    let mut stop = step(span, &given.give(&format!("stop-{unit}")));
    stop.put("run", words(span, &["/usr/bin/systemctl", "stop", unit]));
    stop.put("before", words(span, &["gate"]));
    added.steps.push(stop.into_node());
}

fn started(
    hook: &Hook<'_>,
    name: &str,
    docker: bool,
    given: &mut Names,
    added: &mut Added,
    tell: &mut Teller<'_>,
) {
    let span = hook.node.span;
    let content = match (&hook.container, hook.manifest()) {
        (Some(container), _) => container_unit(hook, container, name, docker),
        (None, Some(manifest)) if hook.record.flag("useRawManifest") == Some(true) => {
            Some(manifest.to_owned())
        }
        (None, Some(manifest)) => Some(service_unit(hook, name, manifest)),
        (None, None) => None,
    };
    // It has been told that there is nothing to run.
    let Some(content) = content else { return };
    let unit = unit_name(name);
    let mut branch = Branch::new(span);
    branch.put("name", text(hook.record.get("name").map_or(span, |name| name.span), unit.as_str()));
    let place = hook.record.get("manifest").map_or(span, |manifest| manifest.span);
    branch.put("content", text(place, content));
    added.units.push(branch.into_node());
    for runtime in RUNTIMES.into_iter().filter(|runtime| hook.is_before(runtime)) {
        let message =
            format!("the hook `{name}` comes with the node's configuration, when `{runtime}` already runs");
        let hint = "make it a step with `before: [runtime]` in additions to have it before";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    }
    // What kops does at every boot, and without heeding how it ends.
    let mut start = step(span, &given.give(&format!("hook-{name}")));
    let command: &[&str] = if hook.is_before(KUBELET) {
        start.put("after", words(span, &["configure"]));
        start.put("before", words(span, &["gate"]));
        if hook.waits_for_the_agent() {
            // Kubelet follows it by its own `Before=`: both are queued when the agent's unit ends.
            let message = format!(
                "the hook `{name}` follows the unit that starts it: it runs when that has ended, and nothing but systemd holds kubelet back for it"
            );
            let hint = "take away its `After=`: it is started when the node has been configured, and waited for before kubelet";
            tell.warning(codes::DIFFERENCE, span, message, hint);
            &["/usr/bin/systemctl", "start", "--no-block", &unit]
        } else {
            &["/usr/bin/systemctl", "start", &unit]
        }
    } else {
        let phase = if hook.follows(KUBELET) { "kubelet" } else { "configure" };
        start.put("after", words(span, &[phase]));
        &["/usr/bin/systemctl", "start", "--no-block", &unit]
    };
    start.put("run", words(span, command));
    start.put("everyBoot", plain(span, true));
    added.steps.push(start.into_node());
}
