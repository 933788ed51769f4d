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

/// Minors of Kubernetes that lie side by side: `1.33`, or `1.28-1.30` with both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinorRange {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl MinorRange {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let minor = |text: &str| text.strip_prefix("1.").and_then(plain_number::<u16>);
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (minor(first), minor(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(Fault::new(
                format!("{} names no minors of Kubernetes", quoted(text)),
                "write `1.33` or `1.28-1.30`, in quotes",
            )),
        }
    }

    /// Whether a minor is among them.
    pub fn has(&self, minor: u16) -> bool {
        (self.first..=self.last).contains(&minor)
    }
}

impl fmt::Display for MinorRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { write!(formatter, "1.{first}") } else { write!(formatter, "1.{first}-1.{last}") }
    }
}

impl serde::Serialize for MinorRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for MinorRange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|fault| serde::de::Error::custom(fault.message))
    }
}

parsed!(MinorRange, {"type": "string", "pattern": "^1\\.(0|[1-9][0-9]{0,3})(-1\\.(0|[1-9][0-9]{0,3}))?$"});

#[cfg(test)]
mod tests {
    use super::{KubernetesVersion, MinorRange};

    #[test]
    fn minors_are_one_or_from_one_to_another() {
        let range = |text: &str| MinorRange::parse(text).map(|range| (range.first, range.last)).ok();
        assert_eq!(range("1.33"), Some((33, 33)));
        assert_eq!(range("1.28-1.30"), Some((28, 30)));
        for wrong in ["", "1", "1.33.4", "v1.33", "1.30-1.28", "1.28-", "1.28-1.30-1.31", "1.28 - 1.30"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
        for text in ["1.33", "1.28-1.30"] {
            assert_eq!(MinorRange::parse(text).unwrap().to_string(), text);
        }
        let range = MinorRange::parse("1.28-1.30").unwrap();
        assert!([28, 29, 30].into_iter().all(|minor| range.has(minor)) && !range.has(27) && !range.has(31));
    }

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
