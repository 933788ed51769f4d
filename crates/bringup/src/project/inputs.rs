//! The texts that a run is given: files, the unit files of directories, and user-data within templates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_ancestors::codes::FIELD_ASIDE;
use bringup_ancestors::{Around, Input, Read};
use bringup_cloudformation::Aside;
use bringup_cloudformation::codes::UNKNOWN_PARAMETER;
use bringup_diag::{Finding, Findings, Place};

use super::API_GROUP;
use crate::arguments::Selection;
use crate::files;
use crate::outcome::Stop;

/// All texts of a run.
#[derive(Default)]
pub(super) struct Inputs {
    /// Those that hold documents, in the order given.
    pub(super) given: Vec<Given>,
    /// The templates that some of them stand in, by name.
    pub(super) templates: Vec<(String, String)>,
}

/// User-data within a template that joins nodes.
struct Within {
    name: String,
    /// Binary in base64.
    text: String,
    around: Option<bringup_yaml::Node>,
}

/// A text that is read, and where its files are looked up.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) root: PathBuf,
    pub(super) text: String,
    /// The number of the template that it stands in, and what is around it there.
    around: Option<(usize, bringup_yaml::Node)>,
}

impl Inputs {
    /// Takes templates apart: each, or what AWS prints of one, is what is in it.
    pub(super) fn gathered<'path>(
        texts: impl IntoIterator<Item = (&'path Path, String)>,
        selection: &Selection,
        findings: &mut Findings,
    ) -> Self {
        let parameters = selection.parameters();
        let mut inputs = Self::default();
        for (path, text) in texts {
            let (name, root) = (files::shown(path), files_root(path, selection));
            let inner = user_data_within(&name, &text, &parameters, findings);
            if inner.is_empty() {
                inputs.given.push(Given { name, root, text, around: None });
                continue;
            }
            let number = inputs.templates.len();
            inputs.templates.push((name, text));
            inputs.given.extend(inner.into_iter().map(|Within { name, text, around }| Given {
                name,
                root: root.clone(),
                text,
                around: around.map(|around| (number, around)),
            }));
        }
        if !parameters.is_empty() && inputs.templates.is_empty() {
            let message = "`--parameter` is for CloudFormation templates that join nodes, and none was given";
            findings.push(Finding::error(UNKNOWN_PARAMETER, message).hint("leave it out"));
        }
        inputs
    }

    /// The documents in them, whosever they are.
    pub(super) fn read(&self) -> Read {
        let named: Vec<Input<'_>> =
            self.given.iter().map(|given| Input { name: &given.name, text: &given.text }).collect();
        let around = self.given.iter().filter_map(|given| {
            let (number, tree) = given.around.as_ref()?;
            let (name, text) = self.templates.get(*number)?;
            Some(Around { of: &given.name, file: Input { name, text }, tree })
        });
        bringup_ancestors::read_around(&named, &around.collect::<Vec<_>>())
    }

    /// The text that a document was read from.
    pub(super) fn of(&self, file: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.name == file)
    }
}

/// The files that are meant by the paths of a call.
pub(super) fn files_of(paths: &[PathBuf], selection: &Selection) -> Result<Vec<PathBuf>, Stop> {
    if paths.iter().chain(&selection.with).filter(|path| files::is_standard_input(path)).count() > 1 {
        return Err(files::standard_input_twice());
    }
    let mut all = Vec::new();
    for path in paths.iter().chain(&selection.with) {
        if files::is_directory(path) {
            all.extend(unit_files(path)?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

/// The user-data within a template that joins nodes.
fn user_data_within(
    name: &str,
    text: &str,
    parameters: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> Vec<Within> {
    let Some(reading) = bringup_cloudformation::read_with(name, text, parameters) else { return Vec::new() };
    findings.append(reading.findings);
    let joining = reading.parts.into_iter().filter(|part| bringup_ancestors::joins_a_node(&part.bytes));
    let within: Vec<Within> = joining
        .map(|part| {
            findings.append(part.findings);
            let text = String::from_utf8(part.bytes)
                .unwrap_or_else(|binary| BASE64_STANDARD.encode(binary.as_bytes()));
            Within { name: format!("{name}#{}", part.name), text, around: part.around }
        })
        .collect();
    if !within.is_empty() {
        findings.extend(reading.asides.iter().map(|aside| left_aside(name, aside)));
    }
    within
}

/// What a template has beside its nodes.
fn left_aside(file: &str, aside: &Aside) -> Finding {
    let what = match &aside.kind {
        Some(kind) => format!("the resource `{}` of the type `{kind}`", aside.name),
        None => format!("the section `{}`", aside.name),
    };
    let message = format!("{what} shapes the stack, not the node: it is left aside");
    Finding::note(FIELD_ASIDE, message)
        .at(Place::new(file, aside.span))
        .hint("keep it in a template of its own, if the new one does not make the like")
}

/// The unit files of a directory, their drop-ins, and what stands beside them for kubelet.
fn unit_files(directory: &Path) -> Result<Vec<PathBuf>, Stop> {
    let mut found = Vec::new();
    for name in files::listing(directory)? {
        let path = directory.join(&name);
        if !files::is_directory(&path) {
            found.extend(bringup_ancestors::is_unit_file(&name).then_some(path));
        } else if has_extension(&name, "d") {
            let inner = files::listing(&path)?.into_iter().filter(|name| has_extension(name, "conf"));
            found.extend(inner.map(|name| path.join(name)));
        }
    }
    if found.is_empty() {
        let message = format!("`{}` is a directory without unit files", directory.display());
        return Err(Stop::input(message).with_hint("name a file in it"));
    }
    Ok(found)
}

/// Where the files of a document are looked up.
fn files_root(path: &Path, selection: &Selection) -> PathBuf {
    if let Some(directory) = &selection.files_dir {
        return directory.clone();
    }
    if files::is_standard_input(path) {
        return PathBuf::from(".");
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether these are documents, ours or another system's, mistakes and all: carriers hold the same words further in.
pub(crate) fn is_document(text: &str) -> bool {
    if bringup_ancestors::is_foreign(text) {
        return true;
    }
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        let version = value.get("apiVersion").and_then(serde_json::Value::as_str);
        return version.is_some_and(|version| version.starts_with(API_GROUP));
    }
    // A document may fail to parse, and then its mistakes are to be told: its lines decide.
    let text = text.trim_start_matches('\u{feff}');
    let is_flow = text.trim_start().starts_with('{');
    let quotes = ['"', '\''];
    !text.contains('\0')
        && text.lines().any(|line| {
            let key = if is_flow { line.trim_start_matches([' ', '\t', '{']) } else { line };
            key.trim_start_matches(quotes)
                .strip_prefix("apiVersion")
                .and_then(|rest| rest.trim_start_matches(quotes).trim_start().strip_prefix(':'))
                .is_some_and(|version| version.trim_start().trim_start_matches(quotes).starts_with(API_GROUP))
        })
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}
