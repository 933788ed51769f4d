//! Documents with their files, compiled and rendered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_ancestors::codes::FIELD_ASIDE;
use bringup_ancestors::{Around, Input, Refused, hint_at_additions};
use bringup_carry::{
    Load, Rendered, carriers_of, lost_guarantees, resolve_parts, unused_encoding, without_agent,
};
use bringup_cloudformation::Aside;
use bringup_cloudformation::codes::UNKNOWN_PARAMETER;
use bringup_diag::{Finding, Findings, Place, Severity, Sources, closest};
use bringup_plan::{LocalEntry, LocalFiles, codes, sha256_hex};
use bringup_spec::{Carrier, Document, NodeGroup};

use crate::arguments::Selection;
use crate::outcome::Stop;
use crate::own_parts::OwnParts;
use crate::view::{BudgetView, CarrierView, GroupView, LostView, Operator, OriginView};
use crate::{files, lints};

/// How the `apiVersion` of a document begins.
const API_GROUP: &str = "bringup.dev/";

/// The documents of a run.
#[derive(Debug)]
pub(crate) struct Project {
    /// In the order given.
    pub(crate) documents: Vec<Document>,
    /// The files of each document.
    local: Vec<LocalFiles>,
    roots: Vec<PathBuf>,
    /// Whether each is another system's.
    foreign: Vec<bool>,
    /// What there is to tell about the documents as such.
    pub(crate) findings: Findings,
    /// Node groups that are meant and that no node can be brought up from; the documents are without them.
    refused: Vec<Refused>,
    /// The texts that findings point into.
    pub(crate) sources: Sources,
    /// The names of the inputs.
    pub(crate) names: Vec<String>,
}

/// A node group by its place: the document's number, and its own within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupKey {
    document: usize,
    group: usize,
}

/// What of a node group is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish<'a> {
    /// The carriers that it asks for, and all there is to show.
    Everything,
    /// What there is to show of its plan.
    Plan,
    /// These carriers as they are, to be handed on: nothing about them is shown.
    Bytes(&'a [Carrier]),
}

/// A node group, rendered.
#[derive(Debug)]
pub(crate) struct Built {
    /// What there is to show; nothing if it does not compile or only bytes were wanted.
    pub(crate) view: Option<GroupView>,
    /// Its files by name, `plan.json` first.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// What was found.
    pub(crate) findings: Findings,
    /// Whether a carrier is larger than its platform takes.
    pub(crate) over_budget: bool,
}

/// User-data within a template that joins nodes.
struct Within {
    name: String,
    /// Binary in base64.
    text: String,
    around: Option<bringup_yaml::Node>,
}

/// A text that is read, and where its files are looked up.
struct Given {
    name: String,
    root: PathBuf,
    text: String,
    /// The number of the template that it stands in, and what is around it there.
    around: Option<(usize, bringup_yaml::Node)>,
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

impl Project {
    /// Reads documents and the files that they refer to.
    pub(crate) fn load(paths: &[PathBuf], selection: &Selection) -> Result<Self, Stop> {
        if paths.iter().chain(&selection.with).filter(|path| files::is_standard_input(path)).count() > 1 {
            return Err(files::standard_input_twice());
        }
        let mut all: Vec<PathBuf> = Vec::new();
        for path in paths.iter().chain(&selection.with) {
            if files::is_directory(path) {
                all.extend(unit_files(path)?);
            } else {
                all.push(path.clone());
            }
        }
        let texts: Vec<(&Path, String)> = all
            .iter()
            .map(|path| Ok((path.as_path(), files::input_text(path)?)))
            .collect::<Result<_, Stop>>()?;
        Ok(Self::of_texts(texts, selection))
    }

    /// The same for texts that have been read: a pipe gives them only once.
    pub(crate) fn of_texts<'path>(
        texts: impl IntoIterator<Item = (&'path Path, String)>,
        selection: &Selection,
    ) -> Self {
        let mut project = Self {
            documents: Vec::new(),
            local: Vec::new(),
            roots: Vec::new(),
            foreign: Vec::new(),
            findings: Findings::new(),
            refused: Vec::new(),
            sources: Sources::new(),
            names: Vec::new(),
        };
        let parameters = selection.parameters();
        let mut templates: Vec<(String, String)> = Vec::new();
        let mut inputs: Vec<Given> = Vec::new();
        for (path, text) in texts {
            let (name, root) = (files::shown(path), files_root(path, selection));
            // A template, or what AWS prints of one, is what is in it.
            let inner = user_data_within(&name, &text, &parameters, &mut project.findings);
            if inner.is_empty() {
                inputs.push(Given { name, root, text, around: None });
                continue;
            }
            project.sources.add(&name, &text);
            let number = templates.len();
            templates.push((name, text));
            inputs.extend(inner.into_iter().map(|Within { name, text, around }| Given {
                name,
                root: root.clone(),
                text,
                around: around.map(|around| (number, around)),
            }));
        }
        if !parameters.is_empty() && templates.is_empty() {
            let message = "`--parameter` is for CloudFormation templates that join nodes, and none was given";
            project.findings.push(Finding::error(UNKNOWN_PARAMETER, message).hint("leave it out"));
        }
        for given in &inputs {
            project.sources.add(&given.name, &given.text);
            project.names.push(given.name.clone());
        }
        let named: Vec<Input<'_>> =
            inputs.iter().map(|given| Input { name: &given.name, text: &given.text }).collect();
        let around = inputs.iter().filter_map(|given| {
            let (number, tree) = given.around.as_ref()?;
            let (name, text) = templates.get(*number)?;
            Some(Around { of: &given.name, file: Input { name, text }, tree })
        });
        let read = bringup_ancestors::read_around(&named, &around.collect::<Vec<_>>());
        project.findings.append(read.findings);
        project.tell_refused(read.refused, selection);
        let shown = match &selection.files_dir {
            Some(directory) => format!("`{}`", directory.display()),
            None => "the document's folder".to_owned(),
        };
        for document in read.documents {
            let given = inputs.iter().find(|given| given.name == document.file);
            let root = given.map_or_else(|| PathBuf::from("."), |given| given.root.clone());
            let references = bringup_plan::local_sources(&document.cluster);
            let local = files::local_files(&root, &shown, references.iter().map(AsRef::as_ref));
            let is_program = |path: &str| {
                let path = root.join(path);
                files::exists(&path) && !files::is_directory(&path)
            };
            project.findings.append(bringup_plan::installer_hooks(&document, is_program));
            project.add_sources(&local, &root);
            project.local.push(local);
            project.roots.push(root);
            let own = given.is_some_and(|given| given.text.contains(API_GROUP));
            project.foreign.push(!own);
            let found = bringup_plan::check_document(&document);
            project.findings.append(if own { found } else { hinting_at_additions(found) });
            project.documents.push(document);
        }
        project.tell_equal_names();
        project
    }

    /// Findings may point into the files beside a document.
    fn add_sources(&mut self, local: &LocalFiles, root: &Path) {
        for (reference, entry) in &local.entries {
            if let LocalEntry::File(file) = entry
                && let Ok(text) = std::str::from_utf8(&file.bytes)
            {
                self.sources.add(shown_path(root, reference), text);
            }
        }
    }

    /// What is refused is an answer to those who want that group, and a note to those who want another.
    fn tell_refused(&mut self, refused: Vec<Refused>, selection: &Selection) {
        let meant = |wanted: Option<&str>, name: &str| wanted.is_none_or(|wanted| wanted == name);
        for refused in refused {
            if meant(selection.cluster.as_deref(), &refused.cluster)
                && meant(selection.group.as_deref(), &refused.group)
            {
                self.refused.push(refused);
                continue;
            }
            let why = refused.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
            self.findings.extend(why.map(|finding| Finding { severity: Severity::Note, ..finding }));
        }
    }

    /// The node groups that are meant and cannot be brought up.
    pub(crate) fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// What there is to tell about the node groups that are meant and cannot be brought up; nothing if there are none.
    pub(crate) fn refusals(&self) -> Findings {
        self.refused.iter().flat_map(|refused| refused.findings.iter().cloned()).collect()
    }

    /// Two clusters of one name would be written over each other. Those of one file have been told of when it was read.
    fn tell_equal_names(&mut self) {
        let path = bringup_yaml::Path::root().keys(["metadata", "name"]);
        let mut seen: BTreeMap<&str, &Document> = BTreeMap::new();
        for document in &self.documents {
            let name = document.cluster.metadata.name.as_str();
            match seen.get(name) {
                Some(first) if first.file != document.file => self.findings.push(
                    Finding::error(
                        bringup_spec::codes::DUPLICATE_NAME,
                        format!("there is a cluster `{name}` in `{}` already", first.file),
                    )
                    .at(document.place(&path))
                    .related(first.place(&path), "first here")
                    .hint("give each its own `metadata.name`, or build them into directories of their own"),
                ),
                Some(_) => {}
                None => {
                    seen.insert(name, document);
                }
            }
        }
    }

    /// The groups that are meant, in the order of the documents. A name that fits none is a wrong call.
    pub(crate) fn selected(&self, selection: &Selection) -> Result<Vec<GroupKey>, Stop> {
        let clusters = self.documents.iter().map(|document| document.cluster.metadata.name.as_str());
        known("cluster", selection.cluster.as_deref(), clusters)?;
        let wanted = |document: &Document| {
            selection.cluster.as_deref().is_none_or(|name| document.cluster.metadata.name.as_str() == name)
        };
        let mut keys = Vec::new();
        let mut names = Vec::new();
        for (index, document) in self.documents.iter().enumerate().filter(|(_, document)| wanted(document)) {
            for (group, declared) in document.cluster.spec.node_groups.iter().enumerate() {
                names.push(declared.name.as_str());
                if selection.group.as_deref().is_none_or(|name| declared.name.as_str() == name) {
                    keys.push(GroupKey { document: index, group });
                }
            }
        }
        if let (Some(_), true, Some(refused)) = (&selection.group, keys.is_empty(), self.refused.first()) {
            return Err(refusal(refused));
        }
        if let (Some(name), [], false) = (&selection.group, names.as_slice(), self.findings.has_errors()) {
            let stop = Stop::input(format!("there is no node group `{name}`"));
            return Err(stop.with_hint("the document has none at all"));
        }
        known("node group", selection.group.as_deref(), names)?;
        Ok(keys)
    }

    /// The document and the group behind a key.
    pub(crate) fn group(&self, key: GroupKey) -> Option<(&Document, &NodeGroup)> {
        let document = self.documents.get(key.document)?;
        Some((document, document.cluster.spec.node_groups.get(key.group)?))
    }

    /// Takes the agent of a group for part of the image, whatever the document says.
    pub(crate) fn have_agent_in_image(&mut self, key: GroupKey) {
        if let Some(group) = self.group_mut(key) {
            group.agent = bringup_spec::Agent::default();
        }
    }

    /// The cluster of a group, to be changed for a trial.
    pub(crate) fn spec_mut(&mut self, key: GroupKey) -> Option<&mut bringup_spec::ClusterSpec> {
        self.documents.get_mut(key.document).map(|document| &mut document.cluster.spec)
    }

    /// A group, to be changed for a trial.
    pub(crate) fn group_mut(&mut self, key: GroupKey) -> Option<&mut NodeGroup> {
        self.spec_mut(key)?.node_groups.get_mut(key.group)
    }

    /// Compiles one group and renders what is wanted of it.
    pub(crate) fn built(&self, key: GroupKey, wish: Wish<'_>, base_url: Option<&str>) -> Option<Built> {
        let (document, group) = self.group(key)?;
        let local = self.local.get(key.document)?;
        let compiled = bringup_plan::compile(document, key.group, local);
        let shown = !matches!(wish, Wish::Bytes(_));
        let origins = if shown { bringup_plan::origins(document, key.group, &compiled) } else { Vec::new() };
        let mut findings = compiled.findings;
        if self.foreign.get(key.document) == Some(&true) {
            findings = hinting_at_additions(findings);
        }
        let path = document.group_path(key.group);
        let (parts, part_findings) = resolve_parts(document, &path, group, local);
        findings.append(part_findings);
        findings.append(lints::of_parts(document, &parts, compiled.plan.as_ref()));
        findings.append(lints::of_units(document, &path, group));
        let Some(plan) = compiled.plan else {
            return Some(Built {
                view: None,
                files: Vec::new(),
                findings: self.openable(key, findings),
                over_budget: false,
            });
        };
        let load = Load::new(document, path, group, &plan, &parts).published_at(base_url);
        let mut carried = Vec::new();
        let mut views = Vec::new();
        let asked = match wish {
            Wish::Everything => carriers_of(document, group),
            Wish::Plan => Vec::new(),
            Wish::Bytes(carriers) => carriers.to_vec(),
        };
        let own = OwnParts::new(document, &parts, &asked);
        let distinct: BTreeSet<Carrier> = asked.into_iter().collect();
        let carriers = distinct.clone();
        let template = [Carrier::CloudFormation, Carrier::CloudFormationJson];
        if matches!(wish, Wish::Everything) {
            if !template.iter().any(|carrier| distinct.contains(carrier)) {
                findings.append(bringup_cloudformation::unused(document, &load.group_path, group));
            }
            findings.extend(unused_encoding(document, &load.group_path, group));
            findings.extend(without_agent(document, &load.group_path, group));
        }
        let mut over_budget = false;
        for carrier in distinct {
            let rendered = if shown { load.render(carrier) } else { load.render_plain(carrier) };
            over_budget |= rendered.budget.as_ref().is_some_and(|budget| !budget.fits());
            if shown {
                views.push(carrier_view(&load, &rendered));
            }
            findings.append(rendered.findings);
            carried.push((rendered.file_name, rendered.bytes));
        }
        let findings = self.openable(key, findings);
        let digest = if shown { load.plan_sha256().to_owned() } else { String::new() };
        let plan_json = ("plan.json".to_owned(), load.into_plan_json().into_bytes());
        let files = std::iter::once(plan_json).chain(carried).collect();
        let view = shown.then(|| GroupView {
            digest,
            steps: plan.steps.len(),
            carriers: views,
            origins: origins.iter().map(|value| OriginView::new(value, document)).collect(),
            findings: findings.clone(),
            operator: Operator::new(document, group),
            own,
            lost: lost(document, group, &carriers),
            plan,
        });
        Some(Built { view, files, findings, over_budget })
    }

    /// The findings in order; those in files beside the document name them as the person would open them.
    fn openable(&self, key: GroupKey, findings: Findings) -> Findings {
        let (Some(local), Some(root)) = (self.local.get(key.document), self.roots.get(key.document)) else {
            return findings.sorted();
        };
        let named = findings.into_iter().map(|mut finding| {
            let places = finding.place.iter_mut().chain(finding.related.iter_mut().map(|(place, _)| place));
            for place in places.filter(|place| local.entries.contains_key(&place.file)) {
                place.file = shown_path(root, &place.file);
            }
            finding
        });
        named.collect::<Findings>().sorted()
    }
}

/// The same findings; other systems' documents have no field for what nodes join with.
fn hinting_at_additions(findings: Findings) -> Findings {
    let missing = [codes::JOIN_SECRET, codes::JOIN_TRUST, codes::ENDPOINT_MISSING];
    let hinted = findings
        .into_iter()
        .map(|finding| if missing.contains(&finding.code) { hint_at_additions(finding) } else { finding });
    hinted.collect()
}

/// The answer to those who want a group that is refused.
pub(crate) fn refusal(refused: &Refused) -> Stop {
    let why = refused.findings.iter().find(|finding| finding.severity == Severity::Error);
    let message = why.map(|finding| finding.message.as_str()).unwrap_or_default();
    let stop = Stop::input(format!("the node group `{}` is refused: {message}", refused.group));
    match why.and_then(|finding| finding.hint.as_deref()) {
        Some(hint) => stop.with_hint(hint),
        None => stop,
    }
}

/// A file beside the document, by the path that leads there from where the program runs.
fn shown_path(root: &Path, reference: &str) -> String {
    let path = if root == Path::new(".") { PathBuf::from(reference) } else { root.join(reference) };
    path.display().to_string()
}

/// What is lost with each of the carriers, told once where several lose the same.
fn lost(document: &Document, group: &NodeGroup, carriers: &BTreeSet<Carrier>) -> Vec<LostView> {
    let mut views: Vec<LostView> = Vec::new();
    for carrier in carriers {
        let lost = lost_guarantees(document, group, *carrier);
        match views.iter_mut().find(|view| view.lost == lost) {
            Some(view) => view.carriers.push(carrier.word()),
            None if lost.is_empty() => {}
            None => views.push(LostView { carriers: vec![carrier.word()], lost }),
        }
    }
    views
}

fn carrier_view(load: &Load<'_>, rendered: &Rendered) -> CarrierView {
    CarrierView {
        kind: rendered.carrier.word(),
        file: rendered.file_name.clone(),
        size: rendered.bytes.len(),
        sha256: sha256_hex(&rendered.bytes),
        budget: rendered.budget.as_ref().map(|budget| BudgetView {
            used: budget.used,
            limit: budget.limit,
            whose: budget.platform.to_owned(),
            parts: load.pieces(&rendered.parts),
        }),
    }
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

/// Refuses a name that none of the things has.
fn known<'a>(what: &str, name: Option<&str>, names: impl IntoIterator<Item = &'a str>) -> Result<(), Stop> {
    let Some(name) = name else { return Ok(()) };
    let names: Vec<&str> = names.into_iter().collect();
    if names.contains(&name) || names.is_empty() {
        return Ok(());
    }
    let hint = closest(name, names.iter().copied()).map_or_else(
        || {
            let known: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
            let more = if names.len() > 10 { " and others" } else { "" };
            format!("there is {}{more}", known.join(", "))
        },
        |near| format!("did you mean `{near}`?"),
    );
    Err(Stop::input(format!("there is no {what} `{name}`")).with_hint(hint))
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
