//! Whether conditions hold, as far as it can be known.

use bringup_yaml::Node;

use super::evaluate::{Evaluator, flat, function};
use crate::codes;

/// How far conditions may depend on each other.
const DEEPEST: usize = 16;

impl Evaluator<'_> {
    /// Notes that a resource is not made by default.
    pub(super) fn resource_condition(&mut self, resource: &str, condition: Option<&Node>) {
        let Some(node) = condition else { return };
        let name = node.text().unwrap_or_default();
        if self.condition(name) == Some(false) {
            let message =
                format!("by default `{resource}` is not made: its condition `{name}` does not hold");
            self.tell(codes::UNKNOWN_VALUE, node.span, message, "set the parameters on which it depends");
        }
    }

    /// Whether a condition holds, if that can be known.
    pub(super) fn condition(&mut self, name: &str) -> Option<bool> {
        if let Some(known) = self.conditions.get(name) {
            return *known;
        }
        let node = self.environment.condition(name)?;
        if self.quiet >= DEEPEST {
            return None;
        }
        // A condition that depends on itself is unknown.
        self.conditions.insert(name.to_owned(), None);
        self.quiet += 1;
        let holds = self.holds(node);
        self.quiet -= 1;
        self.conditions.insert(name.to_owned(), holds);
        holds
    }

    fn holds(&mut self, node: &Node) -> Option<bool> {
        let (name, argument, _) = function(node)?;
        match name {
            "Condition" => self.condition(argument.text()?),
            "Equals" => {
                let [left, right] = argument.items()? else { return None };
                let (left, right) = (flat(&self.value(left), ","), flat(&self.value(right), ","));
                (!left.1 && !right.1).then_some(left.0 == right.0)
            }
            "Not" => self.holds(argument.items()?.first()?).map(|holds| !holds),
            "And" => self.all(argument.items()?, true),
            "Or" => self.all(argument.items()?, false),
            _ => None,
        }
    }

    /// Whether all conditions hold, or with `wanted` false whether one does.
    fn all(&mut self, nodes: &[Node], wanted: bool) -> Option<bool> {
        let mut unknown = false;
        for node in nodes {
            match self.holds(node) {
                Some(holds) if holds != wanted => return Some(!wanted),
                Some(_) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(wanted)
    }
}
