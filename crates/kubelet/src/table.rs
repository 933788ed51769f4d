//! The embedded table: one row for each field and flag, with the minors that added, deprecated and removed it.

use std::fmt;
use std::num::ParseIntError;
use std::sync::{LazyLock, OnceLock};

use crate::kind::Kind;

/// A minor version of Kubernetes 1: `Minor(33)` is 1.33.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u16);

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// The oldest minor of the table. Older ones are answered with its row, and callers warn.
pub const OLDEST: Minor = Minor(20);

/// The newest minor of the table. Newer ones are answered with its row, and callers warn.
pub fn newest() -> Minor {
    static NEWEST: LazyLock<Minor> = LazyLock::new(|| versions().last().map_or(OLDEST, |(minor, _)| minor));
    *NEWEST
}

/// The patch release whose source stands for a minor of the table.
pub fn source_patch(minor: Minor) -> Option<u16> {
    versions().find(|(version, _)| *version == minor).map(|(_, patch)| patch)
}

/// The minors of the table in their order, each with its patch.
fn versions() -> impl Iterator<Item = (Minor, u16)> {
    rows(VERSIONS).filter_map(|line| {
        let mut columns = line.split('\t');
        Some((Minor(columns.next()?.parse().ok()?), columns.next()?.parse().ok()?))
    })
}

/// The minor of the table that answers for `minor`.
pub(crate) fn answering(minor: Minor) -> Minor {
    minor.clamp(OLDEST, newest())
}

/// The life of one field or flag.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// What it takes; a change of kind starts at the minor beside it.
    kinds: Vec<(Minor, Kind)>,
    /// The field that a flag stands for, if it does.
    shadows: Vec<(Minor, Option<&'static str>)>,
    /// `None`: it was there in the oldest minor.
    pub(crate) added: Option<Minor>,
    /// First and, where that was taken back, last minor that calls it deprecated.
    deprecated: Vec<(Minor, Option<Minor>)>,
    pub(crate) removed: Option<Minor>,
    /// What to do instead of a name that is deprecated or gone.
    pub(crate) instead: Option<&'static str>,
}

impl Row {
    pub(crate) fn present(&self, minor: Minor) -> bool {
        self.added.is_none_or(|added| added <= minor) && self.removed.is_none_or(|removed| minor < removed)
    }

    pub(crate) fn kind(&self, minor: Minor) -> Option<&Kind> {
        at(&self.kinds, minor)
    }

    pub(crate) fn shadows(&self, minor: Minor) -> Option<&'static str> {
        at(&self.shadows, minor).copied().flatten()
    }

    /// Since when it is deprecated, if it is in `minor`. The oldest minor stands for all before it, too.
    pub(crate) fn deprecated(&self, minor: Minor) -> Option<Minor> {
        self.deprecated
            .iter()
            .find(|(from, until)| *from <= minor && until.is_none_or(|until| minor <= until))
            .map(|(from, _)| *from)
    }

    fn parse(name: &'static str, columns: &'static str, prefix: &str) -> Option<Self> {
        let mut columns = columns.split('\t');
        let kinds = history(columns.next()?, Kind::parse)?;
        let added = minor_or_dash(columns.next()?).ok()?;
        let deprecated = ranges(columns.next()?)?;
        let removed = minor_or_dash(columns.next()?).ok()?;
        let shadows = match columns.next() {
            Some(text) => history(text, |path| Some((path != "-").then_some(path)))?,
            None => Vec::new(),
        };
        let ends = removed.is_some() || !deprecated.is_empty();
        let instead = if ends { replacement(prefix, name) } else { None };
        Some(Self { name, kinds, shadows, added, deprecated, removed, instead })
    }
}

/// The last entry that has begun by `minor`.
fn at<T>(history: &[(Minor, T)], minor: Minor) -> Option<&T> {
    history.iter().rev().find(|(from, _)| *from <= minor).map(|(_, value)| value)
}

/// Reads `first;27:second`.
fn history<T>(text: &'static str, read: impl Fn(&'static str) -> Option<T>) -> Option<Vec<(Minor, T)>> {
    text.split(';')
        .enumerate()
        .map(|(i, entry)| {
            if i == 0 {
                return Some((Minor(0), read(entry)?));
            }
            let (from, value) = entry.split_once(':')?;
            Some((Minor(from.parse().ok()?), read(value)?))
        })
        .collect()
}

/// Reads `-`, `24` or `20-28`, several separated by commas.
fn ranges(text: &str) -> Option<Vec<(Minor, Option<Minor>)>> {
    if text == "-" {
        return Some(Vec::new());
    }
    text.split(',')
        .map(|range| match range.split_once('-') {
            Some((from, until)) => Some((Minor(from.parse().ok()?), Some(Minor(until.parse().ok()?)))),
            None => Some((Minor(range.parse().ok()?), None)),
        })
        .collect()
}

/// `-` reads as no minor; anything else must be one.
fn minor_or_dash(text: &str) -> Result<Option<Minor>, ParseIntError> {
    match text {
        "-" => Ok(None),
        number => number.parse().map(|minor| Some(Minor(minor))),
    }
}

/// What to do instead of a name that is deprecated or gone. Flags are written with their dashes.
fn replacement(prefix: &str, name: &str) -> Option<&'static str> {
    let is_it = |written: &str| written.strip_prefix(prefix) == Some(name);
    rows(REPLACEMENTS)
        .filter_map(|line| line.split_once('\t'))
        .find(|(written, _)| is_it(written))
        .map(|(_, instead)| instead)
}

/// The rows of one file, sorted by name. A run asks for few of them, so each is read when it is first asked for.
pub(crate) struct Rows {
    lines: Vec<Line>,
    /// In front of the names where replacements are listed.
    prefix: &'static str,
}

struct Line {
    name: &'static str,
    columns: &'static str,
    row: OnceLock<Option<Row>>,
}

impl Rows {
    fn new(text: &'static str, prefix: &'static str) -> Self {
        let split = rows(text).filter_map(|line| line.split_once('\t'));
        let lines = split.map(|(name, columns)| Line { name, columns, row: OnceLock::new() }).collect();
        Self { lines, prefix }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Row> {
        let index = self.lines.binary_search_by(|line| line.name.cmp(name)).ok()?;
        self.read(self.lines.get(index)?)
    }

    /// All of them, sorted by name.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| self.read(line))
    }

    /// A line that cannot be read is left out here and fails a test, so that no user meets it.
    fn read<'table>(&self, line: &'table Line) -> Option<&'table Row> {
        line.row.get_or_init(|| Row::parse(line.name, line.columns, self.prefix)).as_ref()
    }
}

const VERSIONS: &str = include_str!("../data/versions.tsv");
const REPLACEMENTS: &str = include_str!("../data/replacements.tsv");
const FIELD_ROWS: &str = include_str!("../data/fields.tsv");
const FLAG_ROWS: &str = include_str!("../data/flags.tsv");

pub(crate) static FIELDS: LazyLock<Rows> = LazyLock::new(|| Rows::new(FIELD_ROWS, ""));
pub(crate) static FLAGS: LazyLock<Rows> = LazyLock::new(|| Rows::new(FLAG_ROWS, "--"));

fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_data_is_read() {
        assert_eq!(FIELDS.values().count(), rows(FIELD_ROWS).count());
        assert_eq!(FLAGS.values().count(), rows(FLAG_ROWS).count());
        assert_eq!(versions().count(), rows(VERSIONS).count());
    }

    #[test]
    fn every_row_is_found_by_its_name() {
        for table in [&FIELDS, &FLAGS] {
            for row in table.values() {
                assert_eq!(table.get(row.name).map(|found| found.name), Some(row.name));
            }
        }
    }

    #[test]
    fn the_table_has_no_gap_between_its_oldest_and_newest_minor() {
        let minors: Vec<u16> = versions().map(|(minor, _)| minor.0).collect();
        assert_eq!(minors, (OLDEST.0..=newest().0).collect::<Vec<u16>>());
    }

    #[test]
    fn counts_per_version_are_those_that_the_generator_saw() {
        for line in rows(VERSIONS) {
            let columns: Vec<&str> = line.split('\t').collect();
            let minor = Minor(columns[0].parse().unwrap());
            let count = |rows: &Rows| rows.values().filter(|row| row.present(minor)).count().to_string();
            assert_eq!(
                (count(&FIELDS).as_str(), count(&FLAGS).as_str()),
                (columns[2], columns[3]),
                "{minor}"
            );
        }
    }

    #[test]
    fn whatever_is_gone_or_deprecated_says_what_to_do_instead() {
        for row in FIELDS.values().chain(FLAGS.values()) {
            let replaced_by_field = row.removed.is_none() && row.shadows(newest()).is_some();
            let ends = row.removed.is_some() || !row.deprecated.is_empty();
            assert!(!ends || replaced_by_field || row.instead.is_some(), "{}", row.name);
        }
    }

    #[test]
    fn every_replacement_is_for_a_name_that_is_gone_or_deprecated() {
        for line in rows(REPLACEMENTS) {
            let (name, text) = line.split_once('\t').unwrap();
            let row = match name.strip_prefix("--") {
                Some(flag) => FLAGS.get(flag).unwrap(),
                None => FIELDS.get(name).unwrap(),
            };
            assert!(row.removed.is_some() || !row.deprecated.is_empty(), "{name}");
            assert!(!text.ends_with('.') && !text.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_shadowed_field_is_known_wherever_the_flag_is() {
        for row in FLAGS.values() {
            for minor in versions().map(|(minor, _)| minor).filter(|minor| row.present(*minor)) {
                if let Some(path) = row.shadows(minor) {
                    assert!(FIELDS.get(path).unwrap().present(minor), "--{} in {minor}", row.name);
                }
            }
        }
    }
}
