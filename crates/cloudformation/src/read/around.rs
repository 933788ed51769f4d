//! What stands around user-data: the settings of the resource that holds it, and those of what launches machines from it.

use bringup_diag::Span;
use bringup_yaml::{Content, Entry, Node, Scalar, Style};

use super::evaluate::{Evaluator, Known, function};
use super::find::Resource;

/// The tag of a value that only the stack knows.
pub const OPEN: &str = "!Open";

/// What stands around a piece of user-data, with functions worked out: a mapping of
///
/// - `launch`: the mapping that holds the user-data, without it;
/// - `outer`: what else the resource says;
/// - `launchers`: what launches machines from that resource, each with `name`, `type`, `properties` and `outer`.
///
/// A value that only the stack knows is a text with the tag [`OPEN`].
pub type Around = Node;

/// A resource or a section that has nothing to do with how a node comes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its logical id, or the section's name.
    pub name: String,
    /// Its type; none if it is a section.
    pub kind: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// Types of resources that launch machines from another.
const LAUNCHERS: [&str; 5] = [
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::EC2::EC2Fleet",
    "AWS::EC2::Instance",
    "AWS::EC2::SpotFleet",
    "AWS::EKS::Nodegroup",
];

/// Whether a resource launches machines from the one that holds user-data.
pub(super) fn launches(resource: &Resource<'_>, holder: &Resource<'_>) -> bool {
    let named = |key| holder.properties.get(key).and_then(Node::text);
    let name = named("LaunchTemplateName").or_else(|| named("LaunchConfigurationName"));
    resource.name != holder.name
        && LAUNCHERS.contains(&resource.kind)
        && mentions(resource.properties, holder.name, name)
}

/// Whether a value refers to a resource, or has its given name.
fn mentions(node: &Node, id: &str, given: Option<&str>) -> bool {
    let refers = |text: &str| text == id || text.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'));
    match function(node) {
        Some(("Ref" | "GetAtt", argument, _)) => {
            let text = argument.text().or_else(|| argument.items()?.first()?.text());
            return text.is_some_and(refers);
        }
        Some(("Sub", argument, _)) => {
            let text = argument.text().or_else(|| argument.items()?.first()?.text()).unwrap_or_default();
            return text.split("${").skip(1).any(|rest| refers(rest.split('}').next().unwrap_or_default()));
        }
        _ => {}
    }
    match &node.content {
        Content::Scalar(scalar) => given == Some(scalar.text.as_str()),
        Content::List(items) => items.iter().any(|item| mentions(item, id, given)),
        Content::Map(entries) => entries.iter().any(|entry| mentions(&entry.value, id, given)),
    }
}

/// What a resource says beside its properties that is used elsewhere.
const USED: [&str; 4] = ["Condition", "LaunchTemplateData", "Properties", "Type"];

impl Evaluator<'_> {
    /// What stands around the user-data in this mapping. Nothing is told here: what stays open is marked.
    pub(super) fn around(
        &mut self,
        holder: &Node,
        resource: Option<&Resource<'_>>,
        launchers: &[&Resource<'_>],
    ) -> Around {
        self.quiet += 1;
        let mut entries = vec![("launch", self.mapping(holder))];
        if let Some(resource) = resource {
            let mut outer = self.outer(resource.whole);
            if let (Content::Map(outer), false) =
                (&mut outer.content, std::ptr::eq(resource.properties, holder))
            {
                let beside = self.outer(resource.properties);
                outer.extend(beside.entries().unwrap_or_default().iter().cloned());
            }
            entries.push(("outer", outer));
        }
        let launchers = launchers.iter().map(|resource| {
            let entries = vec![
                ("name", scalar(resource.name.to_owned(), resource.span)),
                ("type", scalar(resource.kind.to_owned(), resource.span)),
                ("properties", self.mapping(resource.properties)),
                ("outer", self.outer(resource.whole)),
            ];
            mapping(entries, resource.span)
        });
        let launchers = Node { content: Content::List(launchers.collect()), span: holder.span, tag: None };
        self.quiet -= 1;
        entries.push(("launchers", launchers));
        mapping(entries, holder.span)
    }

    fn mapping(&mut self, node: &Node) -> Node {
        self.worked_out(node).unwrap_or_else(|| mapping(Vec::new(), node.span))
    }

    fn outer(&mut self, node: &Node) -> Node {
        let mut outer = self.mapping(node);
        if let Content::Map(entries) = &mut outer.content {
            entries.retain(|entry| !USED.contains(&entry.key.as_str()));
        }
        outer
    }

    /// A value without functions; nothing if it is not there.
    fn worked_out(&mut self, node: &Node) -> Option<Node> {
        if let Some((name, argument, _)) = function(node) {
            if let ("If", Some([condition, yes, no])) = (name, argument.items()) {
                return match self.condition(condition.text().unwrap_or_default()) {
                    Some(holds) => self.worked_out(if holds { yes } else { no }),
                    None => Some(open(format!("${{{}}}", condition.text().unwrap_or("Fn::If")), node.span)),
                };
            }
            let value = self.value(node);
            return self.written(value, node.span);
        }
        let content = match &node.content {
            Content::Scalar(_) => return Some(node.clone()),
            Content::List(items) => {
                Content::List(items.iter().filter_map(|item| self.worked_out(item)).collect())
            }
            Content::Map(entries) => {
                let inner = entries.iter().filter(|entry| entry.key != "UserData");
                let inner = inner.filter_map(|entry| {
                    let value = self.worked_out(&entry.value)?;
                    Some(Entry { value, ..entry.clone() })
                });
                Content::Map(inner.collect())
            }
        };
        Some(Node { content, span: node.span, tag: None })
    }

    fn written(&self, value: Known, span: Span) -> Option<Node> {
        match value {
            Known::Nothing => None,
            Known::List(items) => {
                let items = items.into_iter().filter_map(|item| self.written(item, span)).collect();
                Some(Node { content: Content::List(items), span, tag: None })
            }
            Known::Encoded { text, open: false } | Known::Text { text, open: false } => {
                Some(scalar(text, span))
            }
            Known::Encoded { text, .. } | Known::Text { text, .. } => {
                let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
                let stored = name.and_then(|name| self.environment.stored(name));
                // EC2's own word for a value that is kept in SSM.
                Some(match stored {
                    Some(stored) => scalar(format!("resolve:ssm:{stored}"), span),
                    None => open(text, span),
                })
            }
        }
    }
}

fn scalar(text: String, span: Span) -> Node {
    Node { content: Content::Scalar(Scalar { text, style: Style::Quoted }), span, tag: None }
}

fn open(text: String, span: Span) -> Node {
    Node { tag: Some(OPEN.to_owned()), ..scalar(text, span) }
}

fn mapping(entries: Vec<(&str, Node)>, span: Span) -> Node {
    let entry = |(key, value): (&str, Node)| Entry {
        key: key.to_owned(),
        key_style: Style::Plain,
        key_span: value.span,
        value,
    };
    Node { content: Content::Map(entries.into_iter().map(entry).collect()), span, tag: None }
}

/// Has all of a value stand at one place.
pub(super) fn put_at(node: &mut Node, place: Span) {
    node.span = place;
    match &mut node.content {
        Content::Scalar(_) => {}
        Content::List(items) => items.iter_mut().for_each(|item| put_at(item, place)),
        Content::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.key_span = place;
            put_at(&mut entry.value, place);
        }),
    }
}
