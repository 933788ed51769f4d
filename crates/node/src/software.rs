//! What programs say of their version, and whether it is the one that is expected.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A piece of software, as far as it can be asked for its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Software {
    /// Its name in plans.
    pub(crate) name: &'static str,
    /// A file in which images tell its version.
    pub(crate) version_file: Option<&'static str>,
    /// Where its program may be, in the order in which a unit would find it.
    pub(crate) programs: &'static [&'static str],
    /// What makes it tell its version.
    pub(crate) arguments: &'static [&'static str],
}

/// What a plan may ask for.
pub(crate) const SOFTWARE: [Software; 5] = [
    Software {
        name: "kubelet",
        version_file: Some("/etc/eks/kubelet-version.txt"),
        programs: &[
            "/usr/local/bin/kubelet",
            "/usr/bin/kubelet",
            "/opt/bin/kubelet",
            "/snap/bin/kubelet-eks.kubelet",
        ],
        arguments: &["--version"],
    },
    Software {
        name: "kubeadm",
        version_file: None,
        programs: &["/usr/local/bin/kubeadm", "/usr/bin/kubeadm", "/opt/bin/kubeadm"],
        arguments: &["version", "--output", "short"],
    },
    Software {
        name: "containerd",
        version_file: Some("/etc/eks/containerd-version.txt"),
        programs: &["/usr/local/bin/containerd", "/usr/bin/containerd", "/opt/bin/containerd"],
        arguments: &["--version"],
    },
    Software {
        name: "docker",
        version_file: None,
        programs: &["/usr/local/bin/dockerd", "/usr/bin/dockerd", "/opt/bin/dockerd"],
        arguments: &["--version"],
    },
    Software {
        name: "cni",
        version_file: None,
        // It tells its version when it is started without a command in its environment.
        programs: &["/opt/cni/bin/loopback", "/usr/lib/cni/loopback", "/usr/libexec/cni/loopback"],
        arguments: &[],
    },
];

/// The software of this name.
pub(crate) fn software(name: &str) -> Option<&'static Software> {
    SOFTWARE.iter().find(|software| software.name == name)
}

/// The version in what a program or a file says: the first word that begins with a number, perhaps after a `v`.
///
/// ```text
/// Kubernetes v1.33.4-eks-99d6cc0
/// containerd github.com/containerd/containerd v1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da
/// Docker version 25.0.8, build 71907ca
/// CNI loopback plugin v1.6.2
/// ```
pub(crate) fn version_in(text: &str) -> Option<String> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_matches(|letter: char| matches!(letter, ',' | '"' | '\''));
        let number = word.strip_prefix('v').unwrap_or(word);
        let begins =
            number.split_once('.').is_some_and(|(major, rest)| is_number(major) && starts_with_digit(rest));
        begins.then(|| number.to_owned())
    })
}

/// Which program is at a path now, as far as its file tells without being read: to read a kubelet from a cold disk takes
/// seconds. Neither times nor a path do alone: a link may lead to another version that was unpacked long ago, and another
/// image of the system may have been put together before this one was.
///
/// What is no program of its own, but a script or the way into a snap, may lead to another one any time.
pub(crate) fn mark(program: &Path) -> Option<String> {
    let mut file = std::fs::File::open(program).ok()?;
    let mut begin = [0; 4];
    file.read_exact(&mut begin).ok()?;
    if begin != *b"\x7fELF" || program.starts_with("/snap") {
        return None;
    }
    let found = file.metadata().ok()?;
    let (device, number, size) = (found.dev(), found.ino(), found.size());
    let (written, changed) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
    Some(format!(
        "{} {device} {number} {size} {}.{} {}.{}",
        program.display(),
        written.0,
        written.1,
        changed.0,
        changed.1
    ))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Whether a version is the expected one, or a nearer description of it: `1.33` takes `1.33.4-eks-99d6cc0`, but not
/// `1.331`.
pub(crate) fn fits(found: &str, expected: &str) -> bool {
    let expected = expected.strip_prefix('v').unwrap_or(expected);
    found
        .strip_prefix(expected)
        .is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::{fits, mark, version_in};

    #[test]
    fn a_program_is_known_again_only_if_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (old, new, link) = (path("1.32"), path("1.33"), path("kubelet"));
        assert_eq!(mark(&link), None, "there is none");
        std::fs::write(&old, b"\x7fELF and more").unwrap();
        std::fs::write(&new, b"\x7fELF and more").unwrap();
        let leads_to = |program: &std::path::Path| {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(program, &link).unwrap();
            mark(&link)
        };
        let first = leads_to(&new);
        assert!(first.is_some());
        assert_eq!(mark(&link), first, "nothing has happened");
        assert_ne!(leads_to(&old), first, "the link leads to another program, which was there before");
        assert_eq!(leads_to(&new), first);
        assert_ne!(mark(&new), first, "another place goes before the old one");
        std::fs::write(&new, b"\x7fELF and much more").unwrap();
        assert_ne!(mark(&link), first, "it was written over");
        std::fs::write(&new, "#!/bin/sh\nexec /opt/kubelet\n").unwrap();
        assert_eq!(mark(&link), None, "a script may lead elsewhere");
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, version) in [
            ("Kubernetes v1.33.4-eks-99d6cc0\n", Some("1.33.4-eks-99d6cc0")),
            ("containerd github.com/containerd/containerd v1.7.27 05044ec0a9a7", Some("1.7.27")),
            ("containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1", Some("1.6.20~ds1")),
            ("Docker version 25.0.8, build 71907ca", Some("25.0.8")),
            ("CNI loopback plugin v1.6.2\nCNI protocol versions supported: 0.1.0", Some("1.6.2")),
            ("v1.30.1\n", Some("1.30.1")),
            ("1.29.0", Some("1.29.0")),
            ("kubelet: not found", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }

    #[test]
    fn a_version_takes_what_describes_it_nearer_and_nothing_else() {
        for (found, expected, fit) in [
            ("1.33.4-eks-99d6cc0", "1.33", true),
            ("1.33.4", "1.33.4", true),
            ("1.33.4", "v1.33.4", true),
            ("1.6.20~ds1", "1.6.20", true),
            ("1.331.0", "1.33", false),
            ("1.33.40", "1.33.4", false),
            ("1.32.9", "1.33", false),
            ("1.3", "1.33", false),
        ] {
            assert_eq!(fits(found, expected), fit, "{found} for {expected}");
        }
    }
}
