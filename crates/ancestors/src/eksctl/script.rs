//! An own bootstrap script, taken apart around its call of `/etc/eks/bootstrap.sh`.

use std::collections::BTreeMap;

use bringup_diag::Span;

use super::halves::{self, Handover};
use super::shell;
use crate::codes;
use crate::tell::Teller;

/// What a script does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// It calls the image's own bootstrap.
    Calls {
        /// The arguments of the call.
        words: Vec<String>,
        /// What it does before.
        before: Option<String>,
        /// What it does afterwards.
        after: Option<String>,
        /// Whether a failure before the call ends it.
        strict: bool,
        /// Variables that the part behind the call uses, and that do not reach it.
        lost: Vec<String>,
    },
    /// It calls nothing of the kind.
    CallsNothing,
    /// It calls the image's bootstrap in a way that only a shell could follow.
    Opaque,
}

const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// Files of eksctl's own that people read in.
const SOURCED: [&str; 2] = ["/etc/eksctl/", "/var/lib/cloud/scripts/eksctl/"];

/// eksctl's file that people read in for its variables, and what else it does to their shell.
pub(super) const HELPER: &str = "bootstrap.helper.sh";
const STRICT: &str = "set -o errexit -o pipefail -o nounset";

impl Script {
    /// Takes a script apart. `given` are variables of eksctl's files.
    pub(crate) fn of(script: &str, given: &BTreeMap<&str, String>) -> Self {
        if !script.contains(BOOTSTRAP) {
            return Self::CallsNothing;
        }
        let mut variables: BTreeMap<String, String> =
            given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let (mut before, mut after) = (Part::default(), Part::default());
        let mut call: Option<Vec<String>> = None;
        let mut depth = 0_usize;
        let mut here: Option<String> = None;
        let mut strict = false;
        for line in shell::lines(script) {
            let trimmed = line.trim();
            if let Some(end) = &here {
                let ends = trimmed == end;
                part(&mut before, &mut after, call.is_some()).does(&line);
                if ends {
                    here = None;
                }
                continue;
            }
            here = here_document(trimmed);
            if calls(trimmed) {
                match shell::words(trimmed, &|name| variables.get(name).cloned()) {
                    Some(words) if call.is_none() && depth == 0 => {
                        let own =
                            words.iter().position(|word| word == BOOTSTRAP).map_or(0, |place| place + 1);
                        call = Some(words.get(own..).unwrap_or_default().to_vec());
                        after.begins = after.lines.len();
                    }
                    _ => return Self::Opaque,
                }
                continue;
            }
            if trimmed.contains(BOOTSTRAP) && !trimmed.starts_with('#') {
                return Self::Opaque;
            }
            // A block stays whole: what stands in it may be done or not, and it must not be empty.
            if depth == 0 {
                let words = shell::assignment(trimmed).and_then(|(name, value)| {
                    Some((name, shell::words(value, &|name| variables.get(name).cloned())?))
                });
                if let Some((name, [value])) = words.as_ref().map(|(name, words)| (*name, words.as_slice())) {
                    variables.insert(name.to_owned(), value.clone());
                    before.prepares(&line);
                    after.prepares(&line);
                    continue;
                }
                let reads_helper = is_sourced(trimmed) && trimmed.contains(HELPER);
                if is_idle(trimmed) {
                    let option = if reads_helper { STRICT } else { trimmed };
                    if option.starts_with("set ") || option.starts_with("#!") || redirects(option) {
                        strict = if call.is_none() { is_strict(option).unwrap_or(strict) } else { strict };
                        before.prepares(option);
                        after.prepares(option);
                    }
                    continue;
                }
            }
            for name in halves::assigned(trimmed) {
                variables.remove(name);
            }
            depth = deeper(depth, trimmed);
            part(&mut before, &mut after, call.is_some()).does(&line);
        }
        let Some(words) = call else { return Self::CallsNothing };
        // Assignments that both parts have are no news.
        let known = |name: &str| variables.contains_key(name);
        let handover = Some(&after)
            .filter(|after| after.does_something)
            .and_then(|after| Handover::between(&before.doings(), &after.doings(), &known));
        let mut lost = Vec::new();
        if let Some(handover) = handover {
            if is_bash(script) {
                before.lines.extend(handover.writing());
                after.lines.insert(after.begins.min(after.lines.len()), Handover::reading());
            } else {
                lost = handover.names;
            }
        }
        Self::Calls { words, before: before.script(), after: after.script(), strict, lost }
    }
}

/// A script without the call, whose words are read rather than run.
pub(super) fn without_call(script: &str) -> String {
    shell::lines(script).into_iter().filter(|line| !calls(line.trim())).collect::<Vec<_>>().join("\n")
}

/// Tells of variables that do not reach the part behind the call.
pub(crate) fn tell_of_lost(names: &[String], span: Span, tell: &mut Teller<'_>) {
    for name in names {
        let message = format!(
            "the part behind the call uses `{name}`, which the part before it sets: they are two scripts here, and only bash can hand it over"
        );
        let hint = "write `#!/bin/bash` into the first line, or set it again behind the call";
        tell.warning(codes::FIELD_DIFFERS, span, message, hint);
    }
}

/// Whether bash runs a script; it does so where nothing else is said.
fn is_bash(script: &str) -> bool {
    script.lines().next().is_none_or(|first| !first.starts_with("#!") || first.contains("bash"))
}

/// Whether a line has the shell end at the first failure, or has it go on again.
fn is_strict(line: &str) -> Option<bool> {
    let mut strict = line.starts_with("#!").then(|| line.split_whitespace().any(|word| is_flag(word, '-')));
    let mut earlier = "";
    for word in line.split_whitespace() {
        if word == "errexit" {
            strict = Some(earlier.starts_with('-'));
        } else if is_flag(word, '-') {
            strict = Some(true);
        } else if is_flag(word, '+') {
            strict = Some(false);
        }
        earlier = word;
    }
    strict.filter(|strict| *strict || !line.starts_with("#!"))
}

fn is_flag(word: &str, sign: char) -> bool {
    word.strip_prefix(sign).is_some_and(|letters| !letters.starts_with(sign) && letters.contains('e'))
}

fn part<'a>(before: &'a mut Part, after: &'a mut Part, called: bool) -> &'a mut Part {
    if called { after } else { before }
}

/// A part of a script on its way.
#[derive(Default)]
struct Part {
    lines: Vec<String>,
    /// Its lines that do more than set what both parts know.
    done: Vec<String>,
    does_something: bool,
    /// How many of its lines stand before the call.
    begins: usize,
}

impl Part {
    fn prepares(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn does(&mut self, line: &str) {
        self.does_something = true;
        self.done.push(line.to_owned());
        self.prepares(line);
    }

    fn doings(&self) -> String {
        self.done.join("\n")
    }

    fn script(self) -> Option<String> {
        if !self.does_something {
            return None;
        }
        let text = self.lines.join("\n");
        let shebang = if text.starts_with("#!") { "" } else { "#!/bin/bash\n" };
        Some(format!("{shebang}{text}\n"))
    }
}

/// Whether a line is the call, perhaps through a shell or sudo.
fn calls(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.find(|word| {
        !matches!(
            *word,
            "bash" | "/bin/bash" | "sh" | "/bin/sh" | "sudo" | "exec" | "-x" | "-e" | "-xe" | "-ex"
        )
    }) == Some(BOOTSTRAP)
}

/// Lines that change nothing on the node.
fn is_idle(line: &str) -> bool {
    let prints = line.starts_with("echo ") && !line.contains(['>', '|', '`', '(']);
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("set ")
        || redirects(line)
        || prints
        || is_sourced(line)
}

/// Whether a line reads in a file of eksctl's own.
fn is_sourced(line: &str) -> bool {
    let file = line.strip_prefix("source ").or_else(|| line.strip_prefix(". "));
    file.is_some_and(|file| SOURCED.iter().any(|folder| file.trim().starts_with(folder)))
}

/// Whether a line only says where the output of the lines behind it goes.
fn redirects(line: &str) -> bool {
    line.strip_prefix("exec ").is_some_and(|rest| rest.trim_start().starts_with(['>', '1', '2', '&']))
}

/// The word that ends the document that this line begins, as in `cat <<EOF`.
fn here_document(line: &str) -> Option<String> {
    let (_, behind) = line.split_once("<<")?;
    let word = behind.trim_start_matches(['-', '<']).split_whitespace().next()?;
    let word = word.trim_matches(['\'', '"']);
    (!behind.starts_with('<') && !word.is_empty()).then(|| word.to_owned())
}

/// How many conditions, loops and functions are open behind a line.
fn deeper(depth: usize, line: &str) -> usize {
    let first = line.split_whitespace().next().unwrap_or_default();
    let opens =
        matches!(first, "if" | "for" | "while" | "until" | "case" | "function") || line.ends_with('{');
    let closes = matches!(first.trim_end_matches(';'), "fi" | "done" | "esac" | "}")
        || (opens && [" fi", "; done", " esac", "}"].iter().any(|end| line.ends_with(end)));
    let depth = if opens { depth.saturating_add(1) } else { depth };
    if closes { depth.saturating_sub(1) } else { depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> Script {
        Script::of(script, &BTreeMap::from([("CLUSTER_NAME", "demo".to_owned())]))
    }

    #[test]
    fn a_script_is_taken_apart_around_its_call() {
        let script = "#!/bin/bash\nset -ex\nsource /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\nPODS=40\ntouch /a\n/etc/eks/bootstrap.sh ${CLUSTER_NAME} \\\n  --kubelet-extra-args \"--max-pods=$PODS\"\ntouch /b\n";
        let Script::Calls { words, before, after, strict, lost } = of(script) else { panic!() };
        assert_eq!(words, ["demo", "--kubelet-extra-args", "--max-pods=40"]);
        let head = format!("#!/bin/bash\nset -ex\n{STRICT}\nPODS=40\n");
        assert_eq!(before, Some(format!("{head}touch /a\n")));
        assert_eq!(after, Some(format!("{head}touch /b\n")));
        assert!(strict && lost.is_empty());
    }

    #[test]
    fn options_say_whether_a_failure_ends_a_script() {
        for line in ["set -e", "set -xeuo pipefail", "set -o errexit", "#!/bin/bash -xe", STRICT] {
            assert_eq!(is_strict(line), Some(true), "{line}");
        }
        for line in ["set +e", "set +o errexit"] {
            assert_eq!(is_strict(line), Some(false), "{line}");
        }
        for line in ["set -x", "set -o pipefail", "#!/bin/bash", "#!/usr/bin/env bash", "set -- -a"] {
            assert_eq!(is_strict(line), None, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_can_follow_is_opaque() {
        for script in [
            "/etc/eks/bootstrap.sh $(hostname)",
            "if true; then\n/etc/eks/bootstrap.sh demo\nfi",
            "sed -i s/a/b/ /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh demo",
            "/etc/eks/bootstrap.sh demo && touch /b",
            "A=1\nif true; then\n  A=2\nfi\n/etc/eks/bootstrap.sh demo --cluster-id $A",
            "A=1\nA=$(hostname)\n/etc/eks/bootstrap.sh demo --cluster-id $A",
        ] {
            assert_eq!(of(script), Script::Opaque, "{script}");
        }
        assert_eq!(of("#!/bin/sh\n/opt/mine"), Script::CallsNothing);
    }
}
