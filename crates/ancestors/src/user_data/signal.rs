//! The signal behind a call: `cfn-signal`, which the plan sends itself.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, field, text};

/// Whom a script tells how it ended, as far as it says so in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The stack; none where only the stack itself knows.
    pub(super) stack: Option<String>,
    /// The resource.
    pub(super) resource: Option<String>,
    /// The region that the stack is in.
    pub(super) region: Option<String>,
}

impl Told {
    /// What a group has for it, each with the list that it belongs to.
    pub(super) fn items(&self, span: Span) -> Vec<(&'static str, Node)> {
        let mut items = Vec::new();
        let mut signal = Branch::new(span);
        signal.put("kind", text(span, "cloudformation"));
        // The stack that makes the nodes is the template's own, unless it is named.
        if let Some(stack) = &self.stack {
            signal.put("stack", text(span, stack.as_str()));
            signal.put_some("resource", self.resource.as_deref().map(|resource| text(span, resource)));
        } else {
            items.push(("carriers", text(span, "cloudformation")));
        }
        items.push(("signals", signal.into_node()));
        items
    }

    /// Says where the cluster is, if a document does not: the agent signals there. Another region is told of.
    pub(super) fn lay_region(&self, tree: &mut Node, span: Span, tell: &mut Teller<'_>) {
        let Some(region) = &self.region else { return };
        let message = format!(
            "`cfn-signal` tells a stack in the region `{region}`, and `aws.region` is another: the agent signals where the cluster is"
        );
        let hint =
            "have the stack where the cluster is, or signal with a step behind `kubelet` and take this away";
        let path = ["spec", "aws", "region"];
        tell.warning_of_other((&path, region), (codes::FIELD_DIFFERS, span), message, hint);
        let Some(spec) = field(tree, "spec") else { return };
        let mut aws = Branch::new(span);
        aws.put("region", text(span, region.as_str()));
        match field(spec, "aws") {
            Some(known) if known.get("region").is_some() => {}
            Some(Node { content: Content::Map(entries), .. }) => {
                if let Content::Map(more) = aws.into_node().content {
                    entries.extend(more);
                }
            }
            _ => {
                let mut more = Branch::new(span);
                more.put("aws", aws.into_node());
                if let (Content::Map(entries), Content::Map(more)) =
                    (&mut spec.content, more.into_node().content)
                {
                    entries.extend(more);
                }
            }
        }
    }
}

/// Gives the groups of a document the signal, unless they have it.
pub(super) fn lay(tree: &mut Node, told: &Told, span: Span, tell: &mut Teller<'_>) {
    told.lay_region(tree, span, tell);
    for (key, item) in told.items(span) {
        let groups = tree.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
        let mut known = groups.into_iter().flatten().filter_map(|group| group.get(key)?.items()).flatten();
        if !known.any(|known| known.to_value() == item.to_value()) {
            super::add_to(tree, key, &item);
        }
    }
}
