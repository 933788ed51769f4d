//! The container runtime: what it is told.

mod agreement;
mod containerd;
pub(crate) mod docker;
mod fragment;
pub(crate) mod handler;
pub(crate) mod sandbox;
pub(crate) mod versions;

pub(crate) use agreement::settle;
use bringup_kubelet::Minor;
use bringup_spec::{OsFamily, Phase, RuntimeName, SoftwareSource, Text, authority_fault};

use self::handler::{BASE_SPEC, PAUSE_IMAGE};
use crate::context::Context;
use crate::decisions::Decisions;
use crate::kubelet::unit::runtime_unit;
use crate::steps::{plain, write_file};
use crate::{Action, Content, Origin, Step, aws, codes, nodeadm};

/// The image of the pod sandbox.
///
/// containerd fetches it by itself and without credentials, which EKS' registries want. It is named where the image of the
/// machine can fetch it with them, or where an account is named; elsewhere it is what the machine has, or Kubernetes' own.
pub(crate) fn sandbox_image(context: &mut Context<'_>, decisions: &Decisions) -> String {
    if let Some(image) = &context.group.runtime.sandbox_image {
        let path = context.at(["runtime", "sandboxImage"]);
        if !is_image(image) {
            let message = format!("`{image}` is no name of an image");
            let hint = "write one such as `registry.k8s.io/pause:3.10`";
            context.error(codes::RUNTIME_IMAGE, &path, message, hint);
        }
        context.origin("sandbox image", image, Origin::Document(path));
        return image.clone();
    }
    let named = context.spec.aws.as_ref().and_then(|aws| aws.registry_account.as_deref());
    let system = context.group.os.family;
    let in_store = decisions.eks_image && system == OsFamily::AmazonLinux2023 && is_of_image(context);
    if (in_store || handler::is_nodeadms(context)) && named.is_none() {
        let how = "the one that EKS' images with nodeadm have".to_owned();
        context.origin("sandbox image", PAUSE_IMAGE, Origin::Default(how));
        return PAUSE_IMAGE.to_owned();
    }
    // The one that EKS' images of Amazon Linux 2 have in store, whatever the version.
    let old = context.minor < Minor(31) || (decisions.eks_image && system == OsFamily::AmazonLinux2);
    let version = if old { "3.5" } else { "3.10" };
    match &context.spec.aws {
        Some(aws) if context.on_aws() && (named.is_some() || sandbox::is_fetched(context, decisions)) => {
            let account = named.unwrap_or_else(|| aws::registry_account(&aws.region));
            let partition = aws
                .partition
                .as_deref()
                .and_then(aws::partition_named)
                .unwrap_or_else(|| aws::partition_of(&aws.region));
            let image = format!("{account}.dkr.ecr.{}.{}/eks/pause:{version}", aws.region, partition.domain);
            let how = "the region's own registry of EKS".to_owned();
            context.origin(
                "sandbox image",
                image.as_str(),
                Origin::Derived(Context::spec_path(["aws", "region"]), how),
            );
            image
        }
        _ => {
            let image = format!("registry.k8s.io/pause:{version}");
            context.origin("sandbox image", image.as_str(), Origin::Default("Kubernetes' own".to_owned()));
            image
        }
    }
}

/// Whether containerd is the one of the machine's image.
fn is_of_image(context: &Context<'_>) -> bool {
    let group = context.group;
    group.runtime.name == RuntimeName::Containerd && group.software.runtime.from == SoftwareSource::Image
}

/// Whether a runtime takes this for the name of an image: a path in lower case, with a tag or a digest behind.
fn is_image(text: &str) -> bool {
    let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
    let (host, rest) = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (Some(first), rest),
        _ => (None, name),
    };
    let (path, tag) = rest.split_once(':').map_or((rest, None), |(path, tag)| (path, Some(tag)));
    let part = |part: &str| {
        let edge = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        part.starts_with(edge)
            && part.ends_with(edge)
            && part.chars().all(|letter| edge(letter) || "._-".contains(letter))
    };
    let word = |word: &str| {
        !word.is_empty()
            && word.len() <= 128
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
    };
    host.is_none_or(|host| authority_fault(host).is_none())
        && path.split('/').all(part)
        && tag.is_none_or(word)
        && digest
            .is_none_or(|digest| digest.split_once(':').is_some_and(|(kind, hex)| word(kind) && word(hex)))
}

/// The runtime's configuration, and its start.
pub(crate) fn steps(context: &mut Context<'_>, decisions: &Decisions, sandbox_image: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let path = match decisions.runtime {
        RuntimeName::Containerd => {
            if !context.group.runtime.docker_config.is_empty() {
                let path = context.at(["runtime", "dockerConfig"]);
                without_effect(
                    context,
                    &path,
                    "the runtime is containerd",
                    "write TOML under `runtime.config`",
                );
            }
            containerd::config(context, decisions, sandbox_image)
                .map(|text| ("/etc/containerd/config.toml", Content::Text(Text::literal(text))))
        }
        RuntimeName::Docker => {
            if context.group.runtime.config.is_some() {
                let path = context.at(["runtime", "config"]);
                without_effect(
                    context,
                    &path,
                    "the runtime is docker",
                    "write fields under `runtime.dockerConfig`",
                );
            }
            if context.minor >= Minor(24) {
                let path = context.at(["runtime", "name"]);
                context.error(
                    codes::DOCKER_REMOVED,
                    &path,
                    format!("kubelet has spoken to docker only until 1.23, and this is {}", context.minor),
                    "write `containerd`",
                );
            }
            Some((docker::PATH, docker::config(context, decisions)))
        }
    };
    let mut reads = Vec::new();
    if handler::is_nodeadms(context) {
        if !context.group.files.iter().chain(&context.spec.files).any(|file| file.path.as_str() == BASE_SPEC)
        {
            let content = Content::Text(Text::literal(nodeadm::containerd::default_base_spec()));
            steps.push(write_file("base-runtime-spec", Phase::Runtime, BASE_SPEC, "0644", content));
        }
        reads.push(BASE_SPEC.to_owned());
    }
    if let Some((path, content)) = path {
        steps.push(write_file("runtime-config", Phase::Runtime, path, "0644", content));
        reads.push(path.to_owned());
    }
    let action = Action::StartUnit { unit: runtime_unit(decisions.runtime).to_owned(), reads };
    let mut start = plain("start-runtime", Phase::Runtime, action);
    start.every_boot = true;
    steps.push(start);
    steps
}

fn without_effect(context: &mut Context<'_>, path: &bringup_yaml::Path, why: &str, instead: &str) {
    context.key_warning(codes::WITHOUT_EFFECT, path, format!("this has no effect: {why}"), instead);
}
