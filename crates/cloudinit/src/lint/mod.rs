//! What people write into user-data and cloud-init takes otherwise.

mod commands;
mod config;
mod lines;
mod names;
mod scripts;
mod shellwords;
mod swallowed;
mod types;
mod unit_settings;
mod unit_text;

use bringup_diag::{Findings, Span};

use crate::jinja::{outlined, template_body};
use crate::kind::{Kind, sniffed};
use crate::load::load;
use crate::part::Part;
use crate::{Decoded, Origin, effects_of};

/// Everything to be said about user-data of anybody's making.
pub fn lint(decoded: &Decoded) -> Findings {
    let mut findings = decoded.findings.clone();
    findings.append(of_parts(&decoded.parts));
    findings.append(names::of_carrier(&decoded.parts));
    findings.sorted()
}

/// Everything to be said about the parts that a document holds; its carrier encodes and numbers them.
pub fn lint_parts(parts: &[Part]) -> Findings {
    let mut findings = of_parts(parts);
    findings.append(names::of_document(parts));
    findings.sorted()
}

/// Everything to be said about the text of a unit, or of a drop-in to it, wherever it was written.
pub fn lint_unit(unit: &str, drop_in: bool, text: &str, origin: &Origin) -> Findings {
    let lines: Vec<_> = (1..)
        .zip(text.lines())
        .map(|(number, line)| (line.to_owned(), origin.place(Span::line(number, line))))
        .collect();
    let mut findings = Findings::new();
    unit_text::syntax(&lines, &mut findings);
    unit_text::of(unit, drop_in, &lines, &mut findings);
    findings
}

fn of_parts(parts: &[Part]) -> Findings {
    let mut findings = effects_of(parts).findings;
    findings.append(types::of(parts));
    let mut configs = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let Some(view) = View::of(part) else { continue };
        match view.kind {
            Kind::CloudConfig => {
                let loaded = load(&view.text, number, &view.origin);
                findings.extend(loaded.findings.iter().cloned());
                if let Some(node) = loaded.node {
                    configs.push(config::Config {
                        node,
                        origin: loaded.origin,
                        comments: loaded.scan.comments,
                    });
                }
            }
            kind if kind.is_script() => findings.append(scripts::of(kind, &view.text, &view.origin)),
            _ => {}
        }
    }
    findings.append(config::of(&configs));
    findings.append(commands::of(&configs));
    findings
}

/// A part as it is looked at: a template with its expressions covered, so that lines and columns stay.
struct View {
    kind: Kind,
    text: String,
    origin: Origin,
}

impl View {
    fn of(part: &Part) -> Option<Self> {
        if part.kind != Kind::Jinja {
            return Some(Self { kind: part.kind, text: part.written.clone(), origin: part.origin.clone() });
        }
        let text = outlined(template_body(&part.written)?);
        let kind = Kind::of(sniffed(&text)?);
        Some(Self { kind, text, origin: part.origin.below(1) })
    }
}

/// The span of a stretch of one line, by the place of its first letter in characters.
fn span_in_line(line: u32, column: u32, width: usize) -> Span {
    let mut span = Span::point(line, column);
    span.end.column = column.saturating_add(u32::try_from(width).unwrap_or(0));
    span
}
