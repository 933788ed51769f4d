//! What a config calls things by: each has a name, and no other has the same. Ignition refuses what has none, and
//! since version 3 of its specification twins.

use bringup_yaml::{Entry, Node};

use crate::codes;
use crate::fields::is_nothing;
use crate::tell::Teller;

/// The names of one space, as they are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: Vec<String>,
}

impl Names {
    /// The field that something is called by; none if there is none, or another has the same, which is told. `what` names the
    /// thing in messages, such as "this file".
    pub(super) fn take<'a>(
        &mut self,
        node: &'a Node,
        key: &str,
        what: &str,
        tell: &mut Teller<'_>,
    ) -> Option<&'a Entry> {
        let entry = node.entries().unwrap_or_default().iter().rev().find(|entry| entry.key == key);
        let name = entry.filter(|entry| !is_nothing(&entry.value)).and_then(|entry| entry.value.text());
        let Some((entry, name)) = entry.zip(name.filter(|name| !name.is_empty())) else {
            let span = entry.map_or(node.span, |entry| entry.value.span);
            let message = format!("{what} has no `{key}`: Ignition refuses it");
            tell.error(codes::MISSING, span, message, format!("write its `{key}`, or take it out"));
            return None;
        };
        let name = name.trim_end_matches('/').to_owned();
        if self.taken.contains(&name) {
            let message = format!("another one has the {key} `{name}` already: one of them would be lost");
            let hint = "keep one of them, with all that it is to have";
            tell.error(codes::WRONG_TYPE, entry.value.span, message, hint);
            return None;
        }
        self.taken.push(name);
        Some(entry)
    }
}
