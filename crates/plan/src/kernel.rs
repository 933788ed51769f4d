//! Kernel modules, settings and arguments; swap.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bringup_kubelet::Minor;
use bringup_spec::{JoinMethod, Phase, RebootPolicy, SwapPolicy};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::operator::check_timeout;
use crate::steps::{plain, policy};
use crate::{Action, Origin, Step, codes, files};

/// Modules that a runtime and pod networks need.
const MODULES: [&str; 2] = ["br_netfilter", "overlay"];

/// Settings that pod networks need.
const NETWORK: [(&str, &str); 3] = [
    ("net.bridge.bridge-nf-call-ip6tables", "1"),
    ("net.bridge.bridge-nf-call-iptables", "1"),
    ("net.ipv4.ip_forward", "1"),
];

/// Settings that kubelet insists on with `protectKernelDefaults`.
const PROTECTED: [(&str, &str); 6] = [
    ("kernel.keys.root_maxbytes", "25000000"),
    ("kernel.keys.root_maxkeys", "1000000"),
    ("kernel.panic", "10"),
    ("kernel.panic_on_oops", "1"),
    ("vm.overcommit_memory", "1"),
    ("vm.panic_on_oom", "0"),
];

/// Steps for the beginning of the phase `runtime`: what the operator's first steps install may be loaded here.
pub(crate) fn steps(context: &mut Context<'_>, decisions: &Decisions) -> Vec<Step> {
    let mut steps = Vec::new();
    let given = context.group.kernel_modules.iter().map(bringup_spec::KernelModule::as_str);
    let needed: &[&str] = if context.group.kernel_defaults.modules { &MODULES } else { &[] };
    let modules: BTreeSet<&str> = needed.iter().copied().chain(given).collect();
    let names: Vec<String> = modules.into_iter().map(ToOwned::to_owned).collect();
    if !names.is_empty() {
        let mut load = plain("kernel-modules", Phase::Runtime, Action::LoadModules { modules: names });
        load.every_boot = true;
        steps.push(load);
    }
    let (settings, optional) = settings(context, decisions);
    if !settings.is_empty() {
        let mut set = plain("sysctls", Phase::Runtime, Action::SetSysctls { settings, optional });
        set.every_boot = true;
        steps.push(set);
    }
    steps.extend(swap(context));
    steps
}

/// The settings, and those of them that need not be there.
fn settings(
    context: &mut Context<'_>,
    decisions: &Decisions,
) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let mut defaults: BTreeMap<&str, &str> = NETWORK.into_iter().collect();
    if decisions.ipv6 || context.spec.network.service_ranges.iter().any(|range| !range.is_ipv4()) {
        defaults.insert("net.ipv6.conf.all.forwarding", "1");
    }
    let protects = decisions.join != JoinMethod::Kubeadm
        && context.group.kubelet.config.get("protectKernelDefaults") != Some(&serde_json::Value::Bool(false));
    if protects {
        defaults.extend(PROTECTED);
    }
    if !context.group.kernel_defaults.sysctls {
        if protects {
            let path = context.at(["kernelDefaults", "sysctls"]);
            let message = "kubelet refuses to start unless somebody else sets what it insists on, such as `vm.overcommit_memory`";
            let hint = "write `kubelet.config.protectKernelDefaults: false`, or see that the image sets them";
            context.warning(codes::SYSCTL_NEEDED, &path, message, hint);
        }
        defaults.clear();
    }
    let mut settings: BTreeMap<String, String> =
        defaults.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut spelled = BTreeSet::new();
    let mut optional = BTreeSet::new();
    for (name, value) in &context.group.sysctls {
        let path = context.at(["sysctls", name.as_str()]);
        // Both spellings name one setting.
        let (bare, is_optional) = optional_sysctl(name);
        let file = sysctl_path(bare);
        let plain = swapped(&file);
        let fits = |part: &str| {
            part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.*?[!]".contains(&byte))
                && part.bytes().any(|byte| byte != b'.')
        };
        if !file.contains('/') || !file.split('/').all(fits) {
            context.key_error(
                codes::SYSCTL_NAME,
                &path,
                format!("`{name}` is no kernel setting"),
                "write one such as `vm.max_map_count`",
            );
            continue;
        }
        if !spelled.insert(plain.clone()) {
            context.key_error(
                codes::SYSCTL_NAME,
                &path,
                format!("`{plain}` is set twice, in two spellings"),
                format!("keep one of them; in additions, `\"-{plain}\": null` takes away what kops' `sysctlParameters` say"),
            );
        }
        let needed = defaults.get(plain.as_str()).copied().filter(|needed| *needed != value.as_str());
        if let Some(needed) = needed {
            let protected = PROTECTED.iter().any(|(name, _)| *name == plain);
            let (who, instead) = if protected {
                (
                    "kubelet refuses to start with another value",
                    "remove it, or write `kubelet.config.protectKernelDefaults: false`",
                )
            } else {
                ("pod networks need it", "remove it")
            };
            context.warning(
                codes::SYSCTL_NEEDED,
                &path,
                format!("`{plain}` should be {needed}: {who}"),
                instead,
            );
        }
        context.origin(format!("sysctl {plain}"), value.as_str(), Origin::Document(path));
        if is_optional {
            optional.insert(plain.clone());
        }
        settings.insert(plain, value.as_str().to_owned());
    }
    (settings, optional)
}

/// The name of a setting without the dash before it, by which sysctl.d(5) lets it fail, and whether there is one.
pub fn optional_sysctl(name: &str) -> (&str, bool) {
    name.strip_prefix('-').map_or((name, false), |bare| (bare, true))
}

/// The text of a file of sysctl.d(5) with these settings.
pub fn sysctls_file(settings: &BTreeMap<String, String>, optional: &BTreeSet<String>) -> String {
    settings.iter().fold(String::new(), |mut text, (name, value)| {
        let dash = if optional.contains(name) { "-" } else { "" };
        let _ = writeln!(text, "{dash}{name} = {value}");
        text
    })
}

/// The file of a kernel setting beneath `/proc/sys`, by the rule of sysctl.d(5): if the first separator of the name is a
/// slash, all stay as they are; if it is a dot, dots and slashes change places. So `net.ipv4.conf.eth0/1.rp_filter` names
/// the interface `eth0.1`.
pub fn sysctl_path(name: &str) -> String {
    match name.find(['.', '/']).and_then(|at| name.get(at..)) {
        Some(rest) if rest.starts_with('.') => swapped(name),
        _ => name.to_owned(),
    }
}

/// Dots for slashes, and slashes for dots.
fn swapped(name: &str) -> String {
    let swap = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    name.chars().map(swap).collect()
}

fn swap(context: &mut Context<'_>) -> Option<Step> {
    let swap = context.group.swap.as_ref()?;
    let path = context.at(["swap"]);
    match swap.policy {
        SwapPolicy::File => {
            if swap.size_mib.is_none_or(|size| size == 0) {
                context.error(
                    codes::SWAP_SIZE,
                    &path,
                    "a swap file needs a size",
                    "write `{policy: file, sizeMiB: 2048}`",
                );
            }
            if context.minor < Minor(22) {
                context.error(
                    codes::SWAP_VERSION,
                    &path,
                    format!("pods cannot use swap before Kubernetes 1.22, and this is {}", context.minor),
                    "write `off` or `keep`",
                );
            }
        }
        SwapPolicy::Off | SwapPolicy::Keep => {
            for (key, given) in [("sizeMiB", swap.size_mib.is_some()), ("path", swap.path.is_some())] {
                if given {
                    context.key_warning(
                        codes::WITHOUT_EFFECT,
                        &path.key(key),
                        format!("`{key}` has no effect with the policy `{}`", swap.policy),
                        "remove it, or write `policy: file`",
                    );
                }
            }
        }
    }
    if let Some(target) = &swap.path {
        files::check_target(context, &path.key("path"), target.as_str());
    }
    let file = (swap.policy == SwapPolicy::File)
        .then(|| swap.path.as_ref().map_or_else(|| "/var/swapfile".to_owned(), ToString::to_string));
    let action = Action::SetSwap {
        policy: swap.policy,
        size_mib: swap.size_mib.filter(|_| file.is_some()),
        path: file,
    };
    let mut step = plain("swap", Phase::Runtime, action);
    step.every_boot = true;
    Some(step)
}

/// Arguments of the kernel, for the phase `configure`.
pub(crate) fn arguments(context: &mut Context<'_>) -> Option<Step> {
    let arguments = &context.group.kernel_arguments;
    if arguments.is_empty() {
        return None;
    }
    for (index, argument) in arguments.iter().enumerate() {
        if arguments.iter().take(index).any(|earlier| earlier == argument) {
            let path = context.at(["kernelArguments"]).index(index);
            let message = format!("`{argument}` is there twice");
            context.error(codes::KERNEL_ARGUMENT, &path, message, "keep one of them");
        }
        if argument.is_empty() || argument.chars().any(|letter| letter.is_whitespace() || letter.is_control())
        {
            let path = context.at(["kernelArguments"]).index(index);
            context.error(
                codes::KERNEL_ARGUMENT,
                &path,
                format!("`{argument}` is no single argument"),
                "write each argument as an item of its own, such as `hugepages=64`",
            );
        }
    }
    refuse_never(context, "kernelArguments", "a kernel argument takes effect only after a reboot");
    let action = Action::SetKernelArguments { arguments: arguments.clone() };
    Some(plain("kernel-arguments", Phase::Configure, action))
}

/// The update of the operating system, where it is asked for.
pub(crate) fn update(context: &mut Context<'_>) -> Option<Step> {
    use bringup_spec::{OnFailure, OsFamily, Span};
    let update = context.group.update.as_ref().filter(|update| update.enabled)?;
    if context.group.os.family == OsFamily::Flatcar && !update.hold.is_empty() {
        let path = context.at(["update", "hold"]);
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            "Flatcar has no packages to hold back",
            "remove it",
        );
    }
    let path = context.at(["update"]);
    check_timeout(context, &path.key("timeout"), update.timeout.milliseconds);
    for (index, package) in update.hold.iter().enumerate() {
        if package.contains(|letter: char| letter.is_whitespace() || letter == ',') {
            let path = path.key("hold").index(index);
            let message = format!("`{package}` is no name of a package");
            context.error(
                codes::SOFTWARE_PACKAGE,
                &path,
                message,
                "write each package as an item of its own",
            );
        }
    }
    refuse_never(context, "update", "an update may need a reboot before the node joins");
    let action = Action::UpdateOs { hold: update.hold.clone() };
    let mut step = plain("update", Phase::Update, action);
    step.policy = Some(policy(update.timeout, 3, Span::seconds(30), OnFailure::Pause));
    Some(step)
}

/// The reboot, where something may need it.
pub(crate) fn reboot(context: &mut Context<'_>, needed: bool) -> Option<Step> {
    use bringup_spec::{OnFailure, Span};
    let reboot = &context.group.reboot;
    let path = context.at(["reboot", "timeout"]);
    check_timeout(context, &path, reboot.timeout.milliseconds);
    let always = match reboot.policy {
        RebootPolicy::Never => return None,
        RebootPolicy::IfNeeded if !needed => return None,
        RebootPolicy::IfNeeded => false,
        RebootPolicy::Always => true,
    };
    let mut step = plain("reboot", Phase::Reboot, Action::Reboot { always });
    step.policy = Some(policy(reboot.timeout, 1, Span::seconds(0), OnFailure::Pause));
    Some(step)
}

pub(crate) fn refuse_never(context: &mut Context<'_>, key: &str, why: &str) {
    if context.group.reboot.policy == RebootPolicy::Never {
        let path = context.at([key]);
        context.key_error(
            codes::REBOOT_NEEDED,
            &path,
            format!("{why}, and `reboot.policy` is `never`"),
            "write `reboot: {policy: if-needed}`",
        );
    }
}
