//! What a template declares beside its resources: parameters, mappings, conditions.

use std::collections::BTreeMap;

use bringup_yaml::Node;

/// The declarations of a template.
#[derive(Clone, Copy, Default)]
pub(super) struct Environment<'a> {
    parameters: Option<&'a Node>,
    mappings: Option<&'a Node>,
    conditions: Option<&'a Node>,
    /// Values that somebody gives to parameters, as who deploys the template does.
    given: Option<&'a BTreeMap<String, String>>,
}

/// What is known of a parameter before the template is deployed.
pub(super) enum Parameter<'a> {
    /// Its value, or its default.
    Text(&'a str),
    /// The same, a list.
    List(Vec<&'a str>),
    /// It has no default, or its default only names where the value is kept.
    Open,
}

impl<'a> Environment<'a> {
    pub(super) fn of(root: &'a Node, given: &'a BTreeMap<String, String>) -> Self {
        Self {
            parameters: root.get("Parameters"),
            mappings: root.get("Mappings"),
            conditions: root.get("Conditions"),
            given: Some(given),
        }
    }

    /// A parameter, if the template declares it.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter<'a>> {
        let declared = self.parameters?.get(name)?;
        let kind = declared.get("Type").and_then(Node::text).unwrap_or_default();
        let given = self.given.and_then(|given| given.get(name)).map(String::as_str);
        let known = given.or_else(|| declared.get("Default").and_then(Node::text));
        Some(match known {
            Some(_) if given.is_none() && kind.starts_with("AWS::SSM::Parameter::Value<") => Parameter::Open,
            Some(text) if kind == "CommaDelimitedList" || kind.starts_with("List<") => {
                Parameter::List(text.split(',').map(str::trim).collect())
            }
            Some(text) => Parameter::Text(text),
            None => Parameter::Open,
        })
    }

    /// Where the value of a parameter is kept in SSM, if its default says so and nobody gives another.
    pub(super) fn stored(&self, name: &str) -> Option<&'a str> {
        let declared = self.parameters?.get(name)?;
        let kind = declared.get("Type").and_then(Node::text).unwrap_or_default();
        let given = self.given.is_some_and(|given| given.contains_key(name));
        let is_stored = !given && kind.starts_with("AWS::SSM::Parameter::Value<");
        declared.get("Default").and_then(Node::text).filter(|_| is_stored)
    }

    /// Names that a value is given to and that the template does not declare.
    pub(super) fn undeclared(&self) -> impl Iterator<Item = &'a str> {
        let declares = |name: &&String| self.parameters.is_some_and(|declared| declared.get(name).is_some());
        self.given
            .into_iter()
            .flat_map(BTreeMap::keys)
            .filter(move |name| !declares(name))
            .map(String::as_str)
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
