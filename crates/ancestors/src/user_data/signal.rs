//! The signal behind a call: `cfn-signal`, which the plan sends itself.

use bringup_diag::Span;
use bringup_yaml::{Content, Node};

use crate::codes;
use crate::shell::{self, Line};
use crate::tell::Teller;
use crate::tree::{Branch, field, text};

/// Whom a script tells how it ended, as far as it says so in plain words.
#[derive(Debug, PartialEq, Eq)]
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

/// The script without its call of `cfn-signal`, if anything is left of it, and whom that tells.
pub(super) fn taken_out(script: &str) -> Option<(Option<String>, Told)> {
    // What a script hands on to others is not called by it.
    let is_signal = |line: &Line| {
        !line.handed_on
            && line.text.split_whitespace().next().is_some_and(|first| first.ends_with("cfn-signal"))
    };
    let lines = shell::lines(script);
    let call = &lines.iter().find(|line| is_signal(line))?.text;
    let words: Vec<&str> = call.split_whitespace().collect();
    let value = |flag: &str| {
        let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
            "" => words.get(at + 1).copied(),
            rest => rest.strip_prefix('='),
        });
        let value = value.map(|value| value.trim_matches(['"', '\'']).to_owned());
        value.filter(|value| !value.contains('$'))
    };
    let told = Told { stack: value("--stack"), resource: value("--resource"), region: value("--region") };
    // A condition must not become empty.
    let rest: Vec<&str> = lines
        .iter()
        .filter_map(|line| match is_signal(line) {
            true if line.text.starts_with([' ', '\t']) => Some(":"),
            true => None,
            false => Some(line.text.as_str()),
        })
        .collect();
    let does = rest.iter().any(|line| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with('#') || line.starts_with("set ") || line.starts_with("exec "))
            && shell::assignment(line).is_none()
    });
    Some((does.then(|| rest.join("\n")), told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_taken_out_of_a_script() {
        let script = "#!/bin/bash\nset -e\n/opt/aws/bin/cfn-signal --exit-code $? \\\n  --stack  nodes \\\n --resource=NodeGroup --region x\n";
        let told = Told {
            stack: Some("nodes".to_owned()),
            resource: Some("NodeGroup".to_owned()),
            region: Some("x".to_owned()),
        };
        assert_eq!(taken_out(script), Some((None, told)));
        let (rest, told) = taken_out("#!/bin/sh\ntouch /a\ncfn-signal --stack ${AWS::StackName}\n").unwrap();
        assert_eq!(rest.as_deref(), Some("#!/bin/sh\ntouch /a\n"));
        assert_eq!(told, Told { stack: None, resource: None, region: None });
        assert_eq!(taken_out("#!/bin/sh\necho cfn-signal\n"), None);
        assert_eq!(taken_out("#!/bin/sh\ncat >/later <<END\ncfn-signal --stack a\nEND\n"), None);
        let (rest, _) = taken_out("#!/bin/sh\nif [ -e /a ]; then\n  cfn-signal --stack a\nfi\n").unwrap();
        assert_eq!(rest.as_deref(), Some("#!/bin/sh\nif [ -e /a ]; then\n:\nfi\n"));
    }
}
