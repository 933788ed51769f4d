//! `overrideBootstrapCommand` on Amazon Linux 2 and Ubuntu: a script in the place of eksctl's.
//!
//! Such scripts end in a call of `/etc/eks/bootstrap.sh`, which would start kubelet behind the plan's back. So the call
//! is read rather than run: what its flags say is carried out, and what the script does before and after are steps.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bringup_diag::{Position, Span};
use bringup_yaml::{Entry, Node};

use super::cluster::Cluster;
use super::group::{Given, Parts};
use super::steps::escaped;
use super::{call, helper, marks, node_config, overtaken};
use crate::codes;
use crate::shell;
use crate::shell::script::{Call, Opaque, Script, Why};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};
use crate::user_data::overtaken::When;
use crate::user_data::{signal_calls, unknown};

pub(super) fn carry_out(
    own: &Entry,
    given: &Given<'_>,
    cluster: &Cluster<'_>,
    parts: &mut Parts,
    tell: &mut Teller<'_>,
) {
    let at = &own.value;
    let Some(script) = at.text() else {
        let message = "`overrideBootstrapCommand` must be a text";
        tell.error(codes::WRONG_TYPE, at.span, message, "write `|` and the lines of the script");
        return;
    };
    if let Some(extra) = given.fields.entry("kubeletExtraConfig") {
        let message = "`kubeletExtraConfig` is carried out here; eksctl's own script does that, which `overrideBootstrapCommand` replaces, so that with eksctl it has no effect";
        let hint = "remove it to have the node that eksctl makes, or keep it if it is meant";
        tell.warning(codes::DIFFERENCE, extra.key_span, message, hint);
    }
    let variables = helper::variables(given, cluster, parts);
    let line = |number: u32| node_config::line(at, number);
    match Script::of(script, &helper::for_call(&variables)) {
        Script::Calls(Call { number, words, mut before, mut after, strict, dropped, ways }) => {
            let message = "the call of `/etc/eks/bootstrap.sh` is read and carried out by the plan; the rest of the script becomes steps before and after it";
            tell.note(codes::DIFFERENCE, own.key_span, message, "nothing has to be changed");
            helper::tell_of_missing(script, own.key_span, &variables, tell);
            shell::tell_of_dropped(&dropped, &line, tell);
            shell::tell_of_ways(&ways, &line, tell);
            signal_calls::tell_of_left(script, number, &line, tell);
            let steps = before.iter_mut().chain(after.iter_mut());
            shell::reboots::mend(script, steps, &line, tell);
            if let Some(script) = &before {
                // A shell that goes on after a failure comes to the call in any case.
                let policy = if strict { "pause" } else { "continue" };
                push_step(parts, at, "before-bootstrap", script, ("before", "runtime", policy), &variables);
            }
            if let Some(script) = after {
                // kubelet runs by then, whatever becomes of the rest.
                let place = ("after", "kubelet", "continue");
                push_step(parts, at, "after-bootstrap", &script, place, &variables);
            }
            // kubelet gets what the call says, and nothing of eksctl's own. EKS marks nodes of managed groups from outside.
            let (labels, taints) = (parts.labels.clone(), parts.taints.clone());
            if !given.managed {
                parts.labels = Branch::new(given.span);
                parts.taints = Vec::new();
            }
            let pods = parts.settings.max_pods.take();
            let empty = helper::empty(script, &variables);
            let said = call::carry_out(&words, &empty, at, cluster, parts, tell);
            tell_of_unmarked(given, (labels, &taints), parts, tell);
            tell_of_unsaid("maxPodsPerNode", said.pods.as_deref(), given, tell);
            tell_of_unsaid("clusterDNS", said.dns.as_deref(), given, tell);
            parts.settings.max_pods = parts.settings.max_pods.take().or(pods);
            if said.without_max_pods && parts.settings.max_pods.is_none() {
                call::differs("use-max-pods", "write the number as `maxPodsPerNode`", at, tell);
            }
            let when = |line: &str, of: u32| match of.cmp(&number) {
                _ if shell::reads_eksctls(line) => None,
                Ordering::Less => Some(When::Before),
                Ordering::Equal => None,
                Ordering::Greater => Some(When::After),
            };
            let whole = helper::with_paths(script, &variables);
            overtaken::tell_of(&whole, parts.settings.is_docker(), &when, &line, tell);
        }
        Script::CallsNothing => {
            let message =
                "this script runs as a step before the node's own set-up, which takes place all the same";
            let hint = "take out of it what sets up kubelet; see `bringup explain` for what the plan does";
            tell.warning(codes::DIFFERENCE, own.key_span, message, hint);
            let shebang = if script.starts_with("#!") { "" } else { "#!/bin/bash\n" };
            let mut script = format!("{shebang}{script}");
            let written = at.text().unwrap_or_default();
            shell::reboots::mend(written, [&mut script], &line, tell);
            helper::tell_of_missing(&script, own.key_span, &variables, tell);
            let when = |_: &str, _: u32| Some(When::Before);
            let whole = helper::with_paths(written, &variables);
            overtaken::tell_of(&whole, parts.settings.is_docker(), &when, &line, tell);
            push_step(parts, at, "before-bootstrap", &script, ("before", "runtime", "pause"), &variables);
            marks::add_facts(&mut parts.labels, given);
        }
        Script::Opaque(Opaque { why: Why::Unknown(words), .. }) => {
            for (word, number) in words {
                let place = node_config::place(at, unknown::place(script, number, &word, START));
                refuse(&Why::Unknown(vec![(word, number)]), place, tell);
            }
        }
        Script::Opaque(Opaque { number, why }) => refuse(&why, line(number), tell),
    }
}

fn refuse(why: &Why, place: Span, tell: &mut Teller<'_>) {
    let message = format!(
        "the call of `/etc/eks/bootstrap.sh` in this script cannot be read beforehand, and running it would start kubelet behind the plan's back: {why}"
    );
    let hint = "call it once, by itself on a line and with words that are known; write other commands as `preBootstrapCommands`";
    tell.error(codes::FIELD_REFUSED, place, message, hint);
}

/// Where the first line of a text stands in it.
const START: Position = Position { line: 1, column: 1 };

/// Names marks of the group that the call does not pass on.
fn tell_of_unmarked(
    given: &Given<'_>,
    (labels, taints): (Branch, &[Node]),
    parts: &Parts,
    tell: &mut Teller<'_>,
) {
    let passed = parts.labels.clone().into_node();
    let wanted = labels.into_node();
    let wanted = wanted.entries().unwrap_or_default().iter();
    let has_labels = wanted
        .filter(|label| given.fields.get("labels").is_some_and(|own| own.get(&label.key).is_some()))
        .all(|label| passed.get(&label.key).and_then(Node::text) == label.value.text());
    let has_taints = marks::all_among(taints, &parts.taints);
    for (field, variable, has) in
        [("labels", "NODE_LABELS", has_labels), ("taints", "NODE_TAINTS", has_taints)]
    {
        let Some(entry) = given.fields.entry(field).filter(|_| !has) else { continue };
        let message = format!(
            "the node does not get these `{field}`: eksctl's own script passes them on, which `overrideBootstrapCommand` replaces, and the call of `/etc/eks/bootstrap.sh` does not"
        );
        let hint = format!(
            "pass them on with `--kubelet-extra-args`, as `${variable}` of eksctl's helper, or remove them"
        );
        tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
    }
}

/// Names a field of the group that the call does not pass on; `said` is what the call says in its place.
fn tell_of_unsaid(field: &str, said: Option<&str>, given: &Given<'_>, tell: &mut Teller<'_>) {
    let Some(entry) = given.fields.entry(field).filter(|entry| entry.value.text() != Some("0")) else {
        return;
    };
    let (message, hint) = match said {
        None => (
            format!(
                "`{field}` is carried out here; with eksctl it has no effect beside `overrideBootstrapCommand`"
            ),
            "remove it to have the node that eksctl makes, or keep it if it is meant",
        ),
        Some(said) if Some(said) != entry.value.text() => (
            format!("`{field}` counts for nothing: the call of `/etc/eks/bootstrap.sh` says `{said}`"),
            "remove one of the two",
        ),
        Some(_) => return,
    };
    tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
}

fn push_step(
    parts: &mut Parts,
    at: &Node,
    name: &str,
    script: &str,
    (side, phase, policy): (&str, &str, &str),
    variables: &BTreeMap<&'static str, String>,
) {
    let span = at.span;
    let mut step = Branch::new(span);
    step.put("name", text(span, name));
    step.put("script", text(span, escaped(script)));
    if side == "before" {
        // Behind the commands that come before it.
        let earlier = parts.steps.last().and_then(|step| step.get("name")).and_then(Node::text);
        step.put("after", list(span, vec![text(span, earlier.unwrap_or("pre-install"))]));
    }
    step.put(side, list(span, vec![text(span, phase)]));
    let mut environment = Branch::new(span);
    for (name, value) in variables {
        if script.contains(name) {
            environment.put(name, text(span, value.as_str()));
        }
    }
    step.put_full("environment", environment.into_node());
    step.put("timeout", plain(span, "30m"));
    // What a script has done once, it need not bear twice.
    step.put("attempts", plain(span, 1));
    step.put("onFailure", text(span, policy));
    parts.steps.push(step.into_node());
}
