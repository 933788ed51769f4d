//! How much a document may ask of its reader.

/// Bounds that stop alias bombs and deep nests before they cost anything.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest input, in bytes.
    pub bytes: usize,
    /// Deepest nesting.
    pub depth: usize,
    /// Most values, counted after aliases are expanded.
    pub nodes: usize,
}

impl Default for Limits {
    /// Room for a document of more than ten thousand node groups.
    fn default() -> Self {
        Self { bytes: 64 << 20, depth: 100, nodes: 4_000_000 }
    }
}
