//! Where user-data stands.

use bringup_diag::Span;
use bringup_yaml::Node;

/// A resource of a template.
pub(super) struct Resource<'a> {
    /// Its logical id.
    pub(super) name: &'a str,
    /// Its type.
    pub(super) kind: &'a str,
    /// The condition on which it is made.
    pub(super) condition: Option<&'a Node>,
    /// Its properties.
    pub(super) properties: &'a Node,
    /// All of it.
    pub(super) whole: &'a Node,
    /// Where its name stands.
    pub(super) span: Span,
}

/// The resources, if this is a template or at least a list of resources.
pub(super) fn resources(root: &Node) -> Option<Vec<Resource<'_>>> {
    let declared = root.get("AWSTemplateFormatVersion").is_some();
    let list = root.get("Resources").unwrap_or(root);
    let found: Vec<Resource<'_>> = list
        .entries()?
        .iter()
        .filter_map(|entry| {
            let kind = entry.value.get("Type").and_then(Node::text)?;
            let properties = entry.value.get("Properties").unwrap_or(&entry.value);
            let condition = entry.value.get("Condition");
            let span = entry.key_span;
            let whole = &entry.value;
            kind.contains("::").then_some(Resource {
                name: &entry.key,
                kind,
                condition,
                properties,
                whole,
                span,
            })
        })
        .collect();
    (declared || !found.is_empty()).then_some(found)
}

/// Every value of a key `UserData`, in order, with the mapping that holds it. Nesting is bounded by the parser.
pub(super) fn user_data<'a>(node: &'a Node, found: &mut Vec<(&'a Node, &'a Node)>) {
    for entry in node.entries().unwrap_or_default() {
        if entry.key == "UserData" {
            found.push((&entry.value, node));
        } else {
            user_data(&entry.value, found);
        }
    }
    for item in node.items().unwrap_or_default() {
        user_data(item, found);
    }
}

/// A `UserData` of an answer: the nearest name above it, its value, and the mapping that holds it.
pub(super) type Answer<'a> = (String, &'a Node, &'a Node);

/// Every `UserData` of an answer of AWS' command line.
pub(super) fn answers<'a>(node: &'a Node, name: &str, found: &mut Vec<Answer<'a>>) {
    const NAMES: [&str; 4] =
        ["LaunchTemplateName", "LaunchConfigurationName", "LaunchTemplateId", "InstanceId"];
    let own = NAMES.iter().find_map(|key| node.get(key).and_then(Node::text));
    let version = node.get("VersionNumber").and_then(Node::text);
    let name = match (own, version) {
        (Some(own), Some(version)) => format!("{own}:{version}"),
        (Some(own), None) => own.to_owned(),
        (None, _) => name.to_owned(),
    };
    for entry in node.entries().unwrap_or_default() {
        if entry.key == "UserData" {
            let value = entry.value.get("Value").unwrap_or(&entry.value);
            if value.text().is_some_and(|text| !text.is_empty()) {
                found.push((name.clone(), value, node));
            }
        } else {
            answers(&entry.value, &name, found);
        }
    }
    for item in node.items().unwrap_or_default() {
        answers(item, &name, found);
    }
}
