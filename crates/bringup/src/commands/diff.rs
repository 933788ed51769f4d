//! `bringup diff`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bringup_cloudinit::Layer;
use bringup_plan::Plan;
use serde_json::{Value, json};

use crate::arguments::{Diff, Form};
use crate::commands::publish::plans_in;
use crate::commands::render;
use crate::difference::Difference;
use crate::node_state::NodeState;
use crate::outcome::{Stop, Verdict, failure};
use crate::project::{Project, Wish, is_document};
use crate::{Terminal, files};

/// Inputs that are templates, plain or in an answer of the service.
const TEMPLATES: [Layer; 2] = [Layer::CloudFormation, Layer::AwsJson];

/// States of nodes by `CLUSTER/GROUP`; a carrier of somebody else has the one name `""`.
type Side = BTreeMap<String, NodeState>;

pub(crate) fn execute(arguments: &Diff, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    if [&arguments.old, &arguments.new].into_iter().all(|path| files::is_standard_input(path)) {
        return Err(files::standard_input_twice());
    }
    let Some(mut old) = side(&arguments.old, arguments, terminal)? else {
        return Ok(Verdict::Wrong);
    };
    let Some(mut new) = side(&arguments.new, arguments, terminal)? else {
        return Ok(Verdict::Wrong);
    };
    pair_single(&mut old, &mut new);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut changed: Vec<(String, &str, Difference)> = Vec::new();
    let nothing = NodeState::default();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        let change = match (was, is) {
            (Some(_), Some(_)) => "changed",
            (None, _) => "added",
            (_, None) => "removed",
        };
        let difference = Difference::between(was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        if !difference.is_empty() || change != "changed" {
            changed.push((name.clone(), change, difference));
        }
    }
    tell(&changed, arguments.output, terminal)?;
    Ok(if changed.is_empty() { Verdict::Good } else { Verdict::No })
}

fn tell(changed: &[(String, &str, Difference)], form: Form, terminal: &mut Terminal) -> Result<(), Stop> {
    if form == Form::Json {
        let groups: Vec<Value> = changed
            .iter()
            .map(|(name, change, difference)| {
                let mut value = serde_json::to_value(difference).unwrap_or_default();
                value["group"] = name.as_str().into();
                value["change"] = (*change).into();
                value
            })
            .collect();
        return terminal.json(&json!({"differs": !groups.is_empty(), "groups": groups}));
    }
    let paint = terminal.paint();
    for (name, change, difference) in changed {
        let name = if name.is_empty() { "the node" } else { name };
        let text = match *change {
            // A whole group that came or went is said in one line: its steps are in the report.
            "added" => format!("{} {}\n", paint.good("+"), paint.strong(name)),
            "removed" => format!("{} {}\n", paint.error("-"), paint.strong(name)),
            _ => format!("{}\n{}", paint.strong(name), difference.to_text(paint)),
        };
        terminal.data(text.as_bytes())?;
    }
    Ok(())
}

/// Two single states are compared whatever they are called.
fn pair_single(old: &mut Side, new: &mut Side) {
    if old.len() == 1
        && new.len() == 1
        && old.keys().next() != new.keys().next()
        && let (Some((_, one)), Some((name, other))) = (old.pop_first(), new.pop_first())
    {
        old.insert(name.clone(), one);
        new.insert(name, other);
    }
}

/// What an input makes of its nodes; `None` if it does not compile, which has been told.
fn side(path: &Path, arguments: &Diff, terminal: &mut Terminal) -> Result<Option<Side>, Stop> {
    if files::is_directory(path) {
        return directory_side(path).map(Some);
    }
    let bytes = files::input(path)?;
    if let Ok(plan) = Plan::from_json(&bytes) {
        return Ok(Some(BTreeMap::from([(
            format!("{}/{}", plan.cluster, plan.group),
            NodeState::from(&plan),
        )])));
    }
    match String::from_utf8(bytes) {
        Ok(text) if is_document(&text) => document_side(path, text, arguments, terminal),
        Ok(text) => carrier_side(path, text.as_bytes()),
        Err(fault) => carrier_side(path, fault.as_bytes()),
    }
}

/// What a directory of `build` holds.
fn directory_side(path: &Path) -> Result<Side, Stop> {
    let mut side = Side::new();
    for (name, plan) in plans_in(path)? {
        let folder = path.join(&name);
        let mut carriers = Vec::new();
        for file in files::listing(&folder)? {
            if !file.starts_with('.') && file != "plan.json" {
                let bytes = files::input(&folder.join(&file))?;
                carriers.push((file, bytes));
            }
        }
        let carriers = carriers.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        side.insert(name, NodeState::from(&plan).with_carriers(carriers));
    }
    Ok(side)
}

fn document_side(
    path: &Path,
    text: String,
    arguments: &Diff,
    terminal: &mut Terminal,
) -> Result<Option<Side>, Stop> {
    let selection = &arguments.selection;
    let project = Project::of_texts([(path, text)], selection);
    let mut findings = project.findings.clone();
    let mut side = Side::new();
    for key in project.selected(selection)? {
        let Some(built) = project.built(key, Wish::Everything, None) else { continue };
        findings.append(built.findings);
        if let Some(view) = built.view {
            let files = built.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
            side.insert(view.title(), NodeState::from(&view.plan).with_carriers(files));
        }
    }
    let refusals = project.refusals();
    let wrong = render::verdict(&findings) == Verdict::Wrong || side.is_empty() && refusals.has_errors();
    if wrong {
        findings.append(refusals);
        let findings = findings.sorted();
        terminal.findings(&findings, &project.sources);
        if arguments.output == Form::Json {
            terminal.json(&failure(Verdict::Wrong, &findings))?;
        }
        return Ok(None);
    }
    // Groups that are refused are compared with nothing.
    terminal.findings(&refusals.sorted(), &project.sources);
    Ok(Some(side))
}

/// What a carrier makes of its node: by its plan, if it is one of ours.
fn carrier_side(path: &Path, bytes: &[u8]) -> Result<Option<Side>, Stop> {
    let name = files::shown(path);
    let inspection = bringup_carry::inspect(&name, bytes);
    if !inspection.decoded {
        return Err(Stop::input(format!("`{name}` is neither a document nor a plan nor a carrier")));
    }
    let whole = std::slice::from_ref(&inspection);
    let inner = if inspection.parts.is_empty() { whole } else { &inspection.parts };
    let states = inner.iter().map(|inner| match &inner.plan {
        Some(plan) => (format!("{}/{}", plan.cluster, plan.group), NodeState::from(plan).with_carrier(inner)),
        None => (inner.name.clone(), NodeState::from(inner)),
    });
    let mut side: Side = states.collect();
    let is_template = inner.iter().all(|inner| inner.layers.iter().any(|layer| TEMPLATES.contains(layer)));
    let template = inspection.sources.iter().find(|(source, _)| is_template && *source == name);
    if let Some((_, template)) = template {
        match side.len() {
            1 => side = side.into_iter().map(|(name, state)| (name, state.with_template(template))).collect(),
            // It launches them all, and is told once.
            _ => drop(side.insert("template".to_owned(), NodeState::default().with_template(template))),
        }
    }
    Ok(Some(side))
}
