//! What programs say of their version, and whether it is the one that is expected.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

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

/// What a program said of its version when it was asked before, if it is the same program still: to read a kubelet from a
/// cold disk takes seconds.
///
/// What is no program of its own, but a script or the way into a snap, may lead to another one any time.
pub(crate) fn said_before(program: &Path, answer: &Path, now: SystemTime) -> Option<String> {
    let mut file = std::fs::File::open(program).ok()?;
    let mut begin = [0; 4];
    file.read_exact(&mut begin).ok()?;
    if begin != *b"\x7fELF" || program.starts_with("/snap") {
        return None;
    }
    let found = file.metadata().ok()?;
    let seconds = Duration::from_secs(u64::try_from(found.ctime()).ok()?);
    let changed =
        SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(found.ctime_nsec()).ok()?);
    let said = std::fs::metadata(answer).and_then(|answer| answer.modified()).ok()?;
    // A clock that was wrong then says nothing about what came first.
    if said <= changed || said > now {
        return None;
    }
    // An answer that was cut off has no end.
    let text = std::fs::read_to_string(answer).ok().filter(|text| text.ends_with('\n'))?;
    version_in(&text)
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
    use std::time::{Duration, SystemTime};

    use super::{fits, said_before, version_in};

    #[test]
    fn a_program_is_asked_again_only_if_it_may_be_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (program, answer) = (folder.path().join("kubelet"), folder.path().join("answer"));
        std::fs::write(&program, b"\x7fELF and more").unwrap();
        let later = |seconds| SystemTime::now() + Duration::from_secs(seconds);
        let says = |text: &str, at: SystemTime| {
            std::fs::write(&answer, text).unwrap();
            std::fs::File::options().write(true).open(&answer).unwrap().set_modified(at).unwrap();
        };
        let now = later(600);
        assert_eq!(said_before(&program, &answer, now), None, "nobody has asked");
        says("Kubernetes v1.33.4\n", later(60));
        assert_eq!(said_before(&program, &answer, now).as_deref(), Some("1.33.4"));
        assert_eq!(said_before(&program, &answer, later(30)), None, "the clock was wrong, or is");
        says("Kubernetes v1.33.4\n", SystemTime::now() - Duration::from_mins(1));
        assert_eq!(said_before(&program, &answer, now), None, "the program was replaced since");
        says("Kubernetes v1.3", later(60));
        assert_eq!(said_before(&program, &answer, now), None, "it was cut off");
        says("Kubernetes v1.33.4\n", later(60));
        std::fs::write(&program, "#!/bin/sh\nexec /opt/kubelet\n").unwrap();
        assert_eq!(said_before(&program, &answer, now), None, "a script may lead elsewhere");
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
