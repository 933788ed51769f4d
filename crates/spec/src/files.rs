//! The files that a text was put together from.

use bringup_diag::{Place, Position, Span};

/// One or more files whose lines are counted on from one to the next, so that a plain [`Span`] says which file is meant.
#[derive(Clone, Debug)]
pub struct Files {
    /// Each file's name, and how many lines stand before it.
    files: Vec<(String, u32)>,
}

impl Files {
    /// A single file.
    pub fn one(name: impl Into<String>) -> Self {
        Self { files: vec![(name.into(), 0)] }
    }

    /// Several files, one behind the other, and their text in one piece.
    pub fn joined<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Self, String) {
        let mut joined = Self { files: Vec::new() };
        let mut whole = String::new();
        let mut lines = 0_u32;
        for (name, text) in files {
            joined.files.push((name.to_owned(), lines));
            whole.push_str(text.trim_start_matches('\u{feff}'));
            if !whole.ends_with('\n') {
                whole.push('\n');
            }
            let count = text.lines().count().max(1);
            lines = lines.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        (joined, whole)
    }

    /// How many lines stand before each file, in their order.
    pub fn offsets(&self) -> impl Iterator<Item = u32> {
        self.files.iter().map(|(_, lines)| *lines)
    }

    /// The name of the first.
    pub fn first(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The place of a span, in the file that it lies in.
    pub fn place(&self, span: Span) -> Place {
        let holder = self.files.iter().rev().find(|(_, lines)| *lines < span.start.line);
        let Some((name, lines)) = holder else { return Place::new(self.first(), span) };
        let moved = |at: Position| Position { line: at.line.saturating_sub(*lines), ..at };
        Place::new(name.clone(), Span { start: moved(span.start), end: moved(span.end) })
    }
}
