//! The way from the root of a document to a value.

use std::fmt;

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// Into a mapping.
    Key(String),
    /// Into a sequence.
    Index(usize),
}

/// The way from the root of a document to a value, such as `spec.nodeGroups[0].labels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The document itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// One key further.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.push(Segment::Key(key.into()));
        path
    }

    /// One item further.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.push(Segment::Index(index));
        path
    }

    /// Several keys further.
    #[must_use]
    pub fn keys<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        let mut path = self.clone();
        path.0.extend(keys.into_iter().map(|key| Segment::Key(key.to_owned())));
        path
    }

    /// Goes one step down.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Goes one step up.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if key.contains(['.', '[', ' ']) => write!(formatter, "[\"{key}\"]")?,
                Segment::Key(key) if depth == 0 => formatter.write_str(key)?,
                Segment::Key(key) => write!(formatter, ".{key}")?,
                Segment::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}
