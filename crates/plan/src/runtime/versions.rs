//! Which version of the runtime goes with which minors of Kubernetes, and what becomes of the old one's data.

use std::collections::BTreeSet;

use bringup_spec::{
    AgentSource, NodeGroup, OnFailure, Phase, RuntimeName, RuntimeVersion, SoftwareSource, Span,
};
use bringup_yaml::Path;
use toml::{Table, Value};

use crate::context::Context;
use crate::kernel::refuse_never;
use crate::software::check_architectures;
use crate::steps::{plain, policy};
use crate::{Action, InstallChoice, InstallSource, Step, codes, versions};

/// What a data directory must not be, nor hold: what the machine cannot do without.
const NEVER_SET_ASIDE: [&str; 9] = [
    "/boot",
    "/etc",
    "/home",
    "/opt/bringup",
    "/root",
    "/run",
    "/usr",
    "/var/lib/bringup",
    "/var/lib/kubelet",
];

/// So many minors newer than a node may the cluster be that it joins.
const FARTHEST: u16 = 3;

/// The group as it is for a cluster of this minor; none if its runtime does not depend on that.
pub(crate) fn applied(group: &NodeGroup, minor: u16) -> Option<NodeGroup> {
    let chosen = group.runtime.versions.iter().find(|version| version.kubernetes.has(minor))?;
    let mut group = group.clone();
    group.runtime.version = Some(chosen.version.clone());
    if is_fetched(&group) {
        group.software.runtime.downloads = chosen.downloads.clone();
    }
    Some(group)
}

/// Where the downloads of the runtime are written.
pub(crate) fn place(context: &Context<'_>) -> Option<Path> {
    let versions = &context.group.runtime.versions;
    let index = versions.iter().position(|version| version.kubernetes.has(context.kubernetes.0))?;
    Some(context.at(["runtime", "versions"]).index(index))
}

/// Checks the versions of the group as it is written.
pub(crate) fn check(context: &mut Context<'_>, written: &NodeGroup) {
    let versions = &written.runtime.versions;
    if versions.is_empty() {
        return;
    }
    let others = [
        (["runtime", "version"].as_slice(), written.runtime.version.is_some()),
        (&["software", "runtime", "version"], written.software.runtime.version.is_some()),
        (&["software", "runtime", "downloads"], !written.software.runtime.downloads.is_empty()),
    ];
    for (keys, _) in others.into_iter().filter(|(_, given)| *given) {
        let path = context.at(keys.iter().copied());
        let message = "`runtime.versions` says it for each minor of Kubernetes, and this says it for all";
        context.key_error(codes::RUNTIME_VERSIONS, &path, message, "keep one of the two");
    }
    let path = context.at(["runtime", "versions"]);
    if !versions.iter().any(|version| version.kubernetes.has(context.kubernetes.0)) {
        let minor = context.kubernetes;
        context.key_error(
            codes::RUNTIME_VERSIONS,
            &path,
            format!("no version of the runtime is named for Kubernetes {minor}"),
            format!("add `{{kubernetes: \"{minor}\", version: ...}}`"),
        );
    }
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        let range = &version.kubernetes;
        let earlier = versions.iter().take(index).map(|earlier| &earlier.kubernetes);
        if let Some(other) =
            earlier.into_iter().find(|other| other.first <= range.last && range.first <= other.last)
        {
            let message = format!("`{range}` and `{other}` have a minor in common");
            let hint = "let each minor be in one of them";
            context.error(codes::RUNTIME_VERSIONS, &path.key("kubernetes"), message, hint);
        }
        if versions::numbers(&version.version).is_empty() {
            let message = format!("`{}` is no version of {}", version.version, written.runtime.name);
            context.error(
                codes::RUNTIME_VERSIONS,
                &path.key("version"),
                message,
                "write one such as \"2.1.4\"",
            );
        }
        check_architectures(context, &path.key("downloads"), &version.downloads, codes::SOFTWARE_DOWNLOAD);
        if !version.downloads.is_empty() && !is_fetched(written) {
            let message = format!(
                "`downloads` has no effect with `software.runtime.from: {}`",
                written.software.runtime.from
            );
            let hint = "remove it, or write `software: {runtime: {from: extension}}`";
            context.key_warning(codes::WITHOUT_EFFECT, &path.key("downloads"), message, hint);
        }
    }
    if replaces(context) {
        refuse_never(context, "runtime", "the machine is rebooted when its runtime becomes another");
    }
}

/// Whether the runtime may become another on the node, so that there is old data to clean.
pub(crate) fn replaces(context: &Context<'_>) -> bool {
    let group = context.group;
    !group.runtime.versions.is_empty()
        && group.software.runtime.from != SoftwareSource::Image
        && group.agent.from != AgentSource::None
}

/// Lets the installation of the runtime see to its data and, where the node finds the cluster's version out, choose by it.
pub(crate) fn complete(context: &mut Context<'_>, install: &mut Step) {
    if !replaces(context) {
        return;
    }
    let directory = data_directory(context);
    let found = choices(context, &install.action);
    if let Action::Install { data, choices, .. } = &mut install.action {
        *data = directory;
        *choices = found;
    }
}

/// Removes what was set aside, once nothing uses it any more.
pub(crate) fn removal(context: &Context<'_>) -> Option<Step> {
    let directories: BTreeSet<String> = ["/var/lib/containerd", "/var/lib/docker"]
        .map(ToOwned::to_owned)
        .into_iter()
        .chain(given_directory(context))
        .collect();
    replaces(context).then(|| {
        let action = Action::RemoveOldData { directories: directories.into_iter().collect() };
        let mut step = plain("runtime-data", Phase::Reboot, action);
        step.every_boot = true;
        // It only takes up room: no node stays away for it, and the next boot tries again.
        step.policy = Some(policy(Span::seconds(600), 3, Span::seconds(5), OnFailure::Continue));
        step
    })
}

/// The other versions that a node may come to choose: those for clusters that it may join.
fn choices(context: &mut Context<'_>, main: &Action) -> Vec<InstallChoice> {
    let Action::Install { software, source, .. } = main else { return Vec::new() };
    let group = context.group;
    if !context.spec.kubernetes.detect {
        return Vec::new();
    }
    let reachable = context.kubernetes.0..=context.kubernetes.0.saturating_add(FARTHEST);
    let mut choices = Vec::new();
    for (index, version) in group.runtime.versions.iter().enumerate() {
        let range = &version.kubernetes;
        if !reachable.clone().any(|minor| range.has(minor)) {
            continue;
        }
        let path = context.at(["runtime", "versions"]).index(index);
        check_schema(context, &path, version);
        let Some(source) = source_for(context, &path, software, source, version) else { continue };
        choices.push(InstallChoice { kubernetes: range.clone(), version: version.version.clone(), source });
    }
    choices
}

fn source_for(
    context: &mut Context<'_>,
    path: &Path,
    software: &str,
    main: &InstallSource,
    version: &RuntimeVersion,
) -> Option<InstallSource> {
    let mut source = main.clone();
    if let InstallSource::Extension { urls, sha256, .. } | InstallSource::Url { urls, sha256, .. } =
        &mut source
    {
        let architecture = context.group.architecture.word();
        let Some(download) = version.downloads.get(architecture) else {
            context.error(
                codes::SOFTWARE_DOWNLOAD,
                path,
                format!("there is no download of {software} for {architecture}"),
                format!("write `downloads: {{{architecture}: {{urls: [...], sha256: ...}}}}`"),
            );
            return None;
        };
        *urls = download.urls.iter().map(ToString::to_string).collect();
        *sha256 = download.sha256.to_string();
    }
    Some(source)
}

/// The configuration is written before the node chooses: all that it may choose must read it.
fn check_schema(context: &mut Context<'_>, path: &Path, version: &RuntimeVersion) {
    let major = |version: &str| versions::numbers(version).first().copied();
    let own = context.group.runtime.version.as_deref();
    if context.group.runtime.name == RuntimeName::Containerd && own.and_then(major) != major(&version.version)
    {
        let message = format!(
            "a node that finds out the cluster's version may come to choose containerd {}, which reads another schema of configuration than {}",
            version.version,
            own.unwrap_or_default()
        );
        let hint = "let all versions of this Kubernetes and of the next three minors have one first number, or remove `kubernetes.detect`";
        context.error(codes::RUNTIME_VERSIONS, &path.key("version"), message, hint);
    }
}

fn is_fetched(group: &NodeGroup) -> bool {
    matches!(group.software.runtime.from, SoftwareSource::Extension | SoftwareSource::Url)
}

/// The directory that the document gives to the runtime.
fn given_directory(context: &Context<'_>) -> Option<String> {
    let runtime = &context.group.runtime;
    match runtime.name {
        RuntimeName::Docker => {
            runtime.docker_config.get("data-root").and_then(|root| root.as_str()).map(ToOwned::to_owned)
        }
        RuntimeName::Containerd => {
            let table = runtime.config.as_deref()?.parse::<Table>().ok()?;
            table.get("root").and_then(Value::as_str).map(ToOwned::to_owned)
        }
    }
}

/// Where the runtime keeps its data; none if nobody may touch what is there.
fn data_directory(context: &mut Context<'_>) -> Option<String> {
    let Some(given) = given_directory(context) else {
        return Some(
            match context.group.runtime.name {
                RuntimeName::Containerd => "/var/lib/containerd",
                RuntimeName::Docker => "/var/lib/docker",
            }
            .to_owned(),
        );
    };
    let is_plain = given.starts_with('/') && !given.split('/').any(|name| matches!(name, "." | ".."));
    let holds = |kept: &&str| std::path::Path::new(kept).starts_with(&given);
    if is_plain && !NEVER_SET_ASIDE.iter().any(holds) {
        return Some(given.trim_end_matches('/').to_owned());
    }
    let key = if context.group.runtime.name == RuntimeName::Docker { "dockerConfig" } else { "config" };
    let path = context.at(["runtime", key]);
    context.error(
        codes::RUNTIME_VERSIONS,
        &path,
        format!("`{given}` is set aside when the runtime becomes another, and it is not the runtime's alone"),
        "give the runtime a directory of its own, such as `/var/lib/containerd`",
    );
    None
}

#[cfg(test)]
mod tests {
    use super::FARTHEST;

    /// The policy on skew and what is thought reachable here must not drift apart.
    #[test]
    fn the_farthest_cluster_is_the_one_that_a_node_may_join() {
        let skew = |ahead: u16| crate::skew("1.30.0", &format!("1.{}.0", 30 + ahead));
        assert_eq!(skew(FARTHEST), Some(crate::Skew::Allowed));
        assert_ne!(skew(FARTHEST + 1), Some(crate::Skew::Allowed));
    }
}
