//! A bare plan: what the agent would do with it.

use bringup_plan::{Action, Plan};
use bringup_spec::Text;

use super::{FileRecord, Inspection, StepRecord, UnitRecord};
use crate::placed::{known_bytes, mode_bits, unit_files};
use crate::shell::word;

/// What the agent does, on every boot: what is done and unchanged it skips.
pub(super) fn inspected(plan: Plan) -> Inspection {
    let mut inspection = Inspection::default();
    for step in &plan.steps {
        match &step.action {
            Action::WriteFile { path, mode, owner, content } => {
                let mut record = FileRecord::new(path, mode_bits(mode, 0o644), owner);
                if let Some(bytes) = known_bytes(content) {
                    record.fill(bytes);
                }
                inspection.files.push(record);
            }
            Action::Fetch { path, mode, owner, sha256, urls, .. } => {
                let mut record = FileRecord::new(path, mode_bits(mode, 0o644), owner);
                record.sha256 = Some(sha256.clone());
                record.source = urls.first().cloned();
                inspection.files.push(record);
            }
            Action::MakeDirectory { path, .. } => inspection.directories.push(path.clone()),
            Action::MakeLink { path, target } => {
                inspection.links.insert(path.clone(), target.clone());
            }
            Action::SetKernelArguments { arguments } => {
                inspection.kernel_arguments.extend(arguments.iter().cloned());
            }
            Action::Run { command, .. } => {
                let words: Vec<String> =
                    command.iter().map(|text| word(&as_written(text)).into_owned()).collect();
                inspection.steps.push(StepRecord::new("every-boot", words.join(" ")));
            }
            _ => {}
        }
    }
    for unit in &plan.units {
        inspection.files.extend(unit_files(unit).into_iter().map(FileRecord::from));
        inspection.units.push(UnitRecord { name: unit.name.clone(), enabled: unit.enabled });
    }
    inspection.files.sort_by(|one, other| one.path.cmp(&other.path));
    inspection.units.sort();
    inspection.plan = Some(plan);
    inspection
}

fn as_written(text: &Text) -> String {
    text.as_literal().map_or_else(|| text.to_string(), str::to_owned)
}
