//! Hooks: the operator's programs at points of the life of a node and of its cluster, each where its scope says.
//!
//! Those of a node's installation are steps of every node. Those of the cluster's installation are steps of the node that
//! starts it: the first of them before its own, the last behind its own. The others are kept for whoever drives the
//! cluster, for no node knows alone when they are due.

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::{Finding, Findings};
use bringup_spec::{Document, Hook, HookPoint, Phase, Role, Text};
use bringup_yaml::Path;

use crate::context::Context;
use crate::decisions::Decisions;
use crate::operator::{Programs, checked, command};
use crate::steps::{plain, policy};
use crate::{Action, HookStep, codes, machines};

/// Where a hook is.
enum Place {
    /// A step of this phase.
    Step(Phase),
    /// With the plan, for whoever asks for it.
    Kept,
    /// In the plans of other groups.
    Elsewhere,
}

/// Whether a hook runs once for the cluster, on its first control-plane node.
pub(crate) fn is_cluster_scoped(point: HookPoint) -> bool {
    matches!(
        point,
        HookPoint::PreClusterInstall
            | HookPoint::PostClusterInstall
            | HookPoint::PreClusterUpgrade
            | HookPoint::PostClusterUpgrade
            | HookPoint::PreClusterDelete
            | HookPoint::PostClusterDelete
    )
}

/// The phase in which a node runs a hook by itself, if it does.
pub(crate) fn phase_of(point: HookPoint) -> Option<Phase> {
    match point {
        HookPoint::PreInstall | HookPoint::PreClusterInstall => Some(Phase::PreInstall),
        HookPoint::PostInstall | HookPoint::PostClusterInstall => Some(Phase::PostInstall),
        _ => None,
    }
}

/// The rank of a hook among those of its phase: the cluster's installation is around that of its first node.
fn rank(point: HookPoint) -> u8 {
    match point {
        HookPoint::PreClusterInstall => 0,
        HookPoint::PostClusterInstall => 2,
        _ => 1,
    }
}

/// Adds the hooks of the cluster and of the group.
pub(crate) fn place(context: &mut Context<'_>, decisions: &Decisions, programs: &mut Programs) {
    let spec = Context::spec_path(["hooks"]);
    let group = context.at(["hooks"]);
    let cluster = context.spec.hooks.iter().enumerate().map(|(index, hook)| (spec.index(index), hook, false));
    let own = context.group.hooks.iter().enumerate().map(|(index, hook)| (group.index(index), hook, true));
    let all: Vec<(Path, &Hook, bool)> = cluster.chain(own).collect();
    let mut names = BTreeSet::new();
    let mut phased = Vec::new();
    for (path, hook, is_own) in all {
        if !names.insert(hook.name.as_str()) {
            context.error(
                codes::HOOK_DUPLICATE,
                &path.key("name"),
                format!("there are two hooks `{}`", hook.name),
                "give one of them another name",
            );
        }
        if is_own {
            check_own(context, decisions, &path, hook);
        }
        let place = place_of(context, decisions, hook.on, is_own);
        if matches!(place, Place::Elsewhere) {
            continue;
        }
        let name = format!("hook-{}", hook.name);
        let mut command = command(context, &path, &name, &hook.run, hook.script.as_ref(), programs);
        let clustered = is_cluster_scoped(hook.on);
        if clustered {
            command.extend(parameters(context));
        }
        let policy = policy(hook.timeout, hook.attempts, hook.backoff, hook.on_failure);
        let policy = checked(context, &path, policy);
        if let Place::Step(phase) = place {
            let action = Action::Run {
                command,
                environment: BTreeMap::new(),
                directory: None,
                wait_for: Vec::new(),
                hook: Some(hook.on),
            };
            let mut step = plain(format!("hook:{}", hook.name), phase, action);
            step.policy = Some(policy);
            step.elected_only = clustered;
            phased.push((rank(hook.on), step));
        } else {
            programs.hooks.push(HookStep { name: hook.name.to_string(), on: hook.on, command, policy });
        }
    }
    // Hooks of one point keep the order of the document.
    phased.sort_by_key(|(rank, _)| *rank);
    programs.phased_hooks.extend(phased.into_iter().map(|(_, step)| step));
}

fn place_of(context: &Context<'_>, decisions: &Decisions, point: HookPoint, is_own: bool) -> Place {
    let clustered = is_cluster_scoped(point);
    if clustered && context.group.role == Role::Worker {
        return Place::Elsewhere;
    }
    match phase_of(point) {
        Some(phase) if !clustered || decisions.election.is_some() => Place::Step(phase),
        Some(_) if !is_own && machines::is_elected(context.spec) => Place::Elsewhere,
        None | Some(_) => Place::Kept,
    }
}

/// The cluster's own hooks of cluster scope need a node to run on.
pub(crate) fn check(document: &Document, findings: &mut Findings) {
    let spec = &document.cluster.spec;
    if spec.node_groups.is_empty() {
        return;
    }
    let path = Context::spec_path(["hooks"]);
    if !spec.node_groups.iter().any(|group| group.role == Role::ControlPlane) {
        if spec.hooks.iter().any(|hook| is_cluster_scoped(hook.on)) {
            let message = "hooks of cluster scope run on the first control-plane node, and no group has any: no plan holds them";
            let hint = "run them yourself where the control plane is, add a group with `role: control-plane`, or use hooks of the nodes";
            findings.push(Finding::warning(codes::HOOK_WORKER, message).at(document.place(&path)).hint(hint));
        }
        return;
    }
    if machines::is_elected(spec) {
        return;
    }
    let of_installation = |hook: &Hook| is_cluster_scoped(hook.on) && phase_of(hook.on).is_some();
    for (index, hook) in spec.hooks.iter().enumerate().filter(|(_, hook)| of_installation(hook)) {
        let message = format!(
            "`{}` runs on the node that starts the cluster, and no group says which that is: {KEPT}",
            hook.on
        );
        let hint = "write `bootstrap: true` in a control-plane group of one, or a condition such as `bootstrap: {fact: hostname, equals: NAME}`";
        let place = document.place(&path.index(index).key("on"));
        findings.push(Finding::warning(codes::HOOK_NOBODY, message).at(place).hint(hint));
    }
}

/// What becomes of a hook that no node runs.
const KEPT: &str =
    "the hook is kept in the plan for whoever drives the cluster, and no node runs it by itself";

/// A group's own hook of cluster scope is nowhere else: there it must have a node to run on.
fn check_own(context: &mut Context<'_>, decisions: &Decisions, path: &Path, hook: &Hook) {
    if !is_cluster_scoped(hook.on) {
        return;
    }
    if context.group.role == Role::Worker {
        context.error(
            codes::HOOK_WORKER,
            &path.key("on"),
            format!("`{}` runs on the first control-plane node, and this group has workers", hook.on),
            "move the hook to `spec.hooks` or to a control-plane group",
        );
    } else if phase_of(hook.on).is_some() && decisions.election.is_none() {
        context.warning(
            codes::HOOK_NOBODY,
            &path.key("on"),
            format!(
                "`{}` runs on the node that starts the cluster, and no node of this group does: {KEPT}",
                hook.on
            ),
            "move the hook to `spec.hooks`, or write `bootstrap` in this group",
        );
    }
}

/// The cluster's labels and annotations as hooks of cluster scope get them.
fn parameters(context: &Context<'_>) -> Vec<Text> {
    let metadata = &context.document.cluster.metadata;
    metadata
        .labels
        .iter()
        .chain(&metadata.annotations)
        .map(|(key, value)| Text::literal(format!("{key}={value}")))
        .collect()
}
