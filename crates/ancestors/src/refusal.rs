//! Node groups that no node can be brought up from: each is refused by itself, and the others are as they would be with it.

use bringup_diag::{Finding, Findings, Place, Severity, Span};
use bringup_spec::Files;
use bringup_yaml::{Content, Node};

use crate::read::{Refused, contains};

/// The node groups of translated documents.
pub(crate) struct Groups<'a> {
    pub(crate) files: &'a Files,
    pub(crate) text: &'a str,
    /// Those that are refused already, each with its place.
    pub(crate) refused: Vec<(Span, Refused)>,
    /// Whether each has a place of its own in the other system's documents.
    pub(crate) are_apart: bool,
}

/// A group of a translated document.
struct Group {
    span: Span,
    cluster: String,
    name: String,
    /// Where the other system's documents speak of it alone.
    places: Vec<Place>,
}

impl Groups<'_> {
    /// Reads translated documents and others beside them. What is wrong within one group is told of that group alone.
    pub(crate) fn read(&mut self, mut translated: Vec<Node>, others: &[Node]) -> bringup_spec::Read {
        loop {
            let trees: Vec<Node> = translated.iter().chain(others).cloned().collect();
            let mut read = bringup_spec::read_trees(self.files, self.text, trees);
            let groups: Vec<Group> = translated.iter().flat_map(|tree| groups(self.files, tree)).collect();
            let at_fault: Vec<Group> =
                groups.into_iter().filter(|group| self.is_at_fault(group, &read.findings)).collect();
            if at_fault.is_empty() {
                return read;
            }
            for group in &at_fault {
                self.refuse(group, &read.findings);
            }
            for tree in &mut translated {
                take_out(tree, &at_fault);
            }
            translated.retain(|tree| !is_empty(tree));
            if translated.is_empty() && others.is_empty() {
                read.findings.retain(|finding| !at_fault.iter().any(|group| group.has(finding)));
                return bringup_spec::Read { documents: Vec::new(), findings: read.findings };
            }
        }
    }

    fn is_at_fault(&self, group: &Group, findings: &Findings) -> bool {
        let is_fault = |finding: &&Finding| finding.severity == Severity::Error;
        self.refused.iter().any(|(span, _)| *span == group.span)
            || self.are_apart && findings.iter().filter(is_fault).any(|finding| group.has(finding))
    }

    /// Adds what has been found within a group to what is told of it, but no second error about one place.
    fn refuse(&mut self, group: &Group, findings: &Findings) {
        let found = findings.iter().filter(|finding| group.has(finding)).cloned();
        if let Some((_, refused)) = self.refused.iter_mut().find(|(span, _)| *span == group.span) {
            let told: Vec<Place> =
                errors(&refused.findings).filter_map(|error| error.place.clone()).collect();
            let is_new = |finding: &Finding| !finding.place.as_ref().is_some_and(|at| told.contains(at));
            refused.findings.extend(found.filter(is_new));
            return;
        }
        let refused =
            Refused { cluster: group.cluster.clone(), group: group.name.clone(), findings: found.collect() };
        self.refused.push((group.span, refused));
    }

    /// All that are refused.
    pub(crate) fn ended(self) -> Vec<Refused> {
        let refused = self.refused.into_iter().map(|(_, refused)| refused);
        refused.map(|refused| Refused { findings: refused.findings.sorted(), ..refused }).collect()
    }
}

impl Group {
    fn has(&self, finding: &Finding) -> bool {
        finding.place.as_ref().is_some_and(|at| self.places.iter().any(|place| contains(place, at)))
    }
}

fn errors(findings: &Findings) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| finding.severity == Severity::Error)
}

fn items<'a>(tree: &'a Node, key: &str) -> &'a [Node] {
    tree.get("spec").and_then(|spec| spec.get(key)).and_then(Node::items).unwrap_or_default()
}

fn word<'a>(node: &'a Node, key: &str) -> &'a str {
    node.get(key).and_then(Node::text).unwrap_or_default()
}

/// The groups that a document can do without. Where one starts the cluster, the cluster hangs on it.
fn groups(files: &Files, tree: &Node) -> Vec<Group> {
    let cluster = tree.get("metadata").map(|metadata| word(metadata, "name")).unwrap_or_default();
    let can_go = items(tree, "nodeGroups").iter().filter(|group| group.get("bootstrap").is_none());
    can_go
        .map(|group| {
            let name = word(group, "name");
            let machines =
                items(tree, "machines").iter().filter(|machine| word(machine, "nodeGroup") == name);
            let places = machines.chain([group]).map(|node| files.place(node.span)).collect();
            Group { span: group.span, cluster: cluster.to_owned(), name: name.to_owned(), places }
        })
        .collect()
}

/// A document without some of its groups, by their numbers.
pub fn without_groups(tree: &Node, groups: &[usize]) -> Node {
    let mut rest = tree.clone();
    let listed = items(tree, "nodeGroups");
    let spans: Vec<Span> = groups.iter().filter_map(|at| Some(listed.get(*at)?.span)).collect();
    take_out_of(&mut rest, &spans);
    rest
}

/// Takes groups and their machines out of a document.
fn take_out(tree: &mut Node, groups: &[Group]) {
    take_out_of(tree, &groups.iter().map(|group| group.span).collect::<Vec<_>>());
}

fn take_out_of(tree: &mut Node, spans: &[Span]) {
    let gone: Vec<String> = items(tree, "nodeGroups")
        .iter()
        .filter(|group| spans.contains(&group.span))
        .map(|group| word(group, "name").to_owned())
        .collect();
    let Content::Map(entries) = &mut tree.content else { return };
    let spec = entries.iter_mut().find(|entry| entry.key == "spec").map(|entry| &mut entry.value.content);
    let Some(Content::Map(entries)) = spec else { return };
    for entry in entries {
        if let Content::List(items) = &mut entry.value.content {
            match entry.key.as_str() {
                "nodeGroups" => items.retain(|group| !spans.contains(&group.span)),
                "machines" => {
                    items.retain(|machine| !gone.iter().any(|name| name == word(machine, "nodeGroup")));
                }
                _ => {}
            }
        }
    }
}

/// Whether no group is left.
fn is_empty(tree: &Node) -> bool {
    items(tree, "nodeGroups").is_empty()
}
