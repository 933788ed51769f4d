//! How kubelet gets credentials for images of its cloud's registries: with a program that kops downloads, since kubelet has
//! none of its own.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node, Resolved};

use super::cluster::Cluster;
use super::image::System;
use super::kubelet::value;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The first kubelet that knows nothing of its cloud's registries itself.
const FIRST: u16 = 27;

/// Where kops has the programs from.
const HOST: &str = "https://artifacts.k8s.io";

/// A program that knows the credentials of a cloud's registries.
struct Program {
    name: &'static str,
    /// Whose images can be pulled with it.
    registries: &'static str,
    release: &'static str,
    /// The path beneath the release, by the processor in its own words.
    path: fn(&str) -> String,
    /// The digests that kops expects.
    amd64: &'static str,
    arm64: &'static str,
    /// Images that kops has the program asked about.
    images: &'static [&'static str],
    arguments: &'static [&'static str],
    /// How long kubelet keeps an answer, if not as long as it does by itself.
    kept: Option<&'static str>,
}

const ECR: Program = Program {
    name: "ecr-credential-provider",
    registries: "ECR",
    release: "binaries/cloud-provider-aws/v1.31.7",
    path: |processor| format!("linux/{processor}/ecr-credential-provider-linux-{processor}"),
    amd64: "7644623e4ec9ad443ab352a8a5800a5180ee28741288be805286ba72bb8e7164",
    arm64: "1980e3a038cb16da48a137743b31fb81de6c0b59fa06c206c2bc20ce0a52f849",
    images: &[
        "*.dkr.ecr.*.amazonaws.com",
        "*.dkr.ecr.*.amazonaws.com.cn",
        "*.dkr.ecr-fips.*.amazonaws.com",
        "*.dkr.ecr.us-iso-east-1.c2s.ic.gov",
    ],
    arguments: &["get-credentials"],
    kept: None,
};

const GOOGLE: Program = Program {
    name: "gcp-credential-provider",
    registries: "Google's registries",
    release: "binaries/cloud-provider-gcp/v35.0.0",
    path: |processor| format!("auth-provider-gcp/linux/{processor}/auth-provider-gcp"),
    amd64: "b5852509ab5c950485794afd49a3fd1c3d6166db988c15b683d2373b7055300f",
    arm64: "510aee27ef32a27b76e461e9084719365210d56166057b37db290a72dfecbffa",
    images: &["gcr.io", "*.gcr.io", "container.cloud.google.com", "*.pkg.dev"],
    arguments: &["get-credentials", "--v=3"],
    kept: Some("1m"),
};

/// Puts `imageCredentialProvider` where kops would; the download of its program.
pub(super) fn image_credentials(
    cluster: &Cluster<'_>,
    containerd: &[Entry],
    system: System,
    is_arm: bool,
    span: Span,
    branch: &mut Branch,
    tell: &mut Teller<'_>,
) -> Option<Node> {
    let truth = |node: &Node| node.scalar().map(bringup_yaml::Scalar::core) == Some(Resolved::Bool(true));
    let for_mirrors = value(containerd, "useECRCredentialsForMirrors").filter(|node| truth(node));
    let program = match cluster.cloud {
        "aws" => Some(&ECR),
        "gce" => Some(&GOOGLE),
        _ => None,
    };
    let program = program.filter(|_| cluster.minor.is_none_or(|minor| minor >= FIRST));
    let found = program.and_then(|program| Some((program, address(program, cluster, is_arm, span, tell)?)));
    if let Some(node) = for_mirrors.filter(|_| !(cluster.on_aws && found.is_some())) {
        let message = "mirrors get no credentials of ECR: nothing asks for them on these nodes";
        let hint = "give kubelet credentials with `imageCredentialProvider` in additions";
        tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
    }
    let (program, (url, digest)) = found?;
    let directory = if system.family == "flatcar" { "/opt/kubernetes/bin" } else { "/usr/local/bin" };
    let mut images: Vec<String> = program.images.iter().map(|image| (*image).to_owned()).collect();
    if cluster.on_aws && for_mirrors.is_some() {
        let mirrors = value(containerd, "registryMirrors").and_then(Node::entries).unwrap_or_default();
        let mut mirrored: Vec<String> = mirrors.iter().map(|entry| entry.key.clone()).collect();
        mirrored.sort();
        images.extend(mirrored);
    }
    let words = |words: Vec<String>| list(span, words.into_iter().map(|word| text(span, word)).collect());
    let mut provider = Branch::new(span);
    provider.put("name", text(span, program.name));
    provider.put("binDir", text(span, directory));
    provider.put("matchImages", words(images));
    provider.put("args", words(program.arguments.iter().map(|word| (*word).to_owned()).collect()));
    provider.put_some("cacheDuration", program.kept.map(|time| text(span, time)));
    if let Some(region) = cluster.region().filter(|_| cluster.on_aws) {
        let mut environment = Branch::new(span);
        environment.put("AWS_REGION", region);
        provider.put("environment", environment.into_node());
    }
    branch.put("imageCredentialProvider", provider.into_node());
    let mut asset = Branch::new(span);
    asset.put("name", text(span, program.name));
    asset.put("urls", words(vec![url]));
    asset.put("sha256", text(span, digest));
    asset.put("path", text(span, format!("{directory}/{}", program.name)));
    asset.put("mode", text(span, "0755"));
    Some(asset.into_node())
}

/// Address and digest of the program; nothing, if kops alone would know its digest.
fn address(
    program: &Program,
    cluster: &Cluster<'_>,
    is_arm: bool,
    span: Span,
    tell: &mut Teller<'_>,
) -> Option<(String, &'static str)> {
    let Program { name, registries, release, path, amd64, arm64, .. } = program;
    if let Some(own) = cluster.binaries_location() {
        let message = format!(
            "nobody here knows the digest of `{name}` at this address: kubelet gets no credentials for private images of {registries}"
        );
        let hint = "write `assets` with its URL and `sha256`, and `imageCredentialProvider`, for each group in additions";
        tell.warning(codes::FIELD_DIFFERS, own.span, message, hint);
        return None;
    }
    let (processor, digest) = if is_arm { ("arm64", arm64) } else { ("amd64", amd64) };
    let base = cluster.mirror().map_or(HOST, |own| own.trim_end_matches('/'));
    let url = format!("{base}/{release}/{}", path(processor));
    let message = format!(
        "`{name}` is fetched from `{base}`, as kops does, so that images of {registries} can be pulled"
    );
    let hint = "write `assets` in additions to have it from elsewhere, or `imageCredentialProvider: null` and `assets: []` to do without it";
    tell.note(codes::DIFFERENCE, span, message, hint);
    Some((url, *digest))
}
