//! Names of kops in the letters that names of a Bringup document have.

use std::collections::BTreeSet;

/// Lower-case letters, digits and `-`, at most 63: what does not fit becomes `-`.
pub(crate) fn plain_name(text: &str) -> String {
    let letters = text
        .chars()
        .map(|letter| letter.to_ascii_lowercase())
        .map(|letter| if letter.is_ascii_lowercase() || letter.is_ascii_digit() { letter } else { '-' });
    let name: String = letters.skip_while(|letter| *letter == '-').take(63).collect();
    name.trim_end_matches('-').to_owned()
}

/// Names that are given once each.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// The plain name of a text, with a number if it has been given already.
    pub(super) fn give(&mut self, text: &str) -> String {
        let plain = plain_name(text);
        let plain = if plain.is_empty() { "unnamed".to_owned() } else { plain };
        let numbered = (2_u32..).map(|number| {
            let room = 62_usize.saturating_sub(number.to_string().len());
            let stem: String = plain.chars().take(room).collect();
            format!("{stem}-{number}")
        });
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = free.unwrap_or_else(|| plain.clone());
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, plain_name};

    #[test]
    fn names_are_plain_and_given_once() {
        assert_eq!(plain_name("Minimal.example.com"), "minimal-example-com");
        assert_eq!(plain_name(".a."), "a");
        assert_eq!(plain_name(&"x.".repeat(60)).len(), 63);
        let mut names = Names::default();
        assert_eq!(names.give("a.sh"), "a-sh");
        assert_eq!(names.give("a-sh"), "a-sh-2");
        assert_eq!(names.give("a_sh"), "a-sh-3");
        assert_eq!(names.give("..."), "unnamed");
    }
}
