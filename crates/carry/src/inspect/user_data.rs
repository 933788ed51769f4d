//! User-data, as cloud-init would take it.

use bringup_cloudformation::STACK_FILE;
use bringup_cloudinit::{Gap, Kind, Part, Stage, decode, effects, lint};

use super::{FileRecord, Inspection, Piece, StepRecord, UnitRecord, first_stage};
use crate::placed::PlacedFile;
use crate::shell::read_word;
use crate::stage_files::{read_files, read_open_files};

/// What the node does with user-data.
pub(super) fn inspected(input: &str, bytes: &[u8]) -> Inspection {
    let decoded = decode(input, bytes);
    let effects = effects(&decoded);
    let mut inspection = Inspection {
        files: effects.files.iter().map(file_record).collect(),
        units: effects
            .units
            .into_iter()
            .map(|unit| UnitRecord { name: unit.name, enabled: Some(unit.enabled) })
            .collect(),
        findings: lint(&decoded),
        modules: effects.modules,
        pieces: decoded
            .parts
            .iter()
            .map(|part| Piece {
                name: part.name.clone(),
                kind: part.content_type.clone(),
                text: part.written.clone(),
            })
            .collect(),
        sources: decoded.sources,
        decoded: !decoded.layers.is_empty() || decoded.parts.iter().any(is_taken_up),
        layers: decoded.layers,
        ..Inspection::default()
    };
    for step in effects.steps {
        let text = step.script.as_deref().unwrap_or(&step.run);
        if let Some(placed) = read_files(text) {
            first_stage(&mut inspection, text, placed);
            let open = read_open_files(text);
            inspection
                .files
                .extend(open.iter().map(|file| FileRecord::new(&file.path, file.mode, &file.owner)));
        } else if let Some(file) = stack_file(text) {
            inspection.files.push(file);
        }
        inspection.steps.push(StepRecord {
            stage: stage_name(step.stage),
            run: step.run,
            script: step.script,
        });
    }
    inspection.files.sort_by(|one, other| one.path.cmp(&other.path));
    // What write_files puts in place stands first in the list, and last on the disk: it comes after every first stage.
    inspection.files.dedup_by(|earlier, last| earlier.path == last.path);
    inspection.units.sort();
    inspection.findings = inspection.findings.sorted();
    inspection
}

/// Whether cloud-init does something with a part that has no layer of its own.
fn is_taken_up(part: &Part) -> bool {
    matches!(part.kind, Kind::Include | Kind::IncludeOnce | Kind::PartHandler)
}

/// The file that names the stack, if the script is the boothook that a template of ours adds. Before the template is
/// deployed, its content is as it stands there.
fn stack_file(script: &str) -> Option<FileRecord> {
    let written = format!(" >{STACK_FILE}.new");
    let (content, _) = script.lines().find_map(|line| {
        let line = line.strip_prefix(r"printf '%s\n' ")?.strip_suffix(&written)?;
        read_word(line).filter(|(_, rest)| rest.is_empty())
    })?;
    Some(PlacedFile::new(STACK_FILE, 0o644, content + "\n").into())
}

fn file_record(file: &bringup_cloudinit::File) -> FileRecord {
    let mut record = FileRecord::new(&file.path, file.mode, &file.owner);
    if let Gap::Fetched(source) = &file.gap {
        record.source = Some(source.clone());
    }
    if file.appended || file.gap != Gap::None {
        // What the file holds in the end depends on what the node has, or knows.
        record.content = Some(file.content.clone());
    } else {
        record.fill(file.content.clone());
    }
    record
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Boothook => "boothook",
        Stage::Init => "init",
        Stage::Config => "config",
        Stage::Final => "final",
        Stage::EveryBoot => "every-boot",
    }
}
