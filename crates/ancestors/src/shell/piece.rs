//! What a script is put together from, by what it means to each of its halves.

use super::halves;
use super::units::{Block, Unit};

/// What a command of a script is to its halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each half has it by itself: the first line, limits.
    Repeated,
    /// Where the output of what follows goes.
    Output,
    /// Options of the shell, and variables that are known.
    Setting,
    /// Something for people alone: it is there where the half is.
    Says,
    /// It does something.
    Does,
}

/// A command of a script.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) unit: Unit,
}

/// Commands whose effect on the shell lasts.
const LASTING: [&str; 22] = [
    "export", "declare", "typeset", "readonly", "unset", "cd", "pushd", "popd", "umask", "shopt", "set",
    "eval", "source", ".", "alias", "unalias", "trap", "let", "getopts", "shift", "exec", "((",
];

impl Unit {
    /// Whether the shell is another one behind it, apart from variables that are assigned.
    pub(super) fn lasts(&self) -> bool {
        self.block == Some(Block::Function)
            || self.has(&LASTING)
            || [":=", "printf -v"].iter().any(|way| self.code.contains(way))
    }

    /// The variables that it sets, as far as that can be seen.
    pub(super) fn sets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.code.lines().flat_map(halves::assigned).collect();
        names.extend(
            self.heads
                .iter()
                .filter_map(|head| super::assignment(head))
                .map(|(name, _)| name.trim_end_matches('+')),
        );
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether it may set variables in ways in which their names alone are seen.
    pub(super) fn sets_by_name(&self) -> bool {
        self.has(&[
            "let",
            "((",
            "getopts",
            "read",
            "mapfile",
            "readarray",
            "declare",
            "typeset",
            "unset",
            "local",
        ]) || ["printf -v", ":=", "$(("].iter().any(|way| self.code.contains(way))
    }

    /// Whether it ends the shell with something else than a failure.
    pub(super) fn may_end_well(&self) -> bool {
        let mut words = self
            .code
            .split([' ', '\t', '\n', ';', '(', ')', '{', '}', '\'', '"'])
            .filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if word == "exit" && self.has(&["exit"]) {
                let fails = |word: &str| word.parse::<u8>().is_ok_and(|status| status != 0);
                if !words.next().is_some_and(fails) {
                    return true;
                }
            }
        }
        false
    }
}
