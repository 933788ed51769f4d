//! `bringup build`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bringup_diag::{Findings, Severity, to_json, to_sarif};
use serde_json::{Value, json};

use crate::arguments::{Build, ReportForm};
use crate::commands::render;
use crate::files::Readers;
use crate::outcome::{Stop, Verdict};
use crate::project::{Built, Project, Wish};
use crate::summary::summary;
use crate::view::{CarrierView, GroupView, counted};
use crate::{Terminal, files, report};

const REPORT: &str = "report.html";

/// What a build has come to.
struct Outcome {
    groups: Vec<GroupView>,
    findings: Findings,
    over_budget: bool,
    /// Whether there are node groups that cannot be brought up.
    refused: bool,
    written: Option<usize>,
}

pub(crate) fn execute(arguments: &Build, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let project = Project::load(&arguments.files, &arguments.selection)?;
    let outcome = build(arguments, &project, terminal)?;
    let verdict = verdict(&outcome, arguments.strict);
    tell(arguments, &project, &outcome, verdict, terminal)?;
    Ok(verdict)
}

/// Compiles everything first: a document that does not compile changes nothing on disk.
fn build(arguments: &Build, project: &Project, terminal: &Terminal) -> Result<Outcome, Stop> {
    let selected = project.selected(&arguments.selection)?;
    let progress = terminal.progress(selected.len(), "compiling");
    let mut findings = project.findings.clone();
    let mut over_budget = false;
    let mut kept = report::Kept::default();
    let mut built = Vec::with_capacity(selected.len());
    for key in selected {
        if let Some(mut group) = project.built(key, Wish::Everything, arguments.base_url.as_deref()) {
            findings.extend(group.findings.iter().cloned());
            over_budget |= group.over_budget;
            group.view.iter_mut().for_each(|view| kept.settle(view));
            built.push(group);
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let refusals = project.refusals();
    let refused = refusals.has_errors();
    let wrong = render::verdict(&findings) == Verdict::Wrong || refused && built.is_empty();
    findings.append(refusals);
    let findings = findings.sorted();
    if wrong {
        let groups = built.into_iter().filter_map(|group| group.view).collect();
        return Ok(Outcome { groups, findings, over_budget, refused, written: None });
    }
    let (groups, count) = write(&arguments.directory, built, terminal)?;
    remove_former_groups(arguments, project, &groups)?;
    let page = report::page(&project.names, &groups, &findings);
    files::fill(&arguments.directory, &[(REPORT, page.as_bytes())], Readers::All)?;
    Ok(Outcome { groups, findings, over_budget, refused, written: Some(count + 1) })
}

/// Writes the files of each group to a directory of its own.
fn write(directory: &Path, built: Vec<Built>, terminal: &Terminal) -> Result<(Vec<GroupView>, usize), Stop> {
    let progress = terminal.progress(built.len(), "writing");
    let mut groups = Vec::with_capacity(built.len());
    let mut count = 0;
    for group in built {
        let Some(view) = group.view else { continue };
        let files: Vec<(&str, &[u8])> =
            group.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        files::fill(&group_directory(directory, &view), &files, Readers::Owner)?;
        count += files.len();
        groups.push(view);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok((groups, count))
}

/// Groups that a cluster no longer has, or that are refused now, would be published with the others.
fn remove_former_groups(arguments: &Build, project: &Project, groups: &[GroupView]) -> Result<(), Stop> {
    let mut clusters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        clusters.entry(&group.plan.cluster).or_default().insert(&group.plan.group);
    }
    for refused in project.refused() {
        clusters.entry(&refused.cluster).or_default();
    }
    let is_meant = |name: &str| arguments.selection.group.as_deref().is_none_or(|wanted| wanted == name);
    for (cluster, built) in clusters {
        let directory = arguments.directory.join(cluster);
        if files::is_directory(&directory) {
            let there = files::listing(&directory)?;
            let stays = |name: &&str| built.contains(name) || !is_meant(name);
            files::prune(&directory, &there.iter().map(String::as_str).filter(stays).collect())?;
        }
    }
    Ok(())
}

fn group_directory(directory: &Path, view: &GroupView) -> PathBuf {
    directory.join(&view.plan.cluster).join(&view.plan.group)
}

fn verdict(outcome: &Outcome, strict: bool) -> Verdict {
    if outcome.written.is_none() {
        Verdict::Wrong
    } else if outcome.refused
        || outcome.over_budget_on_its_platform()
        || strict && outcome.findings.count(Severity::Warning) > 0
    {
        Verdict::No
    } else {
        Verdict::Good
    }
}

impl Outcome {
    /// A generic platform has no limit of its own: being over the smallest is told, and is no failure.
    fn over_budget_on_its_platform(&self) -> bool {
        self.over_budget
            && self.findings.iter().any(|finding| finding.code == bringup_carry::codes::OVER_BUDGET)
    }
}

fn tell(
    arguments: &Build,
    project: &Project,
    outcome: &Outcome,
    verdict: Verdict,
    terminal: &mut Terminal,
) -> Result<(), Stop> {
    match arguments.output {
        ReportForm::Json => return terminal.json(&as_json(arguments, outcome, verdict)),
        ReportForm::Sarif => return terminal.json(&to_sarif(&outcome.findings, env!("CARGO_PKG_VERSION"))),
        ReportForm::Human => {}
    }
    terminal.findings(&outcome.findings, &project.sources);
    let paint = terminal.paint();
    let mut text = String::new();
    if let Some(files) = outcome.written {
        text = summary(&outcome.groups, paint);
        let report = arguments.directory.join(REPORT);
        let _ = writeln!(
            text,
            "wrote {} to {}; open {}",
            counted(files, "file"),
            arguments.directory.display(),
            report.display()
        );
    }
    terminal.data(text.as_bytes())?;
    let counts = [Severity::Error, Severity::Warning].map(|severity| outcome.findings.count(severity));
    let said: Vec<String> = counts
        .into_iter()
        .zip(["error", "warning"])
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let ending = match verdict {
        Verdict::Wrong => "; nothing was written",
        Verdict::No if outcome.refused => "; the node groups that are refused were left out",
        Verdict::No if arguments.strict && !outcome.over_budget_on_its_platform() => {
            "; with `--strict`, warnings are failures"
        }
        Verdict::No | Verdict::NotYet | Verdict::Good => "",
    };
    if !said.is_empty() {
        terminal.flush()?;
        terminal.say(&format!("{}{ending}\n", said.join(", ")));
    }
    Ok(())
}

fn as_json(arguments: &Build, outcome: &Outcome, verdict: Verdict) -> Value {
    let mut value = json!({
        "verdict": verdict.word(),
        "groups": outcome.groups.iter().map(group_json).collect::<Vec<_>>(),
        "findings": to_json(&outcome.findings),
    });
    if outcome.written.is_some() {
        value["directory"] = arguments.directory.display().to_string().into();
        value["report"] = arguments.directory.join(REPORT).display().to_string().into();
    }
    value
}

fn group_json(group: &GroupView) -> Value {
    let facts: BTreeSet<String> = group.plan.facts.iter().map(ToString::to_string).collect();
    json!({
        "cluster": group.plan.cluster,
        "group": group.plan.group,
        "plan": {"file": "plan.json", "sha256": group.digest},
        "steps": group.steps,
        "facts": facts,
        "carriers": group.carriers.iter().map(carrier_json).collect::<Vec<_>>(),
        "errors": group.count(Severity::Error),
        "warnings": group.count(Severity::Warning),
    })
}

fn carrier_json(carrier: &CarrierView) -> Value {
    let mut value = json!({
        "kind": carrier.kind,
        "file": carrier.file,
        "size": carrier.size,
        "sha256": carrier.sha256,
    });
    if let Some(budget) = &carrier.budget {
        value["budget"] = json!({
            "platform": budget.whose,
            "limit": budget.limit,
            "used": budget.used,
            "margin": budget.margin(),
            "parts": budget.parts,
        });
    }
    value
}
