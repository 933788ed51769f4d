//! How kubelet gets credentials for images of ECR: with a program that kops downloads, since kubelet has none of its own.

use bringup_diag::Span;
use bringup_yaml::{Entry, Node, Resolved};

use super::cluster::Cluster;
use super::image::System;
use super::kubelet::value;
use crate::codes;
use crate::tell::Teller;
use crate::tree::{Branch, list, text};

/// The first kubelet that knows nothing of ECR itself.
const FIRST: u16 = 27;

const PROGRAM: &str = "ecr-credential-provider";

/// Where kops has the program from.
const HOST: &str = "https://artifacts.k8s.io";
const RELEASE: &str = "binaries/cloud-provider-aws/v1.31.7";

/// The program of that release: the processor in its own words, and the digest that kops expects.
const AMD64: (&str, &str) = ("amd64", "7644623e4ec9ad443ab352a8a5800a5180ee28741288be805286ba72bb8e7164");
const ARM64: (&str, &str) = ("arm64", "1980e3a038cb16da48a137743b31fb81de6c0b59fa06c206c2bc20ce0a52f849");

/// Images that kops has the program asked about.
const IMAGES: [&str; 4] = [
    "*.dkr.ecr.*.amazonaws.com",
    "*.dkr.ecr.*.amazonaws.com.cn",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "*.dkr.ecr.us-iso-east-1.c2s.ic.gov",
];

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
    let program = (cluster.on_aws && cluster.minor.is_none_or(|minor| minor >= FIRST))
        .then(|| program(cluster, is_arm, span, tell))
        .flatten();
    let Some((url, digest)) = program else {
        if let Some(node) = for_mirrors {
            let message = "mirrors get no credentials of ECR: nothing asks for them on these nodes";
            let hint = "give kubelet credentials with `imageCredentialProvider` in additions";
            tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
        }
        return None;
    };
    let directory = if system.family == "flatcar" { "/opt/kubernetes/bin" } else { "/usr/local/bin" };
    let mut images: Vec<String> = IMAGES.map(ToOwned::to_owned).to_vec();
    if for_mirrors.is_some() {
        let mirrors = value(containerd, "registryMirrors").and_then(Node::entries).unwrap_or_default();
        let mut mirrored: Vec<String> = mirrors.iter().map(|entry| entry.key.clone()).collect();
        mirrored.sort();
        images.extend(mirrored);
    }
    let words = |words: Vec<String>| list(span, words.into_iter().map(|word| text(span, word)).collect());
    let mut provider = Branch::new(span);
    provider.put("name", text(span, PROGRAM));
    provider.put("binDir", text(span, directory));
    provider.put("matchImages", words(images));
    provider.put("args", words(vec!["get-credentials".to_owned()]));
    if let Some(region) = cluster.region() {
        let mut environment = Branch::new(span);
        environment.put("AWS_REGION", region);
        provider.put("environment", environment.into_node());
    }
    branch.put("imageCredentialProvider", provider.into_node());
    let mut asset = Branch::new(span);
    asset.put("name", text(span, PROGRAM));
    asset.put("urls", words(vec![url]));
    asset.put("sha256", text(span, digest));
    asset.put("path", text(span, format!("{directory}/{PROGRAM}")));
    asset.put("mode", text(span, "0755"));
    Some(asset.into_node())
}

/// Address and digest of the program; nothing, if kops alone would know its digest.
fn program(
    cluster: &Cluster<'_>,
    is_arm: bool,
    span: Span,
    tell: &mut Teller<'_>,
) -> Option<(String, &'static str)> {
    if let Some(own) = cluster.binaries_location() {
        let message = format!(
            "nobody here knows the digest of `{PROGRAM}` at this address: kubelet gets no credentials for private images of ECR"
        );
        let hint = "write `assets` with its URL and `sha256`, and `imageCredentialProvider`, for each group in additions";
        tell.warning(codes::FIELD_DIFFERS, own.span, message, hint);
        return None;
    }
    let (processor, digest) = if is_arm { ARM64 } else { AMD64 };
    let base = cluster.mirror().map_or(HOST, |own| own.trim_end_matches('/'));
    let url = format!("{base}/{RELEASE}/linux/{processor}/{PROGRAM}-linux-{processor}");
    let message =
        format!("`{PROGRAM}` is fetched from `{base}`, as kops does, so that images of ECR can be pulled");
    let hint = "write `assets` in additions to have it from elsewhere, or `imageCredentialProvider: null` and `assets: []` to do without it";
    tell.note(codes::DIFFERENCE, span, message, hint);
    Some((url, digest))
}
