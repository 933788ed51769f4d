//! What of a plan Ignition can do by itself, before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use bringup_diag::{Finding, Findings};
use bringup_plan::{Action, Step, is_certain_owner};
use bringup_spec::Phase;

use super::{SPECIAL_BITS, VOLATILE};
use crate::codes;
use crate::first_stage::{agent_needed, modules_file, sysctls_file, why_agent};
use crate::load::Load;
use crate::placed::{PlacedFile, known_bytes, mode_bits};
use crate::step_runner;

/// A directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) owner: String,
}

/// What Ignition does by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Native {
    pub(crate) files: Vec<PlacedFile>,
    pub(crate) directories: Vec<Directory>,
    /// Targets by path.
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) kernel_arguments: Vec<String>,
}

/// What Ignition can do of a load. With `files` unset, files are left to the agent, which has them in its plan.
pub(crate) fn native(load: &Load<'_>, files: bool, findings: &mut Findings) -> Native {
    let has_agent = load.has_agent();
    let mut native = Native::default();
    let repeated = repeated_paths(load);
    for step in &load.plan.steps {
        if let Action::SetKernelArguments { arguments } = &step.action {
            // A second time would be an error to Ignition.
            for argument in arguments {
                if !native.kernel_arguments.contains(argument) {
                    native.kernel_arguments.push(argument.clone());
                }
            }
        } else if has_agent {
            if files && !step.elected_only && !step.others_only && step.phase <= Phase::Configure {
                native.take_what_fits(step, &repeated);
            }
        } else if let Some(finding) = step_runner::refused(load, step) {
            findings.push(finding);
        } else if !step_runner::runs(load, step)
            && !native.take(step)
            && let Some(why) =
                why_agent(&step.action).or(Some("its content or owner is known only on the node"))
            && needs_somebody(step)
        {
            findings.push(agent_needed(load, step, why));
        }
    }
    if !has_agent {
        findings.extend(step_runner::hooks_of_nobody(load));
    }
    if step_runner::has_runner(load) {
        native.files.push(step_runner::script(load));
    }
    native.leave_what_lies_beneath_links(load, findings);
    native
}

/// Whether leaving the step out would lose something that the document asks for.
fn needs_somebody(step: &Step) -> bool {
    why_agent(&step.action).is_some()
        || matches!(step.action, Action::WriteFile { .. } | Action::MakeDirectory { .. })
}

/// Paths that more than one step writes: their order matters, so they stay with the agent.
fn repeated_paths<'load>(load: &'load Load<'_>) -> BTreeSet<&'load str> {
    let mut seen = BTreeSet::new();
    let path = |step: &'load Step| match &step.action {
        Action::WriteFile { path, .. }
        | Action::MakeDirectory { path, .. }
        | Action::MakeLink { path, .. }
        | Action::Fetch { path, .. } => Some(path.as_str()),
        _ => None,
    };
    load.plan.steps.iter().filter_map(path).filter(|path| !seen.insert(*path)).collect()
}

impl Native {
    /// Takes a step that has somebody else to do it, if it can be done exactly.
    fn take_what_fits(&mut self, step: &Step, repeated: &BTreeSet<&str>) {
        let (path, mode) = match &step.action {
            Action::WriteFile { path, mode, .. } | Action::MakeDirectory { path, mode, .. } => {
                (path, mode_bits(mode, 0))
            }
            Action::MakeLink { path, .. } => (path, 0),
            _ => return,
        };
        let volatile = VOLATILE.iter().any(|directory| path.starts_with(directory));
        if !volatile && mode & SPECIAL_BITS == 0 && !repeated.contains(path.as_str()) {
            self.take(step);
        }
    }

    /// Takes a step; `false` if it cannot be done here.
    fn take(&mut self, step: &Step) -> bool {
        match &step.action {
            Action::WriteFile { path, mode, owner, content } if is_certain_owner(owner) => {
                let Some(content) = known_bytes(content) else { return false };
                let (path, mode, owner) = (path.clone(), mode_bits(mode, 0o644), owner.clone());
                self.files.push(PlacedFile { path, mode, owner, content });
            }
            Action::MakeDirectory { path, mode, owner } if is_certain_owner(owner) => {
                let (path, mode, owner) = (path.clone(), mode_bits(mode, 0o755), owner.clone());
                self.directories.push(Directory { path, mode, owner });
            }
            Action::MakeLink { path, target } => {
                self.links.insert(path.clone(), target.clone());
            }
            Action::LoadModules { modules } => self.files.push(modules_file(modules)),
            Action::SetSysctls { settings, optional } => {
                self.files.push(sysctls_file(settings, optional));
            }
            _ => return false,
        }
        true
    }

    /// Ignition refuses a config in which something lies beneath a link; then the link is left to the agent.
    fn leave_what_lies_beneath_links(&mut self, load: &Load<'_>, findings: &mut Findings) {
        let paths: Vec<String> = self
            .files
            .iter()
            .map(|file| file.path.clone())
            .chain(self.directories.iter().map(|directory| directory.path.clone()))
            .chain(self.links.keys().cloned())
            .collect();
        let has_agent = load.has_agent();
        self.links.retain(|link, _| {
            let beneath = paths
                .iter()
                .find(|path| path.strip_prefix(link.as_str()).is_some_and(|rest| rest.starts_with('/')));
            let Some(beneath) = beneath else { return true };
            if !has_agent {
                findings.push(
                    Finding::error(
                        codes::AGENT_NEEDED,
                        format!("Ignition cannot make the link `{link}` and `{beneath}` beneath it"),
                    )
                    .at(load.place("links"))
                    .hint("give the path that the link points to"),
                );
            }
            false
        });
    }
}
