//! The report: one HTML file for people, without scripts and without anything from elsewhere.

mod escape;
mod group;
mod picture;
mod sizes;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bringup_diag::{Finding, Findings, Severity, masked_message};

use crate::view::{GroupView, counted, grouped};
pub(crate) use escape::escaped;

const STYLE: &str = include_str!("style.css");

/// So many groups are shown in full; the others have their line in the table.
const MOST_DETAILED: usize = 60;
/// So few are open from the start.
const MOST_OPEN: usize = 3;
/// So many findings are shown above the groups.
const MOST_FINDINGS: usize = 200;

/// The page for these groups. `sources` are the documents as the person named them.
pub(crate) fn page(sources: &[String], groups: &[GroupView], findings: &Findings) -> String {
    let detailed = detailed(groups);
    let mut html = String::with_capacity(64 * 1024);
    let clusters: BTreeSet<&str> = groups.iter().map(|group| group.plan.cluster.as_str()).collect();
    let title = match clusters.iter().next() {
        Some(only) if clusters.len() == 1 => (*only).to_owned(),
        _ => counted(clusters.len(), "cluster"),
    };
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · Bringup</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p class=\"lead\">What each node will do, in order, from {}</p>\n",
        code_list(sources),
        title = escaped(&title),
    );
    tiles(&mut html, groups, findings);
    overall_findings(&mut html, findings);
    index(&mut html, groups, &detailed);
    if !groups.is_empty() {
        html.push_str("<h2>Node groups</h2>\n");
        group::legend(&mut html);
    }
    for (index, group) in groups.iter().enumerate() {
        if detailed.contains(&index) {
            let view = group::Shown { open: detailed.len() <= MOST_OPEN, findings: groups.len() > 1 };
            group::section(&mut html, index, group, view);
        }
    }
    if detailed.len() < groups.len() {
        let _ = writeln!(
            html,
            "<p class=\"quiet\">{} of {} groups are shown in full, those with findings first. For any other: <code>bringup explain FILE --group NAME</code></p>",
            grouped(detailed.len()),
            grouped(groups.len()),
        );
    }
    let _ = write!(
        html,
        "<footer>Written by bringup {}. The same document gives the same bytes.</footer>\n</main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
    );
    html
}

/// Which groups keep all that a full section shows: so many with something to look at, so many without.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    remarkable: usize,
    others: usize,
}

impl Kept {
    /// Shortens the group if the report has no room for it.
    pub(crate) fn settle(&mut self, group: &mut GroupView) {
        let count = if group.is_remarkable() { &mut self.remarkable } else { &mut self.others };
        *count += 1;
        if *count > MOST_DETAILED {
            group.shorten();
        }
    }
}

/// The groups that are shown in full: those with errors or warnings first, in their order.
fn detailed(groups: &[GroupView]) -> BTreeSet<usize> {
    let whole = groups.iter().enumerate().filter(|(_, group)| group.is_whole());
    let (with, without): (Vec<_>, Vec<_>) = whole.partition(|(_, group)| group.is_remarkable());
    with.into_iter().chain(without).map(|(index, _)| index).take(MOST_DETAILED).collect()
}

fn code_list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("<code>{}</code>", escaped(name))).collect();
    names.join(", ")
}

fn tiles(html: &mut String, groups: &[GroupView], findings: &Findings) {
    let steps: usize = groups.iter().map(|group| group.steps).sum();
    let files: usize = groups.iter().map(|group| group.carriers.len()).sum();
    html.push_str("<div class=\"tiles\">");
    let tiles = [
        (groups.len(), "node group"),
        (steps, "step"),
        (files, "carrier"),
        (findings.count(Severity::Error), "error"),
        (findings.count(Severity::Warning), "warning"),
        (findings.count(Severity::Note), "note"),
    ];
    for (number, noun) in tiles {
        let plural = if number == 1 { "" } else { "s" };
        let _ =
            write!(html, "<div class=\"tile\"><b>{}</b><span>{noun}{plural}</span></div>", grouped(number));
    }
    html.push_str("</div>\n");
}

fn overall_findings(html: &mut String, findings: &Findings) {
    if findings.is_empty() {
        return;
    }
    html.push_str("<h2>Findings</h2>\n");
    for finding in findings.iter().take(MOST_FINDINGS) {
        html.push_str(&finding_block(finding));
    }
    if findings.len() > MOST_FINDINGS {
        let _ = writeln!(
            html,
            "<p class=\"quiet\">The first {} of {}; <code>bringup build --output json</code> lists all.</p>",
            MOST_FINDINGS,
            grouped(findings.len()),
        );
    }
}

fn finding_block(finding: &Finding) -> String {
    let mut text = format!(
        "<div class=\"finding {word}\"><span class=\"word\">{word}</span> {}",
        with_code(&masked_message(&finding.message)),
        word = finding.severity.word(),
    );
    if let Some(place) = &finding.place {
        let start = place.span.start;
        let _ = write!(
            text,
            " <span class=\"quiet mono\">{}:{}:{}</span>",
            escaped(&place.file),
            start.line,
            start.column
        );
    }
    if let Some(hint) = &finding.hint {
        let _ = write!(text, "<span class=\"hint\">→ {}</span>", with_code(&masked_message(hint)));
    }
    let _ = writeln!(text, " <span class=\"quiet mono\">{}</span></div>", finding.code.name);
    text
}

/// A message with what stands in backticks set as code.
fn with_code(text: &str) -> String {
    let mut html = String::new();
    for (index, piece) in text.split('`').enumerate() {
        let piece = escaped(piece);
        if index % 2 == 1 {
            let _ = write!(html, "<code>{piece}</code>");
        } else {
            html.push_str(&piece);
        }
    }
    html
}

fn index(html: &mut String, groups: &[GroupView], detailed: &BTreeSet<usize>) {
    if groups.len() < 2 {
        return;
    }
    html.push_str(
        "<h2>Overview</h2>\n<div class=\"scroll long\"><table><tr><th>cluster</th><th>node group</th><th>system</th><th>role</th><th class=\"number\">steps</th><th>carriers</th><th class=\"number\">errors</th><th class=\"number\">warnings</th></tr>\n",
    );
    for (index, group) in groups.iter().enumerate() {
        let plan = &group.plan;
        let name = escaped(&plan.group);
        let name = if detailed.contains(&index) { format!("<a href=\"#g{index}\">{name}</a>") } else { name };
        let carriers: Vec<String> = group.carriers.iter().map(sizes::mini).collect();
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{name}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"tight\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escaped(&plan.cluster),
            plan.os,
            plan.role,
            group.steps,
            carriers.join("<br>"),
            group.count(Severity::Error),
            group.count(Severity::Warning),
        );
    }
    html.push_str("</table></div>\n");
}
