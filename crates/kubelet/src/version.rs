//! Versions of Kubernetes as people and clouds write them: `1.33`, `v1.33.4`, `1.33.4-eks-abc`.

use std::fmt;
use std::str::FromStr;

use crate::table::Minor;

/// A version of Kubernetes. What follows the patch (`-eks-abc`, `+k3s1`) is a vendor's build and is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Always 1 so far.
    pub major: u16,
    /// What decides about fields and flags.
    pub minor: u16,
    /// Absent where only a minor was named.
    pub patch: Option<u16>,
}

/// Why a text is no version of Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionError {
    /// There is no `MAJOR.MINOR` in it.
    NoMinor,
    /// A part that is no number that fits.
    NotANumber {
        /// The part as it was written.
        part: String,
    },
    /// More than three numbers.
    TooManyParts,
    /// Kubernetes has only had a major version 1.
    Major {
        /// The major version as it was written.
        major: u16,
    },
    /// A suffix that is not introduced by `-` or `+`, or is empty.
    Suffix {
        /// The suffix as it was written.
        suffix: String,
    },
}

impl Version {
    /// The minor, as the table counts.
    pub fn minor(self) -> Minor {
        Minor(self.minor)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (numbers, suffix) = text.split_at(end);
        let mut parts = numbers.split('.');
        let (Some(major), Some(minor)) = (parts.next(), parts.next()) else {
            return Err(VersionError::NoMinor);
        };
        let major = number(major)?;
        let minor = number(minor)?;
        let patch = parts.next().map(number).transpose()?;
        if parts.next().is_some() {
            return Err(VersionError::TooManyParts);
        }
        // A pre-release or build belongs to a whole version: `1.33-eks` is ambiguous, but clouds do write it.
        if !suffix.is_empty() && (!suffix.starts_with(['-', '+']) || suffix.len() < 2) {
            return Err(VersionError::Suffix { suffix: suffix.to_owned() });
        }
        if major != 1 {
            return Err(VersionError::Major { major });
        }
        Ok(Self { major, minor, patch })
    }
}

fn number(part: &str) -> Result<u16, VersionError> {
    let refused = || VersionError::NotANumber { part: part.to_owned() };
    // `u16::from_str` would take a sign.
    if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refused());
    }
    part.parse().map_err(|_| refused())
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.patch {
            Some(patch) => write!(f, ".{patch}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMinor => write!(f, "a version needs a major and a minor, such as `1.33`"),
            Self::NotANumber { part } => write!(f, "`{part}` is no number of a version"),
            Self::TooManyParts => write!(f, "a version has at most three numbers, such as `1.33.4`"),
            Self::Major { major } => write!(f, "Kubernetes has no version {major}, only 1"),
            Self::Suffix { suffix } => {
                write!(f, "`{suffix}` after the version is not introduced by `-` or `+`")
            }
        }
    }
}

impl std::error::Error for VersionError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(minor: u16, patch: Option<u16>) -> Version {
        Version { major: 1, minor, patch }
    }

    #[test]
    fn the_ways_people_write_a_version_are_read() {
        assert_eq!("1.33".parse(), Ok(version(33, None)));
        assert_eq!("v1.33.4".parse(), Ok(version(33, Some(4))));
        assert_eq!("1.33.4-eks-abc".parse(), Ok(version(33, Some(4))));
        assert_eq!("v1.31.2+k3s1".parse(), Ok(version(31, Some(2))));
        assert_eq!("1.14.0-beta.1".parse(), Ok(version(14, Some(0))));
    }

    #[test]
    fn what_is_no_version_says_why() {
        let error = |text: &str| text.parse::<Version>().unwrap_err();
        assert_eq!(error(""), VersionError::NoMinor);
        assert_eq!(error("latest"), VersionError::NoMinor);
        assert_eq!(error("1"), VersionError::NoMinor);
        assert_eq!(error("1."), VersionError::NotANumber { part: String::new() });
        assert_eq!(error("1.99999"), VersionError::NotANumber { part: "99999".into() });
        assert_eq!(error("1.2.3.4"), VersionError::TooManyParts);
        assert_eq!(error("2.0"), VersionError::Major { major: 2 });
        assert_eq!(error("1.33x"), VersionError::Suffix { suffix: "x".into() });
        assert_eq!(error("1.33.4-"), VersionError::Suffix { suffix: "-".into() });
    }

    #[test]
    fn a_version_prints_as_it_is_compared() {
        assert_eq!("v1.33.4-eks-abc".parse::<Version>().unwrap().to_string(), "1.33.4");
        assert_eq!("1.33".parse::<Version>().unwrap().to_string(), "1.33");
    }
}
