//! From the text of a file to its documents.

use bringup_diag::{Finding, Findings, Place, Span};
use bringup_yaml::{Limits, Node, Path};

use crate::decode::{Decode as _, Reader, Schemas};
use crate::{Cluster, Files, NodeGroup, Text, codes, consistency, hazard, kind, recovery, syntax};

/// A cluster with the text that it came from.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it says.
    pub cluster: Cluster,
    /// The name of its file, as the person gave it; of the first, where it was put together from several.
    pub file: String,
    files: Files,
    tree: Node,
    /// Values that could not be read and were left out, and what they were to be part of.
    lost: Vec<Span>,
}

impl Document {
    /// The place of the value at `path` or, if it is not written, of its nearest ancestor that is.
    pub fn place(&self, path: &Path) -> Place {
        self.files.place(self.tree.span_at(path))
    }

    /// The place of the key that `path` ends in.
    pub fn key_place(&self, path: &Path) -> Place {
        self.files.place(self.tree.key_span_at(path))
    }

    /// The located tree of the document.
    pub fn tree(&self) -> &Node {
        &self.tree
    }

    /// Whether a finding only follows from a value that could not be read, which has been told already.
    pub fn is_follow_up(&self, finding: &Finding) -> bool {
        let is_lost = |place: &Place| self.lost.iter().any(|span| self.files.place(*span) == *place);
        finding.place.as_ref().is_some_and(is_lost)
    }

    /// Whether every value could be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.lost.is_empty()
    }

    /// The path of a node group.
    pub fn group_path(&self, index: usize) -> Path {
        Path::root().keys(["spec", "nodeGroups"]).index(index)
    }

    /// The node groups with their paths.
    pub fn groups(&self) -> impl Iterator<Item = (Path, &NodeGroup)> {
        self.cluster.spec.node_groups.iter().enumerate().map(|(index, group)| (self.group_path(index), group))
    }
}

/// What a file holds.
#[derive(Debug)]
pub struct Read {
    /// The documents that could be read.
    pub documents: Vec<Document>,
    /// What there is to tell about the file, in its order.
    pub findings: Findings,
}

/// Reads all documents of a file, YAML or JSON.
pub fn read(file: &str, text: &str) -> Read {
    if let Some((message, hint)) = user_data(text) {
        let finding = Finding::error(codes::KIND, message).hint(hint);
        let findings = [finding.at(Files::one(file).place(Span::point(1, 1)))].into_iter().collect();
        return Read { documents: Vec::new(), findings };
    }
    match bringup_yaml::parse(text, Limits::default()) {
        Ok(trees) => read_trees(&Files::one(file), text, trees),
        Err(fault) => {
            let findings = [syntax::finding(file, text, &fault)].into_iter().collect();
            Read { documents: Vec::new(), findings }
        }
    }
}

/// What to say of a text that machines take, and that is no YAML at all.
fn user_data(text: &str) -> Option<(String, &'static str)> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.clone().find(|line| !line.is_empty())?.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
    let joins_nothing = |what: &str| {
        let hint = "`bringup inspect` shows what it does, and `bringup try` boots it; a NodeConfig or a call of `/etc/eks/bootstrap.sh` in it would be read";
        Some((format!("this is {what} that joins no cluster, not a document"), hint))
    };
    if starts(&["#!"]) {
        return joins_nothing("a script");
    }
    if starts(&["mime-version:", "content-type: multipart/"]) {
        return joins_nothing("a MIME message");
    }
    if starts(&["<powershell>", "<script>"]) {
        let message = "this is user-data of Windows, which cannot be brought up here".to_owned();
        return Some((message, "stay with the scripts of EKS' images for nodes of Windows"));
    }
    let is_settings = |line: &str| line.starts_with("[settings.") || line == "[settings]";
    if lines.filter(|line| !line.is_empty() && !line.starts_with('#')).take(1).any(is_settings) {
        let message = "these are settings of Bottlerocket, which brings itself up".to_owned();
        return Some((
            message,
            "`bringup inspect` shows them; stay with Bottlerocket's own way for its nodes",
        ));
    }
    None
}

/// Reads documents whose trees somebody else has made. Their spans count in `text`, which `files` were joined to.
pub fn read_trees(files: &Files, text: &str, trees: Vec<Node>) -> Read {
    let mut reader = Reader::over(files.clone(), text);
    let mut documents = Vec::new();
    if trees.is_empty() {
        let finding = Finding::error(codes::KIND, "there is no document in this file")
            .hint("`bringup init` writes one to begin with");
        reader.push(finding.at(files.place(Span::point(1, 1))));
    }
    for mut tree in trees {
        if let Some(finding) = kind::refusal(files, &tree) {
            reader.push(finding);
            continue;
        }
        hazard::report(&tree, &mut reader);
        report_placeholders(&tree, &mut reader);
        let mut lost = Vec::new();
        let whole = Cluster::decode(&tree, &mut reader);
        let broken = reader.take_broken();
        if let Some(cluster) = whole.or_else(|| recovery::rest(&mut tree, broken, &mut lost)) {
            let file = files.place(tree.span).file;
            documents.push(Document { cluster, file, files: files.clone(), tree, lost });
        }
    }
    let mut findings = reader.into_findings();
    for document in &documents {
        consistency::report(document, &mut findings);
    }
    consistency::report_equal_clusters(&documents, &mut findings);
    Read { documents, findings: findings.sorted() }
}

/// Kubelet's fields are free, but facts are filled into their strings.
fn report_placeholders(tree: &Node, reader: &mut Reader) {
    let groups = tree.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
    for group in groups.unwrap_or_default() {
        if let Some(config) = group.get("kubelet").and_then(|kubelet| kubelet.get("config")) {
            Text::report_within(config, reader);
        }
    }
}

/// The JSON Schema of a document, draft 2020-12.
pub fn json_schema() -> serde_json::Value {
    let mut schemas = Schemas::default();
    let mut root = Cluster::schema(&mut schemas);
    if let Some(root) = root.as_object_mut() {
        root.insert("$id".to_owned(), "https://bringup.dev/schema/v1alpha1/cluster.json".into());
    }
    let mut schema = schemas.finish(&root, "Bringup Cluster");
    for (key, value) in [("apiVersion", kind::API_VERSION), ("kind", kind::KIND)] {
        if let Some(property) = schema.pointer_mut(&format!("/$defs/Cluster/properties/{key}")) {
            property["const"] = value.into();
        }
    }
    schema
}
