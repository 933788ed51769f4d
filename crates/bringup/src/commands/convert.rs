//! `bringup convert`

use bringup_yaml::to_yaml;

use crate::arguments::{Convert, Target};
use crate::outcome::{Stop, Verdict};
use crate::project::Project;
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &Convert, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let Target::Bringup = arguments.to;
    let project = Project::load(&arguments.files, &arguments.selection)?;
    let refusals = project.refusals();
    let refused = refusals.has_errors();
    let mut findings = project.findings.clone();
    findings.append(refusals);
    terminal.findings(&findings.sorted(), &project.sources);
    // What could not be translated is told; half a document would be taken for a whole one.
    if project.findings.has_errors() || refused && project.documents.is_empty() {
        return Ok(Verdict::Wrong);
    }
    if project.documents.is_empty() {
        terminal.say("there is nothing to convert; nothing was written\n");
        return Ok(Verdict::Good);
    }
    let texts: Vec<String> =
        project.documents.iter().map(|document| to_yaml(&document.tree().to_value())).collect();
    let text = texts.join("---\n");
    match &arguments.file {
        None => terminal.data(text.as_bytes())?,
        Some(path) if files::exists(path) => {
            return Err(Stop::input(format!("`{}` is there already; it is left as it is", path.display()))
                .with_hint("name another file"));
        }
        Some(path) => files::create(path, text.as_bytes())?,
    }
    // Whoever takes the document for the whole must not take this for a yes.
    Ok(if refused { Verdict::No } else { Verdict::Good })
}
