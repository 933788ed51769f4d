//! Versions of what is installed: read as packages write them, and held against the cluster's.

use bringup_diag::Finding;
use bringup_kubelet::Minor;
use bringup_spec::{JoinMethod, SoftwareItem};

use crate::codes;
use crate::context::Context;

/// The first kubelet that may be three minors older than the API server; older ones may be two.
const LONG_SKEW: Minor = Minor(25);

/// How a kubelet stands to an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    /// They may work together.
    Allowed,
    /// Kubelet is newer.
    Newer,
    /// Kubelet is too many minors older.
    TooOld {
        /// How many there may be.
        most: u16,
    },
}

/// How a kubelet of this version stands to an API server of that one; nothing if one of them is no version of Kubernetes.
///
/// The policy: <https://kubernetes.io/releases/version-skew-policy/>.
pub fn skew(kubelet: &str, server: &str) -> Option<Skew> {
    Some(of_minors(own_minor(kubelet)?, own_minor(server)?))
}

fn of_minors(kubelet: Minor, server: Minor) -> Skew {
    let most = if kubelet >= LONG_SKEW { 3 } else { 2 };
    if kubelet > server {
        Skew::Newer
    } else if server.0 - kubelet.0 > most {
        Skew::TooOld { most }
    } else {
        Skew::Allowed
    }
}

/// The numbers of a version: of `v1.31.2`, of the package `1.31.2-1.1`, of `5:27.3.1-1~debian.12~bookworm`.
///
/// An epoch before the colon and what follows the numbers are the packager's, not the program's.
pub(crate) fn numbers(version: &str) -> Vec<u32> {
    let version = match version.split_once(':') {
        Some((epoch, rest)) if epoch.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => version,
    };
    let mut numbers = Vec::new();
    for part in version.trim_start_matches('v').split('.') {
        let digits = part.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        let Ok(number) = digits.parse() else { break };
        numbers.push(number);
        if digits.len() < part.len() {
            break;
        }
    }
    numbers
}

/// Whether two versions may be of one program: where both have a number, it is the same.
pub(crate) fn agree(one: &str, other: &str) -> bool {
    numbers(one).iter().zip(numbers(other)).all(|(one, other)| *one == other)
}

/// The minor of a piece of Kubernetes: its own, else the cluster's.
pub(crate) fn minor(item: &SoftwareItem, cluster: Minor) -> Minor {
    item.version.as_deref().and_then(own_minor).unwrap_or(cluster)
}

fn own_minor(version: &str) -> Option<Minor> {
    match numbers(version).as_slice() {
        [1, minor, ..] => u16::try_from(*minor).ok().map(Minor),
        _ => None,
    }
}

/// Holds the versions of kubelet and kubeadm against the cluster's.
pub(crate) fn check(context: &mut Context<'_>) {
    let software = &context.group.software;
    let cluster = context.kubernetes;
    if let (Some(said), Some(installed)) = (&context.group.runtime.version, &software.runtime.version)
        && !agree(said, installed)
    {
        let path = context.at(["software", "runtime", "version"]);
        let said_at = context.document.place(&context.at(["runtime", "version"]));
        let message = format!("`{installed}` is installed, and `runtime.version` says `{said}`");
        let finding = Finding::error(codes::SOFTWARE_VERSION, message)
            .at(context.document.place(&path))
            .related(said_at, "the other version is here")
            .hint("keep one of the two: what is installed decides the schema of the configuration");
        context.findings.push(finding);
    }
    if let Some(kubelet) = own(context, "kubelet", &software.kubelet) {
        let path = context.at(["software", "kubelet", "version"]);
        match of_minors(kubelet, cluster) {
            Skew::Allowed => {}
            Skew::Newer => context.error(
                codes::SOFTWARE_VERSION,
                &path,
                format!("kubelet {kubelet} is newer than the API server, which is {cluster}"),
                format!("write a version of {cluster}, or raise `kubernetes.version` first"),
            ),
            Skew::TooOld { most } => {
                let oldest =
                    Minor(cluster.0.saturating_sub(if cluster.0 >= LONG_SKEW.0 + 3 { 3 } else { 2 }));
                context.error(
                    codes::SOFTWARE_VERSION,
                    &path,
                    format!("kubelet {kubelet} is too old for an API server of {cluster}: at most {most} minors may lie between"),
                    format!("write a version of {oldest} or newer"),
                );
            }
        }
    }
    if context.spec.join.method == JoinMethod::Kubeadm
        && let Some(kubeadm) = own(context, "kubeadm", &software.kubeadm)
        && (kubeadm < cluster || kubeadm.0 > cluster.0 + 1)
    {
        let path = context.at(["software", "kubeadm", "version"]);
        context.error(
            codes::SOFTWARE_VERSION,
            &path,
            format!("kubeadm {kubeadm} handles clusters of its own minor and of the one before, and this is {cluster}"),
            format!("write a version of {cluster}"),
        );
    }
}

/// The minor that is written, having told of a text that has none.
fn own(context: &mut Context<'_>, key: &str, item: &SoftwareItem) -> Option<Minor> {
    let version = item.version.as_deref()?;
    let minor = own_minor(version);
    if minor.is_none() {
        let path = context.at(["software", key, "version"]);
        context.error(
            codes::SOFTWARE_VERSION,
            &path,
            format!("`{version}` is no version of {key}"),
            format!("write one such as `{}.2`", context.kubernetes),
        );
    }
    minor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_and_revisions_are_the_packagers() {
        for (version, expected) in [
            ("1.7.28", [1, 7, 28].as_slice()),
            ("v2.1.4", &[2, 1, 4]),
            ("1.7", &[1, 7]),
            ("1.31.2-1.1", &[1, 31, 2]),
            ("1.33.0-150500.1.1", &[1, 33, 0]),
            ("5:27.3.1-1~debian.12~bookworm", &[27, 3, 1]),
            ("1.7.24~ds1-6+b4", &[1, 7, 24]),
            ("1.31.*", &[1, 31]),
            ("2.0.0-rc.1", &[2, 0, 0]),
            ("latest", &[]),
        ] {
            assert_eq!(numbers(version), expected, "{version}");
        }
        assert!(agree("1.7", "1.7.28-1") && agree("5:27.3.1-1", "27.3"));
        assert!(!agree("2.1.4", "1.7.28") && !agree("1.7.27", "1.7.28"));
    }
}
