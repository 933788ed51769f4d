//! Arguments of programs: a mapping of texts in tkestack, a mapping or a list in kubeadm's configuration.

use std::collections::BTreeMap;

use bringup_diag::Span;
use bringup_yaml::Node;

use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The first minor whose kubeadm takes arguments as a list.
const LIST: u16 = 31;

/// Arguments by name.
pub(super) type Arguments = BTreeMap<String, Node>;

/// The arguments of a field, each a text.
pub(super) fn read(record: Record<'_>, name: &str, tell: &mut Teller<'_>) -> Arguments {
    let mut arguments = Arguments::new();
    let Some(node) = record.get(name) else { return arguments };
    let Some(entries) = node.entries() else {
        let hint = "write a mapping of names, without dashes, to texts";
        tell.error(codes::WRONG_TYPE, node.span, format!("`{name}` must be a mapping"), hint);
        return arguments;
    };
    for entry in entries {
        if let Some(value) = entry.value.text() {
            arguments.insert(entry.key.clone(), text(entry.value.span, value));
        } else {
            let message = format!("the argument `{}` of `{name}` must be a text", entry.key);
            tell.error(codes::WRONG_TYPE, entry.value.span, message, "write it in quotes");
        }
    }
    arguments
}

/// Arguments as the kubeadm of a minor takes them.
pub(super) fn for_kubeadm(arguments: &Arguments, span: Span, minor: u16) -> Node {
    if minor < LIST {
        return mapping(arguments, span);
    }
    let items = arguments.iter().map(|(name, value)| {
        let mut item = Branch::new(value.span);
        item.put("name", text(value.span, name.as_str()));
        item.put("value", value.clone());
        item.into_node()
    });
    list(span, items.collect())
}

/// Arguments by name, in their order.
pub(super) fn mapping(arguments: &Arguments, span: Span) -> Node {
    let mut branch = Branch::new(span);
    for (name, value) in arguments {
        branch.put(name, value.clone());
    }
    branch.into_node()
}

/// Text that the node takes as it is, whatever it looks like.
pub(super) fn literal(span: Span, value: &str) -> Node {
    let mut escaped = String::with_capacity(value.len());
    let mut signs = 0;
    for letter in value.chars() {
        // Of the `@` before a `{`, two stand for one.
        if letter == '{' {
            escaped.extend(std::iter::repeat_n('@', signs));
        }
        signs = if letter == '@' { signs + 1 } else { 0 };
        escaped.push(letter);
    }
    text(span, escaped)
}
