//! Where a letter stands in a text.

use bringup_diag::Position;

/// The first letter of a kind, and its place.
pub(crate) fn first_letter(text: &str, is_meant: impl Fn(char) -> bool) -> Option<(Position, char)> {
    let mut place = Position { line: 1, column: 1 };
    for letter in text.chars() {
        if is_meant(letter) {
            return Some((place, letter));
        }
        if letter == '\n' {
            place = Position { line: place.line.saturating_add(1), column: 1 };
        } else {
            place.column = place.column.saturating_add(1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_with_their_places() {
        let at = |line, column| Some((Position { line, column }, 'x'));
        let found = |text| first_letter(text, |letter| letter == 'x');
        assert_eq!(
            [found("x"), found("\u{e4}x"), found("a\n\nbx"), found("a")],
            [at(1, 1), at(1, 2), at(3, 2), None]
        );
    }
}
