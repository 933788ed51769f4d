//! `bringup try`

mod api_server;
mod asked;
mod stand_in;
mod subject;
mod surroundings;
mod template;
mod told;

use std::path::{Path, PathBuf};

use bringup_ancestors::{is_of_units, joins_a_node};
use bringup_diag::{Findings, to_json};
use bringup_lab::timeline::line;
use bringup_lab::{Bench, LabFault, Outcome, Trial, Verdict as Came};
use serde_json::Value;

use self::asked::wishes;
use self::subject::subject;
use self::told::{summary, write};
use crate::arguments::{Form, Selection, TryOut};
use crate::outcome::{Stop, Verdict};
use crate::project::{Project, is_document};
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &TryOut, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let groups = groups(arguments)?;
    // Several answers are for people; a program asks for one group, and a machine that is kept is of one.
    if groups.len() < 2 || arguments.output == Form::Json || arguments.machine.is_some() {
        return try_one(arguments, terminal);
    }
    let mut worst = Verdict::Good;
    for (cluster, group) in groups {
        let heading = format!("\n{}\n", terminal.paint().strong(&format!("{cluster}/{group}")));
        terminal.data(heading.as_bytes())?;
        terminal.flush()?;
        let directory = arguments.directory.as_ref().map(|directory| directory.join(&cluster).join(&group));
        let selection =
            Selection { cluster: Some(cluster), group: Some(group), ..arguments.selection.clone() };
        let verdict = try_one(&TryOut { selection, directory, ..arguments.clone() }, terminal)?;
        if worst == Verdict::Good || verdict == Verdict::No {
            worst = verdict;
        }
    }
    Ok(worst)
}

/// The groups of a document that are meant, by cluster and name; none of what is no document, or is read only once.
fn groups(arguments: &TryOut) -> Result<Vec<(String, String)>, Stop> {
    if files::is_standard_input(&arguments.input) {
        return Ok(Vec::new());
    }
    let bytes = given(&arguments.input)?;
    if !is_compiled(&arguments.input, &bytes, &arguments.selection) {
        return Ok(Vec::new());
    }
    let project = Project::load(std::slice::from_ref(&arguments.input), &arguments.selection)?;
    let keys = project.selected(&arguments.selection)?;
    let names = keys.into_iter().filter_map(|key| project.group(key));
    Ok(names
        .map(|(document, group)| (document.cluster.metadata.name.to_string(), group.name.to_string()))
        .collect())
}

fn try_one(arguments: &TryOut, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let mut wishes = wishes(arguments)?;
    let (subject, findings) = match subject(arguments, &mut wishes, terminal)? {
        Ok(tried) => tried,
        Err(verdict) => return Ok(verdict),
    };
    wishes.check(subject.plan.as_ref()).map_err(|fault| of_lab(&fault))?;
    if let Some(fault) = bringup_lab::missing(subject.way) {
        return Err(of_lab(&fault));
    }
    let quiet = arguments.output == Form::Json;
    let make = if wishes.is_real() { Bench::prepare_for_kubernetes } else { Bench::prepare };
    let bar = terminal.progress(1000, "making a Debian root, once");
    let bench = make(&cache(), &mut |share| bar.set_position(share));
    bar.finish_and_clear();
    let bench = bench.map_err(|fault| of_lab(&fault))?;
    let mut trial = Trial::prepare(&bench, subject, wishes).map_err(|fault| of_lab(&fault))?;
    let paint = terminal.paint();
    let mut start = None;
    let outcome = trial.hold(&mut |event| {
        let start = *start.get_or_insert(event.at_ms);
        if !quiet {
            let _ = terminal.data(format!("{}\n", line(event, start)).as_bytes());
            let _ = terminal.flush();
        }
    });
    let outcome = outcome.map_err(|fault| of_lab(&fault))?;
    if outcome.events.is_empty() {
        // A machine that has not got as far as its journal speaks on its console only.
        terminal.say(&trial.console());
    }
    if let Some(directory) = &arguments.directory {
        write(directory, &outcome)?;
        for (name, log) in trial.logs().map_err(|fault| of_lab(&fault))? {
            files::replace(&directory.join(format!("{name}.log")), log.as_bytes(), files::Readers::All)?;
        }
    }
    match arguments.output {
        Form::Json => terminal.json(&for_programs(&outcome, &findings))?,
        Form::Human => terminal.data(summary(&outcome, paint).as_bytes())?,
    }
    Ok(match (outcome.verdict, outcome.agrees && outcome.left_undone.is_empty()) {
        (Came::CameUp, true) if outcome.unseen.is_empty() => Verdict::Good,
        (Came::CameUp | Came::NotYet, true) => Verdict::NotYet,
        (Came::Failed, _) | (_, false) => Verdict::No,
    })
}

/// The outcome, with what was found in the document.
fn for_programs(outcome: &Outcome, findings: &Findings) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("findings".to_owned(), to_json(findings));
    }
    value
}

fn of_lab(fault: &LabFault) -> Stop {
    match fault {
        LabFault::NoGrip { .. } | LabFault::NoStep { .. } | LabFault::NoWord { .. } => {
            Stop::input(fault.to_string())
        }
        LabFault::Missing { .. } => Stop::undecided(fault.to_string()),
        _ => Stop::failed(fault.to_string()),
    }
}

/// Where the Debian root is kept.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the command line, and nothing but `try` keeps a cache"
)]
fn cache() -> PathBuf {
    let home =
        || std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("bringup")
}

/// The bytes of the input; a directory of units is read when it is compiled.
fn given(input: &Path) -> Result<Vec<u8>, Stop> {
    if files::is_directory(input) { Ok(Vec::new()) } else { Ok(files::input(input)?) }
}

/// Whether an input is a document, or is tried as one: user-data that joins a node, once there is what it does not say.
fn is_compiled(path: &Path, bytes: &[u8], selection: &Selection) -> bool {
    let peeled = bringup_cloudinit::peel(bytes);
    let bytes = peeled.bytes.as_slice();
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let joins = || {
        let within = bringup_cloudformation::read(&path.to_string_lossy(), text);
        joins_a_node(bytes)
            || is_of_units(&path.to_string_lossy(), bytes)
            || within.is_some_and(|found| found.parts.iter().any(|part| joins_a_node(&part.bytes)))
    };
    files::is_directory(path) || is_document(text) || !selection.with.is_empty() && joins()
}
