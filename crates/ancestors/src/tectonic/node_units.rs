//! `k8s-node-bootstrap.service` and `kubelet.service`: what the agent does itself is read out of them, the rest is kept in
//! drop-ins.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::Node;

use super::commands::{Known, known, kubelet_words, tell_prefix, tell_variables};
use super::flags;
use super::group::{Cluster, Group, Kept};
use super::known_files::{ENVIRONMENTS, image_of, tag};
use super::unit_text::{Setting, command_words, prefix, seconds, words};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, plain, text};

/// What is said of the agent's own unit under its old name.
pub(super) const BOOTSTRAP: &str = "k8s-node-bootstrap.service";
pub(super) const KUBELET: &str = "kubelet.service";
const KUBELET_ENV: &str = "/etc/kubernetes/kubelet.env";

/// `k8s-node-bootstrap.service`: its work is the agent's; gives what a drop-in keeps of it.
pub(super) fn bootstrap(
    settings: &[Setting],
    at: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) -> Kept {
    let message = "the agent does the work of `k8s-node-bootstrap.service`, and answers to its name: it tries again in its own process, and kubelet waits for its gate, which opens last";
    tell.note(codes::DIFFERENCE, at, message, "nothing has to be done");
    let mut kept = Kept::default();
    for setting in settings {
        let Setting { section, key, value, span } = setting;
        match (section.as_str(), key.as_str()) {
            // The agent's own unit has these, and is no worse for it.
            (_, "Description" | "Documentation")
            | ("Install", _)
            | ("Service", "Type" | "RemainAfterExit" | "Restart" | "RestartSec") => {}
            ("Unit", "ConditionPathExists") if value.strip_prefix('!') == Some(KUBELET_ENV) => {}
            ("Unit", "Before") => {
                let others: Vec<&str> = value.split_whitespace().filter(|name| *name != KUBELET).collect();
                if !others.is_empty() {
                    kept.keep(section, key, &others.join(" "));
                }
            }
            ("Unit", "Requires" | "BindsTo" | "Requisite") => {
                let message = format!(
                    "`{key}={value}` is taken for `Wants=`: one failure of it would end the agent's start for good"
                );
                tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
                kept.keep(section, "Wants", value);
            }
            ("Service", "TimeoutStartSec" | "TimeoutSec") => {
                if let (Some(limit), true) = (seconds(value), upgrades(settings)) {
                    let mut update = Branch::new(*span);
                    update.put("timeout", plain(*span, format!("{limit}s")));
                    group.update = Some(update.into_node());
                } else {
                    let message = format!(
                        "`{key}={value}` ends no attempt of the agent: each of its steps has a time of its own"
                    );
                    tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
                }
            }
            ("Service", "ExecStartPre" | "ExecStart" | "ExecStartPost") => {
                bootstrap_command(setting, group, cluster, tell);
            }
            _ => kept.keep(section, key, value),
        }
    }
    kept
}

/// Whether a command of the unit updates the operating system.
fn upgrades(settings: &[Setting]) -> bool {
    settings.iter().any(|setting| match known(&setting.value) {
        Known::Torcx(flags) => flags.iter().any(|flag| flag == "--upgrade-os" || flag == "--upgrade-os=true"),
        _ => false,
    })
}

fn bootstrap_command(setting: &Setting, group: &mut Group, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    let span = setting.span;
    match known(&setting.value) {
        Known::Directories(paths) => {
            of_failure(setting, tell);
            directories(&paths, span, group);
        }
        Known::Fetch(store, location, path) => {
            of_failure(setting, tell);
            fetched(&(store, location, path), span, group, cluster, tell);
        }
        Known::Torcx(flags) => {
            of_failure(setting, tell);
            torcx(&flags, span, group, cluster, tell);
        }
        Known::Authority => of_authority(span, tell),
        Known::Says => {}
        Known::Mark(path) => {
            let message = format!("`{path}` is not made: what is done is in the agent's journal");
            tell.note(codes::DIFFERENCE, span, message, "let others look at `bringup-node status`");
        }
        Known::Container => of_container(setting, tell),
        Known::Other(words) => {
            tell_prefix(setting, tell);
            tell_variables(setting, tell);
            group.step("node-bootstrap", &words, prefix(&setting.value).may_fail, span);
        }
    }
}

/// What the agent does itself is not passed over when it fails.
fn of_failure(setting: &Setting, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    if prefix(value).may_fail {
        let message = format!(
            "`{key}={value}` may fail there; the agent does this itself, and tries again until it is done"
        );
        tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
    }
}

/// What `tectonic-torcx-bootstrap` is asked for.
fn torcx(words: &[String], span: Span, group: &mut Group, cluster: &mut Cluster, tell: &mut Teller<'_>) {
    cluster.detect.get_or_insert(span);
    if !skips(words) {
        let message = "no addon of torcx is fetched: the runtime is the image's";
        let hint = "say where it comes from with `--with additions.yaml`: `software: {runtime: {from: extension, …}}`, and which version goes with which Kubernetes: `runtime: {versions: […]}`";
        tell.note(codes::DIFFERENCE, span, message, hint);
    }
    for word in words {
        let (name, value) =
            word.trim_start_matches('-').split_once('=').unwrap_or((word.trim_start_matches('-'), "true"));
        match (name, value) {
            ("upgrade-os", "true") => {
                group.update.get_or_insert_with(|| {
                    let mut update = Branch::new(span);
                    update.put("enabled", plain(span, true));
                    update.into_node()
                });
            }
            // The address goes with the addons.
            ("upgrade-os", "false")
            | ("torcx-skip-setup", "true" | "false")
            | ("torcx-manifest-url" | "verbose" | "v", _) => {}
            _ => {
                let message =
                    format!("`--{name}` of tectonic-torcx-bootstrap is not carried out: the node may differ");
                tell.warning(
                    codes::FIELD_DIFFERS,
                    span,
                    message,
                    "take it out, or say the same in a document",
                );
            }
        }
    }
}

/// Whether the unit leaves the runtime as it is.
pub(super) fn skips_runtime(settings: &[Setting]) -> bool {
    settings.iter().any(|setting| matches!(known(&setting.value), Known::Torcx(flags) if skips(&flags)))
}

fn skips(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "--torcx-skip-setup" || flag == "--torcx-skip-setup=true")
}

/// `kubelet.service`: flags become fields, and what else it says stays in a drop-in.
pub(super) fn kubelet(
    settings: &[Setting],
    at: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    let message = "kubelet is started when the gate opens: it does not fail again and again until `kubelet.env` is there, and a set-up that fails does not release it";
    tell.note(codes::DIFFERENCE, at, message, "nothing has to be done");
    let variables = variables(settings, group);
    let tagged = variables.get("KUBELET_IMAGE_TAG").and_then(|value| tag(value));
    let image = || {
        let commands = settings.iter().filter(|setting| setting.key.starts_with("ExecStart"));
        commands
            .flat_map(|setting| expanded_words(&setting.value, &variables))
            .find_map(|word| image_of(&word))
    };
    if let Some(version) = tagged.or_else(image) {
        cluster.say_version(&version, at, tell);
    }
    for setting in settings {
        kubelet_setting(setting, &variables, group, cluster, tell);
    }
    // The last command counts; a container may be started before the command that only watches it.
    let commands = ["ExecStart", "ExecStartPre"].into_iter().flat_map(|key| {
        settings.iter().rev().filter(move |setting| setting.key == key && !setting.value.is_empty())
    });
    let found = commands.filter_map(|setting| Some((setting.span, flags_in(setting, &variables)?)));
    let mut found: Vec<(Span, Vec<String>)> = found.collect();
    found.sort_by_key(|(_, words)| words.is_empty());
    if let Some((span, words)) = found.first() {
        flags::take(words, *span, group, cluster, tell);
    } else {
        let message = "where kubelet's flags are in this unit is not known: none is taken over";
        let hint = "write `ExecStart=` with kubelet itself, or its flags with `--with additions.yaml`: `kubelet: {flags: {…}}`";
        tell.warning(codes::FIELD_DIFFERS, at, message, hint);
    }
}

/// The variables of a unit, as far as the config has them. Those of a file go before those of the unit.
fn variables(settings: &[Setting], group: &Group) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for setting in settings.iter().filter(|setting| setting.key == "Environment") {
        for word in words(&setting.value) {
            if let Some((name, value)) = word.split_once('=') {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    for setting in settings.iter().filter(|setting| setting.key == "EnvironmentFile") {
        let path = setting.value.trim_start_matches('-');
        if ENVIRONMENTS.contains(&path) {
            variables.extend(group.variables.clone());
            continue;
        }
        let file = group.files.iter().find(|file| file.get("path").and_then(Node::text) == Some(path));
        // A text in the document writes `@@{` for what is no fact.
        let content = file.filter(|file| file.get("encoding").is_none()).and_then(|file| file.get("content"));
        let content = content.and_then(Node::text).unwrap_or_default().replace("@@{", "@{");
        let lines = content.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
        let pairs = lines.filter_map(|line| line.split_once('='));
        variables.extend(pairs.map(|(name, value)| (name.trim().to_owned(), words(value).join(" "))));
    }
    variables
}

/// The flags of kubelet in a command that runs it.
fn flags_in(setting: &Setting, variables: &BTreeMap<String, String>) -> Option<Vec<String>> {
    kubelet_words(&expanded_words(&setting.value, variables))
}

fn expanded_words(value: &str, variables: &BTreeMap<String, String>) -> Vec<String> {
    command_words(value).into_iter().flat_map(|word| expanded(word, variables)).collect()
}

/// A word that is a variable of the unit, as the words that it stands for.
fn expanded(word: String, variables: &BTreeMap<String, String>) -> Vec<String> {
    let name = word.strip_prefix('$').filter(|name| !name.starts_with('{'));
    if let Some(value) = name.and_then(|name| variables.get(name)) {
        return words(value);
    }
    let mut whole = word;
    for (name, value) in variables {
        whole = whole.replace(&format!("${{{name}}}"), value);
    }
    vec![whole]
}

fn kubelet_setting(
    setting: &Setting,
    variables: &BTreeMap<String, String>,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    let Setting { section, key, value, span } = setting;
    match (section.as_str(), key.as_str()) {
        (_, "Description" | "Documentation") | ("Install", _) | ("Service", "Type") => {}
        ("Service", "Restart") => {
            if !matches!(value.as_str(), "always" | "on-failure") {
                let message =
                    format!("`{key}={value}` is not kept: kubelet is started again whenever it ends");
                tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
            }
        }
        ("Service", "ExecStart") => {
            tell_prefix(setting, tell);
            if prefix(value).may_fail {
                let message =
                    "`-` before kubelet's command is not kept: a kubelet that fails is started again";
                tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
            }
        }
        ("Unit", "Requires" | "BindsTo" | "Requisite") if value.contains(BOOTSTRAP) => {
            let message = format!(
                "`{key}={value}` is not taken over: an agent that fails would take kubelet down with it"
            );
            tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done: kubelet requires the gate");
        }
        ("Service", "EnvironmentFile") if value.trim_start_matches('-') == KUBELET_ENV => {}
        ("Service", "Environment") => {
            let names: Vec<String> = words(value)
                .iter()
                .filter_map(|word| word.split_once('=').map(|(name, _)| name.to_owned()))
                .collect();
            let of_container = |name: &String| {
                name.starts_with("RKT_") || name.starts_with("KUBELET_IMAGE") || name == "KUBELET_ACI"
            };
            if !names.is_empty() && names.iter().all(of_container) {
                let message = format!(
                    "`{}` is for a kubelet in a container: kubelet is a program here",
                    names.join("`, `")
                );
                let hint = "say where kubelet comes from with `--with additions.yaml`: `software: {kubelet: {from: url, …}}`; by default it is in the image";
                tell.note(codes::DIFFERENCE, *span, message, hint);
            } else {
                group.kept.keep(section, key, value);
            }
        }
        ("Service", "ExecStartPre" | "ExecStartPost" | "ExecStop" | "ExecStopPost") => match known(value) {
            Known::Directories(paths) => {
                of_failure(setting, tell);
                directories(&paths, *span, group);
            }
            Known::Fetch(store, location, path) => {
                of_failure(setting, tell);
                fetched(&(store, location, path), *span, group, cluster, tell);
            }
            Known::Authority => of_authority(*span, tell),
            Known::Container => of_container(setting, tell),
            Known::Says => {}
            // Kubelet itself, in a container: its flags are read.
            Known::Other(_) if flags_in(setting, variables).is_some_and(|flags| !flags.is_empty()) => {
                of_container(setting, tell);
            }
            Known::Torcx(_) | Known::Mark(_) | Known::Other(_) => group.kept.keep(section, key, value),
        },
        ("Unit" | "Service", "StartLimitInterval" | "StartLimitIntervalSec" | "StartLimitBurst") => {
            let message = format!("`{key}={value}` is not kept: kubelet is started again without an end");
            tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
        }
        _ => group.kept.keep(section, key, value),
    }
}

fn of_authority(span: Span, tell: &mut Teller<'_>) {
    let message = "`/etc/kubernetes/ca.crt` is written from `api.certificateAuthority`, not taken out of the kubeconfig with grep";
    let hint = "say it with `--with additions.yaml`: `spec: {api: {endpoint: https://HOST, certificateAuthority: …}}`";
    let path = ["spec", "api", "certificateAuthority"];
    tell.note_of_missing(&path, (codes::DIFFERENCE, span), message, hint);
}

fn of_container(setting: &Setting, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    let message = format!("kubelet is a program here: `{key}={value}` has no container to look after");
    tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done");
}

fn directories(paths: &[String], span: Span, group: &mut Group) {
    for path in paths {
        let is_there =
            |known: &Node| known.get("path").and_then(Node::text) == Some(path.trim_end_matches('/'));
        if group.directories.iter().any(is_there) {
            continue;
        }
        let mut directory = Branch::new(span);
        directory.put("path", text(span, path.trim_end_matches('/')));
        group.directories.push(directory.into_node());
    }
}

/// The kubeconfig from a store; any other object has no digest here.
fn fetched(
    (store, location, path): &(String, String, String),
    span: Span,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    if store == "s3" && path == "/etc/kubernetes/kubeconfig" {
        group.on_aws = true;
        let mut source = Branch::new(span);
        source.put("s3", text(span, format!("s3://{location}")));
        // What is fetched goes before what a flag says of the place that it is fetched to.
        cluster.kubeconfig = Some(source.into_node());
        return;
    }
    let message = format!("`{location}` is not fetched to `{path}`: nothing says what its digest is");
    let hint = if path == "/etc/kubernetes/kubeconfig" {
        "say where the kubeconfig comes from with `--with additions.yaml`: `join: {method: kubeconfig, kubeconfig: {file: PATH}}`"
    } else {
        "write it as an asset with `--with additions.yaml`: `assets: [{name: NAME, urls: […], sha256: …, path: PATH}]`"
    };
    tell.warning(codes::FIELD_DIFFERS, span, message, hint);
}
