//! Versions of Kubernetes.

use std::fmt;

use super::{Fault, quoted};
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
        let mut number = || parts.next().map(|part| part.parse::<u16>().map_err(|_| wrong())).transpose();
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
