//! Options of a shell: whether it ends at a failure, and what it hands on to the programs that it runs.

/// What a line sets, if it sets options: `set -eu`, or the flags of the first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Whether the first failure ends the shell.
    pub(super) errexit: Option<bool>,
    /// Whether a variable that is not set ends it.
    pub(super) nounset: Option<bool>,
    /// Whether programs get all variables.
    pub(super) allexport: Option<bool>,
}

impl Options {
    /// Reads a line that begins with `set` or `#!`.
    pub(super) fn of(line: &str) -> Self {
        let mut options = Self::default();
        let mut earlier = "";
        for word in line.split_whitespace().skip(1) {
            let on = word.starts_with('-');
            if word == "--" {
                break;
            }
            match word {
                "errexit" => options.errexit = Some(earlier.starts_with('-')),
                "nounset" => options.nounset = Some(earlier.starts_with('-')),
                "allexport" => options.allexport = Some(earlier.starts_with('-')),
                _ if word.starts_with(['-', '+']) && !word.starts_with("--") => {
                    for (letter, option) in [
                        ('e', &mut options.errexit),
                        ('u', &mut options.nounset),
                        ('a', &mut options.allexport),
                    ] {
                        if word.contains(letter) {
                            *option = Some(on);
                        }
                    }
                }
                _ => {}
            }
            earlier = word;
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_say_whether_a_failure_ends_a_script() {
        for line in [
            "set -e",
            "set -xeuo pipefail",
            "set -o errexit",
            "#!/bin/bash -xe",
            super::super::script::STRICT,
        ] {
            assert_eq!(Options::of(line).errexit, Some(true), "{line}");
        }
        for line in ["set +e", "set +o errexit"] {
            assert_eq!(Options::of(line).errexit, Some(false), "{line}");
        }
        for line in ["set -x", "set -o pipefail", "#!/bin/bash", "#!/usr/bin/env bash", "set -- -e"] {
            assert_eq!(Options::of(line).errexit, None, "{line}");
        }
        assert_eq!(Options::of("set -euo pipefail").nounset, Some(true));
        assert_eq!(Options::of("set -a").allexport, Some(true));
    }
}
