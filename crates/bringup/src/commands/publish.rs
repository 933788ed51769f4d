//! `bringup publish`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use bringup_carry::{Published, publish_layout};
use bringup_plan::Plan;
use bringup_spec::Architecture;
use serde_json::json;

use crate::arguments::{Form, Publish};
use crate::outcome::{Stop, Verdict};
use crate::view::counted;
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &Publish, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let plans = plans_in(&arguments.directory)?;
    let agents = agents(arguments)?;
    let target = arguments.target.clone().unwrap_or_else(|| arguments.directory.join("publish"));
    let published = publish_layout(plans.values(), &agents, arguments.base_url.as_deref());
    for file in &published {
        let path = target.join(&file.path);
        if let Some(parent) = path.parent() {
            files::make_directory(parent)?;
        }
        files::replace(&path, &file.bytes, files::Readers::All)?;
    }
    let kept = kept(&target, &published)?;
    match arguments.output {
        Form::Json => {
            let files: Vec<_> = published
                .iter()
                .map(|file| json!({"about": file.about, "path": file.path, "url": file.url, "sha256": file.sha256, "size": file.bytes.len()}))
                .collect();
            terminal
                .json(&json!({"directory": target.display().to_string(), "files": files, "kept": kept}))?;
        }
        Form::Human => terminal.data(as_text(&published, &kept, &target).as_bytes())?,
    }
    Ok(Verdict::Good)
}

/// What earlier publications left, by path. It stays: user-data that names its digest may still be on machines, and these
/// fetch it again whenever they start anew.
fn kept(target: &Path, published: &[Published]) -> Result<Vec<String>, Stop> {
    let mut found = Vec::new();
    let plans = target.join("plan");
    if files::is_directory(&plans) {
        found.extend(files::listing(&plans)?.into_iter().map(|name| format!("plan/{name}")));
    }
    let agents = target.join("agent");
    if files::is_directory(&agents) {
        for digest in files::listing(&agents)? {
            let names = files::listing(&agents.join(&digest))?;
            found.extend(names.into_iter().map(|name| format!("agent/{digest}/{name}")));
        }
    }
    found.retain(|path| !published.iter().any(|file| file.path == *path));
    Ok(found)
}

fn as_text(published: &[Published], kept: &[String], target: &Path) -> String {
    let mut text = String::new();
    for file in published {
        let place = file.url.as_deref().unwrap_or(&file.path);
        let _ = writeln!(text, "{}\n  {place}\n  sha256 {}", file.about, file.sha256);
    }
    if !kept.is_empty() {
        let count = counted(kept.len(), "file");
        let _ = writeln!(text, "{count} of earlier publications kept: nodes with older user-data fetch them");
    }
    let _ = writeln!(text, "upload what is in {}, with its folders", target.display());
    text
}

/// The plans beneath a directory of `build`, by `CLUSTER/GROUP`.
pub(crate) fn plans_in(directory: &Path) -> Result<BTreeMap<String, Plan>, Stop> {
    let mut plans = BTreeMap::new();
    for cluster in files::listing(directory)? {
        let cluster_path = directory.join(&cluster);
        if !files::is_directory(&cluster_path) {
            continue;
        }
        for group in files::listing(&cluster_path)? {
            let path = cluster_path.join(&group).join("plan.json");
            if files::exists(&path) {
                let plan = Plan::from_json(&files::input(&path)?)
                    .map_err(|fault| Stop::input(format!("`{}`: {fault}", path.display())))?;
                plans.insert(format!("{cluster}/{group}"), plan);
            }
        }
    }
    if plans.is_empty() {
        return Err(Stop::input(format!("there is no plan beneath `{}`", directory.display()))
            .with_hint("run `bringup build` first, and name the directory that it wrote"));
    }
    Ok(plans)
}

/// The agents, by the architecture that their names end in.
fn agents(arguments: &Publish) -> Result<BTreeMap<Architecture, Vec<u8>>, Stop> {
    let mut agents = BTreeMap::new();
    for path in &arguments.agent {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let architecture = Architecture::ALL.iter().find(|architecture| name.ends_with(architecture.word()));
        let Some(architecture) = architecture else {
            return Err(Stop::input(format!(
                "the name of `{}` does not say its architecture",
                path.display()
            ))
            .with_hint("name it `bringup-node-x86_64` or `bringup-node-aarch64`"));
        };
        if agents.insert(*architecture, files::input(path)?).is_some() {
            return Err(Stop::input(format!("there are two agents for {architecture}")));
        }
    }
    Ok(agents)
}
