//! How much user-data a platform takes.

use bringup_spec::Platform;
use serde::Serialize;

/// EC2 takes so many raw bytes (base64 of that, 21,848, is within its 25,600 for encoded data).
pub(crate) const EC2_LIMIT: usize = 16_384;
/// Hetzner and CloudStack: the smallest limit that matters among the others.
const SMALLEST_ELSEWHERE: usize = 32_768;
/// OpenStack, Linode and vSphere.
const LARGEST_ELSEWHERE: usize = 65_535;

/// A piece of a carrier and its size in the carrier, before compression of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartSize {
    /// What it is: a part's name, a path, or a unit.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// What it is made of where that is known, each before it was encoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<PartSize>,
}

impl PartSize {
    /// A piece of which nothing more is known.
    pub(crate) fn new(name: impl Into<String>, bytes: usize) -> Self {
        Self { name: name.into(), bytes, inside: Vec::new() }
    }

    /// The piece itself or, of one that is made of others, those.
    pub fn leaves(&self) -> Vec<&Self> {
        if self.inside.is_empty() { vec![self] } else { self.inside.iter().flat_map(Self::leaves).collect() }
    }
}

/// The size of a carrier's user-data against what the platform takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Whose limit it is.
    pub platform: &'static str,
    /// How much it takes.
    pub limit: usize,
    /// How much there is.
    pub used: usize,
    /// How much it is before compression.
    pub plain: usize,
}

impl Budget {
    /// What is left; negative if it is too much.
    pub fn margin(&self) -> i64 {
        let signed = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        signed(self.limit).saturating_sub(signed(self.used))
    }

    /// Whether it fits.
    pub fn fits(&self) -> bool {
        self.used <= self.limit
    }
}

/// Whose limit counts on a platform, and how much it is.
pub fn budget_of(platform: Platform) -> (&'static str, usize) {
    match platform {
        Platform::Aws => ("EC2", EC2_LIMIT),
        Platform::Generic => ("Hetzner and CloudStack", SMALLEST_ELSEWHERE),
    }
}

/// Platforms of those that a generic node group may run on, which do not take so much.
pub(crate) fn too_small_elsewhere(used: usize) -> Option<&'static str> {
    if used > LARGEST_ELSEWHERE {
        Some("EC2 (16,384 bytes), Hetzner and CloudStack (32,768), OpenStack, Linode and vSphere (65,535)")
    } else if used > SMALLEST_ELSEWHERE {
        Some("EC2 (16,384 bytes), Hetzner and CloudStack (32,768)")
    } else {
        None
    }
}
