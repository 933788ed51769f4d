//! What anybody's input would do to a machine.

mod plan;
mod record;
mod syntax;
mod user_data;

use bringup_cloudinit::{Layer, gunzip, peel};
use bringup_diag::{Finding, Place, Span};
use serde_json::Value;

pub use record::{FileRecord, Inspection, Piece, StepRecord, UnitRecord};

use crate::bundle::{self, Member};
use crate::codes;
use crate::ignition;
use crate::placed::{PLAN_PATH, PlacedFile};
use bringup_plan::{Plan, PlanFault};

/// A template in an answer of an API, user-data in it, an Ignition config in that: no honest input goes deeper.
const DEPTH_LIMIT: usize = 4;

/// Decodes an input and says what it would do. `input` is what findings call it.
pub fn inspect(input: &str, bytes: &[u8]) -> Inspection {
    let mut inspection = within(input, bytes, DEPTH_LIMIT);
    if inspection.plan.is_none() && inspection.parts.is_empty() {
        inspection.plan = crate::read_plan(bytes);
    }
    inspection
}

fn within(input: &str, bytes: &[u8], depth: usize) -> Inspection {
    let Some(depth) = depth.checked_sub(1) else {
        let mut inspection = Inspection::default();
        let finding = Finding::error(codes::TOO_DEEP, "inputs are wrapped in inputs too deeply to follow");
        inspection.findings.push(finding.at(start_of(input)).hint("inspect the inner one by itself"));
        return inspection;
    };
    let peeled = peel(bytes);
    let mut inspection = match recognised(input, &peeled.bytes, depth) {
        Some(inspection) if peeled.refused.is_none() => inspection,
        // With its wrappings: they have rules of their own there.
        _ => {
            let mut inspection = user_data::inspected(input, bytes);
            let wrapping = |layer: &Layer| matches!(layer, Layer::Base64 | Layer::Gzip);
            if inspection.layers.iter().all(wrapping)
                && let Some((finding, text)) = syntax::fault(input, &peeled.bytes)
            {
                inspection.findings = std::iter::once(finding).collect();
                inspection.sources = vec![(input.to_owned(), text.to_owned())];
                inspection.decoded = false;
            }
            return inspection;
        }
    };
    inspection.decoded = true;
    if inspection.parts.is_empty() {
        inspection.layers.splice(0..0, peeled.layers);
    } else {
        for part in &mut inspection.parts {
            part.layers.splice(0..0, peeled.layers.iter().copied());
        }
    }
    inspection.findings = inspection.findings.sorted();
    inspection
}

/// Inputs that are no user-data of cloud-init's.
fn recognised(input: &str, bytes: &[u8], depth: usize) -> Option<Inspection> {
    if bundle::is_tar(bytes) {
        return Some(of_bundle(input, bytes));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('{')
        && let Ok(value) = serde_json::from_str::<Value>(start)
    {
        if ignition::is_config(&value) {
            return Some(of_ignition(input, text, value));
        }
        if let Some(inspection) = of_plan(input, text) {
            return Some(inspection);
        }
    }
    if !start.starts_with("#!")
        && !start.starts_with("#cloud-")
        && !starts_as_message(start)
        && let Some(reading) = bringup_cloudformation::read(input, text)
    {
        return Some(of_template(input, text, reading, depth));
    }
    let first =
        start.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    if first.starts_with("[settings") || first.starts_with("settings.") {
        return Some(of_text(input, text, "application/toml", Some(Layer::Toml)));
    }
    let names_node_config = text.contains("node.eks.aws/") && text.contains("NodeConfig");
    if names_node_config
        && (start.starts_with("apiVersion:") || start.starts_with("---") || start.starts_with('{'))
    {
        return Some(of_text(input, text, "application/node.eks.aws", None));
    }
    None
}

/// Whether the text itself is a MIME message. That one stands somewhere in it says nothing: templates hold them.
fn starts_as_message(start: &str) -> bool {
    let head = start.split(':').next().unwrap_or_default();
    ["mime-version", "content-type"].iter().any(|field| head.eq_ignore_ascii_case(field))
}

fn start_of(input: &str) -> Place {
    Place::new(input, Span::point(1, 1))
}

fn of_text(input: &str, text: &str, kind: &str, layer: Option<Layer>) -> Inspection {
    let piece = Piece { name: input.to_owned(), kind: kind.to_owned(), text: text.to_owned() };
    Inspection { layers: layer.into_iter().collect(), pieces: vec![piece], ..Inspection::default() }
}

fn of_ignition(input: &str, text: &str, config: Value) -> Inspection {
    let effects = ignition::effects(input, text, config);
    let plan_file = effects.files.get(PLAN_PATH).and_then(|file| file.content.as_deref());
    let plan = plan_file.and_then(|content| Plan::from_json(content).ok());
    Inspection {
        layers: vec![Layer::Ignition],
        files: effects.files.into_values().collect(),
        units: effects.units.into_values().collect(),
        steps: effects.steps,
        findings: effects.findings,
        links: effects.links,
        directories: effects.directories,
        kernel_arguments: effects.kernel_arguments,
        pieces: vec![Piece {
            name: input.to_owned(),
            kind: "application/json".to_owned(),
            text: text.to_owned(),
        }],
        sources: vec![(input.to_owned(), text.to_owned())],
        plan,
        ..Inspection::default()
    }
}

fn of_plan(input: &str, text: &str) -> Option<Inspection> {
    match Plan::from_json(text.trim_start_matches('\u{feff}').as_bytes()) {
        Ok(plan) => Some(plan::inspected(plan)),
        Err(fault @ PlanFault::Format { .. }) if text.contains("\"steps\"") => {
            let mut inspection = Inspection::default();
            let finding = Finding::error(codes::PLAN_FORMAT, fault.to_string()).at(start_of(input));
            inspection.findings.push(finding.hint("take the program that made the plan, or a newer one"));
            Some(inspection)
        }
        Err(_) => None,
    }
}

fn of_bundle(input: &str, bytes: &[u8]) -> Inspection {
    let mut inspection = Inspection::default();
    let Some(members) = bundle::read(bytes, gunzip::UNPACKED_LIMIT) else {
        let finding = Finding::error(codes::BUNDLE, "this tar is damaged, or holds more than 16 MiB");
        inspection.findings.push(finding.at(start_of(input)).hint("unpack it, and inspect what is inside"));
        return inspection;
    };
    for member in members {
        match member {
            Member::File(file) => {
                if file.path == PLAN_PATH {
                    inspection.plan = Plan::from_json(&file.content).ok();
                }
                inspection.files.push(file.into());
            }
            Member::Link { path, target } => {
                inspection.links.insert(path, target);
            }
        }
    }
    inspection.files.sort_by(|one, other| one.path.cmp(&other.path));
    let pulled_in = |path: &&String| path.contains(".wants/") || path.contains(".requires/");
    let wanted: Vec<&str> =
        inspection.links.keys().filter(pulled_in).filter_map(|path| path.rsplit('/').next()).collect();
    inspection.units = units_among(&inspection.files, |name| wanted.contains(&name));
    inspection
}

/// The units whose files are among these.
fn units_among(files: &[FileRecord], enabled: impl Fn(&str) -> bool) -> Vec<UnitRecord> {
    let directory = format!("{}/", crate::placed::UNIT_DIRECTORY);
    let names =
        files.iter().filter_map(|file| file.path.strip_prefix(&directory)).filter(|name| !name.contains('/'));
    let mut units: Vec<UnitRecord> =
        names.map(|name| UnitRecord { name: name.to_owned(), enabled: Some(enabled(name)) }).collect();
    units.sort();
    units
}

fn of_template(
    input: &str,
    text: &str,
    reading: bringup_cloudformation::Reading,
    depth: usize,
) -> Inspection {
    let layers: Vec<Layer> = reading
        .layers
        .iter()
        .map(|layer| if *layer == "aws-json" { Layer::AwsJson } else { Layer::CloudFormation })
        .collect();
    let mut parts: Vec<Inspection> = Vec::new();
    for part in reading.parts {
        let name = if part.name.is_empty() { input.to_owned() } else { format!("{input}#{}", part.name) };
        let mut inner = if part.is_unknown() {
            of_text(&name, &String::from_utf8_lossy(&part.bytes), "text/plain", None)
        } else {
            within(&name, &part.bytes, depth)
        };
        inner.layers.splice(0..0, layers.iter().copied());
        inner.findings.append(part.findings);
        inner.findings = inner.findings.sorted();
        inner.plan = inner.plan.or_else(|| crate::read_plan(&part.bytes));
        inner.name = part.name;
        parts.push(inner);
    }
    let mut whole = match parts.len() {
        1 => parts.remove(0),
        _ => Inspection { layers, parts, ..Inspection::default() },
    };
    whole.findings.append(reading.findings);
    whole.sources.push((input.to_owned(), text.to_owned()));
    whole
}

/// The files that one of our first stages places, with the units among them.
fn first_stage(inspection: &mut Inspection, script: &str, placed: Vec<PlacedFile>) {
    let files: Vec<FileRecord> = placed.into_iter().map(FileRecord::from).collect();
    let enabled = |name: &str| script.lines().any(|line| line.trim() == format!("systemctl enable {name}"));
    for unit in units_among(&files, enabled) {
        // Its commands may have told of the unit already.
        if !inspection.units.iter().any(|known| known.name == unit.name) {
            inspection.units.push(unit);
        }
    }
    inspection.files.extend(files);
}
