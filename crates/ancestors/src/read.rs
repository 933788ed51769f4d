//! From the texts of files to Bringup documents, whosever they are.

use std::collections::BTreeMap;

use bringup_diag::{Finding, Findings, Place, Severity, Span};
use bringup_spec::nodeconfig::unpack;
use bringup_spec::{Document, Files};
use bringup_yaml::{Content, Limits, Node};

use crate::additions::{is_additions, lay_over};
use crate::cloudformation::Policies;
use crate::comments::{unclosed as open_comment, without_comments};
use crate::tell::Teller;
use crate::user_data::unreadable;
use crate::{System, codes, kops, tectonic, user_data};

/// A file: its name as the person gave it, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// What stands around user-data in the file that it was taken from.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The name of the input that is the user-data.
    pub of: &'a str,
    /// The file.
    pub file: Input<'a>,
    /// How machines are launched with it, as that file has it.
    pub tree: &'a Node,
}

/// What files hold.
#[derive(Debug)]
pub struct Read {
    /// The documents that could be read.
    pub documents: Vec<Document>,
    /// What there is to tell about the files, in their order.
    pub findings: Findings,
    /// The node groups of other systems that no node can be brought up from, which the documents are without.
    pub refused: Vec<Refused>,
}

/// A node group of another system's document that no node can be brought up from here.
#[derive(Debug)]
pub struct Refused {
    /// The name of its cluster, as a Bringup document has it.
    pub cluster: String,
    /// Its own, likewise.
    pub group: String,
    /// What there is to tell about it: why it is refused, and what else is wrong with it.
    pub findings: Findings,
}

/// Whether a text holds a document of another system. User-data does not, whatever its parts are, nor does an Ignition
/// config: they are carriers.
pub fn is_foreign(text: &str) -> bool {
    let is_document = |tree: &Node| System::of(tree).is_some() && !tectonic::is_carrier(tree);
    trees_of(text).is_some_and(|trees| trees.iter().any(is_document))
}

/// Whether a file of a directory of units is read: a unit, or what stands beside them for kubelet.
pub fn is_unit_file(name: &str) -> bool {
    tectonic::is_unit_file(name)
}

/// Whether bytes are an Ignition config of somebody else's, or a unit, that brings a node up: with what they do not say, they
/// can be compiled.
pub fn is_of_units(name: &str, bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let is_config = |tree: &Node| tectonic::is_carrier(tree) && !tectonic::is_ours(tree);
    tectonic::tree(name, text).is_some() || trees_of(text).is_some_and(|trees| trees.iter().any(is_config))
}

/// Whether user-data joins a node in a way that can be read: it has a NodeConfig, or a script that calls `bootstrap.sh`.
pub fn joins_a_node(bytes: &[u8]) -> bool {
    let unpacked = unpack("user-data", bytes);
    let called = |text: &str| user_data::tree(text, true).is_some() || user_data::init::trees(text).is_some();
    let is_config = |text: &str| {
        text.contains("node.eks.aws/")
            && trees_of(text)
                .is_some_and(|trees| trees.iter().any(|tree| System::of(tree) == Some(System::Nodeadm)))
    };
    let commands = |text: &str| user_data::runcmd::trees("user-data", text).is_some();
    unpacked.scripts.iter().any(|(_, text)| called(text))
        || unpacked.texts.iter().any(|(_, text)| called(text) || commands(text) || is_config(text))
        || unpacked.others.iter().any(|(_, _, text)| commands(text))
}

/// A text of an input.
struct Part {
    name: String,
    text: String,
    /// Its type, where it is cloud-init's alone.
    kind: Option<String>,
}

impl Part {
    fn new((name, text): (String, String)) -> Self {
        Self { name, text, kind: None }
    }
}

/// NodeConfigs also come as parts of a message, as user-data has them; anything else is what it is.
fn unpacked(input: Input<'_>, findings: &mut Findings) -> Vec<Part> {
    let unpacked = unpack(input.name, input.text.as_bytes());
    // A message may have a script that calls `bootstrap.sh` in the place of a NodeConfig.
    let joins =
        |script: &str| user_data::tree(script, true).is_some() || user_data::init::trees(script).is_some();
    let called = unpacked.scripts.iter().any(|(_, script)| joins(script))
        || unpacked.others.iter().any(|(_, _, text)| user_data::runcmd::trees(input.name, text).is_some());
    let last = u32::try_from(input.text.lines().count()).unwrap_or(u32::MAX).max(1);
    for (is_so, line, what, hint) in [
        (
            unpacked.unquoted,
            1,
            "the boundary of this message lacks its quotes",
            "write it as `boundary=\"//\"`",
        ),
        (
            unpacked.unended,
            1,
            "there is no empty line behind the header of this message",
            "leave an empty line before the first part",
        ),
        (
            unpacked.unclosed,
            last,
            "the boundary that closes this message is missing",
            "end it with a line of its boundary between `--` and `--`, such as `--//--`",
        ),
    ] {
        if is_so {
            let message = format!(
                "{what}: cloud-init takes its parts all the same, and so does this; nodeadm refuses all of it"
            );
            let place = Place::new(input.name, Span::point(line, 1));
            findings.push(Finding::warning(codes::DIFFERENCE, message).at(place).hint(hint));
        }
    }
    for (name, kind) in &unpacked.unread {
        let message =
            format!("this part of the type `{kind}` is no text, and is left out: the node will differ");
        let hint = "write it in UTF-8, in base64 or compressed with gzip";
        findings.push(
            Finding::warning(codes::FIELD_DIFFERS, message)
                .at(Place::new(name, Span::point(1, 1)))
                .hint(hint),
        );
    }
    let refused = unpacked.findings.has_errors()
        && (unpacked.texts.is_empty() || !(unpacked.unclosed || unpacked.unended || unpacked.unquoted));
    if refused && !called {
        return vec![Part::new((input.name.to_owned(), input.text.to_owned()))];
    }
    // What a template begins with is told of it later.
    let is_run = |name: &str, text: &str| text.starts_with("#!") || unreadable::finding(name, text).is_some();
    let (scripts, unrun): (Vec<_>, Vec<_>) =
        unpacked.scripts.into_iter().partition(|(name, text)| is_run(name, text));
    for (name, _) in &unrun {
        let message = "a script without `#!` is left out: the kernel refuses to run it, here as before";
        findings.push(
            Finding::warning(codes::FIELD_DIFFERS, message)
                .at(Place::new(name, Span::point(1, 1)))
                .hint("make `#!/bin/sh` the first line, or remove it"),
        );
    }
    let others = unpacked.others.into_iter().map(|(name, kind, text)| Part { name, text, kind: Some(kind) });
    scripts.into_iter().chain(unpacked.texts).map(Part::new).chain(others).collect()
}

/// Documents of others, with the text that they stand in.
struct Theirs<'a> {
    input: Input<'a>,
    trees: Vec<Node>,
    /// The resource of a template whose user-data they are, by the number of the input and its name.
    resource: Option<(usize, &'a str)>,
}

/// Documents by the system that they are of.
type OfSystems = BTreeMap<System, Vec<Node>>;

/// Reads all documents of several files.
///
/// Documents of another system may be spread over the files: an instance group finds its cluster in any of them. An input
/// `FILE#RESOURCE` is user-data of one resource of a template, and a node group by itself.
pub fn read(inputs: &[Input<'_>]) -> Read {
    read_around(inputs, &[])
}

/// The same, with what stands around inputs that are user-data.
pub fn read_around(inputs: &[Input<'_>], around: &[Around<'_>]) -> Read {
    let mut documents = Vec::new();
    let mut findings = Findings::new();
    let mut refused = Vec::new();
    let mut theirs: Vec<Theirs<'_>> = Vec::new();
    let parts: Vec<Vec<Part>> = inputs.iter().map(|input| unpacked(*input, &mut findings)).collect();
    for (number, (input, parts)) in inputs.iter().zip(&parts).enumerate() {
        let resource = input.name.split_once('#').map(|(_, name)| (number, name));
        for Part { name, text, kind } in parts {
            let told = || {
                let finding = unreadable::finding(name, text).or_else(|| unreadable::of_eksctl(name, text));
                finding.or_else(|| open_comment(name, text))
            };
            if let Some(finding) = kind.is_none().then(told).flatten() {
                findings.push(finding);
                continue;
            }
            // A part of a message is not alone.
            let of_part = kind.as_ref().map(|kind| user_data::parts::tree(name, text, kind));
            let tree = of_part
                .or_else(|| user_data::tree(text, name == input.name))
                .or_else(|| tectonic::tree(name, text));
            let several = user_data::runcmd::trees(name, text).or_else(|| user_data::init::trees(text));
            let trees = match (several, tree) {
                (Some(trees), _) => Some(trees),
                (None, Some(tree)) => Some(vec![tree]),
                (None, None) => trees_of(text).filter(|trees| {
                    trees.iter().any(|tree| is_additions(tree) || System::of(tree).is_some())
                }),
            };
            if let Some(trees) = trees {
                theirs.push(Theirs { input: Input { name, text }, trees, resource });
            } else if let Some(finding) = unreadable::cloud_config(name, text) {
                findings.push(finding);
            } else {
                let ours = bringup_spec::read(name, text);
                documents.extend(ours.documents);
                findings.append(ours.findings);
            }
        }
        let around = around.iter().filter(|around| around.of == input.name);
        theirs.extend(around.map(|around| Theirs {
            input: around.file,
            trees: vec![user_data::around(around.tree)],
            resource,
        }));
    }
    if !theirs.is_empty() {
        let unread = findings.has_errors();
        let translated = translated(theirs, unread);
        documents.extend(translated.documents);
        findings.append(translated.findings);
        refused = translated.refused;
    }
    Read { documents, findings, refused }
}

/// The documents of a text, those of lists one by one.
fn trees_of(text: &str) -> Option<Vec<Node>> {
    let parsed = |text: &str| bringup_yaml::parse(text, Limits::default()).ok();
    let trees = match without_comments(text) {
        // A comment behind a number is part of it to a reader of YAML: what is JSON without comments is JSON.
        Some(blanked) if serde_json::from_str::<serde_json::Value>(&blanked).is_ok() => parsed(&blanked),
        Some(blanked) => parsed(text).or_else(|| parsed(&blanked)),
        None => parsed(text),
    };
    trees.map(|trees| trees.into_iter().flat_map(listed).collect())
}

/// What `kubectl get` prints for several objects, taken apart.
fn listed(tree: Node) -> Vec<Node> {
    let is_list = tree.get("kind").and_then(Node::text) == Some("List")
        && tree
            .get("items")
            .and_then(Node::items)
            .is_some_and(|items| items.iter().any(|item| System::of(item).is_some()));
    if !is_list {
        return vec![tree];
    }
    let Content::Map(entries) = tree.content else { return Vec::new() };
    entries
        .into_iter()
        .filter(|entry| entry.key == "items")
        .flat_map(|entry| if let Content::List(items) = entry.value.content { items } else { Vec::new() })
        .collect()
}

/// The minor of Kubernetes in additions.
fn minor(additions: &Node) -> Option<u16> {
    let version = additions.get("spec")?.get("kubernetes")?.get("version")?.text()?;
    version.trim_start_matches('v').split('.').nth(1)?.parse().ok()
}

/// `refused` is whether a file beside them could not be read.
fn translated(inputs: Vec<Theirs<'_>>, refused: bool) -> Read {
    let (files, text) = Files::joined(inputs.iter().map(|theirs| (theirs.input.name, theirs.input.text)));
    let mut tell = Teller::new(&files);
    let mut of_system: BTreeMap<Option<(usize, &str)>, OfSystems> = BTreeMap::new();
    let mut policies: BTreeMap<Option<(usize, &str)>, Policies> = BTreeMap::new();
    let mut additions = Vec::new();
    let mut rest = Vec::new();
    for (Theirs { trees, resource, .. }, offset) in inputs.into_iter().zip(files.offsets()) {
        for tree in trees {
            let tree = tree.lower_by(offset);
            if let Some(system) = System::of(&tree) {
                let mut tree = tree.with_merge_keys();
                policies.extend(Policies::taken_from(&mut tree).map(|policies| (resource, policies)));
                let systems = of_system.entry(resource).or_default();
                systems.entry(system).or_default().push(tree);
            } else if is_additions(&tree) {
                additions.push(tree);
            } else {
                rest.push(tree);
            }
        }
    }
    for systems in of_system.values_mut() {
        let found = systems.get(&System::UserData).map(|found| user_data::drop_ins::trees(found));
        if let (Some(configs), Some(found)) = (systems.get_mut(&System::Nodeadm), found) {
            configs.extend(found);
        }
    }
    tell.added_minor = additions.iter().find_map(minor);
    if of_system.values().any(|systems| systems.contains_key(&System::Kops)) {
        kops::leave_objects_aside(&mut rest, &mut tell);
    }
    let subnets = Policies::shared_subnets(policies.values());
    let mut trees = Vec::new();
    let foreign = !of_system.is_empty();
    let several = of_system.keys().flatten().count() > 1;
    for (resource, systems) in of_system {
        let mut of_resource = Vec::new();
        for (system, documents) in systems {
            let more = system.translate(&documents, &mut of_resource, &mut tell);
            of_resource.extend(more);
        }
        if let Some(policies) = policies.get(&resource) {
            policies.lay(&mut of_resource, subnets.as_ref(), &mut tell);
        }
        if let Some((_, name)) = resource.filter(|_| several) {
            user_data::sources::name_groups(&mut of_resource, name);
        }
        trees.extend(of_resource);
    }
    if several {
        trees = user_data::sources::joined(trees, &mut tell);
    }
    // What could not be translated has been told, and is no fault of the additions.
    if !((foreign || refused) && trees.is_empty()) {
        for more in &additions {
            lay_over(&mut trees, more, &mut tell);
        }
    }
    let whole = tell.settle(&trees);
    let ours: Vec<Place> = rest.iter().map(|tree| files.place(tree.span)).collect();
    trees.extend(rest);
    let (mut findings, refused) = tell.ended();
    // Where nothing could be translated, or something is missing, that has been told.
    if trees.is_empty() || !whole {
        return Read { documents: Vec::new(), findings: findings.sorted(), refused };
    }
    let read = bringup_spec::read_trees(&files, &text, trees);
    let told: Vec<Place> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .filter_map(|finding| finding.place.clone())
        .collect();
    // What the translation found wrong at a place need not be found again.
    let is_new = |finding: &Finding| !finding.place.as_ref().is_some_and(|place| told.contains(place));
    findings.extend(read.findings.into_iter().filter(is_new).map(|finding| {
        let missing = finding.code == bringup_spec::codes::MISSING_KEY;
        let is_ours = |place: &Place| ours.iter().any(|tree| contains(tree, place));
        if missing && !finding.place.as_ref().is_some_and(is_ours) {
            hint_at_additions(finding)
        } else {
            finding
        }
    }));
    Read { documents: read.documents, findings: findings.sorted(), refused }
}

fn contains(tree: &Place, place: &Place) -> bool {
    tree.file == place.file && tree.span.start <= place.span.start && place.span.start <= tree.span.end
}

/// The same finding about something that is missing, with where to say it: other systems' documents may have no field for it.
pub fn hint_at_additions(finding: Finding) -> Finding {
    let hint = finding.hint.clone().unwrap_or_else(|| "add it".to_owned());
    finding.hint(format!(
        "{hint}; beneath `spec` of a document of the kind `Additions`, given with `--with additions.yaml`"
    ))
}
