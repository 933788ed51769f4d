//! The part of a source line that is worth showing, and the columns beneath it.

use unicode_width::UnicodeWidthChar as _;

/// A line as a terminal may show it, with the columns where a stretch of it stands.
pub(crate) struct Snippet {
    /// The line, cut if it is long.
    pub(crate) line: String,
    /// Columns before the first caret.
    pub(crate) pad: usize,
    /// How many carets.
    pub(crate) carets: usize,
}

impl Snippet {
    /// Most characters of a line that are shown.
    const WIDTH: usize = 120;

    /// The line around the characters `from..until`, which may lie outside of it.
    pub(crate) fn new(line: &str, from: usize, until: usize) -> Self {
        let letters: Vec<char> = line.chars().map(visible).collect();
        let from = from.min(letters.len());
        let start = if letters.len() <= Self::WIDTH {
            0
        } else {
            from.saturating_sub(Self::WIDTH / 3).min(letters.len() - Self::WIDTH)
        };
        let end = letters.len().min(start + Self::WIDTH);
        let until = until.clamp(from, end.max(from));
        let shown = |range: std::ops::Range<usize>| letters.get(range).unwrap_or_default().iter().copied();
        let mut line: String = shown(start..end).collect();
        let mut pad: usize = shown(start..from).map(columns).sum();
        if start > 0 {
            line.insert(0, '…');
            pad += 1;
        }
        if end < letters.len() {
            line.push('…');
        }
        Self { line, pad, carets: shown(from..until).map(columns).sum::<usize>().max(1) }
    }
}

fn columns(letter: char) -> usize {
    letter.width().unwrap_or(1)
}

/// A tab is shown as one column, so that the carets stay under what they mean, and what would move the cursor or turn
/// the direction of writing is shown as a box: a source line must not be able to rewrite the terminal.
fn visible(letter: char) -> char {
    match letter {
        '\t' => '→',
        letter if is_unsafe(letter) => '\u{fffd}',
        letter => letter,
    }
}

/// Whether a terminal would act on the character instead of showing it.
pub(crate) fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A message for a terminal: what a terminal would act on is escaped.
pub fn printable(text: &str) -> String {
    if !text.chars().any(|letter| is_unsafe(letter) && letter != '\n') {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| {
            if is_unsafe(letter) && letter != '\n' {
                letter.escape_unicode().to_string()
            } else {
                letter.to_string()
            }
        })
        .collect()
}
