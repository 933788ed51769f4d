//! `bringup inspect`

use std::fmt::Write as _;

use bringup_carry::{FileRecord, Inspection, inspect};
use bringup_diag::{Sources, masked_line, masked_lines, printable};
use bringup_plan::Step;
use serde_json::{Value, json};

use crate::arguments::{Form, Inspect};
use crate::outcome::{Stop, Verdict};
use crate::project::is_document;
use crate::terminal::Paint;
use crate::view::{grouped, summary_of};
use crate::{Terminal, files};

/// So many lines of one command are shown.
const MOST_LINES: usize = 12;
/// So many lines of one script are shown.
const MOST_SCRIPT_LINES: usize = 200;
/// Our own first stage says so; what it does is shown as files and as the plan.
const FIRST_STAGE: &str = "# bringup: first stage ";

/// Kinds of pieces whose text is what there is to show, and what it is.
const SHOWN: [(&str, &str); 5] = [
    ("application/toml", "settings"),
    ("application/node.eks.aws", "settings"),
    ("text/x-include-url", "fetched at every boot"),
    ("text/x-include-once-url", "fetched once"),
    ("text/part-handler", "Python that takes up parts"),
];

pub(crate) fn execute(arguments: &Inspect, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let bytes = files::input(&arguments.input)?;
    let name = files::shown(&arguments.input);
    let inspection = inspect(&name, &bytes);
    let verdict = if inspection.decoded { Verdict::Good } else { Verdict::Wrong };
    if arguments.output == Form::Json {
        terminal.json(&as_json(&inspection))?;
        return Ok(verdict);
    }
    if !inspection.decoded && std::str::from_utf8(&bytes).is_ok_and(is_document) {
        return Err(Stop::input(format!("`{name}` is a document, which no machine takes as user-data"))
            .with_hint("`bringup build` compiles it; inspect what that writes"));
    }
    terminal.findings(&inspection.all_findings(), &sources(&inspection));
    if inspection.findings.iter().any(|finding| finding.code == bringup_carry::codes::SYNTAX) {
        return Ok(verdict);
    }
    if !inspection.decoded {
        return Err(Stop::input(format!("`{name}` is nothing that a machine would take as user-data"))
            .with_hint("cloud-init reads MIME, `#cloud-config`, `#!` scripts and others by their first line; Ignition reads JSON"));
    }
    let paint = terminal.paint();
    let text = as_text(&name, &inspection, paint);
    terminal.data(text.as_bytes())?;
    Ok(verdict)
}

/// The texts that the findings point into.
fn sources(inspection: &Inspection) -> Sources {
    let mut sources = Sources::new();
    for inner in std::iter::once(inspection).chain(&inspection.parts) {
        for (name, text) in &inner.sources {
            sources.add(name.clone(), text);
        }
    }
    sources
}

/// As the contracts fix it; an input that holds a plan has its steps beside the commands that start it.
fn as_json(inspection: &Inspection) -> Value {
    let mut value = inspection.to_json();
    add_plan_steps(&mut value, inspection);
    let parts = value.get_mut("parts").and_then(Value::as_array_mut);
    for (value, part) in parts.into_iter().flatten().zip(&inspection.parts) {
        add_plan_steps(value, part);
    }
    value
}

fn add_plan_steps(value: &mut Value, inspection: &Inspection) {
    if let (Some(object), Some(plan)) = (value.as_object_mut(), &inspection.plan) {
        let steps = plan.steps.iter().map(|step| json!({"phase": step.phase.word(), "run": work(step)}));
        object.insert("plan".to_owned(), steps.collect());
    }
}

/// A step of a plan: its name, and what it does.
fn work(step: &Step) -> String {
    format!("{}: {}", step.name, masked_line(&summary_of(&step.action)))
}

fn as_text(name: &str, inspection: &Inspection, paint: Paint) -> String {
    if inspection.parts.is_empty() {
        return one(name, inspection, paint);
    }
    inspection.parts.iter().map(|part| one(&format!("{name}#{}", part.name), part, paint)).collect()
}

fn one(name: &str, inspection: &Inspection, paint: Paint) -> String {
    let layers: Vec<String> = inspection.layers.iter().map(ToString::to_string).collect();
    let mut text = format!("{}  {}\n", paint.strong(name), layers.join(" → "));
    if inspection.pieces.len() > 1 {
        heading(&mut text, "parts", paint);
        for piece in &inspection.pieces {
            let _ = writeln!(
                text,
                "  {:<24}  {:<28}  {} bytes",
                piece.name,
                piece.kind,
                grouped(piece.text.len())
            );
        }
    }
    for piece in &inspection.pieces {
        let Some((_, title)) = SHOWN.iter().find(|(kind, _)| *kind == piece.kind) else { continue };
        heading(&mut text, title, paint);
        for line in masked_lines(&piece.text) {
            let _ = writeln!(text, "  {}", shown(&line));
        }
    }
    written(&mut text, inspection, paint);
    if !inspection.units.is_empty() {
        heading(&mut text, "units", paint);
        for unit in &inspection.units {
            let state = match unit.enabled {
                Some(true) => "enabled",
                Some(false) => "not enabled",
                None => "as it is",
            };
            let _ = writeln!(text, "  {:<32}  {state}", unit.name);
        }
    }
    if !inspection.modules.is_empty() {
        heading(&mut text, "modules of cloud-init", paint);
        for act in &inspection.modules {
            let _ = writeln!(text, "  {}: {}", act.key, act.does);
        }
    }
    if !inspection.steps.is_empty() {
        heading(&mut text, "runs, in order", paint);
        for (index, step) in inspection.steps.iter().enumerate() {
            command(&mut text, index + 1, step.stage, &step.run, paint);
            if let Some(script) = step.script.as_deref().filter(|script| !script.contains(FIRST_STAGE)) {
                lines_of_script(&mut text, script, paint);
            }
        }
    }
    if let Some(plan) = &inspection.plan {
        heading(&mut text, &format!("then the plan of {}/{}, in order", plan.cluster, plan.group), paint);
        for (index, step) in plan.steps.iter().enumerate() {
            let _ = writeln!(text, "  {:>3}  {:<14} {}", index + 1, step.phase.word(), work(step));
        }
    }
    text
}

fn heading(text: &mut String, title: &str, paint: Paint) {
    let _ = writeln!(text, "{}", paint.frame(title));
}

/// Files, directories, links and kernel arguments.
fn written(text: &mut String, inspection: &Inspection, paint: Paint) {
    if !inspection.files.is_empty() {
        heading(text, "files", paint);
        for file in &inspection.files {
            let _ = writeln!(
                text,
                "  {} {}  {}  {}",
                file.mode,
                file.owner,
                file.path,
                paint.faint(&content(file))
            );
        }
    }
    if !inspection.directories.is_empty() {
        heading(text, "directories", paint);
        for path in &inspection.directories {
            let _ = writeln!(text, "  {path}");
        }
    }
    if !inspection.links.is_empty() {
        heading(text, "links", paint);
        for (path, target) in &inspection.links {
            let _ = writeln!(text, "  {path} → {target}");
        }
    }
    if !inspection.kernel_arguments.is_empty() {
        let _ =
            writeln!(text, "{}  {}", paint.frame("kernel arguments"), inspection.kernel_arguments.join(" "));
    }
}

/// Size and digest of a file, or where it comes from.
fn content(file: &FileRecord) -> String {
    let mut known = Vec::new();
    known.extend(file.size.map(|size| format!("{} bytes", grouped(size))));
    known.extend(
        file.sha256
            .as_deref()
            .map(|digest| format!("sha256 {}…", digest.chars().take(12).collect::<String>())),
    );
    known.extend(file.source.as_deref().map(|source| format!("from {source}")));
    if known.is_empty() { "decided on the node".to_owned() } else { known.join(", ") }
}

/// A line of somebody's text as a terminal may show it.
fn shown(line: &str) -> String {
    printable(&line.replace('\t', "    "))
}

/// One command with its stage; a long one is cut.
fn command(text: &mut String, number: usize, stage: &str, run: &str, paint: Paint) {
    let lines: Vec<&str> = run.lines().collect();
    for (index, line) in lines.iter().take(MOST_LINES).enumerate() {
        let line = shown(&masked_line(line));
        if index == 0 {
            let _ = writeln!(text, "  {number:>3}  {}  {line}", paint.strong(&format!("{stage:<10}")));
        } else {
            let _ = writeln!(text, "  {:>3}  {:<10}  {line}", "", "");
        }
    }
    if lines.len() > MOST_LINES {
        let more = format!("and {} more lines", grouped(lines.len() - MOST_LINES));
        let _ = writeln!(text, "  {:>3}  {:<10}  {}", "", "", paint.faint(&more));
    }
}

/// What is in the script that a command runs.
fn lines_of_script(text: &mut String, script: &str, paint: Paint) {
    let lines = masked_lines(script);
    for line in lines.iter().take(MOST_SCRIPT_LINES) {
        let _ = writeln!(text, "  {:>3}  {:<10}  {} {}", "", "", paint.faint("│"), shown(line));
    }
    if lines.len() > MOST_SCRIPT_LINES {
        let more = format!("and {} more lines", grouped(lines.len() - MOST_SCRIPT_LINES));
        let _ = writeln!(text, "  {:>3}  {:<10}  {}", "", "", paint.faint(&more));
    }
}
