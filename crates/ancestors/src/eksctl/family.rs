//! Families of images, eksctl's `amiFamily`.

use bringup_diag::{Span, closest};

use super::cluster::Cluster;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, text};
use bringup_yaml::Node;

/// The system of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    AmazonLinux2,
    AmazonLinux2023,
    Ubuntu {
        /// Such as `24.04`.
        release: &'static str,
        /// Whether it is Ubuntu Pro, whose images stand elsewhere.
        pro: bool,
    },
}

/// eksctl's words; it takes them in any case.
const FAMILIES: [(&str, Family); 11] = [
    ("AmazonLinux2023", Family::AmazonLinux2023),
    ("AmazonLinux2", Family::AmazonLinux2),
    ("Ubuntu2604", Family::Ubuntu { release: "26.04", pro: false }),
    ("UbuntuPro2604", Family::Ubuntu { release: "26.04", pro: true }),
    ("Ubuntu2404", Family::Ubuntu { release: "24.04", pro: false }),
    ("UbuntuPro2404", Family::Ubuntu { release: "24.04", pro: true }),
    ("Ubuntu2204", Family::Ubuntu { release: "22.04", pro: false }),
    ("UbuntuPro2204", Family::Ubuntu { release: "22.04", pro: true }),
    ("Ubuntu2004", Family::Ubuntu { release: "20.04", pro: false }),
    ("UbuntuPro2004", Family::Ubuntu { release: "20.04", pro: true }),
    ("Ubuntu1804", Family::Ubuntu { release: "18.04", pro: false }),
];

/// From this minor version of Kubernetes on there is no image of Amazon Linux 2.
const WITHOUT_AMAZON_LINUX_2: u16 = 33;

/// The family of a group; none, having told why, where no node of it can be brought up.
pub(super) fn of(
    group: &Record<'_>,
    cluster: &Cluster<'_>,
    managed: bool,
    tell: &mut Teller<'_>,
) -> Option<Family> {
    let own_image = group.text("ami").is_some_and(|image| image.starts_with("ami-"));
    let Some(given) = group.get("amiFamily") else {
        let Some(image) = group.get("ami").filter(|_| own_image) else {
            return Some(Family::AmazonLinux2023);
        };
        // Only images of Amazon Linux 2 have a script of this name that does something.
        let script =
            group.text("overrideBootstrapCommand").is_some_and(|own| own.contains("/etc/eks/bootstrap.sh"));
        let (family, word) = if script {
            (Family::AmazonLinux2, "Amazon Linux 2")
        } else {
            (Family::AmazonLinux2023, "Amazon Linux 2023")
        };
        let message = format!("nothing says what system this image has: {word} is assumed");
        let hint = "write `amiFamily`: eksctl refuses an image without it";
        tell.warning(codes::MISSING, image.span, message, hint);
        return Some(family);
    };
    let word = given.text().unwrap_or_default();
    let known =
        FAMILIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, family)| *family);
    let Some(family) = known else {
        refuse(word, given.span, tell);
        return None;
    };
    let too_new = cluster.minor.is_some_and(|minor| minor >= WITHOUT_AMAZON_LINUX_2);
    if family == Family::AmazonLinux2 && too_new && !(managed && own_image) {
        let message =
            format!("there is no Amazon Linux 2 for Kubernetes 1.{WITHOUT_AMAZON_LINUX_2} and later");
        tell.error(codes::FIELD_REFUSED, given.span, message, "write `amiFamily: AmazonLinux2023`");
    }
    Some(family)
}

fn refuse(word: &str, span: Span, tell: &mut Teller<'_>) {
    let lower = word.to_ascii_lowercase();
    let (message, hint) = if lower.starts_with("bottlerocket") {
        (
            "Bottlerocket configures itself from settings of its own, and runs no other agent: its nodes cannot be brought up here".to_owned(),
            "leave this group to eksctl, or write `amiFamily: AmazonLinux2023`; other groups are built without it".to_owned(),
        )
    } else if lower.starts_with("windows") {
        (
            "nodes of Windows cannot be brought up here: there is no systemd, and no agent for it".to_owned(),
            "leave this group to eksctl; other groups are built without it".to_owned(),
        )
    } else {
        let names = || FAMILIES.iter().map(|(name, _)| *name);
        let hint = match closest(word, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", names().collect::<Vec<_>>().join(", ")),
        };
        (format!("`{word}` is no `amiFamily` that can be brought up here"), hint)
    };
    tell.error(codes::FIELD_REFUSED, span, message, hint);
}

impl Family {
    /// The system as a Bringup document names it.
    pub(super) fn os(self, span: Span) -> Node {
        match self {
            Self::AmazonLinux2 => text(span, "amazon-linux-2"),
            Self::AmazonLinux2023 => text(span, "amazon-linux-2023"),
            Self::Ubuntu { release, .. } => {
                let mut os = Branch::new(span);
                os.put("family", text(span, "ubuntu"));
                os.put("version", text(span, release));
                os.into_node()
            }
        }
    }

    /// The program of the image that eksctl leaves the joining to.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::AmazonLinux2 | Self::Ubuntu { .. } => "bootstrap",
            Self::AmazonLinux2023 => "nodeadm",
        }
    }

    /// How its user-data travels, and the template around it.
    pub(super) fn carriers(self) -> [&'static str; 2] {
        match self {
            Self::AmazonLinux2 | Self::Ubuntu { .. } => ["cloud-init", "cloudformation"],
            Self::AmazonLinux2023 => ["multipart", "cloudformation"],
        }
    }

    /// The parameter that holds the image's id, where it is not the usual one of the system.
    pub(super) fn image_parameter(self, minor: u16, arm: bool) -> Option<String> {
        let Self::Ubuntu { release, pro: true } = self else { return None };
        let processor = if arm { "arm64" } else { "amd64" };
        let volume = if matches!(release, "18.04" | "20.04" | "22.04") { "gp2" } else { "gp3" };
        Some(format!(
            "/aws/service/canonical/ubuntu/eks-pro/{release}/1.{minor}/stable/current/{processor}/hvm/ebs-{volume}/ami-id"
        ))
    }
}
