//! What a node does with user-data: files, units and commands, in cloud-init's order of stages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bringup_diag::{Finding, Findings, Place, Span};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::config::merged;
use crate::files::{File, Gap, Stopped, written};
use crate::handled::{Handled, handled};
use crate::jinja::revealed;
use crate::kind::{Kind, cleaned_name};
use crate::modules::{ModuleAct, acts};
use crate::part::Part;
use crate::schedule::{Run, schedule};
use crate::shell::{Command, commands};
use crate::units::{Unit, units};
use crate::{Datum, Decoded, codes};

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// While the parts are handled, before any module; at every boot.
    Boothook,
    /// `bootcmd`, in the network stage before files are written; at every boot too.
    Init,
    /// The configuration stage.
    Config,
    /// The final stage, once per instance.
    Final,
    /// A script of the final stage that runs at every boot.
    EveryBoot,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// When it runs.
    pub stage: Stage,
    /// What the shell or the kernel's exec sees: a line of a script that cloud-init makes, or the path of a script.
    pub run: String,
    /// The text of the script at that path.
    #[serde(skip)]
    pub script: Option<String>,
    /// Where the person wrote it.
    #[serde(skip)]
    pub at: Option<Place>,
}

/// All that a node does with user-data, as far as it is known before boot.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The files, by path.
    pub files: Vec<File>,
    /// Units that are written or enabled, by name.
    pub units: Vec<Unit>,
    /// The user's commands in the order in which they start.
    pub steps: Vec<Step>,
    /// What other modules are told to do, in their order.
    pub modules: Vec<ModuleAct>,
    /// Parts and modules that fail, keys that are lost, facts that only the node knows.
    pub findings: Findings,
}

impl File {
    /// The permission bits as people write them: `0644`.
    pub fn mode_text(&self) -> String {
        format!("{:04o}", self.mode)
    }

    /// The digest of the content, in hex.
    pub fn sha256(&self) -> String {
        Sha256::digest(&self.content).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl Serialize for File {
    /// As `inspect --output json` shows it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_struct("File", 5)?;
        file.serialize_field("path", &self.path)?;
        file.serialize_field("mode", &self.mode_text())?;
        file.serialize_field("owner", &self.owner)?;
        file.serialize_field("size", &self.content.len())?;
        file.serialize_field("sha256", &self.sha256())?;
        file.end()
    }
}

/// What the node does.
pub fn effects(decoded: &Decoded) -> Effects {
    if decoded.dropped_whole { Effects::default() } else { effects_of(&decoded.parts) }
}

/// What the node does with these parts.
pub fn effects_of(parts: &[Part]) -> Effects {
    let (handled, mut findings) = handled(parts);
    let merged = merged(parts, &handled);
    findings.append(merged.findings);
    let mut builder = Builder { parts, handled: &handled, config: &merged.config, findings };
    let mut steps = builder.boothooks();
    let mut files = Vec::new();
    let mut commands = None;
    let runs = schedule(&merged.config);
    let mut commands_before = Vec::new();
    for Run { module, stage, always } in &runs {
        let stage = if *always { Stage::EveryBoot } else { *stage };
        commands_before.push(steps.len());
        match module.as_str() {
            "bootcmd" => steps.extend(builder.items("bootcmd", Stage::Init).unwrap_or_default()),
            "write_files" | "write_files_deferred" => {
                if let Err(stopped) = written(&merged.config, module != "write_files", &mut files) {
                    builder.stopped(&stopped);
                }
                builder.reveal(&mut files);
            }
            // It writes the script that `scripts_user` runs.
            "runcmd" => commands = builder.items("runcmd", Stage::Final),
            "scripts_per_once" => steps.extend(builder.scripts(Kind::ScriptPerOnce, stage, None, &files)),
            "scripts_per_boot" => {
                steps.extend(builder.scripts(Kind::ScriptPerBoot, Stage::EveryBoot, None, &files));
            }
            "scripts_per_instance" => {
                steps.extend(builder.scripts(Kind::ScriptPerInstance, stage, None, &files));
            }
            "scripts_user" => steps.extend(builder.scripts(Kind::Script, stage, commands.take(), &files)),
            _ => {}
        }
    }
    builder.left_out(&runs);
    builder.oversized(&files);
    files.retain(|file| !is_cloud_init_state(&file.path));
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let units = units(&files, &steps);
    let modules = acts(&merged.config, runs.iter().zip(commands_before));
    Effects { files, units, steps, modules, findings: builder.findings }
}

/// What cloud-init keeps for itself: scripts that it runs and its own records, not files that anybody reads later.
fn is_cloud_init_state(path: &str) -> bool {
    path.strip_prefix("/var/lib/cloud/").is_some_and(|rest| {
        let first = rest.split('/').next().unwrap_or_default();
        matches!(first, "instance" | "instances" | "data" | "handlers" | "sem" | "seed")
            || rest.starts_with("scripts/per-")
            || rest.starts_with("scripts/vendor")
    })
}

struct Builder<'parts> {
    parts: &'parts [Part],
    handled: &'parts [Handled],
    config: &'parts Datum,
    findings: Findings,
}

impl Builder<'_> {
    fn place(&self, at: Option<(usize, Span)>) -> Option<Place> {
        let (number, span) = at?;
        self.handled.iter().find(|item| item.part == number)?.place(self.parts, span)
    }

    fn stopped(&mut self, stopped: &Stopped) {
        let finding = Finding::error(
            codes::WRITE_FILES,
            format!("{}: cloud-init stops here and writes none of the files below", stopped.message),
        )
        .hint(stopped.hint);
        let place = self.place(stopped.at);
        self.findings.push(match place {
            Some(place) => finding.at(place),
            None => finding,
        });
    }

    fn oversized(&mut self, files: &[File]) {
        for file in files.iter().filter(|file| file.gap == Gap::Oversized) {
            let finding = Finding::error(
                codes::TOO_LARGE,
                "`content` unpacks to more than 16 MiB and is not read further",
            )
            .hint("let the node fetch what is so large");
            let place = self.place(file.at);
            self.findings.push(match place {
                Some(place) => finding.at(place),
                None => finding,
            });
        }
    }

    /// They run one after the other while the message is walked; of equal names each runs.
    fn boothooks(&self) -> Vec<Step> {
        let hooks = self.handled.iter().filter(|item| item.kind == Kind::Boothook);
        hooks
            .filter_map(|item| {
                let name = cleaned_name(&self.parts.get(item.part)?.carried_as);
                let text = unix_lines(&item.text);
                let text = text.strip_prefix("#cloud-boothook").unwrap_or(&text).trim_start().to_owned();
                is_file_name(&name).then(|| Step {
                    stage: Stage::Boothook,
                    run: format!("/var/lib/cloud/instance/boothooks/{name}"),
                    script: Some(text),
                    at: item.place(self.parts, Span::point(1, 1)),
                })
            })
            .collect()
    }

    /// The items of `bootcmd` or `runcmd`; nothing if the module fails or the key is not there.
    fn items(&mut self, key: &str, stage: Stage) -> Option<Vec<Step>> {
        let list = self.config.get(key)?;
        match commands(list) {
            Ok(commands) => {
                let step = |Command { run, at }: Command| Step {
                    stage,
                    run: revealed(&run),
                    script: None,
                    at: self.place(at),
                };
                Some(commands.into_iter().map(step).collect())
            }
            Err(fault) => {
                let finding = fault.finding(key);
                let place = self.place(fault.at);
                self.findings.push(match place {
                    Some(place) => finding.at(place),
                    None => finding,
                });
                None
            }
        }
    }

    /// The scripts of a kind, by name; with the plain ones, the script that `runcmd` was made into.
    fn scripts(&self, kind: Kind, stage: Stage, commands: Option<Vec<Step>>, files: &[File]) -> Vec<Step> {
        let directory = match kind {
            Kind::ScriptPerOnce => "/var/lib/cloud/scripts/per-once",
            Kind::ScriptPerBoot => "/var/lib/cloud/scripts/per-boot",
            Kind::ScriptPerInstance => "/var/lib/cloud/scripts/per-instance",
            _ => "/var/lib/cloud/instance/scripts",
        };
        let scripts = self.directory(kind, directory, stage, files);
        let mut groups: BTreeMap<String, Vec<Step>> =
            scripts.into_iter().map(|(name, step)| (name, vec![step])).collect();
        if let Some(commands) = commands {
            let commands = commands.into_iter().map(|step| Step { stage, ..step });
            groups.insert("runcmd".to_owned(), commands.collect());
        }
        groups.into_values().flatten().collect()
    }

    /// Keys and scripts whose module the user-data's own lists leave out.
    fn left_out(&mut self, runs: &[Run]) {
        let runs_module = |name: &str| runs.iter().any(|run| run.module == name);
        for (key, module) in [
            ("bootcmd", "bootcmd"),
            ("write_files", "write_files"),
            ("runcmd", "runcmd"),
            ("runcmd", "scripts_user"),
        ] {
            let Some(value) = self.config.get(key).filter(|_| !runs_module(module)) else { continue };
            let finding = Finding::warning(
                codes::MODULE_LIST,
                format!("`{key}` does nothing: the lists of modules leave `{module}` out"),
            )
            .hint(format!("add `{module}` to the list, or leave the list to the image"));
            let place = self.place(value.at);
            self.findings.push(match place {
                Some(place) => finding.at(place),
                None => finding,
            });
        }
    }

    /// What a directory of scripts holds when it is run: parts, and what `write_files` put there.
    fn directory(&self, kind: Kind, directory: &str, stage: Stage, files: &[File]) -> BTreeMap<String, Step> {
        let mut scripts = BTreeMap::new();
        for item in self.handled.iter().filter(|item| item.kind == kind) {
            let Some(part) = self.parts.get(item.part) else { continue };
            let name = match kind {
                Kind::Script => cleaned_name(&part.carried_as),
                _ => cleaned_name(part.carried_as.rsplit('/').next().unwrap_or_default()),
            };
            if !is_file_name(&name) {
                continue;
            }
            let step = Step {
                stage,
                run: format!("{directory}/{name}"),
                script: Some(revealed(&unix_lines(&item.text))),
                at: item.place(self.parts, Span::point(1, 1)),
            };
            scripts.insert(name, step);
        }
        for file in files.iter().filter(|file| file.mode & 0o111 != 0) {
            let name = file.path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
            if let Some(name) = name.filter(|name| !name.contains('/')) {
                let step = Step {
                    stage,
                    run: file.path.clone(),
                    script: Some(String::from_utf8_lossy(&file.content).into_owned()),
                    at: self.place(file.at),
                };
                scripts.insert(name.to_owned(), step);
            }
        }
        scripts
    }

    fn reveal(&self, files: &mut [File]) {
        let templated =
            |number: usize| self.handled.iter().any(|item| item.part == number && item.below.is_none());
        for file in files.iter_mut().filter(|file| file.at.is_none_or(|(number, _)| templated(number))) {
            if let Ok(text) = std::str::from_utf8(&file.content) {
                let revealed = revealed(text);
                if revealed != text && file.gap == Gap::None {
                    file.gap = Gap::Expressions;
                }
                file.content = revealed.into_bytes();
            }
            file.path = revealed(&file.path);
        }
    }
}

/// cloud-init turns CRLF to LF if the first line ends so.
fn unix_lines(text: &str) -> String {
    let dos = text
        .find('\n')
        .and_then(|at| at.checked_sub(1))
        .is_some_and(|at| text.as_bytes().get(at) == Some(&b'\r'));
    if dos { text.replace("\r\n", "\n") } else { text.to_owned() }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
}
