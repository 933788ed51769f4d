//! The software of a node and where it comes from; downloads.

use std::collections::BTreeMap;

use bringup_diag::Code;
use bringup_spec::{
    Architecture, Asset, Download, JoinMethod, Os, OsFamily, Phase, RuntimeName, SoftwareItem,
    SoftwareSource, Unpack,
};
use bringup_yaml::Path;

use crate::context::Context;
use crate::decisions::{Decisions, program_directory, program_root};
use crate::runtime::versions;
use crate::steps::plain;
use crate::{Action, InstallSource, Origin, Step, codes, files};

/// Where plugins of CNI are looked for, and where those that run as pods put theirs.
const CNI_DIRECTORY: &str = "/opt/cni/bin";

/// The package of Debian and Ubuntu that has plugins of CNI, and where it has them.
const DEBIAN_CNI: (&str, &str) = ("containernetworking-plugins", "/usr/lib/cni");

/// Where the runtime finds the plugins of CNI.
pub(crate) fn cni_directory<'a>(context: &Context<'a>) -> &'a str {
    let cni = &context.group.software.cni;
    // The path of an extension is that of its image.
    let given = cni.path.as_ref().filter(|_| cni.from != SoftwareSource::Extension);
    given.map_or(CNI_DIRECTORY, |path| path.as_str())
}

/// Downloads of the cluster and of the group, for the phase `fetch`.
pub(crate) fn assets(context: &mut Context<'_>) -> Vec<Step> {
    let spec = Context::spec_path(["assets"]);
    let group = context.at(["assets"]);
    let cluster = context.spec.assets.iter().enumerate().map(|(index, asset)| (spec.index(index), asset));
    let own = context.group.assets.iter().enumerate().map(|(index, asset)| (group.index(index), asset));
    let all: Vec<(Path, &Asset)> = cluster.chain(own).collect();
    let mut names: Vec<&str> = Vec::new();
    let mut steps = Vec::new();
    for (path, asset) in all {
        if names.contains(&asset.name.as_str()) {
            context.error(
                codes::ASSET_DUPLICATE,
                &path.key("name"),
                format!("there are two assets `{}`", asset.name),
                "give one of them another name",
            );
        }
        names.push(asset.name.as_str());
        check_urls(context, &path, asset.urls.is_empty());
        files::check_target(context, &path.key("path"), asset.path.as_str());
        if asset.unpack != Unpack::No
            && context.document.tree().span_at(&path.key("mode")) != context.document.tree().span_at(&path)
        {
            context.key_warning(
                codes::WITHOUT_EFFECT,
                &path.key("mode"),
                "an archive has the modes of its own files",
                "remove it",
            );
        }
        let action = Action::Fetch {
            urls: asset.urls.iter().map(ToString::to_string).collect(),
            sha256: asset.sha256.to_string(),
            path: asset.path.to_string(),
            mode: if asset.unpack == Unpack::No { asset.mode.to_string() } else { "0755".to_owned() },
            owner: "root:root".to_owned(),
            unpack: asset.unpack,
        };
        steps.push(plain(format!("asset:{}", asset.name), Phase::Fetch, action));
    }
    steps
}

fn check_urls(context: &mut Context<'_>, path: &Path, empty: bool) {
    if empty {
        context.error(
            codes::NO_URL,
            path,
            "there is no address to fetch from",
            "write at least one under `urls`",
        );
    }
}

/// Software for the phases `runtime` and `configure`.
pub(crate) fn install(context: &mut Context<'_>, decisions: &Decisions) -> Vec<Step> {
    let software = &context.group.software;
    let runtime = match decisions.runtime {
        RuntimeName::Containerd => "containerd",
        RuntimeName::Docker => "docker",
    };
    let runtime_version = context.group.runtime.version.as_deref();
    let kubernetes = context.spec.kubernetes.version.to_string();
    let kubernetes = Some(kubernetes.as_str());
    let mut steps = Vec::new();
    let mut installed = item(context, runtime, "runtime", &software.runtime, Phase::Runtime, runtime_version);
    if let Some(step) = &mut installed {
        versions::complete(context, step);
    }
    steps.extend(installed);
    let cni = item(context, "cni", "cni", &software.cni, Phase::Runtime, None);
    let link = cni.as_ref().and_then(link_to_plugins);
    steps.extend(cni.into_iter().chain(link));
    steps.extend(item(context, "kubelet", "kubelet", &software.kubelet, Phase::Configure, kubernetes));
    if decisions.join == JoinMethod::Kubeadm {
        steps.extend(item(context, "kubeadm", "kubeadm", &software.kubeadm, Phase::Configure, kubernetes));
    } else if software.kubeadm != SoftwareItem::in_image() {
        let path = context.at(["software", "kubeadm"]);
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path,
            format!("kubeadm has nothing to do: the way to join is `{}`", decisions.join),
            "remove it, or write `join.method: kubeadm`",
        );
    }
    steps
}

/// Makes one place of the two in which plugins of CNI are on Debian: the runtime takes only one, and those that run as pods
/// put theirs in the usual one.
fn link_to_plugins(install: &Step) -> Option<Step> {
    let Action::Install { source: InstallSource::Package { package }, .. } = &install.action else {
        return None;
    };
    let (name, directory) = DEBIAN_CNI;
    // What follows the name is a version.
    let is_debians = package.split('=').next() == Some(name);
    let action = Action::MakeLink { path: CNI_DIRECTORY.to_owned(), target: directory.to_owned() };
    is_debians.then(|| plain("link-cni".to_owned(), install.phase, action))
}

fn item(
    context: &mut Context<'_>,
    name: &str,
    key: &str,
    item: &SoftwareItem,
    phase: Phase,
    version: Option<&str>,
) -> Option<Step> {
    let path = context.at(["software", key]);
    let by_version = versions::place(context).filter(|_| key == "runtime");
    check_fields(context, &path, item);
    if by_version.is_none() {
        check_architectures(context, &path.key("downloads"), &item.downloads, codes::SOFTWARE_DOWNLOAD);
    }
    let downloads = by_version.unwrap_or_else(|| path.clone());
    let version = item.version.as_deref().or(version).map(ToOwned::to_owned);
    let os = context.group.os.family;
    let source = match item.from {
        SoftwareSource::Image => InstallSource::Image,
        SoftwareSource::Package => {
            if os == OsFamily::Flatcar {
                context.error(
                    codes::SOFTWARE_SOURCE,
                    &path.key("from"),
                    "Flatcar has no packages",
                    "write `extension` or `url`",
                );
                return None;
            }
            let package = item.package.clone().unwrap_or_else(|| package(name, os).to_owned());
            InstallSource::Package { package }
        }
        SoftwareSource::Extension | SoftwareSource::Url => {
            let architecture = context.group.architecture.word();
            let Some(download) = item.downloads.get(architecture) else {
                context.error(
                    codes::SOFTWARE_DOWNLOAD,
                    &downloads,
                    format!("there is no download of {name} for {architecture}"),
                    format!("write `downloads: {{{architecture}: {{urls: [...], sha256: ...}}}}`"),
                );
                return None;
            };
            check_urls(context, &downloads.keys(["downloads", architecture]), download.urls.is_empty());
            let urls = download.urls.iter().map(ToString::to_string).collect();
            let sha256 = download.sha256.to_string();
            let given = item.path.as_ref().map(ToString::to_string);
            if let Some(target) = &given {
                files::check_target(context, &path.key("path"), target);
            }
            if item.from == SoftwareSource::Extension {
                if let Some(why) = lacks_extensions(&context.group.os) {
                    let hint = "write `package` or `url`";
                    context.error(codes::SOFTWARE_SOURCE, &path.key("from"), why, hint);
                }
                let place = given.unwrap_or_else(|| format!("/etc/extensions/{name}.raw"));
                InstallSource::Extension { urls, sha256, path: place }
            } else {
                let place = given.unwrap_or_else(|| match name {
                    "cni" => CNI_DIRECTORY.to_owned(),
                    // Both come as archives of several programs.
                    "containerd" | "docker" => program_root(os).to_owned(),
                    _ => format!("{}/{name}", program_directory(os)),
                });
                InstallSource::Url { urls, sha256, path: place }
            }
        }
    };
    context.origin(
        format!("{name} comes from"),
        item.from.word(),
        if *item == SoftwareItem::in_image() {
            Origin::Default("the image is taken to have it".to_owned())
        } else {
            Origin::Document(path)
        },
    );
    let action =
        Action::Install { software: name.to_owned(), version, source, choices: Vec::new(), data: None };
    Some(plain(format!("install-{name}"), phase, action))
}

/// Fields that the source does not read, and keys that name no architecture.
fn check_fields(context: &mut Context<'_>, path: &Path, item: &SoftwareItem) {
    let fetched = matches!(item.from, SoftwareSource::Url | SoftwareSource::Extension);
    let unused = [
        ("package", item.package.is_some() && item.from != SoftwareSource::Package),
        ("path", item.path.is_some() && item.from == SoftwareSource::Package),
        ("downloads", !item.downloads.is_empty() && !fetched),
    ];
    for (key, _) in unused.into_iter().filter(|(_, unused)| *unused) {
        context.key_warning(
            codes::WITHOUT_EFFECT,
            &path.key(key),
            format!("`{key}` has no effect with `from: {}`", item.from),
            "remove it, or change `from`",
        );
    }
    let is_package = |name: &str| {
        name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._:=~".contains(&byte))
    };
    if let Some(package) = item.package.as_ref().filter(|package| !is_package(package)) {
        context.error(
            codes::SOFTWARE_PACKAGE,
            &path.key("package"),
            format!("`{package}` is no name of a package"),
            "write one name, such as `kubelet`",
        );
    }
}

/// Downloads are told apart by the names that the kernel has for architectures.
pub(crate) fn check_architectures(
    context: &mut Context<'_>,
    path: &Path,
    downloads: &BTreeMap<String, Download>,
    code: Code,
) {
    let known: Vec<&str> = Architecture::ALL.iter().map(|architecture| architecture.word()).collect();
    for key in downloads.keys().filter(|key| !known.contains(&key.as_str())) {
        let near = match key.as_str() {
            "amd64" => "x86_64",
            "arm64" => "aarch64",
            _ => bringup_diag::closest(key, known.iter().copied()).unwrap_or("x86_64"),
        };
        context.key_error(
            code,
            &path.key(key.as_str()),
            format!("`{key}` is no architecture"),
            format!("did you mean `{near}`?"),
        );
    }
}

/// Why the system has no extension images, if so: they came with systemd 248.
fn lacks_extensions(os: &Os) -> Option<String> {
    let below = |first: u32| os.major().is_some_and(|major| major < first);
    let old = match os.family {
        OsFamily::AmazonLinux2 => true,
        OsFamily::Ubuntu => below(22),
        OsFamily::Debian => below(12),
        OsFamily::AmazonLinux2023 | OsFamily::Flatcar | OsFamily::Generic => false,
    };
    let version = os.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    old.then(|| format!("the systemd of `{}`{version} has no system extensions", os.family))
}

/// The usual names of packages.
fn package(name: &str, os: OsFamily) -> &'static str {
    match (name, os) {
        ("kubelet", _) => "kubelet",
        ("kubeadm", _) => "kubeadm",
        ("cni", OsFamily::Debian | OsFamily::Ubuntu) => DEBIAN_CNI.0,
        ("cni", _) => "cni-plugins",
        ("docker", OsFamily::Debian | OsFamily::Ubuntu) => "docker.io",
        ("docker", _) => "docker",
        _ => "containerd",
    }
}
