//! `bringup explain`

use std::fmt::Write as _;

use bringup_carry::carriers_of;
use bringup_diag::closest;
use bringup_plan::Step;
use serde_json::{Value, json};

use super::render::only_group;
use crate::arguments::{Explain, Form, GraphForm, Selection};
use crate::catalogue::codes;
use crate::graph::Graph;
use crate::outcome::{Stop, Verdict, failure};
use crate::project::{Project, Wish};
use crate::terminal::Paint;
use crate::view::{GroupView, OriginView, summary_of};
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &Explain, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let what = arguments.what.to_string_lossy();
    if !files::is_standard_input(&arguments.what) && !files::exists(&arguments.what) && looks_like_code(&what)
    {
        return explain_code(&what, arguments.output, terminal);
    }
    let project = Project::load(std::slice::from_ref(&arguments.what), &arguments.selection)?;
    if let Some(form) = arguments.graph {
        return draw(&project, form, &arguments.selection, terminal);
    }
    let mut findings = project.findings.clone();
    let mut groups = Vec::new();
    for key in project.selected(&arguments.selection)? {
        let Some(built) = project.built(key, Wish::Plan, None) else { continue };
        findings.append(built.findings);
        groups.extend(built.view);
    }
    let wrong = findings.has_errors() || groups.is_empty() && !project.refused().is_empty();
    findings.append(project.refusals());
    let findings = findings.sorted();
    terminal.findings(&findings, &project.sources);
    if wrong {
        if arguments.output == Form::Json {
            terminal.json(&failure(Verdict::Wrong, &findings))?;
        }
        return Ok(Verdict::Wrong);
    }
    let subject = arguments.subject.as_deref();
    if let Some(subject) = subject
        && !groups.iter().any(|group| {
            meant(group, Some(subject)).next().is_some() || steps(group, Some(subject)).next().is_some()
        })
    {
        let known: Vec<&str> =
            groups.iter().flat_map(|group| &group.origins).map(|origin| origin.subject.as_str()).collect();
        let hint = match closest(subject, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`bringup explain FILE` lists all of them".to_owned(),
        };
        return Err(
            Stop::input(format!("no value and no step of the plan is called `{subject}`")).with_hint(hint)
        );
    }
    if arguments.output == Form::Json {
        let groups: Vec<Value> = groups.iter().map(|group| as_json(group, subject)).collect();
        terminal.json(&json!({"groups": groups}))?;
        return Ok(verdict(&project));
    }
    for group in &groups {
        let text = as_text(group, subject, terminal.paint());
        terminal.data(text.as_bytes())?;
    }
    Ok(verdict(&project))
}

/// Of groups that are refused there is nothing to explain.
fn verdict(project: &Project) -> Verdict {
    if project.refused().is_empty() { Verdict::Good } else { Verdict::No }
}

/// Draws one group; as text, one after the other.
fn draw(
    project: &Project,
    form: GraphForm,
    selection: &Selection,
    terminal: &mut Terminal,
) -> Result<Verdict, Stop> {
    let keys = match form {
        GraphForm::Text => project.selected(selection)?,
        GraphForm::Mermaid | GraphForm::Svg | GraphForm::Dot if project.findings.has_errors() => Vec::new(),
        GraphForm::Mermaid | GraphForm::Svg | GraphForm::Dot => vec![only_group(project, selection)?],
    };
    let mut findings = project.findings.clone();
    let mut drawn = Vec::new();
    for key in keys {
        let Some(built) = project.built(key, Wish::Plan, None) else { continue };
        findings.append(built.findings);
        if let (Some(view), Some((document, group))) = (built.view, project.group(key)) {
            drawn.push(Graph::of(&view, group, &carriers_of(document, group)).drawn(form));
        }
    }
    let wrong = findings.has_errors() || drawn.is_empty() && !project.refused().is_empty();
    findings.append(project.refusals());
    terminal.findings(&findings.sorted(), &project.sources);
    if wrong {
        return Ok(Verdict::Wrong);
    }
    terminal.data(drawn.join("\n").as_bytes())?;
    Ok(verdict(project))
}

/// `area/kebab-name`
fn looks_like_code(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
    };
    text.split_once('/').is_some_and(|(area, name)| is_word(area) && is_word(name))
}

fn explain_code(name: &str, form: Form, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let codes = codes();
    let Some(code) = codes.iter().find(|code| code.name == name) else {
        let stop = Stop::input(format!("there is neither a file nor a finding `{name}`"));
        return Err(match closest(name, codes.iter().map(|code| code.name)) {
            Some(near) => stop.with_hint(format!("did you mean `{near}`?")),
            None => stop.with_hint("docs/findings.md lists all findings"),
        });
    };
    let about = about(code.about);
    match form {
        Form::Json => terminal.json(&json!({"code": code.name, "about": about}))?,
        Form::Human => {
            let text = format!("{}\n{about}\n", terminal.paint().strong(code.name));
            terminal.data(text.as_bytes())?;
        }
    }
    Ok(Verdict::Good)
}

/// The lines of a doc comment as one paragraph.
fn about(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn is_meant(origin: &OriginView, subject: &str) -> bool {
    let wanted = subject.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    has(&origin.subject) || origin.path.as_deref().is_some_and(has)
}

fn meant<'a>(group: &'a GroupView, subject: Option<&'a str>) -> impl Iterator<Item = &'a OriginView> {
    group.origins.iter().filter(move |origin| subject.is_none_or(|subject| is_meant(origin, subject)))
}

fn as_text(group: &GroupView, subject: Option<&str>, paint: Paint) -> String {
    let mut text = format!("{}\n", paint.strong(&group.title()));
    let width = meant(group, subject).map(|origin| origin.subject.chars().count()).max().unwrap_or(0).min(44);
    for origin in meant(group, subject) {
        let _ = writeln!(text, "  {:<width$}  {}", origin.subject, paint.strong(&origin.value));
        let _ = writeln!(text, "  {:<width$}  {}", "", paint.faint(&because(origin)));
    }
    if steps(group, subject).next().is_some() {
        let _ = writeln!(text, "  {}", paint.strong("in order"));
    }
    let mut phase = None;
    for (index, step) in steps(group, subject) {
        if phase != Some(step.phase) {
            let _ = writeln!(text, "  {}", paint.frame(step.phase.word()));
            phase = Some(step.phase);
        }
        let _ = writeln!(text, "    {:>3}  {}: {}", index + 1, step.name, summary_of(&step.action));
        if let Some(reason) = reason(group, step) {
            let _ = writeln!(text, "         {}", paint.faint(&reason));
        }
    }
    text
}

/// The steps that are meant, with their numbers.
fn steps<'a>(group: &'a GroupView, subject: Option<&'a str>) -> impl Iterator<Item = (usize, &'a Step)> {
    let wanted = subject.map(str::to_lowercase);
    group.plan.steps.iter().enumerate().filter(move |(_, step)| {
        wanted.as_ref().is_none_or(|wanted| step.name.to_lowercase().contains(wanted))
    })
}

/// Why a step is there and where it is, as far as that is not its phase.
fn reason(group: &GroupView, step: &Step) -> Option<String> {
    let mut reasons = Vec::new();
    match group.operator.asked(step) {
        Some("") => reasons.push("your own".to_owned()),
        Some(asked) => reasons.push(format!("your own, {asked}")),
        None if group.operator.wrote(step) => reasons.push("your own".to_owned()),
        None => {}
    }
    if step.every_boot {
        reasons.push("on every boot".to_owned());
    }
    if step.elected_only {
        reasons.push("only on the node that starts the cluster".to_owned());
    }
    if step.others_only {
        reasons.push("not on the node that starts the cluster".to_owned());
    }
    if reasons.is_empty() { None } else { Some(reasons.join("; ")) }
}

/// Where a value came from, in words.
fn because(origin: &OriginView) -> String {
    let place = match (&origin.path, origin.line) {
        (Some(path), Some(line)) => match &origin.file {
            Some(file) => format!("{path}, line {line} of {file}"),
            None => format!("{path}, line {line}"),
        },
        (Some(path), None) => path.clone(),
        (None, _) => String::new(),
    };
    match origin.kind {
        "document" => format!("the document: {place}"),
        "derived" => format!("{}: {place}", origin.why),
        "node" => format!("only the node knows: {}", origin.why),
        _ => format!("default: {}", origin.why),
    }
}

fn as_json(group: &GroupView, subject: Option<&str>) -> Value {
    let values: Vec<Value> = meant(group, subject)
        .map(|origin| {
            json!({
                "subject": origin.subject, "value": origin.value, "origin": origin.kind, "why": origin.why,
                "path": origin.path, "line": origin.line, "file": origin.file,
            })
        })
        .collect();
    let steps: Vec<Value> = steps(group, subject)
        .map(|(_, step)| {
            json!({
                "name": step.name, "phase": step.phase.word(), "does": summary_of(&step.action),
                "operator": group.operator.wrote(step), "reason": reason(group, step),
            })
        })
        .collect();
    json!({"cluster": group.plan.cluster, "group": group.plan.group, "values": values, "steps": steps})
}
