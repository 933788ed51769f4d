//! The difference between two texts, as `diff -u` shows it.

use std::fmt::Write as _;

/// Lines that are shown around a change.
const AROUND: usize = 3;
/// Texts whose middles have more pairs of lines than this are shown as removed and added whole.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The unified difference, without the names of the files; empty if there is none.
pub(crate) fn unified(before: &str, after: &str) -> String {
    let lines = lines(before, after);
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let mut text = String::new();
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first().copied() {
        // Changes that are near each other share one hunk.
        let near = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= 2 * AROUND).count();
        let last = rest.get(near).copied().unwrap_or(first);
        let begin = first.saturating_sub(AROUND);
        let end = (last + AROUND + 1).min(lines.len());
        hunk(&lines, begin, end, &mut text);
        rest = rest.get(near + 1..).unwrap_or_default();
    }
    text
}

fn hunk(lines: &[Line<'_>], begin: usize, end: usize, text: &mut String) {
    let count = |lines: &[Line<'_>], new: bool| {
        lines
            .iter()
            .filter(|line| match line {
                Line::Same(_) => true,
                Line::Gone(_) => !new,
                Line::New(_) => new,
            })
            .count()
    };
    let head = lines.get(..begin).unwrap_or_default();
    let body = lines.get(begin..end).unwrap_or_default();
    let place = |new: bool| {
        let (start, length) = (count(head, new), count(body, new));
        // Of nothing, the line before it is named.
        let start = if length == 0 { start } else { start + 1 };
        if length == 1 { start.to_string() } else { format!("{start},{length}") }
    };
    let _ = writeln!(text, "@@ -{} +{} @@", place(false), place(true));
    for line in body {
        let (mark, line) = match line {
            Line::Same(line) => (' ', line),
            Line::Gone(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        text.push(mark);
        text.push_str(line.strip_suffix('\n').unwrap_or(line));
        text.push('\n');
        if !line.ends_with('\n') {
            text.push_str("\\ No newline at end of file\n");
        }
    }
}

fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let ends = old.iter().skip(head).rev().zip(new.iter().skip(head).rev());
    let tail = ends.take_while(|(old, new)| old == new).count();
    let middle = |lines: &[&'a str]| lines.get(head..lines.len() - tail).unwrap_or_default().to_vec();
    let (gone, added) = (middle(&old), middle(&new));
    let mut all: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    all.extend(between(&gone, &added));
    all.extend(old.iter().skip(old.len() - tail).map(|line| Line::Same(line)));
    all
}

/// The shortest way from one list of lines to another, by the longest common subsequence.
fn between<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        let gone = old.iter().map(|line| Line::Gone(line));
        return gone.chain(new.iter().map(|line| Line::New(line))).collect();
    }
    let width = new.len() + 1;
    let mut common = vec![0_usize; (old.len() + 1) * width];
    let at = |common: &[usize], row: usize, column: usize| {
        common.get(row * width + column).copied().unwrap_or_default()
    };
    for (row, gone) in old.iter().enumerate().rev() {
        for (column, added) in new.iter().enumerate().rev() {
            let best = if gone == added {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(row), new.get(column)) {
            (Some(gone), Some(added)) if gone == added => {
                lines.push(Line::Same(gone));
                (row, column) = (row + 1, column + 1);
            }
            (Some(gone), added)
                if added.is_none() || at(&common, row + 1, column) >= at(&common, row, column + 1) =>
            {
                lines.push(Line::Gone(gone));
                row += 1;
            }
            (_, Some(added)) => {
                lines.push(Line::New(added));
                column += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn a_difference_is_what_diff_shows() {
        // As GNU diff 3.8 shows them with `-u`, without the names.
        assert_eq!(unified("same\n", "same\n"), "");
        assert_eq!(unified("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(
            unified("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(unified("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
    }

    #[test]
    fn changes_far_apart_are_told_apart() {
        let before: String = (1..=20).fold(String::new(), |text, line| text + &format!("{line}\n"));
        let after = before.replace("3\n4\n", "3\n").replace("18\n", "18\nmore\n");
        assert_eq!(
            unified(&before, &after),
            "@@ -1,7 +1,6 @@\n 1\n 2\n 3\n-4\n 5\n 6\n 7\n@@ -16,5 +15,6 @@\n 16\n 17\n 18\n+more\n 19\n 20\n"
        );
    }
}
