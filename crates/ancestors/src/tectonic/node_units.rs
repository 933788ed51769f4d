//! `k8s-node-bootstrap.service` and `kubelet.service`: what the agent does itself is read out of them, the rest is kept in
//! drop-ins.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::commands::{Known, known, kubelet_words, tell_files, tell_prefix, tell_variables};
use super::flags;
use super::group::{Around, Cluster, Group, Kept};
use super::known_files::{ENVIRONMENTS, image_of, tag};
use super::torcx;
use super::unit_text::{Setting, seconds};
use super::words::{
    Variables, Word, assignments, command_words, file_variables, prefix, specified, variables_of,
};
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
    let around = around(settings, group, tell);
    let marks = |path: &str| {
        let made = Known::Mark(path.to_owned());
        settings.iter().any(|setting| known(&setting.value, &around.variables) == made)
    };
    for (index, setting) in settings.iter().enumerate() {
        let Setting { section, key, value, span } = setting;
        match (section.as_str(), key.as_str()) {
            // The agent's own unit has these, and is no worse for it.
            (_, "Description" | "Documentation")
            | ("Install", _)
            | ("Service", "Type" | "RemainAfterExit" | "Restart" | "RestartSec") => {}
            ("Unit", "ConditionPathExists") if value.strip_prefix('!') == Some(KUBELET_ENV) => {}
            ("Unit", "ConditionPathExists") if value.strip_prefix('!').is_some_and(marks) => {
                let message =
                    format!("`{key}={value}` is not kept: the agent knows by its journal what is done");
                tell.note(codes::DIFFERENCE, *span, message, "nothing has to be done: the mark is made");
            }
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
                if let (Some(limit), true) = (seconds(value), torcx::upgrades(settings)) {
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
                let before = settings.get(..index).unwrap_or_default();
                bootstrap_command(setting, before, &around, group, cluster, tell);
            }
            ("Service", "User" | "Group") => {
                if value != "root" {
                    let message =
                        format!("`{key}={value}` is not kept: the agent, and what it runs, is root");
                    let hint = "write the account into the command: `/usr/bin/runuser -u NAME -- …`";
                    tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
                }
            }
            // What the unit runs runs there; the agent looks at no directory.
            ("Service", "WorkingDirectory") if around.directory.is_some() => {}
            _ => kept.keep(section, key, value),
        }
    }
    kept
}

/// What the commands of the unit find around them.
fn around(settings: &[Setting], group: &Group, tell: &mut Teller<'_>) -> Around {
    let mut around = Around { variables: variables(settings, group), directory: None };
    let last = settings.iter().rfind(|setting| setting.key == "WorkingDirectory");
    around.directory = last
        .map(|setting| specified(setting.value.trim_start_matches('-')))
        .filter(|path| path.is_known && path.text.starts_with('/'))
        .map(|path| path.text);
    for setting in settings.iter().filter(|setting| setting.key == "EnvironmentFile") {
        let Setting { key, value, span, .. } = setting;
        if variables_in(value.trim_start_matches('-'), group).is_none() && has_steps(settings, &around) {
            let message = format!("what the unit runs does not see the variables of `{key}={value}`");
            let hint = "give the file in the config, or let the program read it itself";
            tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
        }
    }
    for setting in settings.iter().filter(|setting| setting.key == "Environment") {
        let Setting { key, value, span, .. } = setting;
        if assignments(value).iter().any(|(_, value)| !value.is_known) && has_steps(settings, &around) {
            let message =
                format!("what the unit runs has `{key}={value}` as it is written: nothing is put in for `%`");
            tell.warning(codes::FIELD_DIFFERS, *span, message, "write the value");
        }
    }
    around
}

/// Whether the unit runs something that is not the agent's own work.
fn has_steps(settings: &[Setting], around: &Around) -> bool {
    settings.iter().any(|setting| {
        matches!(setting.key.as_str(), "ExecStartPre" | "ExecStart" | "ExecStartPost")
            && matches!(known(&setting.value, &around.variables), Known::Other(_))
    })
}

fn bootstrap_command(
    setting: &Setting,
    before: &[Setting],
    around: &Around,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    let Setting { key, value, span, .. } = setting;
    let span = *span;
    let words = match known(value, &around.variables) {
        Known::Directories(made) if !made.follow(before) => {
            of_failure(setting, tell);
            return made.put(span, group, tell);
        }
        Known::Fetch(store, location, path) => {
            of_failure(setting, tell);
            return fetched(&(store, location, path), span, group, cluster, tell);
        }
        Known::Torcx(flags) => {
            of_failure(setting, tell);
            return torcx::take(&flags, span, group, cluster, tell);
        }
        Known::Authority => return of_authority(span, tell),
        Known::Container => return of_container(setting, tell),
        // The agent writes the variables, and not before kubelet may start.
        Known::Says | Known::Environment => return,
        Known::Mark(path) if path == KUBELET_ENV => return,
        Known::StartsKubelet(others) => {
            let message = format!(
                "`{key}={value}` does not start kubelet: the gate does, once all that comes before it is done"
            );
            tell.note(codes::DIFFERENCE, span, message, "nothing has to be done");
            if others.is_empty() {
                return;
            }
            others
        }
        Known::Directories(_) | Known::Mark(_) | Known::Other(_) => {
            command_words(value, &around.variables).into_iter().map(|word| word.text).collect()
        }
    };
    tell_prefix(setting, tell);
    tell_variables(setting, &around.variables, tell);
    tell_files(setting, tell);
    if words.iter().any(|word| word.contains(KUBELET_ENV)) {
        let message =
            format!("`{key}={value}` does not find `{KUBELET_ENV}`, which is written when the gate opens");
        let hint = "say what is to be in it with `--with additions.yaml`: `kubelet: {environment: {…}}`";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    }
    group.step("node-bootstrap", &words, prefix(value).may_fail, around, span);
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
    let tagged = variables.get("KUBELET_IMAGE_TAG").and_then(|value| tag(&value.text));
    let image = || {
        let commands = settings.iter().filter(|setting| setting.key.starts_with("ExecStart"));
        commands
            .flat_map(|setting| command_words(&setting.value, &variables))
            .find_map(|word| image_of(&word.text))
    };
    if let Some(version) = tagged.or_else(image) {
        cluster.say_version(&version, at, tell);
    }
    for (index, setting) in settings.iter().enumerate() {
        let before = settings.get(..index).unwrap_or_default();
        kubelet_setting(setting, before, &variables, group, cluster, tell);
    }
    // The last command counts; a container may be started before the command that only watches it.
    let commands = ["ExecStart", "ExecStartPre"].into_iter().flat_map(|key| {
        settings.iter().rev().filter(move |setting| setting.key == key && !setting.value.is_empty())
    });
    let found = commands.filter_map(|setting| Some((setting.span, flags_in(setting, &variables)?)));
    let mut found: Vec<(Span, Vec<Word>)> = found.collect();
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
fn variables(settings: &[Setting], group: &Group) -> Variables {
    let mut variables = variables_of(settings);
    for setting in settings.iter().filter(|setting| setting.key == "EnvironmentFile") {
        variables.extend(variables_in(setting.value.trim_start_matches('-'), group).unwrap_or_default());
    }
    variables
}

/// The variables of a file, if the config has it.
fn variables_in(path: &str, group: &Group) -> Option<Variables> {
    if ENVIRONMENTS.contains(&path) {
        let known = group.variables.iter();
        return Some(known.map(|(name, value)| (name.clone(), Word::known(value.as_str()))).collect());
    }
    let file = group.files.iter().find(|file| file.get("path").and_then(Node::text) == Some(path));
    // A text in the document writes `@@{` for what is no fact.
    let content = file.filter(|file| file.get("encoding").is_none()).and_then(|file| file.get("content"));
    let content = content.and_then(Node::text)?.replace("@@{", "@{");
    let pairs = file_variables(&content).into_iter();
    Some(pairs.filter_map(|(name, value)| Some((name, Word::known(value?)))).collect())
}

/// The flags of kubelet in a command that runs it.
fn flags_in(setting: &Setting, variables: &Variables) -> Option<Vec<Word>> {
    kubelet_words(&command_words(&setting.value, variables))
}

fn kubelet_setting(
    setting: &Setting,
    before: &[Setting],
    variables: &Variables,
    group: &mut Group,
    cluster: &mut Cluster,
    tell: &mut Teller<'_>,
) {
    let Setting { section, key, value, span } = setting;
    let command = known(value, &Variables::new());
    let starts = key.starts_with("ExecStart");
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
            let names: Vec<String> = assignments(value).into_iter().map(|(name, _)| name).collect();
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
        ("Service", "ExecStartPre" | "ExecStartPost" | "ExecStop" | "ExecStopPost") => match command {
            // What is gone when kubelet starts again is made where it starts.
            Known::Directories(made) if starts && !made.are_volatile() && !made.follow(before) => {
                of_failure(setting, tell);
                made.put(*span, group, tell);
            }
            Known::Fetch(store, location, path) if starts => {
                of_failure(setting, tell);
                fetched(&(store, location, path), *span, group, cluster, tell);
            }
            Known::Authority => of_authority(*span, tell),
            Known::Container => of_container(setting, tell),
            Known::Says | Known::Environment => {}
            // Kubelet itself, in a container: its flags are read.
            Known::Other(_) if flags_in(setting, variables).is_some_and(|flags| !flags.is_empty()) => {
                of_container(setting, tell);
            }
            _ => {
                tell_files(setting, tell);
                group.kept.keep(section, key, value);
            }
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
