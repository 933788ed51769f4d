//! Sees to it that a piece of software is there, in the version that is expected.

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_plan::InstallSource;
use bringup_progress::{Failure, FailureKind, Made, Success, installed};
use bringup_spec::Unpack;
use bringup_systemd::{JobEnd, Systemd};

use super::fetch::{self, Fetched};
use super::{Doing, Stopped, old_data};
use crate::download::{Download, digest_of};
use crate::packages::Tool;
use crate::program::{self, Program};
use crate::software::{Software, fits, software, version_in};
use crate::{kept, originals, output};

/// The name under which the journal keeps the version that was found.
const KEPT: &str = "version";
/// No program thinks longer about its own version.
const LONGEST_ANSWER: Duration = Duration::from_mins(1);
/// Merges system extensions.
const EXTENSIONS: &str = "systemd-sysext.service";

/// Installs what is not there, and sees that it is what was asked for.
pub(super) fn install(
    doing: &Doing<'_>,
    name: &str,
    version: Option<&str>,
    source: &InstallSource,
    data: Option<&str>,
) -> Result<Success, Stopped> {
    if let Some(directory) = data {
        old_data::note(doing, name, source, directory)?;
    }
    let success = install_from(doing, name, version, source)?;
    // What was installed works so far: from here on the data is its own.
    if let (Some(directory), Some(version)) = (data, version) {
        old_data::hand_over(doing, name, version, directory)?;
    }
    Ok(success)
}

fn install_from(
    doing: &Doing<'_>,
    name: &str,
    version: Option<&str>,
    source: &InstallSource,
) -> Result<Success, Stopped> {
    let mut success = match source {
        InstallSource::Image => Success::default(),
        InstallSource::Package { package } => from_package(doing, package, version)?,
        InstallSource::Url { urls, sha256, path } => from_url(doing, urls, sha256, path)?,
        InstallSource::Extension { urls, sha256, path } => extension(doing, urls, sha256, path)?,
    };
    if !matches!(source, InstallSource::Image) {
        success.changed.insert(installed(name));
    }
    // Without an expectation there is nothing to ask: whoever needs the program says so when it is not there.
    let (Some(software), Some(_)) = (software(name), version) else { return Ok(success) };
    // What an image says of itself is not about what was installed since.
    let found = found_version(doing, software, source, *source == InstallSource::Image).and_then(|found| {
        judge(software, found.as_deref(), version, source).map(|()| found).map_err(Stopped::from)
    });
    let found = match found {
        Err(Stopped::Failed(failure)) => return Err(taken_back(doing, source, failure)?.into()),
        found => found?,
    };
    success.kept.extend(found.map(|found| (KEPT.to_owned(), found)));
    Ok(success)
}

/// A program that cannot even tell its version, or tells another one, makes room for the old one.
fn taken_back(doing: &Doing<'_>, source: &InstallSource, failure: Failure) -> Result<Failure, Stopped> {
    let (InstallSource::Url { path, .. } | InstallSource::Extension { path, .. }) = source else {
        return Ok(failure);
    };
    let path = Path::new(path);
    let files = doing.machine.files();
    if !kept::take_back(files, path, &failure)? {
        return Ok(failure);
    }
    if matches!(source, InstallSource::Extension { .. }) {
        merge_extensions(doing.deadline())?;
    }
    Ok(kept::set_aside(files, path))
}

/// Fetches a program, or an archive of several. The old version of a single program is kept until kubelet is healthy.
fn from_url(doing: &Doing<'_>, urls: &[String], sha256: &str, path: &str) -> Result<Success, Stopped> {
    let unpack = unpack_of(urls.first().map(String::as_str).unwrap_or_default());
    if unpack != Unpack::No {
        let wanted =
            Fetched { urls, sha256, path, mode: "0755", owner: "root:root", unpack, is_software: true };
        return fetch::fetch(doing, &wanted);
    }
    single(doing, urls, sha256, path, "0755")
}

/// Fetches the image of a system extension and lets the system merge it.
fn extension(doing: &Doing<'_>, urls: &[String], sha256: &str, path: &str) -> Result<Success, Stopped> {
    let success = single(doing, urls, sha256, path, "0644")?;
    if doing.machine.is_itself() {
        merge_extensions(doing.deadline())?;
    }
    Ok(success)
}

/// Merges system extensions anew, now and at every boot.
pub(super) fn merge_extensions(deadline: Instant) -> Result<(), Stopped> {
    let mut systemd = Systemd::connect()?;
    systemd.subscribe()?;
    systemd.enable(&[EXTENSIONS])?;
    let job = systemd.restart(EXTENSIONS)?;
    if systemd.job_end(&job, deadline)? != JobEnd::Done {
        return Err(Failure::new(
            FailureKind::Operator,
            "the system cannot merge the extension",
            format!("see `journalctl --unit {EXTENSIONS}`: it may be for another system"),
        )
        .into());
    }
    Ok(systemd.reload()?)
}

/// Puts a single file in place of an old one, which is kept.
fn single(
    doing: &Doing<'_>,
    urls: &[String],
    sha256: &str,
    path: &str,
    mode: &str,
) -> Result<Success, Stopped> {
    let files = doing.machine.files();
    let wanted =
        Fetched { urls, sha256, path, mode, owner: "root:root", unpack: Unpack::No, is_software: true };
    if digest_of(files, &kept::failed(Path::new(path))).as_deref() == Some(sha256) {
        // It has failed already, and nobody has put it back.
        return Err(kept::set_aside(files, Path::new(path)).into());
    }
    if digest_of(files, Path::new(path)).as_deref() != Some(sha256) {
        // It is on the disk before the old version leaves its place.
        Download::new(doing).obtain(urls, sha256)?;
        if !doing.state.knows(&Made::File(path.to_owned())) {
            originals::keep(files, Path::new(path))?;
        }
        kept::keep(files, Path::new(path))?;
    }
    let mut success = fetch::fetch(doing, &wanted)?;
    success.made.insert(Made::File(path.to_owned()));
    Ok(success)
}

fn unpack_of(url: &str) -> Unpack {
    let end = url.split(['?', '#']).next().unwrap_or_default();
    let mut ends = end.rsplit('.');
    match (ends.next(), ends.next()) {
        (Some("gz"), Some("tar")) | (Some("tgz"), Some(_)) => Unpack::TarGz,
        (Some("zip"), Some(_)) => Unpack::Zip,
        _ => Unpack::No,
    }
}

fn from_package(doing: &Doing<'_>, package: &str, version: Option<&str>) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    let tool = tool(doing)?;
    for command in tool.refresh().into_iter().chain([tool.install(package, version)]) {
        run_tool(doing, command)?;
    }
    // The tool was told not to speak to the manager.
    Systemd::connect()?.reload()?;
    Ok(Success::default())
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
        kept_for: None,
    };
    program::run(doing.machine, program)
}

/// The version that is there: as a file of the image tells it, or as the program itself does.
pub(super) fn found_version(
    doing: &Doing<'_>,
    software: &Software,
    source: &InstallSource,
    by_file: bool,
) -> Result<Option<String>, Stopped> {
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
    let there = |path: &String| matches!(files.disk().look(Path::new(path)), Ok(Some(_)));
    let Some(path) = programs(software, source).into_iter().find(there) else {
        return Err(missing(software).into());
    };
    ask(doing, &path, software.arguments).map(|said| version_in(&said))
}

/// Where its program may be: what was fetched is asked before what the image has beside it.
fn programs(software: &Software, source: &InstallSource) -> Vec<String> {
    let usual = software.programs.iter().map(|path| (*path).to_owned());
    let InstallSource::Url { urls, path, .. } = source else { return usual.collect() };
    if unpack_of(urls.first().map(String::as_str).unwrap_or_default()) == Unpack::No {
        return std::iter::once(path.clone()).chain(usual).collect();
    }
    let name = software.programs.first().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    let folder = path.trim_end_matches('/');
    [format!("{folder}/bin/{name}"), format!("{folder}/{name}")].into_iter().chain(usual).collect()
}

/// Lets a program tell its version.
fn ask(doing: &Doing<'_>, path: &str, arguments: &[&str]) -> Result<String, Stopped> {
    let program = Program {
        step: &doing.step.name,
        command: [path].iter().chain(arguments).map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: None,
        deadline: doing.deadline().min(Instant::now() + LONGEST_ANSWER),
        kept_for: None,
    };
    program::run(doing.machine, program)?;
    Ok(output::written(doing.machine, &doing.step.name))
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

    use bringup_spec::Unpack;

    use super::{judge, programs, software, unpack_of};

    #[test]
    fn archives_are_known_by_the_end_of_their_address() {
        assert_eq!(unpack_of("https://example.com/cni-plugins-linux-amd64-v1.7.1.tgz"), Unpack::TarGz);
        assert_eq!(unpack_of("https://example.com/containerd.tar.gz?version=2"), Unpack::TarGz);
        assert_eq!(unpack_of("https://example.com/tools.zip"), Unpack::Zip);
        assert_eq!(unpack_of("https://example.com/v1.33.4/kubelet"), Unpack::No);
    }

    #[test]
    fn what_was_fetched_is_asked_before_what_the_image_has() {
        let first = |name: &str, url: &str, path: &str, count: usize| {
            let source = InstallSource::Url {
                urls: vec![url.to_owned()],
                sha256: String::new(),
                path: path.to_owned(),
            };
            programs(software(name).unwrap(), &source).into_iter().take(count).collect::<Vec<_>>()
        };
        let archive = "https://example.com/containerd-2.1.4-linux-amd64.tar.gz";
        assert_eq!(first("containerd", archive, "/opt/", 2), ["/opt/bin/containerd", "/opt/containerd"]);
        let plugins = "https://example.com/cni-plugins-linux-amd64-v1.7.1.tgz";
        assert_eq!(
            first("cni", plugins, "/srv/cni", 3),
            ["/srv/cni/bin/loopback", "/srv/cni/loopback", "/opt/cni/bin/loopback"]
        );
        let program = "https://example.com/v1.33.4/kubelet";
        assert_eq!(first("kubelet", program, "/srv/kubelet", 2), ["/srv/kubelet", "/usr/local/bin/kubelet"]);
        assert_eq!(
            programs(software("kubelet").unwrap(), &InstallSource::Image)[0],
            "/usr/local/bin/kubelet"
        );
    }

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
