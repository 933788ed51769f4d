//! The user-data in anybody's template, as far as it can be known before the template is deployed.

mod around;
mod condition;
mod environment;
mod evaluate;
mod find;
mod substitute;

use std::collections::BTreeMap;

use bringup_diag::{Finding, Findings, Place, Span};
use bringup_yaml::{Content, Limits, Node, Style};

pub use around::{Around, Aside, OPEN};
use environment::Environment;
use evaluate::{Evaluator, Outcome};
use find::Resource;

/// A text that holds user-data in AWS' ways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What was peeled off, outermost first: `aws-json` and `cloudformation`.
    pub layers: Vec<&'static str>,
    /// Each piece of user-data, in the order of the text.
    pub parts: Vec<UserData>,
    /// What there is to tell about the text as a whole.
    pub findings: Findings,
    /// What else a template has.
    pub asides: Vec<Aside>,
}

/// A piece of user-data.
#[derive(Clone, Debug, PartialEq)]
pub struct UserData {
    /// The logical id of the resource, or what else the text calls it; empty if it has no name.
    pub name: String,
    /// The resource's type, in a template.
    pub resource_type: Option<String>,
    /// The bytes as the instance gets them. What only the stack knows stands as `${NAME}`.
    pub bytes: Vec<u8>,
    /// Where it stands.
    pub span: Span,
    /// What stayed unknown or is not as CloudFormation wants it.
    pub findings: Findings,
    /// What stands around it, where there is something.
    pub around: Option<Around>,
}

impl UserData {
    /// Whether nothing of it is known before there is a stack: it is one value that stayed open.
    pub fn is_unknown(&self) -> bool {
        let text = std::str::from_utf8(&self.bytes).unwrap_or_default().trim();
        let open = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        open.is_some_and(|name| !name.contains(['$', '}', '\n']))
            && self.findings.iter().any(|finding| finding.code == crate::codes::UNKNOWN_VALUE)
    }
}

/// How often a text may be wrapped in another: `get-template` wraps once, a JSON string once more.
const WRAPS: usize = 4;

/// CloudFormation takes templates of a megabyte; a wrapped one is somewhat longer.
const LIMITS: Limits = Limits { bytes: 8 << 20, depth: 64, nodes: 400_000 };

/// Reads a CloudFormation template in YAML or JSON, the answers of `aws cloudformation get-template` and of other commands
/// that show user-data, and a bare JSON string as `--query` prints it. `None` if it is none of these.
pub fn read(file: &str, text: &str) -> Option<Reading> {
    read_with(file, text, &BTreeMap::new())
}

/// The same, with values for parameters of the template, as who deploys it would give them.
pub fn read_with(file: &str, text: &str, given: &BTreeMap<String, String>) -> Option<Reading> {
    read_within(file, text, given, WRAPS)
}

fn read_within(file: &str, text: &str, given: &BTreeMap<String, String>, wraps: usize) -> Option<Reading> {
    let wraps = wraps.checked_sub(1)?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_json = start.starts_with(['{', '[', '"']);
    // Parsing costs time; most inputs say in a word that they are nothing of ours.
    if !is_json
        && !["AWS::", "Fn::", "!Base64", "!Sub", "TemplateBody"].iter().any(|word| text.contains(word))
    {
        return None;
    }
    // YAML holds JSON.
    let root = bringup_yaml::parse_one(text, LIMITS).ok()??;
    if let Some(inner) = json_string(&root, is_json) {
        return Some(unwrapped(file, inner, given, wraps));
    }
    if let Some(body) = root.get("TemplateBody") {
        if let Some(inner) = body.text() {
            return Some(unwrapped(&format!("{file}#TemplateBody"), inner, given, wraps));
        }
        let mut reading = template(file, body, given).unwrap_or_else(|| nothing(file));
        reading.layers.insert(0, "aws-json");
        return Some(reading);
    }
    template(file, &root, given)
        .or_else(|| bare_function(file, &root))
        .or_else(|| answer(file, &root, is_json))
}

/// The text of a JSON string that is the whole input.
fn json_string(root: &Node, is_json: bool) -> Option<&str> {
    match &root.content {
        Content::Scalar(scalar) if is_json && scalar.style == Style::Quoted => Some(&scalar.text),
        _ => None,
    }
}

/// What a string of JSON holds: one of ours again, or user-data itself.
fn unwrapped(file: &str, inner: &str, given: &BTreeMap<String, String>, wraps: usize) -> Reading {
    let mut reading = read_within(file, inner, given, wraps).unwrap_or_else(|| {
        let part = UserData {
            name: String::new(),
            resource_type: None,
            bytes: inner.as_bytes().to_vec(),
            span: Span::point(1, 1),
            findings: Findings::new(),
            around: None,
        };
        Reading { layers: Vec::new(), parts: vec![part], ..Reading::default() }
    });
    reading.layers.insert(0, "aws-json");
    // What stands within the string has no lines of the file's own.
    let place = Span::point(1, 1);
    for aside in &mut reading.asides {
        aside.span = place;
    }
    for around in reading.parts.iter_mut().filter_map(|part| part.around.as_mut()) {
        around::put_at(around, place);
    }
    reading
}

fn nothing(file: &str) -> Reading {
    let finding = Finding::warning(crate::codes::NO_USER_DATA, "there is no user-data in this template")
        .at(Place::new(file, Span::point(1, 1)))
        .hint("launch templates, launch configurations and instances have it in `UserData`");
    let findings = Findings::from_iter([finding]);
    Reading { layers: vec!["cloudformation"], findings, ..Reading::default() }
}

/// A whole template, or its resources alone.
fn template(file: &str, root: &Node, given: &BTreeMap<String, String>) -> Option<Reading> {
    let resources = find::resources(root)?;
    let environment = Environment::of(root, given);
    let mut parts = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for resource in &resources {
        let mut places = Vec::new();
        find::user_data(resource.properties, &mut places);
        let several = places.len() > 1;
        for (number, (place, holder)) in places.into_iter().enumerate() {
            let mut evaluator = Evaluator::new(file, &environment);
            evaluator.resource_condition(resource.name, resource.condition);
            let Outcome::Bytes(bytes) = evaluator.user_data(place) else { continue };
            let launchers = resources.iter().filter(|other| around::launches(other, resource));
            let launchers: Vec<&Resource<'_>> = launchers.collect();
            taken.push(resource.name);
            taken.extend(launchers.iter().map(|launcher| launcher.name));
            let around = Some(evaluator.around(holder, Some(resource), &launchers));
            let name =
                if several { format!("{}[{number}]", resource.name) } else { resource.name.to_owned() };
            parts.push(UserData {
                name,
                resource_type: Some(resource.kind.to_owned()),
                bytes,
                span: place.span,
                findings: evaluator.into_findings(),
                around,
            });
        }
    }
    if parts.is_empty() {
        return Some(nothing(file));
    }
    let undeclared = environment.undeclared().map(|name| {
        Finding::error(crate::codes::UNKNOWN_PARAMETER, format!("the template has no parameter `{name}`"))
            .at(Place::new(file, Span::point(1, 1)))
            .hint("give values to what stands beneath `Parameters`")
    });
    let others = resources.iter().filter(|resource| !taken.contains(&resource.name));
    let others = others.map(|resource| Aside {
        name: resource.name.to_owned(),
        kind: Some(resource.kind.to_owned()),
        span: resource.span,
    });
    let asides = sections(root).chain(others).collect();
    Some(Reading { layers: vec!["cloudformation"], parts, findings: undeclared.collect(), asides })
}

/// Sections of a template that nothing is worked out from.
fn sections(root: &Node) -> impl Iterator<Item = Aside> {
    const SECTIONS: [&str; 5] = ["Hooks", "Metadata", "Outputs", "Rules", "Transform"];
    let sections = root.entries().unwrap_or_default().iter();
    let sections = sections.filter(|entry| SECTIONS.contains(&entry.key.as_str()));
    sections.map(|entry| Aside { name: entry.key.clone(), kind: None, span: entry.key_span })
}

/// The value of `UserData` alone, as `--query` prints it.
fn bare_function(file: &str, root: &Node) -> Option<Reading> {
    evaluate::function(root)?;
    let environment = Environment::default();
    let mut evaluator = Evaluator::new(file, &environment);
    let Outcome::Bytes(bytes) = evaluator.user_data(root) else { return None };
    let findings = evaluator.into_findings();
    let span = root.span;
    let part = UserData { name: String::new(), resource_type: None, bytes, span, findings, around: None };
    Some(Reading { layers: vec!["cloudformation"], parts: vec![part], ..Reading::default() })
}

/// The answer of another command: `describe-launch-template-versions`, `describe-instance-attribute` and the like.
fn answer(file: &str, root: &Node, is_json: bool) -> Option<Reading> {
    if !is_json {
        return None;
    }
    let mut found = Vec::new();
    find::answers(root, "", &mut found);
    let environment = Environment::default();
    let mut parts = Vec::new();
    for (name, node, holder) in found {
        let mut evaluator = Evaluator::new(file, &environment);
        let Outcome::Bytes(bytes) = evaluator.user_data(node) else { continue };
        let around = Some(evaluator.around(holder, None, &[]));
        let findings = evaluator.into_findings();
        parts.push(UserData { name, resource_type: None, bytes, span: node.span, findings, around });
    }
    (!parts.is_empty()).then(|| Reading { layers: vec!["aws-json"], parts, ..Reading::default() })
}
