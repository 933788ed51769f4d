//! What a template declares beside its resources: parameters, mappings, conditions.

use bringup_yaml::Node;

/// The declarations of a template.
#[derive(Clone, Copy, Default)]
pub(super) struct Environment<'a> {
    parameters: Option<&'a Node>,
    mappings: Option<&'a Node>,
    conditions: Option<&'a Node>,
}

/// What is known of a parameter before the template is deployed.
pub(super) enum Parameter<'a> {
    /// Its default.
    Text(&'a str),
    /// Its default, a list.
    List(Vec<&'a str>),
    /// It has no default, or its default only names where the value is kept.
    Open,
}

impl<'a> Environment<'a> {
    pub(super) fn of(root: &'a Node) -> Self {
        Self {
            parameters: root.get("Parameters"),
            mappings: root.get("Mappings"),
            conditions: root.get("Conditions"),
        }
    }

    /// A parameter, if the template declares it.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter<'a>> {
        let declared = self.parameters?.get(name)?;
        let kind = declared.get("Type").and_then(Node::text).unwrap_or_default();
        let default = declared.get("Default").and_then(Node::text);
        Some(match default {
            Some(_) if kind.starts_with("AWS::SSM::Parameter::Value<") => Parameter::Open,
            Some(text) if kind == "CommaDelimitedList" || kind.starts_with("List<") => {
                Parameter::List(text.split(',').map(str::trim).collect())
            }
            Some(text) => Parameter::Text(text),
            None => Parameter::Open,
        })
    }

    /// A condition, if the template declares it.
    pub(super) fn condition(&self, name: &str) -> Option<&'a Node> {
        self.conditions?.get(name)
    }

    /// A value of a mapping.
    pub(super) fn mapped(&self, map: &str, first: &str, second: &str) -> Option<&'a Node> {
        self.mappings?.get(map)?.get(first)?.get(second)
    }
}
