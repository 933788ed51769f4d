//! One node group in full.

use std::fmt::Write as _;

use bringup_diag::{Severity, masked_lines};
use bringup_plan::{Action, Content, max_pods, sha256_hex};

use super::escape::escaped;
use super::{finding_block, picture, sizes};
use crate::own_parts::OwnParts;
use crate::view::{GroupView, counted, grouped};

/// What the marks in the pictures mean.
pub(super) fn legend(html: &mut String) {
    html.push_str(
        "<div class=\"legend\"><span><i class=\"placed\">unit</i>placed by the carrier</span><span><i class=\"ours\">1 name</i>follows from the document</span><span><i class=\"theirs\">2 ◆ name</i>your own step, file or part</span><span>↻ on every boot</span><span>★ only on the node that starts the cluster</span><span>☆ on every other node</span></div>\n",
    );
}

/// How a section is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    /// Whether it is open from the start.
    pub(super) open: bool,
    /// Whether findings are told again; with a single group, those above are the same.
    pub(super) findings: bool,
}

/// The section of a group.
pub(super) fn section(html: &mut String, index: usize, group: &GroupView, shown: Shown) {
    let plan = &group.plan;
    let mut counts = vec![counted(group.steps, "step")];
    for (severity, noun) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        if group.count(severity) > 0 {
            counts.push(counted(group.count(severity), noun));
        }
    }
    let _ = writeln!(
        html,
        "<details class=\"group\"{}><summary>{} <span class=\"quiet\">{} · {} · Kubernetes {} · {}</span></summary><div id=\"g{index}\">",
        if shown.open { " open" } else { "" },
        escaped(&group.title()),
        plan.role,
        plan.os,
        escaped(&plan.kubernetes),
        counts.join(" · "),
    );
    facts(html, group);
    let _ = writeln!(
        html,
        "<h3>In order</h3>\n<div class=\"scroll\">{}</div>",
        picture::picture(plan, &group.operator, &group.own)
    );
    own_parts(html, &group.own);
    lost(html, group);
    html.push_str("<h3>Size</h3>\n");
    sizes::bars(html, &group.carriers);
    if shown.findings && !group.findings.is_empty() {
        html.push_str("<h3>Findings</h3>\n");
        for finding in &group.findings {
            html.push_str(&finding_block(finding));
        }
    }
    origins(html, group);
    files(html, group);
    units(html, group);
    carriers(html, group);
    html.push_str("</div></details>\n");
}

fn facts(html: &mut String, group: &GroupView) {
    let plan = &group.plan;
    let needed: Vec<String> = plan.facts.iter().map(ToString::to_string).collect();
    let needed = if needed.is_empty() { "none".to_owned() } else { needed.join(", ") };
    let pods = match &plan.max_pods {
        bringup_plan::PodLimit::Fixed(number) => number.to_string(),
        bringup_plan::PodLimit::Interfaces { .. } => "by instance type".to_owned(),
        bringup_plan::PodLimit::Expression { cel } => format!("by `{cel}`"),
    };
    let rows = [
        ("platform", plan.platform.to_string()),
        ("architecture", plan.architecture.to_string()),
        ("flavour", plan.flavour.to_string()),
        ("node name", plan.node_name.to_string()),
        ("max pods", pods),
        ("learns on the node", needed),
        ("plan", group.digest.chars().take(16).collect()),
    ];
    html.push_str("<div class=\"facts\">");
    for (name, value) in rows {
        let _ = write!(html, "<span>{name} <b>{}</b></span>", escaped(&value));
    }
    html.push_str("</div>\n");
}

/// The operator's own parts, in the order of the document.
fn own_parts(html: &mut String, own: &OwnParts) {
    if own.parts.is_empty() {
        return;
    }
    let beside = if own.carried {
        "cloud-init runs them in its own stages (c1, c2, … above), beside the agent: neither waits for the other."
    } else {
        "No carrier of this group holds them: nothing of them reaches the node."
    };
    let _ = writeln!(
        html,
        "<h3>Your parts</h3>\n<p class=\"quiet\">{beside}</p>\n<div class=\"scroll\"><table><tr><th>part</th><th>type</th><th>when</th><th class=\"number\">bytes</th><th class=\"number\">line</th></tr>",
    );
    for part in &own.parts {
        let _ = writeln!(
            html,
            "<tr><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escaped(&part.name),
            part.kind,
            part.when,
            grouped(part.size),
            part.line,
        );
    }
    html.push_str("</table></div>\n");
}

/// Guarantees that are lost without our agent.
fn lost(html: &mut String, group: &GroupView) {
    for view in &group.lost {
        let carriers: Vec<String> = view.carriers.iter().map(|word| format!("<code>{word}</code>")).collect();
        let _ = writeln!(
            html,
            "<h3>Lost without our agent</h3>\n<p class=\"quiet\">With {}:</p>\n<ul class=\"lost\">",
            carriers.join(", "),
        );
        for phrase in &view.lost {
            let _ = writeln!(html, "<li>{}</li>", escaped(phrase));
        }
        html.push_str("</ul>\n");
    }
}

fn origins(html: &mut String, group: &GroupView) {
    if group.origins.is_empty() {
        return;
    }
    let _ = writeln!(
        html,
        "<h3>Where each value came from</h3>\n<details class=\"fold\"><summary>{}</summary><div class=\"scroll\"><table><tr><th>value of</th><th>is</th><th>because</th><th class=\"number\">line</th></tr>",
        counted(group.origins.len(), "value"),
    );
    for origin in &group.origins {
        let because = match (origin.kind, &origin.path) {
            ("document", Some(path)) => format!("the document says so: <code>{}</code>", escaped(path)),
            (_, Some(path)) => format!("{} <code>{}</code>", escaped(&origin.why), escaped(path)),
            ("node", None) => format!("only the node knows: {}", escaped(&origin.why)),
            (kind, None) => format!("{kind}: {}", escaped(&origin.why)),
        };
        let line = origin.line.map(|line| line.to_string()).unwrap_or_default();
        let _ = writeln!(
            html,
            "<tr><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{because}</td><td class=\"number\">{line}</td></tr>",
            escaped(&origin.subject),
            escaped(&origin.value),
        );
    }
    html.push_str("</table></div></details>\n");
}

fn files(html: &mut String, group: &GroupView) {
    let mut rows = String::new();
    let mut count = 0;
    for step in &group.plan.steps {
        let Action::WriteFile { path, mode, owner, content } = &step.action else { continue };
        let (size, digest) = match content {
            Content::Text(text) => match text.as_literal() {
                Some(text) => (grouped(text.len()), sha256_hex(text.as_bytes())),
                None => ("—".to_owned(), format!("decided on the node by {}", names(text.facts()))),
            },
            Content::Base64(encoded) => {
                let bytes = crate::node_state::decoded(encoded);
                (grouped(bytes.len()), sha256_hex(&bytes))
            }
            Content::Merged { .. } => ("—".to_owned(), "settings laid over the image's own".to_owned()),
            Content::PodTable(digest) => (grouped(max_pods::map().len()), digest.clone()),
            Content::Pieces(_) => ("—".to_owned(), "a text with a secret that the node resolves".to_owned()),
            Content::Secret(_) => ("—".to_owned(), "a secret that the node resolves".to_owned()),
        };
        count += 1;
        let _ = writeln!(
            rows,
            "<tr><td class=\"mono\">{}</td><td class=\"mono\">{mode}</td><td class=\"mono\">{}</td><td class=\"number\">{size}</td><td class=\"mono\">{}</td></tr>",
            escaped(path),
            escaped(owner),
            escaped(&digest),
        );
    }
    if count > 0 {
        let _ = writeln!(
            html,
            "<h3>Files that the node writes</h3>\n<details class=\"fold\"><summary>{}</summary><div class=\"scroll\"><table><tr><th>path</th><th>mode</th><th>owner</th><th class=\"number\">bytes</th><th>sha256</th></tr>\n{rows}</table></div></details>",
            counted(count, "file"),
        );
    }
}

fn names<'a>(facts: impl Iterator<Item = &'a bringup_spec::Fact>) -> String {
    let names: std::collections::BTreeSet<String> = facts.map(ToString::to_string).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn units(html: &mut String, group: &GroupView) {
    if group.plan.units.is_empty() {
        return;
    }
    let _ = writeln!(
        html,
        "<h3>Units</h3>\n<details class=\"fold\"><summary>{}</summary>",
        counted(group.plan.units.len(), "unit")
    );
    for unit in &group.plan.units {
        let state = match (unit.mask, unit.enabled) {
            (true, _) => "masked",
            (false, Some(true)) => "enabled",
            (false, Some(false)) => "disabled",
            (false, None) => "as it is",
        };
        let _ = writeln!(
            html,
            "<p><b class=\"mono\">{}</b> <span class=\"quiet\">{state}</span></p>",
            escaped(&unit.name)
        );
        if let Some(content) = &unit.content {
            let _ =
                writeln!(html, "<pre class=\"mono\">{}</pre>", escaped(&masked_lines(content).join("\n")));
        }
        for (name, content) in &unit.drop_ins {
            let _ = writeln!(
                html,
                "<p class=\"quiet mono\">{}</p><pre class=\"mono\">{}</pre>",
                escaped(name),
                escaped(&masked_lines(content).join(
                    "
"
                ))
            );
        }
    }
    html.push_str("</details>\n");
}

fn carriers(html: &mut String, group: &GroupView) {
    html.push_str("<h3>Carriers</h3>\n<div class=\"scroll\"><table><tr><th>kind</th><th>file</th><th class=\"number\">bytes</th><th>sha256</th></tr>\n");
    for carrier in &group.carriers {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"mono\">{}</td><td class=\"number\">{}</td><td class=\"mono\">{}</td></tr>",
            carrier.kind,
            escaped(&carrier.file),
            grouped(carrier.size),
            carrier.sha256,
        );
    }
    html.push_str("</table></div>\n");
}
