//! What a step would do to this machine now.

use std::collections::BTreeSet;
use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_disk::Kind;
use bringup_plan::{Action, Content, GATE_FILE, InstallSource, PlacedBy, Plan, Unit, max_pods};
use bringup_progress::{Order, State};
use bringup_spec::Text;
use bringup_systemd::{Activity, Systemd};
use serde::Serialize;

use crate::actions::units::UNITS;
use crate::actions::{kernel, merged};
use crate::difference::unified;
use crate::machine::Machine;
use crate::{places, runtime_data, snapd};

/// What a step would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Preview {
    /// What, in the words of a person: empty if it would only look.
    pub(crate) does: Vec<String>,
    /// Files that would be another afterwards.
    pub(crate) files: Vec<FileChange>,
}

/// A file that would be another afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    /// The unified difference; none where it is nobody's business.
    pub(crate) diff: Option<String>,
}

impl Preview {
    /// Whether anything would change.
    pub(crate) fn changes(&self) -> bool {
        !self.does.is_empty() || !self.files.is_empty()
    }

    /// Paths that would change.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    fn doing(what: impl Into<String>) -> Self {
        Self { does: vec![what.into()], files: Vec::new() }
    }

    fn nothing() -> Self {
        Self::default()
    }
}

/// What an action, with facts filled in, would do to this machine.
pub(crate) fn preview(machine: &Machine, plan: &Plan, action: &Action, order: &Order) -> Preview {
    let eyes = Eyes { machine };
    let acts = machine.is_itself();
    let if_it_acts = |what: String| if acts { Preview::doing(what) } else { Preview::nothing() };
    match action {
        Action::LearnFacts
        | Action::AwaitRegistration { .. }
        | Action::Report
        | Action::Install { source: InstallSource::Image, .. } => Preview::nothing(),
        Action::WriteFile { path, mode, content, .. } => eyes.file(path, mode, content),
        Action::MakeDirectory { path, mode, .. } => {
            let entry = eyes.look(path);
            match entry {
                Some(entry) if entry.kind == Kind::Directory && format!("{:04o}", entry.mode) == *mode => {
                    Preview::nothing()
                }
                Some(_) => Preview::doing(format!("sets the permissions of `{path}` to {mode}")),
                None => Preview::doing(format!("makes the directory `{path}`")),
            }
        }
        Action::MakeLink { path, target } => eyes.link(path, target),
        Action::Install { source: InstallSource::Package { package }, .. } => {
            if_it_acts(format!("installs the package `{package}`"))
        }
        Action::Fetch { urls, path, .. }
        | Action::Install {
            source: InstallSource::Url { urls, path, .. } | InstallSource::Extension { urls, path, .. },
            ..
        } => fetches(urls, path),
        Action::RemoveOldData { directories } => {
            let files = machine.files();
            let old = directories.iter().filter(|path| runtime_data::has_old(files, Path::new(path)));
            let old: Vec<String> = old.map(|path| format!("`{path}`")).collect();
            if old.is_empty() {
                return Preview::nothing();
            }
            Preview::doing(format!("removes what was set aside of {}", old.join(" and ")))
        }
        Action::TrustAuthorities { bundle } => {
            let content = eyes.read(bundle);
            let missing = plan.certificate_authorities.iter().any(|wanted| !content.contains(wanted.trim()));
            if missing { Preview::doing(format!("adds to `{bundle}`")) } else { Preview::nothing() }
        }
        Action::KeepAddresses { host, path } => {
            if eyes.read(path).lines().any(|line| line.split_whitespace().skip(1).any(|name| name == host)) {
                Preview::nothing()
            } else {
                Preview::doing(format!("looks `{host}` up and keeps its addresses in `{path}`"))
            }
        }
        Action::LoadModules { modules } => eyes.text(kernel::MODULES, &kernel::modules_file(modules), true),
        Action::SetSysctls { settings, optional } => {
            eyes.text(kernel::SYSCTLS, &bringup_plan::sysctls_file(settings, optional), true)
        }
        Action::SetKernelArguments { arguments } => {
            if_it_acts(format!("sees that the kernel has `{}`", arguments.join(" ")))
        }
        Action::SetSwap { policy, .. } => if_it_acts(format!("sets swap: {policy}")),
        Action::UpdateOs { .. } => if_it_acts("updates the operating system".to_owned()),
        Action::Reboot { always } => {
            if *always {
                if_it_acts("reboots".to_owned())
            } else {
                Preview::nothing()
            }
        }
        Action::Run { command, .. } => {
            let words: Vec<&str> = command.iter().map(|word| word.as_literal().unwrap_or_default()).collect();
            if_it_acts(format!("runs `{}`", words.join(" ")))
        }
        Action::StartUnit { unit, .. } => eyes.unit(unit, order),
        Action::StartKubelet { snap, .. } => {
            let mut preview = eyes.unit(&plan.kubelet_unit(), order);
            let snap = snap.iter().filter(|_| machine.is_itself());
            preview.does.extend(snap.flat_map(|snap| snapd::preview(snap, machine.files())));
            preview
        }
        Action::PlaceUnits => eyes.units(plan),
        Action::OpenGate { environment, .. } => {
            let content = crate::gate::content(environment);
            if eyes.read(GATE_FILE) == content {
                return Preview::nothing();
            }
            let file = FileChange { path: GATE_FILE.to_owned(), diff: None };
            Preview { does: vec!["opens the gate".to_owned()], files: vec![file] }
        }
        Action::Signal { kind, .. } => Preview::doing(format!("tells that it worked: {kind}")),
    }
}

/// What stands there otherwise than an action has made it, as far as the plan alone says how it made it.
pub(crate) fn drift(machine: &Machine, plan: &Plan, action: &Action) -> Preview {
    let eyes = Eyes { machine };
    match action {
        Action::WriteFile { path, mode, content, .. } => {
            let mut preview = match content {
                Content::Text(text) => eyes.text(path, text.as_literal().unwrap_or_default(), is_open(mode)),
                Content::Base64(text) => eyes.bytes(path, text),
                Content::Merged { otherwise, over } => {
                    let original = merged::original(machine.files(), Path::new(path)).ok().flatten();
                    match merged::text(path, original.as_deref(), otherwise, over) {
                        Ok(text) => eyes.text(path, &text, is_open(mode)),
                        Err(_) => Preview::nothing(),
                    }
                }
                Content::PodTable(_) => eyes.text(path, &max_pods::map(), false),
                Content::Secret(_) | Content::Pieces(_) => Preview::nothing(),
            };
            preview.does.extend(eyes.permissions(path, mode));
            preview
        }
        Action::MakeDirectory { path, mode, .. } => {
            Preview { does: eyes.permissions(path, mode).into_iter().collect(), files: Vec::new() }
        }
        Action::MakeLink { path, target } if eyes.link(path, target).changes() => {
            Preview::doing(format!("`{path}` does not lead to `{target}`"))
        }
        Action::PlaceUnits => Preview { does: Vec::new(), files: eyes.units(plan).files },
        _ => Preview::nothing(),
    }
}

/// What only its owner may read is not for a terminal.
fn is_open(mode: &str) -> bool {
    !mode.ends_with("00")
}

fn fetches(urls: &[String], path: &str) -> Preview {
    let from = urls.first().map(String::as_str).unwrap_or_default();
    Preview::doing(format!("fetches `{from}` to `{path}`"))
}

/// Looks at the machine.
struct Eyes<'a> {
    machine: &'a Machine,
}

impl Eyes<'_> {
    fn look(&self, path: &str) -> Option<bringup_disk::Entry> {
        self.machine.files().disk().look(Path::new(path)).ok().flatten()
    }

    fn read(&self, path: &str) -> String {
        let bytes = self.machine.files().read(Path::new(path)).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn file(&self, path: &str, mode: &str, content: &Content) -> Preview {
        let permissions = self.look(path).is_some_and(|entry| format!("{:04o}", entry.mode) != *mode);
        let mut preview = match content {
            Content::Text(text) => self.text(path, text.as_literal().unwrap_or_default(), is_open(mode)),
            Content::Base64(text) => self.bytes(path, text),
            Content::Merged { otherwise, over } => self.merged(path, mode, otherwise, over),
            Content::PodTable(_) => self.text(path, &max_pods::map(), false),
            Content::Secret(_) | Content::Pieces(_) => {
                let file = FileChange { path: path.to_owned(), diff: None };
                Preview { does: Vec::new(), files: vec![file] }
            }
        };
        if permissions {
            preview.does.push(format!("sets the permissions of `{path}` to {mode}"));
        }
        preview
    }

    /// Of a file that the agent has not written yet, the original is the file itself.
    fn merged(&self, path: &str, mode: &str, otherwise: &Text, over: &[Text]) -> Preview {
        let files = self.machine.files();
        let kept = merged::original(files, Path::new(path)).ok().flatten();
        let original = kept.or_else(|| {
            let theirs = !self.is_ours(path);
            files.read(Path::new(path)).ok().flatten().filter(|_| theirs)
        });
        match merged::text(path, original.as_deref(), otherwise, over) {
            Ok(text) => self.text(path, &text, is_open(mode)),
            Err(failure) => Preview::doing(failure.why),
        }
    }

    /// Whether the journal says that the agent has written there.
    fn is_ours(&self, path: &str) -> bool {
        let bytes = self.machine.files().read(Path::new(places::JOURNAL)).ok().flatten();
        let decoded = bytes.and_then(|bytes| bringup_progress::decode(&bytes).ok());
        decoded.is_some_and(|journal| {
            State::fold(&journal.records).made().iter().any(|made| made.path() == path)
        })
    }

    /// What is wrong with the permissions of what stands there.
    fn permissions(&self, path: &str, mode: &str) -> Option<String> {
        let is = format!("{:04o}", self.look(path)?.mode);
        (is != mode).then(|| format!("`{path}` has the permissions {is} instead of {mode}"))
    }

    fn bytes(&self, path: &str, wanted: &str) -> Preview {
        let is = self.machine.files().read(Path::new(path)).ok().flatten();
        if is.is_some_and(|is| BASE64_STANDARD.encode(is) == wanted) {
            return Preview::nothing();
        }
        Preview { does: Vec::new(), files: vec![FileChange { path: path.to_owned(), diff: None }] }
    }

    fn text(&self, path: &str, wanted: &str, open: bool) -> Preview {
        let there = self.look(path).is_some();
        let is = self.read(path);
        if there && is == wanted {
            return Preview::nothing();
        }
        let diff = open.then(|| unified(&is, wanted));
        Preview { does: Vec::new(), files: vec![FileChange { path: path.to_owned(), diff }] }
    }

    fn link(&self, path: &str, target: &str) -> Preview {
        let is = self.machine.files().disk().read_link(Path::new(path)).ok();
        if is.is_some_and(|is| is == target) {
            return Preview::nothing();
        }
        let file = FileChange { path: path.to_owned(), diff: None };
        Preview { does: vec![format!("links `{path}` to `{target}`")], files: vec![file] }
    }

    fn unit(&self, unit: &str, order: &Order) -> Preview {
        if !self.machine.is_itself() {
            return Preview::nothing();
        }
        if !order.changed.is_empty() {
            let paths: Vec<&str> = order.changed.iter().map(String::as_str).collect();
            return Preview::doing(format!("restarts `{unit}`, as `{}` changed", paths.join("`, `")));
        }
        let state = Systemd::connect().and_then(|mut systemd| systemd.state(unit)).ok().flatten();
        match state {
            Some(state) if state.activity == Activity::Active => Preview::nothing(),
            _ => Preview::doing(format!("starts `{unit}`")),
        }
    }

    fn units(&self, plan: &Plan) -> Preview {
        let mut all = Preview::nothing();
        for unit in plan.units.iter().filter(|unit| unit.placed_by == PlacedBy::Agent) {
            for one in self.one_unit(unit) {
                all.does.extend(one.does);
                all.files.extend(one.files);
            }
        }
        all
    }

    fn one_unit(&self, unit: &Unit) -> Vec<Preview> {
        let path = format!("{UNITS}/{}", unit.name);
        let mut all = Vec::new();
        if let Some(content) = &unit.content {
            all.push(self.text(&path, content, true));
        }
        for (name, content) in &unit.drop_ins {
            all.push(self.text(&format!("{path}.d/{name}"), content, true));
        }
        for alias in &unit.aliases {
            all.push(self.link(&format!("{UNITS}/{alias}"), &path));
        }
        if unit.mask {
            all.push(self.link(&path, "/dev/null"));
        }
        all
    }
}
