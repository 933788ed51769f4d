//! `bringup render`

use std::path::Path;

use bringup_carry::{base64_text, encoding_of, gzip};
use bringup_diag::{Findings, Severity};
use bringup_spec::{Carrier, UserDataEncoding};

use crate::Terminal;
use crate::arguments::{Kind, Render, Selection};
use crate::outcome::{Stop, Verdict};
use crate::project::{GroupKey, Project, Wish, refusal};

pub(crate) fn execute(arguments: &Render, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let project = Project::load(std::slice::from_ref(&arguments.file), &arguments.selection)?;
    if project.findings.has_errors() {
        terminal.findings(&project.findings.clone().sorted(), &project.sources);
        return Ok(Verdict::Wrong);
    }
    let key = only_group(&project, &arguments.selection)?;
    let carriers: Vec<Carrier> = carrier(arguments.kind).into_iter().collect();
    let built = project
        .built(key, Wish::Bytes(&carriers), arguments.base_url.as_deref())
        .ok_or_else(|| Stop::input("there is no such node group"))?;
    let mut findings = project.findings.clone();
    findings.extend(built.findings.iter().cloned());
    let misread = carriers.first().map(|carrier| project.misread(key, *carrier)).unwrap_or_default();
    findings.append(misread);
    let findings = findings.sorted();
    terminal.findings(&findings, &project.sources);
    let verdict = verdict(&findings);
    // What does not work is not handed out; what is too large may do elsewhere.
    let file = built.files.into_iter().next_back().filter(|_| verdict != Verdict::Wrong);
    let Some((name, bytes)) = file else { return Ok(Verdict::Wrong) };
    let mut bytes = bytes;
    // What did not fit is compressed already.
    if arguments.gzip && Path::new(&name).extension().is_none_or(|extension| extension != "gz") {
        bytes = gzip(&bytes);
    }
    let asked =
        project.group(key).zip(carriers.first()).map(|((_, group), carrier)| encoding_of(group, *carrier));
    if arguments.base64 || asked == Some(UserDataEncoding::Base64) {
        bytes = base64_text(&bytes).into_bytes();
    }
    terminal.data(&bytes)?;
    Ok(verdict)
}

/// What findings come to. A carrier over its budget is an answer, not a wrong input.
pub(crate) fn verdict(findings: &Findings) -> Verdict {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|finding| finding.code != bringup_carry::codes::OVER_BUDGET) {
        Verdict::Wrong
    } else if errors().next().is_some() {
        Verdict::No
    } else {
        Verdict::Good
    }
}

/// The one group that is meant.
pub(crate) fn only_group(project: &Project, selection: &Selection) -> Result<GroupKey, Stop> {
    let keys = project.selected(selection)?;
    match keys.as_slice() {
        // One that is left of several is not the only one.
        [key] if project.refused().is_empty() => Ok(*key),
        [] => Err(match project.refused() {
            [first, ..] => refusal(first),
            [] => Stop::input("the document has no node group"),
        }),
        several => {
            let clusters = project.documents.len();
            let names: Vec<String> = several
                .iter()
                .take(10)
                .filter_map(|key| project.group(*key))
                .map(|(document, group)| match clusters {
                    1 => format!("`--group {}`", group.name),
                    _ => format!("`--cluster {} --group {}`", document.cluster.metadata.name, group.name),
                })
                .collect();
            let count = several.len() + project.refused().len();
            Err(Stop::input(format!("there are {count} node groups; which one?"))
                .with_hint(format!("add {}", names.join(" or "))))
        }
    }
}

/// The carrier behind a kind; the plan is none.
fn carrier(kind: Kind) -> Option<Carrier> {
    Some(match kind {
        Kind::CloudInit => Carrier::CloudInit,
        Kind::Multipart => Carrier::Multipart,
        Kind::Ignition => Carrier::Ignition,
        Kind::Cloudformation => Carrier::CloudFormation,
        Kind::CloudformationJson => Carrier::CloudFormationJson,
        Kind::Bundle => Carrier::Bundle,
        Kind::Nodeconfig => Carrier::NodeConfig,
        Kind::Plan => return None,
    })
}
