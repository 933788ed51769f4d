//! What AWS would refuse, or do otherwise than its author thinks, told before anything is deployed.

mod identity;
mod scaling;
mod tags;
mod volumes;

use bringup_diag::{Code, Finding, Findings, Severity};
use bringup_plan::Plan;
use bringup_spec::{Document, NodeGroup, Platform};
use bringup_yaml::Path;

use crate::codes;
use crate::write::{ImageSource, Request, image_source};

/// What there is to tell about the launch settings of a node group; [`crate::write`] tells the same.
pub fn check(document: &Document, path: &Path, group: &NodeGroup, plan: &Plan) -> Findings {
    let request = Request::new(document, path, group, plan);
    let mut findings = Findings::new();
    let mut report = Report { request: &request, findings: &mut findings };
    platform(&mut report);
    image(&mut report);
    volumes::check(&mut report);
    scaling::check(&mut report);
    tags::check(&mut report);
    identity::check(&mut report);
    findings
}

/// What there is to tell about launch settings of a node group that no template of its carriers will hold.
pub fn unused(document: &Document, path: &Path, group: &NodeGroup) -> Findings {
    let written = [("launch", group.launch.is_some()), ("scaling", group.scaling.is_some())];
    written
        .into_iter()
        .filter(|(_, written)| *written)
        .map(|(key, _)| {
            let message =
                format!("`{key}` has no effect: no carrier of this group is a CloudFormation template");
            Finding::warning(codes::UNUSED, message)
                .at(document.key_place(&path.key(key)))
                .hint(format!("add `cloudformation` to `carriers`, or take `{key}` away"))
        })
        .collect()
}

/// Findings on their way out, each at a place below the group.
pub(crate) struct Report<'a> {
    pub(crate) request: &'a Request<'a>,
    findings: &'a mut Findings,
}

impl Report<'_> {
    fn push(&mut self, severity: Severity, code: Code, path: &Path, message: String, hint: &str) {
        let place = self.request.document.place(path);
        self.findings.push(Finding::new(severity, code, message).at(place).hint(hint));
    }

    pub(crate) fn error(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: &str) {
        self.push(Severity::Error, code, path, message.into(), hint);
    }

    pub(crate) fn warning(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: &str) {
        self.push(Severity::Warning, code, path, message.into(), hint);
    }

    pub(crate) fn note(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: &str) {
        self.push(Severity::Note, code, path, message.into(), hint);
    }

    /// A place below the group.
    pub(crate) fn at(&self, keys: &[&str]) -> Path {
        self.request.path.keys(keys.iter().copied())
    }
}

fn platform(report: &mut Report<'_>) {
    if report.request.group.platform != Platform::Aws {
        let path = report.at(&["carriers"]);
        report.error(
            codes::PLATFORM,
            &path,
            "a CloudFormation template launches EC2 instances, but the group's platform is `generic`",
            "write `platform: aws`, or take `cloudformation` out of `carriers`",
        );
    }
}

fn image(report: &mut Report<'_>) {
    let launch = &report.request.launch;
    if let Some(image) = &launch.image {
        let path = report.at(&["launch", "image"]);
        if launch.image_parameter.is_some() {
            report.error(
                codes::TWO_IMAGES,
                &path,
                "both `image` and `imageParameter` are given",
                "keep one: `image` stays the same for ever, `imageParameter` follows new releases",
            );
        }
        if !is_id(image, "ami-") {
            let message = format!("`{image}` is no image id");
            report.error(codes::MALFORMED, &path, message, "write one such as `ami-0123456789abcdef0`");
        }
    }
    if let Some(parameter) = &launch.image_parameter
        && (parameter.is_empty()
            || parameter.contains(char::is_whitespace)
            || parameter.starts_with("resolve:"))
    {
        let path = report.at(&["launch", "imageParameter"]);
        let message = format!("`{parameter}` is no name of an SSM parameter");
        report.error(codes::MALFORMED, &path, message, "write its name alone, such as `/team/images/node`");
    }
    if image_source(report.request) == ImageSource::Asked {
        let path = report.at(&["os"]);
        let os = report.request.group.os.family;
        let version = &report.request.document.cluster.spec.kubernetes.version;
        report.warning(
            codes::NO_IMAGE,
            &path,
            format!("nobody publishes a parameter with an image of `{os}` for Kubernetes {version}: whoever deploys the template will be asked for `NodeImageId`"),
            "write `launch: {image: ami-…}`, or `imageParameter` with a parameter of your own",
        );
    }
    hardware(report);
    for (index, group) in report.request.launch.security_groups.iter().enumerate() {
        if !is_id(group, "sg-") {
            let path = report.at(&["launch", "securityGroups"]).index(index);
            let message = format!("`{group}` is no id of a security group");
            report.error(
                codes::MALFORMED,
                &path,
                message,
                "write one such as `sg-0123456789abcdef0`; a name does not do",
            );
        }
    }
    let hops = report.request.launch.metadata.hop_limit;
    if !(1..=64).contains(&hops) {
        let path = report.at(&["launch", "metadata", "hopLimit"]);
        let message = format!("{hops} is no hop limit of the metadata service");
        report.error(codes::HOP_LIMIT, &path, message, "write 1 (the node only) to 64; 2 reaches pods");
    }
}

fn hardware(report: &mut Report<'_>) {
    let launch = &report.request.launch;
    if let Some(key) = &launch.public_key {
        let path = report.at(&["launch", "publicKey"]);
        if launch.key_name.is_some() {
            let message = "both `keyName` and `publicKey` are given";
            report.error(codes::KEY, &path, message, "keep one: EC2 gives an instance one key");
        }
        // What EC2 imports; others it refuses.
        let kinds = ["ssh-rsa ", "ssh-ed25519 "];
        if !kinds.iter().any(|kind| key.starts_with(kind)) || key.trim().contains('\n') {
            let message = "this is no public key that EC2 imports";
            report.error(
                codes::KEY,
                &path,
                message,
                "write one line that begins with `ssh-ed25519` or `ssh-rsa`",
            );
        }
    }
    // The most cards that an instance type has.
    if launch.efa_interfaces > 32 {
        let path = report.at(&["launch", "efaInterfaces"]);
        let message = format!("no instance type has {} network cards", launch.efa_interfaces);
        report.error(codes::EFA, &path, message, "write 1, or how many cards the type has: up to 32");
    }
}

/// Whether a text is an id of this kind.
pub(crate) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|id| {
        matches!(id.len(), 8 | 17) && id.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
    })
}
