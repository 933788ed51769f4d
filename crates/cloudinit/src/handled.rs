//! The parts as they come to cloud-init's handlers: templates rendered, lost parts gone.

use std::collections::BTreeSet;

use bringup_diag::{Finding, Findings, Place, Span};

use crate::codes;
use crate::jinja::{Rendered, has_expressions, rendered, template_body};
use crate::kind::{Kind, sniffed};
use crate::part::Part;

/// A part in the hands of its handler.
#[derive(Clone, Debug)]
pub(crate) struct Handled {
    /// Its number among the parts.
    pub part: usize,
    pub kind: Kind,
    pub text: String,
    /// How far below the part's own first line the text starts; nothing where a template has moved its lines.
    pub below: Option<u32>,
}

impl Handled {
    /// The place in what the person wrote.
    pub(crate) fn place(&self, parts: &[Part], span: Span) -> Option<Place> {
        let part = parts.get(self.part)?;
        Some(match self.below {
            Some(below) => part.origin.below(below).place(span),
            None => part.origin.place(Span::point(1, 1)),
        })
    }
}

/// What the handlers get, in order, and what is to be said of the templates among the parts.
pub(crate) fn handled(parts: &[Part]) -> (Vec<Handled>, Findings) {
    let mut list = Vec::with_capacity(parts.len());
    let mut findings = Findings::new();
    for (number, part) in parts.iter().enumerate() {
        let Some(text) = &part.arrives else { continue };
        if part.kind != Kind::Jinja {
            list.push(Handled { part: number, kind: part.kind, text: text.clone(), below: Some(0) });
            continue;
        }
        let head = part.origin.place(Span::point(1, 1));
        match template(text) {
            Ok((kind, Rendered { text, facts }, below)) => {
                if !facts.is_empty() {
                    let facts: Vec<_> = facts.iter().map(|fact| format!("`{fact}`")).collect();
                    let message = format!("known on the node only: {}", facts.join(", "));
                    findings.push(Finding::note(codes::NODE_FACT, message).at(head));
                }
                list.push(Handled { part: number, kind, text, below });
            }
            Err(Dropped { message, hint }) => {
                findings.push(
                    Finding::error(codes::JINJA, format!("{message}: cloud-init drops it"))
                        .at(head)
                        .hint(hint),
                );
            }
        }
    }
    (list, findings)
}

/// Why a template comes to nothing.
struct Dropped {
    message: String,
    hint: &'static str,
}

fn template(text: &str) -> Result<(Kind, Rendered, Option<u32>), Dropped> {
    let Some(body) = template_body(text) else {
        return Err(Dropped {
            message: "a jinja part must start with its head line".to_owned(),
            hint: "make `## template: jinja` the very first line",
        });
    };
    let (rendered, below) = if has_expressions(body) {
        let rendered = rendered(body).map_err(|fault| Dropped {
            message: format!("the template cannot be rendered ({fault})"),
            hint: "put `{% raw %}` and `{% endraw %}` around text with braces of its own",
        })?;
        (rendered, None)
    } else {
        (Rendered { text: body.to_owned(), facts: BTreeSet::new() }, Some(1))
    };
    match sniffed(&rendered.text).map(Kind::of) {
        Some(kind @ (Kind::CloudConfig | Kind::Script)) => Ok((kind, rendered, below)),
        _ => Err(Dropped {
            message: "the template makes neither a cloud-config nor a script".to_owned(),
            hint: "the line after `## template: jinja` is `#cloud-config` or starts with `#!`",
        }),
    }
}
