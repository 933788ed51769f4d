//! Whom the node tells how it ended.

use std::collections::BTreeMap;

use bringup_spec::{Carrier, Phase, Signal, SignalKind, Text, Url};
use bringup_yaml::Path;

use crate::context::Context;
use crate::files::check_read_only;
use crate::join::check_secret;
use crate::steps::plain;
use crate::{Action, Step, codes};

/// Steps for the phase `report`.
pub(crate) fn steps(context: &mut Context<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, signal) in context.group.signals.iter().enumerate() {
        let path = context.at(["signals"]).index(index);
        let target = target(context, &path, signal);
        if let Some(url) = signal.url.as_ref().filter(|_| signal.kind == SignalKind::Http) {
            check_url(context, &path.key("url"), url);
        }
        if let Some(file) = signal.path.as_ref().filter(|_| signal.kind == SignalKind::File) {
            check_read_only(context, &path.key("path"), file.as_str());
        }
        if context.group.signals.iter().take(index).any(|earlier| earlier == signal) {
            let message = format!("the same signal `{}` is there already", signal.kind);
            context.warning(codes::SIGNAL_TARGET, &path, message, "remove one of them");
        }
        if let Some(source) = &signal.token {
            check_secret(context, &path.key("token"), source);
        }
        let action = Action::Signal { kind: signal.kind, target, token: signal.token.clone() };
        let earlier =
            context.group.signals.iter().take(index).filter(|other| other.kind == signal.kind).count();
        let name = match earlier {
            0 => format!("signal:{}", signal.kind),
            more => format!("signal:{}-{}", signal.kind, more + 1),
        };
        steps.push(plain(name, Phase::Report, action));
    }
    let hook = context.group.scaling.as_ref().and_then(|scaling| scaling.lifecycle_hook.as_ref());
    let completes = context.group.signals.iter().any(|signal| signal.kind == SignalKind::LifecycleAction);
    if hook.is_some() && !completes {
        let path = context.at(["scaling", "lifecycleHook"]);
        context.warning(
            codes::SIGNAL_HOOK,
            &path,
            "nobody completes this life-cycle hook: each new node would wait until it times out",
            "add `signals: [{kind: lifecycle-action}]`",
        );
    }
    check_timeout(context);
    steps
}

/// The address of a POST, as far as it is known before boot.
fn check_url(context: &mut Context<'_>, path: &Path, url: &Text) {
    let Some(literal) = url.as_literal() else { return };
    if let Err(fault) = Url::parse(literal) {
        context.error(
            codes::SIGNAL_TARGET,
            path,
            fault.message,
            "write one such as `https://example.com/ready`",
        );
    } else if !literal.starts_with("http") {
        let message = format!("nothing can be posted to `{literal}`");
        context.error(codes::SIGNAL_TARGET, path, message, "write one such as `https://example.com/ready`");
    }
}

/// A time that is written though nobody waits. The default is never told.
fn check_timeout(context: &mut Context<'_>) {
    let group = context.group;
    let waits = group.signals.iter().any(|signal| signal.kind == SignalKind::CloudFormation);
    let hooked = group.scaling.as_ref().is_some_and(|scaling| scaling.lifecycle_hook.is_some());
    let path = context.at(["scaling", "creationTimeout"]);
    let tree = context.document.tree();
    let written = tree.span_at(&path) != tree.span_at(&context.at(["scaling"]));
    if context.on_aws() && written && !waits && !hooked {
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "`creationTimeout` has no effect: no node signals, so that the stack does not wait",
            "add `signals: [{kind: cloudformation}]`, or remove it",
        );
    }
}

fn target(context: &mut Context<'_>, path: &Path, signal: &Signal) -> BTreeMap<String, Text> {
    let group = context.group;
    let templated = group
        .carriers
        .iter()
        .any(|carrier| matches!(carrier, Carrier::CloudFormation | Carrier::CloudFormationJson));
    let scaling_hook = group.scaling.as_ref().and_then(|scaling| scaling.lifecycle_hook.clone());
    let literal = |text: &Option<String>| text.as_deref().map(Text::literal);
    let hook = literal(&signal.hook).or_else(|| {
        (signal.kind == SignalKind::LifecycleAction).then_some(scaling_hook).flatten().map(Text::literal)
    });
    let fields = [
        ("stack", literal(&signal.stack)),
        ("resource", literal(&signal.resource)),
        ("hook", hook),
        ("url", signal.url.clone()),
        ("path", signal.path.as_ref().map(|path| Text::literal(path.as_str()))),
    ];
    // What each kind reads; whether it must be said; whether a template says it otherwise.
    let reads: &[(&str, bool)] = match signal.kind {
        SignalKind::CloudFormation => &[("stack", !templated), ("resource", !templated)],
        SignalKind::LifecycleAction => &[("hook", true), ("resource", !templated)],
        SignalKind::Http => &[("url", true)],
        SignalKind::File => &[("path", true)],
    };
    let on_aws = matches!(signal.kind, SignalKind::CloudFormation | SignalKind::LifecycleAction);
    if on_aws && !context.on_aws() {
        context.error(
            codes::SIGNAL_PLATFORM,
            &path.key("kind"),
            format!("`{}` is a signal to AWS, and the platform is `{}`", signal.kind, group.platform),
            "write `http` or `file`, or `platform: aws`",
        );
    }
    let mut target = BTreeMap::new();
    for (name, value) in fields {
        match (reads.iter().find(|(key, _)| *key == name), value) {
            (Some(_), Some(value)) => {
                target.insert(name.to_owned(), value);
            }
            (Some((_, true)), None) => context.error(
                codes::SIGNAL_TARGET,
                path,
                format!("a signal `{}` needs `{name}`", signal.kind),
                format!("add `{name}:`"),
            ),
            (None, Some(_)) => without_effect(context, &path.key(name), name, signal.kind),
            (Some((_, false)) | None, None) => {}
        }
    }
    if signal.token.is_some() && signal.kind != SignalKind::Http {
        without_effect(context, &path.key("token"), "token", signal.kind);
    }
    target
}

fn without_effect(context: &mut Context<'_>, path: &Path, name: &str, kind: SignalKind) {
    context.key_warning(
        codes::WITHOUT_EFFECT,
        path,
        format!("`{name}` has no effect on a signal `{kind}`"),
        "remove it",
    );
}
