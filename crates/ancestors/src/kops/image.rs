//! The operating system and the processor of a machine, by the name of its image and by its type.

/// The operating system that a group gets whose image does not tell: what kops itself takes today.
pub(super) const DEFAULT: System = System { family: "ubuntu", version: Some("24.04") };

/// An operating system, in the words of a Bringup document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct System {
    pub(super) family: &'static str,
    pub(super) version: Option<&'static str>,
}

impl System {
    /// Whether kops leaves the containerd of the image in place: where nothing can be installed.
    pub(super) fn has_containerd(self) -> bool {
        self.family == "flatcar"
    }
}

/// Words in names of images, and the system that they tell. The first that is found counts.
const RELEASES: &[(&str, &str, &str)] = &[
    ("xenial", "ubuntu", "16.04"),
    ("bionic", "ubuntu", "18.04"),
    ("focal", "ubuntu", "20.04"),
    ("jammy", "ubuntu", "22.04"),
    ("noble", "ubuntu", "24.04"),
    ("resolute", "ubuntu", "26.04"),
    ("jessie", "debian", "8"),
    ("stretch", "debian", "9"),
    ("buster", "debian", "10"),
    ("bullseye", "debian", "11"),
    ("bookworm", "debian", "12"),
    ("trixie", "debian", "13"),
    ("debian-8", "debian", "8"),
    ("debian-9", "debian", "9"),
    ("debian-10", "debian", "10"),
    ("debian-11", "debian", "11"),
    ("debian-12", "debian", "12"),
    ("debian-13", "debian", "13"),
];

/// Versions of Ubuntu, as digits.
const UBUNTU: &[(&str, &str)] = &[
    ("1604", "16.04"),
    ("1804", "18.04"),
    ("2004", "20.04"),
    ("2204", "22.04"),
    ("2404", "24.04"),
    ("2604", "26.04"),
];

/// Families by a word that is theirs alone.
const FAMILIES: &[(&str, &str)] = &[
    ("flatcar", "flatcar"),
    ("coreos", "flatcar"),
    ("al2023", "amazon-linux-2023"),
    ("amazon-linux-2023", "amazon-linux-2023"),
    ("amzn2", "amazon-linux-2"),
    ("amazon-linux-2", "amazon-linux-2"),
    ("debian", "debian"),
    ("ubuntu", "ubuntu"),
    ("rhel", "generic"),
    ("redhat", "generic"),
    ("centos", "generic"),
    ("rocky", "generic"),
    ("cos-", "generic"),
];

/// The system of an image of this name, if the name tells.
pub(super) fn system(image: &str) -> Option<System> {
    let image = image.to_ascii_lowercase();
    if let Some((_, family, version)) = RELEASES.iter().find(|(word, ..)| image.contains(word)) {
        return Some(System { family, version: Some(version) });
    }
    if image.contains("ubuntu") || image.contains("canonical") {
        let digits: String = image.chars().filter(|letter| !matches!(letter, '.' | '-' | '_')).collect();
        let version = UBUNTU.iter().find(|(word, _)| digits.contains(word)).map(|(_, version)| *version);
        return Some(System { family: "ubuntu", version });
    }
    let family = FAMILIES.iter().find(|(word, _)| image.contains(word)).map(|(_, family)| *family)?;
    Some(System { family, version: None })
}

/// Whether a machine has an ARM processor, by its image or its type.
pub(super) fn is_arm(image: Option<&str>, machine: Option<&str>) -> bool {
    let named = image.is_some_and(|image| {
        let image = image.to_ascii_lowercase();
        image.contains("arm64") || image.contains("aarch64")
    });
    named || machine.is_some_and(is_arm_type)
}

/// Of EC2: a `g` right after the generation, as in `m6g`, and the first generation, `a1`. Of others: their own words.
fn is_arm_type(machine: &str) -> bool {
    let machine = machine.to_ascii_lowercase();
    if let Some((family, _)) = machine.split_once('.') {
        let behind = family.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let behind = behind.trim_start_matches(|letter: char| letter.is_ascii_digit());
        return family == "a1" || behind.starts_with('g');
    }
    // Of Google, Hetzner and Scaleway.
    ["t2a-", "c4a-", "n4a-", "axion", "cax", "coparm1-", "amp2-"].iter().any(|word| machine.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::{System, is_arm, system};

    #[test]
    fn systems_are_told_by_images() {
        let told = |image: &str| system(image).map(|System { family, version }| (family, version));
        for (image, family, version) in [
            (
                "099720109477/ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20241004",
                "ubuntu",
                Some("24.04"),
            ),
            ("ubuntu-os-cloud/ubuntu-2204-jammy-v20220404", "ubuntu", Some("22.04")),
            (
                "ssm:/aws/service/canonical/ubuntu/server/20.04/stable/current/amd64/hvm/ebs-gp2/ami-id",
                "ubuntu",
                Some("20.04"),
            ),
            ("Canonical:UbuntuServer:18.04-LTS:latest", "ubuntu", Some("18.04")),
            ("Canonical:ubuntu-24_04-lts:server:latest", "ubuntu", Some("24.04")),
            ("136693071363/debian-12-amd64-20240102-1614", "debian", Some("12")),
            ("kope.io/k8s-1.4-debian-jessie-amd64-hvm-ebs-2016-10-21", "debian", Some("8")),
            ("075585003325/Flatcar-stable-3510.2.8-hvm", "flatcar", None),
            ("137112412989/al2023-ami-2023.6.20241010.0-kernel-6.1-x86_64", "amazon-linux-2023", None),
            ("137112412989/amzn2-ami-hvm-2.0.20220606.1-x86_64-gp2", "amazon-linux-2", None),
            ("309956199498/RHEL-9.2.0_HVM-20230726-x86_64-61-Hourly2-GP2", "generic", None),
        ] {
            assert_eq!(told(image), Some((family, version)), "{image}");
        }
        assert_eq!(told("ami-0123456789abcdef0"), None);
    }

    #[test]
    fn processors_are_told_by_images_and_types() {
        for machine in [
            "m6g.large",
            "t4g.small",
            "c7gn.xlarge",
            "im4gn.large",
            "is4gen.large",
            "g5g.xlarge",
            "a1.large",
            "t2a-standard-1",
        ] {
            assert!(is_arm(None, Some(machine)), "{machine}");
        }
        for machine in ["m5.large", "g5.xlarge", "c6id.large", "p4d.24xlarge", "t3.medium", "e2-medium"] {
            assert!(!is_arm(None, Some(machine)), "{machine}");
        }
        assert!(is_arm(Some("ubuntu-noble-24.04-arm64-server-20241004"), None));
    }
}
