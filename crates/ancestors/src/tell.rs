//! What a translation has to tell.

use bringup_diag::{Code, Finding, Findings, Severity, Span};
use bringup_spec::Files;
use bringup_yaml::Node;

use crate::codes;
use crate::read::Refused;

/// Collects findings while documents are translated.
#[derive(Debug)]
pub(crate) struct Teller<'a> {
    files: &'a Files,
    findings: Findings,
    /// What a document does not say, with the path of it: additions may.
    missing: Vec<(Vec<&'static str>, Finding)>,
    /// What holds for a document as it was translated, unless additions say otherwise.
    unless: Vec<(Says, Finding)>,
    /// What holds where a document has another value at a path, once additions are in it.
    others: Vec<(Vec<&'static str>, String, Finding)>,
    /// The minor of Kubernetes that additions say.
    pub(crate) added_minor: Option<u16>,
    /// What is true only of an agent on the node: whether there is one may be said by additions.
    of_agent: Vec<OfAgent>,
    /// Values of a wrong type.
    wrong: Vec<Span>,
    /// Node groups that no node can be brought up from, each with its place.
    refused: Vec<(Span, Refused)>,
}

/// Whether a document says something.
pub(crate) type Says = fn(&Node) -> bool;

/// A note that hangs on the agent of a node group.
#[derive(Debug)]
struct OfAgent {
    /// The group, by its place.
    group: Span,
    /// Whether it is about an agent that nobody has spoken of.
    assumed: bool,
    finding: Finding,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(files: &'a Files) -> Self {
        Self {
            files,
            findings: Findings::new(),
            missing: Vec::new(),
            unless: Vec::new(),
            others: Vec::new(),
            added_minor: None,
            of_agent: Vec::new(),
            wrong: Vec::new(),
            refused: Vec::new(),
        }
    }

    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        // Of a value of a wrong type there is nothing else to tell.
        if self.wrong.contains(&span) {
            return;
        }
        if code == codes::WRONG_TYPE {
            self.wrong.push(span);
        }
        self.push(Finding::error(code, message).hint(hint), span);
    }

    pub(crate) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Finding::warning(code, message).hint(hint), span);
    }

    pub(crate) fn note(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Finding::note(code, message).hint(hint), span);
    }

    /// Translates a node group. What refuses it is told of it alone: the other groups can do without. A mistake in it makes the
    /// document wrong, refused or not.
    pub(crate) fn group<T>(
        &mut self,
        (cluster, span): (&str, Span),
        translate: impl FnOnce(&mut Self) -> (T, String),
    ) -> Option<T> {
        let before = std::mem::take(&mut self.findings);
        let (group, name) = translate(self);
        let told = std::mem::replace(&mut self.findings, before);
        let refuses =
            |finding: &Finding| finding.severity == Severity::Error && finding.code == codes::FIELD_REFUSED;
        if !told.iter().any(refuses) {
            self.findings.append(told);
            return Some(group);
        }
        let is_mistake = |finding: &Finding| finding.severity == Severity::Error && !refuses(finding);
        let (mistakes, told): (Vec<Finding>, Vec<Finding>) = told.into_iter().partition(is_mistake);
        self.findings.extend(mistakes);
        let findings = told.into_iter().collect::<Findings>().sorted();
        self.refused.push((span, Refused { cluster: cluster.to_owned(), group: name, findings }));
        None
    }

    /// Whether this is the name of a group that has been refused.
    pub(crate) fn has_refused(&self, name: &str) -> bool {
        self.refused.iter().any(|(_, refused)| refused.group == name)
    }

    /// A note that is true where there is an agent on the nodes of a group; with `assumed`, only where nobody says how it
    /// gets there.
    pub(crate) fn note_of_agent(
        &mut self,
        (group, assumed): (Span, bool),
        (code, span): (Code, Span),
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = Finding::note(code, message).hint(hint).at(self.files.place(span));
        self.of_agent.push(OfAgent { group, assumed, finding });
    }

    /// A note that a document does not say what is at this path, unless additions do.
    pub(crate) fn note_of_missing(
        &mut self,
        path: &[&'static str],
        (code, span): (Code, Span),
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = Finding::note(code, message).hint(hint).at(self.files.place(span));
        self.missing.push((path.to_vec(), finding));
    }

    /// An error that a document does not say what is at this path, unless additions do.
    pub(crate) fn error_of_missing(
        &mut self,
        path: &[&'static str],
        (code, span): (Code, Span),
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = Finding::error(code, message).hint(hint).at(self.files.place(span));
        self.missing.push((path.to_vec(), finding));
    }

    /// A warning that the node will differ, unless a document says otherwise once additions are in it.
    pub(crate) fn warning_unless(
        &mut self,
        says: Says,
        (code, span): (Code, Span),
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = Finding::warning(code, message).hint(hint).at(self.files.place(span));
        self.unless.push((says, finding));
    }

    /// A warning that holds where a document has another value at this path, once additions are in it.
    pub(crate) fn warning_of_other(
        &mut self,
        (path, value): (&[&'static str], &str),
        (code, span): (Code, Span),
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = Finding::warning(code, message).hint(hint).at(self.files.place(span));
        self.others.push((path.to_vec(), value.to_owned(), finding));
    }

    /// Tells what is missing and what hangs on agents, now that additions are in the documents. Whether nothing is missing
    /// without which there is no document.
    pub(crate) fn settle(&mut self, documents: &[Node]) -> bool {
        let mut whole = true;
        let says = |document: &Node, path: &[&str]| {
            path.iter().try_fold(document, |node, key| node.get(key)).is_some()
        };
        for (path, finding) in std::mem::take(&mut self.missing) {
            if !documents.iter().all(|document| says(document, &path)) {
                whole &= finding.severity != Severity::Error;
                self.findings.push(finding);
            }
        }
        for (says, finding) in std::mem::take(&mut self.unless) {
            if !documents.iter().all(says) {
                self.findings.push(finding);
            }
        }
        for (path, value, finding) in std::mem::take(&mut self.others) {
            let known = |document: &Node| {
                let node = path.iter().try_fold(document, |node, key| node.get(key))?;
                node.text().map(str::to_owned)
            };
            if documents.iter().filter_map(known).any(|known| known != value) {
                self.findings.push(finding);
            }
        }
        let groups =
            documents.iter().filter_map(|tree| tree.get("spec")?.get("nodeGroups")?.items()).flatten();
        let agents: Vec<(Span, Option<&Node>)> =
            groups.map(|group| (group.span, group.get("agent"))).collect();
        // One agent that is taken for granted stands for all.
        let mut granted = false;
        let refused = |group: Span| self.refused.iter().any(|(span, _)| *span == group);
        for note in std::mem::take(&mut self.of_agent).into_iter().filter(|note| !refused(note.group)) {
            let agent = agents.iter().find(|(span, _)| *span == note.group).and_then(|(_, agent)| *agent);
            let word = agent.and_then(|agent| agent.get("from").unwrap_or(agent).text());
            if word != Some("none") && !(note.assumed && (agent.is_some() || granted)) {
                granted |= note.assumed;
                self.findings.push(note.finding);
            }
        }
        whole
    }

    /// The file and the line of a place, for a message about another one.
    pub(crate) fn line(&self, span: Span) -> String {
        let place = self.files.place(span);
        format!("{}:{}", place.file, place.span.start.line)
    }

    fn push(&mut self, finding: Finding, span: Span) {
        self.findings.push(finding.at(self.files.place(span)));
    }

    /// All that has been told, and the groups that have been refused.
    pub(crate) fn ended(self) -> (Findings, Vec<Refused>) {
        (self.findings, self.refused.into_iter().map(|(_, refused)| refused).collect())
    }
}
