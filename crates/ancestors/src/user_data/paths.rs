//! Paths that scripts keep in variables.

use crate::shell::{self, Line};

/// Variables that hold paths, each with what it holds.
pub(crate) struct Paths(Vec<(String, String)>);

impl Paths {
    /// Those that somebody else has set.
    pub(crate) fn given<'a>(known: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(known.into_iter().map(|(name, path)| (name.to_owned(), path.to_owned())).collect())
    }

    /// Those that lines set once, to a path that is written out, and use.
    pub(super) fn of(lines: &[Line]) -> Self {
        let own = || lines.iter().filter(|line| !line.handed_on);
        let mut found: Vec<(String, String)> = Vec::new();
        let mut twice = Vec::new();
        for (name, value) in own().filter_map(|line| shell::assignment(&line.text)) {
            let value = value.trim_matches(['"', '\'']);
            let is_path = value.starts_with('/') && !value.contains([' ', '$', '`', ';', '&', '|']);
            if found.iter().any(|(known, _)| known == name) || !is_path {
                twice.push(name);
            } else {
                found.push((name.to_owned(), value.to_owned()));
            }
        }
        let is_used = |name: &str, path: &str| {
            let alone = Self(vec![(name.to_owned(), path.to_owned())]);
            own().any(|line| alone.filled(&line.text) != line.text)
        };
        found.retain(|(name, path)| !twice.contains(&name.as_str()) && is_used(name, path));
        Self(found)
    }

    /// Whether a line does no more than set one of them.
    pub(super) fn are_set_by(&self, line: &str) -> bool {
        shell::assignment(line).is_some_and(|(name, value)| {
            self.0.iter().any(|(known, path)| known == name && value.trim_matches(['"', '\'']) == path)
        })
    }

    /// A text with the paths in the place of the variables.
    pub(crate) fn filled(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, path) in &self.0 {
            filled = filled.replace(&format!("${{{name}}}"), path);
            let mut pieces =
                filled.split(&format!("${name}")).map(str::to_owned).collect::<Vec<_>>().into_iter();
            let mut whole = pieces.next().unwrap_or_default();
            for piece in pieces {
                let is_longer =
                    piece.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
                if is_longer {
                    whole.push('$');
                    whole.push_str(name);
                } else {
                    whole.push_str(path);
                }
                whole.push_str(&piece);
            }
            filled = whole;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_hold_one_path_are_filled_in() {
        let script = "C=\"/etc/c\"\nD=/d\nD=/e\nE=$(x)\nF=/f\nexport G=/g\ncat ${C} $CC $D $E $G/h > $C\n";
        let lines = shell::lines(script);
        let paths = Paths::of(&lines);
        assert_eq!(paths.filled("cat ${C} $CC $D $E $G/h > $C"), "cat /etc/c $CC $D $E /g/h > /etc/c");
        assert!(paths.are_set_by("C=\"/etc/c\"") && !paths.are_set_by("F=/f") && !paths.are_set_by("D=/d"));
    }
}
