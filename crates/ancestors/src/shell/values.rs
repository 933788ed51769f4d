//! What variables are known to hold before a script has run.

use std::collections::{BTreeMap, BTreeSet};

use super::{halves, words};

/// Variables, as far as lines that only set them say what they hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    plain: BTreeMap<String, String>,
    lists: BTreeMap<String, Vec<String>>,
    /// Set to something that only the shell on the node knows.
    unknown: BTreeSet<String>,
    /// Known here, but a file or text that was read in afterwards may have set them anew: the line of that, and the command.
    doubtful: BTreeMap<String, (u32, String)>,
    /// The first such file or text: it may also set what the script never does.
    read_in: Option<(u32, String)>,
}

impl Values {
    /// These values alone.
    pub(super) fn of(given: &BTreeMap<&str, String>) -> Self {
        let plain = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Self { plain, ..Self::default() }
    }

    /// What a variable holds; of a list its first item.
    pub(super) fn get(&self, name: &str) -> Option<&String> {
        self.plain.get(name).or_else(|| self.lists.get(name)?.first())
    }

    pub(super) fn list(&self, name: &str) -> Option<&[String]> {
        self.lists.get(name).map(Vec::as_slice)
    }

    /// Whether nothing has ever been put into a variable, as far as the script goes.
    pub(super) fn is_unset(&self, name: &str) -> bool {
        self.get(name).is_none() && !self.lists.contains_key(name) && !self.unknown.contains(name)
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.plain.contains_key(name) || self.lists.contains_key(name)
    }

    /// Whether something has been put into a variable that is not known.
    pub(super) fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name)
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        self.forget(name);
        self.unknown.remove(name);
        self.plain.insert(name.to_owned(), value);
    }

    pub(super) fn set_list(&mut self, name: &str, items: Vec<String>) {
        self.forget(name);
        self.unknown.remove(name);
        self.lists.insert(name.to_owned(), items);
    }

    /// A variable is set to something else.
    pub(super) fn forget(&mut self, name: &str) {
        self.plain.remove(name);
        self.lists.remove(name);
        self.doubtful.remove(name);
        self.unknown.insert(name.to_owned());
    }

    /// A command may set any variable anew.
    pub(super) fn doubt(&mut self, line: u32, command: &str) {
        for name in self.plain.keys().chain(self.lists.keys()) {
            self.doubtful.entry(name.clone()).or_insert_with(|| (line, command.to_owned()));
        }
        self.read_in.get_or_insert_with(|| (line, command.to_owned()));
    }

    /// The command that may have set a variable anew, or what it is made from, with its line.
    pub(super) fn doubted(&self, name: &str) -> Option<&(u32, String)> {
        let unset = || self.read_in.as_ref().filter(|_| self.is_unset(name));
        self.doubtful.get(name).or_else(unset)
    }

    /// What is doubtful of a text is so of the variable that it is put into.
    fn inherit(&mut self, name: &str, doubt: Option<(u32, String)>) {
        self.doubtful.extend(doubt.map(|doubt| (name.to_owned(), doubt)));
    }

    /// What is doubtful of what is put into a variable, or added to it.
    fn doubt_of(&self, name: &str, written: &str) -> Option<(u32, String)> {
        let added_to = name.strip_suffix('+').and_then(|name| self.doubted(name));
        let used = halves::used(written);
        added_to.or_else(|| used.iter().find_map(|name| self.doubted(name))).cloned()
    }

    /// The names of all known variables.
    pub(super) fn names(&self) -> Vec<String> {
        self.plain.keys().chain(self.lists.keys()).cloned().collect()
    }

    /// Takes what a command sets, if it does nothing else and that is known: `A=1`, `export A=1 B=2`, `A+=3`, `A=(1 2)`. The names.
    pub(super) fn take(&mut self, command: &str) -> Option<Vec<String>> {
        let command = command.trim();
        let (first, value) = assignment(command)?;
        if let Some(inside) = value.strip_prefix('(') {
            let items = words::words(inside.strip_suffix(')')?, self).ok()?;
            // `[3]=a` puts an item into its place.
            if items.iter().any(|item| item.starts_with('[')) || command.starts_with("declare ") {
                return None;
            }
            let name = first.trim_end_matches('+');
            let mut all = if first.ends_with('+') { self.lists.get(name)?.clone() } else { Vec::new() };
            all.extend(items);
            let doubt = self.doubt_of(first, value);
            self.set_list(name, all);
            self.inherit(name, doubt);
            return Some(vec![name.to_owned()]);
        }
        let begin = command.find(first)?;
        let mut names = Vec::new();
        let mut set = self.clone();
        for (word, _) in words::raw(command.get(begin..)?) {
            let (name, value) = assignment(word)?;
            let doubt = set.doubt_of(name, value);
            let value = words::value(value, &set).ok()?;
            let plain = name.strip_suffix('+').unwrap_or(name);
            if set.lists.contains_key(plain) {
                return None;
            }
            let value = if name.ends_with('+') { format!("{}{value}", set.plain.get(plain)?) } else { value };
            set.set(plain, value);
            set.inherit(plain, doubt);
            names.push(plain.to_owned());
        }
        *self = set;
        Some(names)
    }
}

/// `NAME=value` taken apart; of `NAME+=value` the name has the sign.
pub(crate) fn assignment(line: &str) -> Option<(&str, &str)> {
    let mut line = line.trim();
    for word in ["export ", "readonly ", "declare ", "local "] {
        line = line.strip_prefix(word).unwrap_or(line).trim_start();
    }
    let (name, value) = line.split_once('=')?;
    let plain = name.strip_suffix('+').unwrap_or(name);
    let first = plain.chars().next()?;
    let fits = (first.is_ascii_alphabetic() || first == '_') && plain.chars().all(is_name);
    fits.then_some((name, value))
}

pub(super) fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Values {
        Values::of(&BTreeMap::from([("NAME", "demo".to_owned()), ("TWO", " a b".to_owned())]))
    }

    #[test]
    fn assignments_are_read_one_by_one() {
        let after = |command: &str, name: &str| {
            let mut values = known();
            values.take(command).and_then(|_| values.get(name).cloned())
        };
        assert_eq!(after("A=$TWO", "A").as_deref(), Some(" a b"));
        assert_eq!(after("A=", "A").as_deref(), Some(""));
        assert_eq!(after("export A='b c' B=$NAME", "A").as_deref(), Some("b c"));
        assert_eq!(after("export A='b c' B=$A", "B").as_deref(), Some("b c"));
        assert_eq!(after("NAME+=\" x\"", "NAME").as_deref(), Some("demo x"));
        for command in ["A=$(b)", "A=1 b", "OTHER+=1", "a b=c", "if A=1", "A=(1 $(b))"] {
            assert_eq!(known().take(command), None, "{command}");
        }
    }

    #[test]
    fn lists_are_read_and_added_to() {
        let mut values = known();
        values.take("A=(x \"y z\" $NAME)");
        values.take("A+=($TWO)");
        assert_eq!(values.list("A"), Some(["x", "y z", "demo", "a", "b"].map(str::to_owned).as_slice()));
        assert_eq!(values.get("A").map(String::as_str), Some("x"));
    }
}
