//! Versions of Kubernetes.

use std::fmt;

use super::{Fault, plain_number, quoted};
use crate::decode::parsed;

/// A version of Kubernetes: `1.33` or `1.33.4`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    /// The minor version.
    pub minor: u16,
    /// The patch version, where it is given.
    pub patch: Option<u16>,
    text: String,
}

impl KubernetesVersion {
    /// Reads a version; a leading `v` and a build suffix are allowed.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(
                format!("{} is no version of Kubernetes", quoted(text)),
                "write `1.33` or `1.33.4`, in quotes",
            )
        };
        let plain = text.strip_prefix('v').unwrap_or(text);
        let numbers = plain.split(['-', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.');
        let mut number = || parts.next().map(|part| plain_number::<u16>(part).ok_or_else(wrong)).transpose();
        let (major, minor, patch) = (number()?, number()?, number()?);
        match (major, minor, parts.next()) {
            (Some(1), Some(minor), None) => Ok(Self { minor, patch, text: plain.to_owned() }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl serde::Serialize for KubernetesVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

parsed!(KubernetesVersion, {"type": "string", "pattern": "^v?1\\.[0-9]+(\\.[0-9]+)?([-+].*)?$"});

#[cfg(test)]
mod tests {
    use super::KubernetesVersion;

    #[test]
    fn versions_are_read_with_or_without_patch_and_suffix() {
        let parts = |text: &str| KubernetesVersion::parse(text).map(|version| (version.minor, version.patch));
        assert_eq!(parts("1.33"), Ok((33, None)));
        assert_eq!(parts("v1.30.4"), Ok((30, Some(4))));
        assert_eq!(parts("1.29.0-eks-036c24b"), Ok((29, Some(0))));
        assert_eq!(parts("1.28.2+k3s1"), Ok((28, Some(2))));
        assert_eq!(KubernetesVersion::parse("v1.30.4").unwrap().to_string(), "1.30.4");
        for wrong in ["1", "2.0", "1.33.4.5", "1.x", "1.+3", "1.03", "1.99999", "latest", ""] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
