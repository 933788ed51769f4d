//! Sees to it that a piece of software is there, in the version that is expected.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use bringup_plan::InstallSource;
use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::Systemd;

use super::{Doing, Stopped};
use crate::packages::Tool;
use crate::program::{self, Program};
use crate::software::{Software, fits, software, version_in};

/// The name under which the journal keeps the version that was found.
const KEPT: &str = "version";

/// Installs what is not there, and sees that it is what was asked for.
pub(super) fn install(
    doing: &Doing<'_>,
    name: &str,
    version: Option<&str>,
    source: &InstallSource,
) -> Result<Success, Stopped> {
    match source {
        InstallSource::Image => {}
        InstallSource::Package { package } => from_package(doing, package, version)?,
        InstallSource::Extension { path, .. } | InstallSource::Url { path, .. } => {
            return Err(Failure::new(
                FailureKind::Permanent,
                format!("this agent cannot fetch `{name}` to `{path}` yet"),
                "",
            )
            .into());
        }
    }
    // Without an expectation there is nothing to ask: whoever needs the program says so when it is not there.
    let (Some(software), Some(_)) = (software(name), version) else { return Ok(Success::default()) };
    // What an image says of itself is not about what was installed since.
    let found = found_version(doing, software, *source == InstallSource::Image)?;
    judge(software, found.as_deref(), version, source)?;
    let kept = found.map(|found| BTreeMap::from([(KEPT.to_owned(), found)])).unwrap_or_default();
    Ok(Success { kept, ..Success::default() })
}

fn from_package(doing: &Doing<'_>, package: &str, version: Option<&str>) -> Result<(), Stopped> {
    if !doing.machine.is_itself() {
        return Ok(());
    }
    let tool = tool(doing)?;
    for command in tool.refresh().into_iter().chain([tool.install(package, version)]) {
        run_tool(doing, command)?;
    }
    // The tool was told not to speak to the manager.
    Ok(Systemd::connect()?.reload()?)
}

/// The package tool of this machine.
pub(super) fn tool(doing: &Doing<'_>) -> Result<Tool, Failure> {
    let files = doing.machine.files();
    let there = |tool: &Tool| matches!(files.disk().look(Path::new(tool.program())), Ok(Some(_)));
    let own = Tool::of(doing.plan.os).filter(there);
    own.or_else(|| Tool::ALL.into_iter().find(there)).ok_or_else(|| {
        let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.program()).collect();
        Failure::new(
            FailureKind::Operator,
            format!("the machine has none of the package tools {}", names.join(", ")),
            "take the software from the image or by URL",
        )
    })
}

/// Runs the package tool.
pub(super) fn run_tool(doing: &Doing<'_>, command: Vec<String>) -> Result<(), Stopped> {
    let own = Tool::environment().into_iter().map(str::to_owned);
    let proxy = doing.plan.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let program = Program {
        step: &doing.step.name,
        command,
        environment: own.chain(proxy).collect(),
        directory: None,
        deadline: doing.deadline(),
    };
    program::run(doing.machine, program)
}

/// The version that is there: as a file of the image tells it, or as the program itself does.
fn found_version(doing: &Doing<'_>, software: &Software, by_file: bool) -> Result<Option<String>, Stopped> {
    let files = doing.machine.files();
    if let Some(path) = software.version_file.filter(|_| by_file)
        && let Some(bytes) = files.read(Path::new(path))?
        && let Some(version) = version_in(&String::from_utf8_lossy(&bytes))
    {
        return Ok(Some(version));
    }
    if !doing.machine.is_itself() {
        return Ok(None);
    }
    let there = |path: &&&str| matches!(files.disk().look(Path::new(path)), Ok(Some(_)));
    let Some(path) = software.programs.iter().find(there) else {
        return Err(missing(software).into());
    };
    ask(doing, path, software.arguments).map(|said| version_in(&said))
}

/// Lets a program tell its version.
fn ask(doing: &Doing<'_>, path: &str, arguments: &[&str]) -> Result<String, Stopped> {
    let program = Program {
        step: &doing.step.name,
        command: [path].iter().chain(arguments).map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: None,
        deadline: doing.deadline().min(Instant::now() + std::time::Duration::from_secs(60)),
    };
    program::run(doing.machine, program)?;
    Ok(program::written(doing.machine, &doing.step.name))
}

fn missing(software: &Software) -> Failure {
    Failure::new(
        FailureKind::Operator,
        format!("{} is not there: none of {}", software.name, software.programs.join(", ")),
        format!("use an image that has it, or say in `software.{}` where it comes from", key(software)),
    )
}

fn judge(
    software: &Software,
    found: Option<&str>,
    expected: Option<&str>,
    source: &InstallSource,
) -> Result<(), Failure> {
    let (Some(found), Some(expected)) = (found, expected) else { return Ok(()) };
    if fits(found, expected) {
        return Ok(());
    }
    let (place, fix) = match source {
        InstallSource::Image => (
            "the image",
            format!(
                "use an image with {expected}, or say in `software.{}` where it comes from",
                key(software)
            ),
        ),
        _ => ("what was installed", "see which versions the source has".to_owned()),
    };
    Err(Failure::new(
        FailureKind::Operator,
        format!("{} is {found} in {place}, and {expected} is expected", software.name),
        fix,
    ))
}

/// Its key in documents.
fn key(software: &Software) -> &'static str {
    match software.name {
        "containerd" | "docker" => "runtime",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use bringup_plan::InstallSource;
    use bringup_progress::FailureKind;

    use super::{judge, software};

    #[test]
    fn another_version_is_told_with_both() {
        let kubelet = software("kubelet").unwrap();
        let failure =
            judge(kubelet, Some("1.32.9-eks-1"), Some("1.33.4"), &InstallSource::Image).unwrap_err();
        assert_eq!(failure.why, "kubelet is 1.32.9-eks-1 in the image, and 1.33.4 is expected");
        assert_eq!(failure.kind, FailureKind::Operator);
        assert_eq!(judge(kubelet, Some("1.33.4-eks-1"), Some("1.33"), &InstallSource::Image), Ok(()));
        assert_eq!(judge(kubelet, Some("1.33.4"), None, &InstallSource::Image), Ok(()));
        assert_eq!(judge(kubelet, None, Some("1.33.4"), &InstallSource::Image), Ok(()));
    }
}
