//! Documents with their files, compiled and rendered.

mod built;
mod inputs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bringup_ancestors::{Refused, hint_at_additions};
use bringup_diag::{Finding, Findings, Severity, Sources, closest};
use bringup_plan::{LocalEntry, LocalFiles, codes};
use bringup_spec::{Document, NodeGroup};

pub(crate) use self::built::{Built, Wish};
use self::inputs::Inputs;
pub(crate) use self::inputs::is_document;
use crate::arguments::Selection;
use crate::files;
use crate::outcome::Stop;

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
    pub(crate) group: usize,
}

impl Project {
    /// Reads documents and the files that they refer to.
    pub(crate) fn load(paths: &[PathBuf], selection: &Selection) -> Result<Self, Stop> {
        let all = inputs::files_of(paths, selection)?;
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
        let inputs = Inputs::gathered(texts, selection, &mut project.findings);
        for (name, text) in &inputs.templates {
            project.sources.add(name, text);
        }
        for given in &inputs.given {
            project.sources.add(&given.name, &given.text);
            project.names.push(given.name.clone());
        }
        let read = inputs.read();
        project.findings.append(read.findings);
        project.tell_refused(read.refused, selection);
        let shown = match &selection.files_dir {
            Some(directory) => format!("`{}`", directory.display()),
            None => "the document's folder".to_owned(),
        };
        for document in read.documents {
            let given = inputs.of(&document.file);
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
            project.findings.append(if own { found } else { project.of_theirs(found) });
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

    /// The same findings for another system's document: it has no field for what nodes join with, and of a value of a wrong
    /// type there is nothing else to tell.
    fn of_theirs(&self, findings: Findings) -> Findings {
        let wrong =
            self.findings.iter().filter(|finding| finding.code == bringup_ancestors::codes::WRONG_TYPE);
        let wrong: Vec<_> = wrong.map(|finding| &finding.place).collect();
        let missing = [codes::JOIN_SECRET, codes::JOIN_TRUST, codes::ENDPOINT_MISSING];
        let left = findings.into_iter().filter(|finding| !wrong.contains(&&finding.place));
        left.map(|finding| if missing.contains(&finding.code) { hint_at_additions(finding) } else { finding })
            .collect()
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
