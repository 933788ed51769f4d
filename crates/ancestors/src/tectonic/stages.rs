//! `bootkube.path` and `.service`, `tectonic.path` and `.service`: the two stages of the master that starts the cluster.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::commands::{Known, known, tell_prefix, tell_variables};
use super::group::literal;
use super::unit_text::{Setting, seconds};
use super::words::{Word, assignments, command_words, prefix, specified, variables_of};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// What the two units of a stage say.
#[derive(Debug, Default)]
pub(super) struct Stage<'a> {
    pub(super) path: Option<&'a [Setting]>,
    pub(super) service: Option<(&'a [Setting], Span)>,
}

/// A command of a stage.
struct Command {
    words: Vec<String>,
    span: Span,
    may_fail: bool,
    /// Whether it is what the unit is there for, and not before or after that.
    is_main: bool,
}

impl Stage<'_> {
    /// The stage; `name` is that of its units.
    pub(super) fn translated(&self, name: &str, tell: &mut Teller<'_>) -> Option<Node> {
        let Some((service, span)) = self.service else {
            if let Some(first) = self.path.and_then(<[Setting]>::first) {
                let message = format!("`{name}.path` starts `{name}.service`, which is not there");
                tell.error(codes::MISSING, first.span, message, format!("give `{name}.service` too"));
            }
            return None;
        };
        let message = format!(
            "`{name}.path` and `{name}.service` are the agent's: both look at the mark, so that no boot runs into a service that will not start, and what failed is tried again"
        );
        tell.note(codes::DIFFERENCE, span, message, "nothing has to be done");
        if !service.iter().any(|setting| setting.key == "Type" && setting.value == "oneshot") {
            let message = format!(
                "`{name}.service` is no `Type=oneshot`: its stage is done when its command has ended"
            );
            tell.note(codes::DIFFERENCE, span, message, "nothing has to be done");
        }
        let mut commands: Vec<Command> = Vec::new();
        let own = variables_of(service);
        // What a command of the unit makes and a condition of it looks at says only that it is done.
        let marks = |path: &str| {
            service.iter().any(|setting| known(&setting.value, &own) == Known::Mark(path.to_owned()))
        };
        let looks_for = |path: &str| {
            let condition = format!("!{path}");
            service.iter().any(|setting| setting.key == "ConditionPathExists" && setting.value == condition)
        };
        let mut directory = None;
        let mut limit = None;
        let mut variables = Vec::new();
        for setting in service {
            let Setting { section, key, value, span } = setting;
            let done = format!("/opt/tectonic/init_{name}.done");
            match (section.as_str(), key.as_str()) {
                // The agent's own unit has these, and is no worse for it.
                (_, "Description" | "Documentation")
                | ("Install", _)
                | ("Service", "Type" | "RemainAfterExit" | "Restart" | "RestartSec") => {}
                ("Unit", "ConditionPathExists") if *value == format!("!{done}") => {}
                ("Unit", "ConditionPathExists") if value.strip_prefix('!').is_some_and(&marks) => {
                    let message = format!("the mark of `{name}.service` is `{done}`, not `{value}`");
                    tell.note(codes::DIFFERENCE, *span, message, "let others look there");
                }
                ("Unit", "Wants" | "After" | "Requires") if is_own_order(value) => {}
                ("Service", "User" | "Group") if value == "root" => {}
                ("Service", "WorkingDirectory") if absolute(value).is_some() => {
                    directory = absolute(value).map(|path| text(*span, path));
                }
                ("Service", "Environment") if assignments(value).iter().all(|(_, word)| word.is_known) => {
                    let pair = |(name, word): (String, Word)| format!("{name}={}", word.text);
                    variables.extend(assignments(value).into_iter().map(pair));
                }
                ("Service", "TimeoutStartSec" | "TimeoutSec") => {
                    limit = seconds(value).map(|limit| plain(*span, format!("{limit}s")));
                }
                ("Service", "ExecCondition" | "ExecStartPre" | "ExecStart" | "ExecStartPost") => {
                    match known(value, &own) {
                        Known::Mark(path) if path == done || looks_for(&path) => continue,
                        Known::Says => continue,
                        _ => {}
                    }
                    tell_prefix(setting, tell);
                    tell_variables(setting, &own, tell);
                    if key == "ExecCondition" {
                        let message = format!(
                            "`{key}={value}` ends an attempt of the stage, which is made again: systemd would pass over `{name}.service`"
                        );
                        let hint = "say which machine starts the cluster with `--with additions.yaml`: `bootstrap: {fact: …, equals: …}`";
                        tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
                    }
                    let words = command_words(value, &own).into_iter().map(|word| word.text).collect();
                    let may_fail = prefix(value).may_fail;
                    commands.push(Command { words, span: *span, may_fail, is_main: key == "ExecStart" });
                }
                _ => {
                    let message = format!(
                        "`{key}={value}` of `{name}.service` is not carried out: the node may differ"
                    );
                    let hint = "put it into the program that the stage runs, or into a drop-in of the unit: `units: [{name: …, dropIns: […]}]`";
                    tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
                }
            }
        }
        let Some(first) = commands.first() else {
            let message = format!("`{name}.service` runs nothing");
            tell.error(codes::MISSING, span, message, "give the unit with its `ExecStart=`");
            return None;
        };
        let (run, awaited) = (run(&commands, &variables, first.span), self.awaited(&commands, name, tell));
        let mut stage = Branch::new(span);
        stage.put("run", run);
        stage.put_full("waitFor", list(span, awaited));
        stage.put_some("directory", directory);
        // A oneshot has no limit; nobody looks at what takes longer.
        stage.put("timeout", limit.unwrap_or_else(|| plain(span, "1h")));
        Some(stage.into_node())
    }

    /// What the path unit waits for; without one, the script that is run.
    fn awaited(&self, commands: &[Command], name: &str, tell: &mut Teller<'_>) -> Vec<Node> {
        let Some(path) = self.path else {
            let main = commands.iter().filter(|command| command.is_main);
            let scripts = main.flat_map(|main| main.words.iter().map(|word| (word, main.span)));
            let scripts = scripts.filter(|(word, _)| word.starts_with("/opt/"));
            return scripts.take(1).map(|(word, span)| text(span, word.as_str())).collect();
        };
        let mut awaited = Vec::new();
        for Setting { section, key, value, span } in path {
            match (section.as_str(), key.as_str()) {
                (_, "Description" | "Documentation") | ("Install", _) | ("Path", "Unit") => {}
                ("Path", "PathExists") if absolute(value).is_some() => {
                    awaited.extend(absolute(value).map(|path| text(*span, path)));
                }
                ("Unit", "ConditionPathExists") if *value == format!("!/opt/tectonic/init_{name}.done") => {}
                _ => {
                    let message = format!("`{key}={value}` of `{name}.path` is not carried out");
                    let hint = "wait for a file with `PathExists=`; better for a list of digests, with `--with additions.yaml`: `waitFor: [{manifest: PATH}]`";
                    tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
                }
            }
        }
        awaited
    }
}

/// What a unit runs, and where, as fields of a stage.
pub(super) fn advice(service: &[Setting]) -> String {
    let last = |key: &str| service.iter().rfind(|setting| setting.key == key && !setting.value.is_empty());
    let words = last("ExecStart").map(|setting| command_words(&setting.value, &variables_of(service)));
    let quoted: Vec<String> =
        words.unwrap_or_default().iter().map(|word| format!("{:?}", word.text)).collect();
    let run = if quoted.is_empty() { "COMMAND".to_owned() } else { quoted.join(", ") };
    let directory = last("WorkingDirectory").map(|setting| format!(", directory: {:?}", setting.value));
    format!("run: [{run}]{}", directory.unwrap_or_default())
}

/// A path with what systemd puts in for `%`; none if only the machine knows it, or what is asked for is none. A directory
/// that need not be there has a `-` before it.
fn absolute(value: &str) -> Option<String> {
    let path = specified(value.trim_start_matches('-'));
    (path.is_known && path.text.starts_with('/')).then_some(path.text)
}

/// Kubelet, then bootkube, then tectonic: that is the agent's order too.
fn is_own_order(value: &str) -> bool {
    let own = ["kubelet.service", "bootkube.service", "k8s-node-bootstrap.service", "init-assets.service"];
    value.split_whitespace().all(|name| own.contains(&name))
}

/// One command as it is; several, one that may fail, or one with variables, in a shell that ends at the first that fails.
fn run(commands: &[Command], variables: &[String], span: Span) -> Node {
    let mut words: Vec<String> = Vec::new();
    if !variables.is_empty() {
        words.push("/usr/bin/env".to_owned());
        words.extend(variables.iter().cloned());
    }
    if let [Command { words: only, may_fail: false, .. }] = commands {
        words.extend(only.iter().cloned());
    } else {
        let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
        let line = |command: &Command| {
            let line = command.words.iter().map(quoted).collect::<Vec<_>>().join(" ");
            if command.may_fail { format!("{line} || true") } else { line }
        };
        let lines: Vec<String> = commands.iter().map(line).collect();
        words.extend(["/bin/sh".to_owned(), "-ec".to_owned(), lines.join("\n")]);
    }
    list(span, words.iter().map(|word| literal(span, word)).collect())
}
