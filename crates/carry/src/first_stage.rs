//! The first stage on cloud-init: a script that runs on every boot, puts the plan and our units in place and starts the
//! agent without waiting for it. Everything else is the agent's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Finding, Findings};
use bringup_plan::{Action, Content, InstallSource, Step, Unit};
use bringup_spec::{Fact, SwapPolicy};

use crate::budget::PartSize;
use crate::codes;
use crate::fetch::{Fetcher, Wanted, stub_files, wanted_agent, wanted_plan};
use crate::load::Load;
use crate::placed::{
    AGENT_UNIT, PLAN_PATH, PlacedFile, UNIT_DIRECTORY, carried_units, known_bytes, mode_bits, unit_files,
    unit_path, whole_lines,
};
use crate::shell::{delimiter, word};
use crate::shell_facts::{commands, filled, out_of_reach};
use crate::step_place::way_out;
use crate::step_runner;

/// The line by which the script is known again; the number is the version of its form.
pub(crate) const MARK: &str = "# bringup: first stage 1";

/// `place` makes a file whole or not at all: a boot that is cut short leaves the old one.
const PLACE: &str = r#"place() { # mode, path, owner; content on standard input
    mkdir -p "${2%/*}/"
    (umask 077 && cat >"$2.new")
    chmod "$1" "$2.new"
    if [ $# -gt 2 ]; then chown "$3" "$2.new"; fi
    mv -f "$2.new" "$2"
}
"#;

/// An image that enables kubelet has also queued it for this boot; the agent starts it when the gate opens, and without one
/// the unit that runs the steps.
fn unlinking(kubelet: &str) -> String {
    format!(
        "queued=\nfor link in {UNIT_DIRECTORY}/*.wants/{kubelet} {UNIT_DIRECTORY}/*.requires/{kubelet}; do\n    \
         if [ -L \"$link\" ]; then\n        rm -f \"$link\"\n        queued=yes\n    fi\ndone\n"
    )
}

/// What the first stage does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstStage {
    directories: Vec<(String, String, String)>,
    links: Vec<(String, String)>,
    files: Vec<PlacedFile>,
    masked: Vec<String>,
    enabled: Vec<String>,
    disabled: Vec<String>,
    restarted: Vec<String>,
    /// Files with facts in them, which the script fills in where there is no agent.
    filled: Vec<Filled>,
    /// The commands that learn those facts.
    learning: String,
    has_agent: bool,
    /// Whether kubelet waits for somebody who starts it: the agent, or the unit that runs steps.
    holds_kubelet: bool,
    /// The unit that kubelet runs in.
    kubelet: String,
}

/// A file whose text is known only on the node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filled {
    path: String,
    mode: u32,
    owner: String,
    /// Lines for the shell to put facts into.
    lines: String,
}

impl FirstStage {
    /// The first stage of a load. With `fetched`, the plan is not inside but fetched on the node.
    pub(crate) fn of(load: &Load<'_>, fetched: bool, findings: &mut Findings) -> Self {
        let has_agent = load.has_agent();
        let kubelet = load.plan.kubelet_unit();
        let mut stage = Self { has_agent, holds_kubelet: has_agent, kubelet, ..Self::default() };
        if stage.has_agent {
            let mut wanted: Vec<Wanted> = wanted_agent(load, findings).into_iter().collect();
            match fetched.then(|| wanted_plan(load, Fetcher::Stub)).flatten() {
                Some(plan) => wanted.push(plan),
                None => stage.files.push(PlacedFile::new(PLAN_PATH, 0o600, load.plan_json())),
            }
            stage.files.extend(stub_files(load, &wanted));
        } else {
            stage.without_agent(load, findings);
        }
        for unit in &carried_units(load) {
            stage.unit(unit);
        }
        stage
    }

    fn unit(&mut self, unit: &Unit) {
        self.files.extend(unit_files(unit));
        let aliases = unit.aliases.iter().map(|alias| (unit_path(alias), unit_path(&unit.name)));
        self.links.extend(aliases);
        if unit.mask {
            self.masked.push(unit.name.clone());
        } else if unit.name != AGENT_UNIT {
            // The agent's own unit is started below on every boot; kubelet's must not start by itself.
            match unit.enabled {
                Some(true) => self.enabled.push(unit.name.clone()),
                // What we place is not enabled before we do it; only a unit of the image can be.
                Some(false) if unit.content.is_none() && unit.name != self.kubelet => {
                    self.disabled.push(unit.name.clone());
                }
                Some(false) | None => {}
            }
        }
    }

    /// What can be done without an agent is done here; the rest is told.
    fn without_agent(&mut self, load: &Load<'_>, findings: &mut Findings) {
        let mut facts = BTreeSet::new();
        for step in &load.plan.steps {
            if let Some(finding) = step_runner::refused(load, step) {
                findings.push(finding);
            } else if !step_runner::runs(load, step)
                && let Err(why) = self.take(load, step, &mut facts)
            {
                findings.push(agent_needed(load, step, &why));
            }
        }
        findings.extend(step_runner::hooks_of_nobody(load));
        if step_runner::has_runner(load) {
            self.files.push(step_runner::script(load));
            self.holds_kubelet = true;
        }
        self.learning = commands(load, &facts).unwrap_or_default();
    }

    /// What somebody wants in place on an image whose own agent does the rest; nothing if that is nothing. Why a step
    /// cannot be done goes to `lost`.
    pub(crate) fn of_operator<'step>(
        load: &Load<'_>,
        steps: impl Iterator<Item = &'step Step>,
        units: &[Unit],
        lost: &mut dyn FnMut(&Step, &str),
    ) -> Option<Self> {
        let mut stage = Self::default();
        let mut facts = BTreeSet::new();
        for step in steps {
            if let Err(why) = stage.take(load, step, &mut facts) {
                lost(step, &why);
            }
        }
        stage.learning = commands(load, &facts).unwrap_or_default();
        for unit in units {
            stage.unit(unit);
        }
        (stage != Self::default()).then_some(stage)
    }

    /// Takes up what a step does, where a script can do it; else says why not.
    fn take(&mut self, load: &Load<'_>, step: &Step, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        match &step.action {
            Action::WriteFile { .. } | Action::MakeDirectory { .. } if !step.action.is_placeable() => {
                return Err("its owner may not be there yet".to_owned());
            }
            Action::WriteFile { path, mode, owner, content } => {
                let (path, mode, owner) = (path.clone(), mode_bits(mode, 0o644), owner.clone());
                match (known_bytes(content), content) {
                    (Some(content), _) => self.files.push(PlacedFile { path, mode, owner, content }),
                    (None, Content::Text(text)) => {
                        if let Some(fact) = out_of_reach(load, text.facts()) {
                            return Err(format!("nothing else learns the fact `{fact}`"));
                        }
                        facts.extend(text.facts().cloned());
                        let mut lines = filled(text);
                        if !lines.ends_with('\n') {
                            lines.push('\n');
                        }
                        self.filled.push(Filled { path, mode, owner, lines });
                    }
                    (None, Content::Merged { .. }) => {
                        return Err("it lays the document's settings over the image's".to_owned());
                    }
                    (None, _) => return Err("it holds a secret".to_owned()),
                }
            }
            Action::MakeDirectory { path, mode, owner } => {
                self.directories.push((path.clone(), mode.clone(), owner.clone()));
            }
            Action::MakeLink { path, target } => self.links.push((path.clone(), target.clone())),
            Action::LoadModules { modules } => {
                self.files.push(modules_file(modules));
                self.restarted.push("systemd-modules-load.service".to_owned());
            }
            Action::SetSysctls { settings, optional } => {
                self.files.push(sysctls_file(settings, optional));
                self.restarted.push("systemd-sysctl.service".to_owned());
            }
            Action::StartUnit { unit, .. } => self.restarted.push(unit.clone()),
            action => return why_agent(action).map_or(Ok(()), |why| Err(why.to_owned())),
        }
        Ok(())
    }

    /// The files that it places.
    pub(crate) fn files(&self) -> &[PlacedFile] {
        &self.files
    }

    /// The files that it fills in on the node.
    pub(crate) fn open_paths(&self) -> impl Iterator<Item = &str> {
        self.filled.iter().map(|file| file.path.as_str())
    }

    /// The directories that it makes.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().map(|(path, ..)| path.as_str())
    }

    /// The links that it makes: path and target.
    pub(crate) fn links(&self) -> &[(String, String)] {
        &self.links
    }

    /// The script, for a part of its own, and what each file takes of it.
    pub(crate) fn script(&self) -> (String, Vec<PartSize>) {
        self.after("#!/bin/sh\n")
    }

    /// The commands, for a list of commands that go on after them: a subshell, so that nothing leaks out of it. With
    /// them, what each file takes, and what is around.
    pub(crate) fn commands(&self) -> (String, Vec<PartSize>) {
        self.after("")
    }

    fn after(&self, head: &str) -> (String, Vec<PartSize>) {
        let lines: Vec<Option<&str>> = self.files.iter().map(PlacedFile::lines).collect();
        let contents =
            lines.iter().flatten().copied().chain(self.filled.iter().map(|file| file.lines.as_str()));
        let end = delimiter(&contents.collect::<Vec<&str>>());
        let mut sizes = Vec::with_capacity(self.files.len().saturating_add(1));
        let mut script = format!("{head}{MARK}\n(\nset -eu\n");
        script.push_str(
            "trap 'test $? = 0 || echo \"bringup: the first stage failed, see /var/log/cloud-init-output.log\" >/dev/console' EXIT\n",
        );
        script.push_str(PLACE);
        for (path, mode, owner) in &self.directories {
            let (path, owner) = (word(path), word(owner));
            let _ = writeln!(script, "mkdir -p {path}\nchmod {mode} {path}\nchown {owner} {path}");
        }
        for (path, target) in &self.links {
            if let Some((parent, _)) = path.rsplit_once('/')
                && !parent.is_empty()
                && parent != UNIT_DIRECTORY
            {
                let _ = writeln!(script, "mkdir -p {}", word(parent));
            }
            let _ = writeln!(script, "ln -sfn {} {}", word(target), word(path));
        }
        for (file, lines) in self.files.iter().zip(lines) {
            let before = script.len();
            place(&mut script, file, lines, &end);
            sizes.push(PartSize::new(&file.path, script.len().saturating_sub(before)));
        }
        script.push_str(&self.learning);
        for file in &self.filled {
            let before = script.len();
            let command = placing(file.mode, &file.path, &file.owner);
            let _ = write!(script, "{command} <<{end}\n{}{end}\n", file.lines);
            sizes.push(PartSize::new(&file.path, script.len().saturating_sub(before)));
        }
        for name in &self.masked {
            let _ = writeln!(script, "ln -sfn /dev/null {}", word(&unit_path(name)));
        }
        if self.holds_kubelet {
            script.push_str(&unlinking(&self.kubelet));
        }
        script.push_str("systemctl daemon-reload\n");
        if self.holds_kubelet {
            let _ = writeln!(
                script,
                "if [ -n \"$queued\" ]; then systemctl stop --no-block {}; fi",
                self.kubelet
            );
        }
        if self.has_agent {
            let _ = writeln!(script, "systemctl start --no-block {AGENT_UNIT}");
        }
        for name in &self.restarted {
            let _ = writeln!(script, "systemctl restart --no-block {}", word(name));
        }
        for name in &self.disabled {
            let _ = writeln!(script, "systemctl disable {}", word(name));
        }
        // A unit that is enabled now was not yet when this boot was planned.
        for name in &self.enabled {
            let left = if Unit::is_kernels_mount(name) { " || :" } else { "" };
            let name = word(name);
            let _ = writeln!(script, "systemctl enable {name}\nsystemctl start --no-block {name}{left}");
        }
        script.push_str(")\n");
        let files: usize = sizes.iter().map(|size| size.bytes).sum();
        sizes.push(PartSize::new("first stage", script.len().saturating_sub(files)));
        (script, sizes)
    }
}

/// The commands that place one file, as lines where it is made of them.
fn place(script: &mut String, file: &PlacedFile, lines: Option<&str>, end: &str) {
    let command = placing(file.mode, &file.path, &file.owner);
    let _ = if let Some(text) = lines {
        write!(script, "{command} <<'{end}'\n{text}{end}\n")
    } else {
        let encoded = BASE64_STANDARD.encode(&file.content);
        write!(script, "base64 -d <<'{end}' | {command}\n{encoded}\n{end}\n")
    };
}

fn placing(mode: u32, path: &str, owner: &str) -> String {
    let mut command = format!("place {mode:04o} {}", word(path));
    if owner != "root:root" {
        let _ = write!(command, " {}", word(owner));
    }
    command
}

/// Kernel modules to load at every boot.
pub(crate) fn modules_file(modules: &[String]) -> PlacedFile {
    PlacedFile::new("/etc/modules-load.d/90-bringup.conf", 0o644, whole_lines(&modules.join("\n")))
}

/// Kernel settings to set at every boot.
pub(crate) fn sysctls_file(settings: &BTreeMap<String, String>, optional: &BTreeSet<String>) -> PlacedFile {
    let text = bringup_plan::sysctls_file(settings, optional);
    PlacedFile::new("/etc/sysctl.d/90-bringup.conf", 0o644, text)
}

/// Why an action cannot do without the agent; nothing, if it is the agent's own business or there is nothing to do.
pub(crate) fn why_agent(action: &Action) -> Option<&'static str> {
    match action {
        Action::Fetch { .. } => Some("it fetches something"),
        Action::Install { source, .. } => {
            (*source != InstallSource::Image).then_some("it installs something")
        }
        Action::RemoveOldData { .. } => Some("it removes what an old runtime left"),
        Action::SetKernelArguments { .. } => Some("it sets kernel arguments"),
        Action::SetSwap { policy, .. } => (*policy != SwapPolicy::Keep).then_some("it changes swap"),
        Action::UpdateOs { .. } => Some("it updates the operating system"),
        Action::Reboot { always } => always.then_some("it reboots the machine"),
        Action::Signal { .. } => Some("it tells somebody how it ended"),
        Action::TrustAuthorities { .. } => Some("it adds to the system's bundle of authorities"),
        Action::KeepAddresses { .. } => Some("it looks a name up"),
        Action::AwaitRegistration { check_skew, .. } => {
            check_skew.then_some("it asks the API server for its version")
        }
        // Programs have a unit of their own, or are refused by name.
        Action::Run { .. }
        | Action::LearnFacts
        | Action::WriteFile { .. }
        | Action::MakeDirectory { .. }
        | Action::MakeLink { .. }
        | Action::LoadModules { .. }
        | Action::SetSysctls { .. }
        | Action::StartUnit { .. }
        | Action::PlaceUnits
        | Action::OpenGate { .. }
        | Action::StartKubelet { .. }
        | Action::Report => None,
    }
}

/// The finding for a step that has nobody to do it.
pub(crate) fn agent_needed(load: &Load<'_>, step: &Step, why: &str) -> Finding {
    let message = format!("step `{}` cannot be done without the agent: {why}", step.name);
    Finding::error(codes::AGENT_NEEDED, message).at(load.place("agent")).hint(way_out(load, step))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::FirstStage;
    use crate::placed::PlacedFile;
    use crate::stage_files::read_files;

    fn files() -> impl Strategy<Value = Vec<PlacedFile>> {
        let content = prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..60),
            "([a-z$`'\"\\\\é ]{0,12}\n|BRINGUP_END\n|BRINGUP_END_1\n|place 0644 /x <<'E'\n){0,6}"
                .prop_map(String::into_bytes),
        ];
        let owner = prop_oneof![Just("root:root".to_owned()), Just("0:500".to_owned())];
        let file = ("/[a-z' \\\\é./-]{1,20}", 0_u32..0o10000, owner, content)
            .prop_map(|(path, mode, owner, content)| PlacedFile { path, mode, owner, content });
        proptest::collection::vec(file, 0..5)
    }

    proptest! {
        #[test]
        fn what_a_first_stage_places_is_read_back(files in files()) {
            let stage = FirstStage { files: files.clone(), has_agent: true, ..FirstStage::default() };
            prop_assert_eq!(read_files(&stage.script().0), Some(files));
        }
    }
}
