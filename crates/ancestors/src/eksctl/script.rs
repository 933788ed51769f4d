//! An own bootstrap script, taken apart around its call of `/etc/eks/bootstrap.sh`.

use std::collections::BTreeMap;

use super::shell;

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
    },
    /// It calls nothing of the kind.
    CallsNothing,
    /// It calls the image's bootstrap in a way that only a shell could follow.
    Opaque,
}

const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// Files of eksctl's own that people read in.
const SOURCED: [&str; 2] = ["/etc/eksctl/", "/var/lib/cloud/scripts/eksctl/"];

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
            let lookup = |name: &str| variables.get(name).cloned();
            if calls(trimmed) {
                match shell::words(trimmed, &lookup) {
                    Some(words) if call.is_none() && depth == 0 => {
                        let own =
                            words.iter().position(|word| word == BOOTSTRAP).map_or(0, |place| place + 1);
                        call = Some(words.get(own..).unwrap_or_default().to_vec());
                    }
                    _ => return Self::Opaque,
                }
                continue;
            }
            if trimmed.contains(BOOTSTRAP) && !trimmed.starts_with('#') {
                return Self::Opaque;
            }
            if let Some((name, value)) = shell::assignment(trimmed)
                && let Some([value]) = shell::words(value, &lookup).as_deref()
            {
                variables.insert(name.to_owned(), value.clone());
                before.prepares(&line);
                after.prepares(&line);
                continue;
            }
            if is_idle(trimmed) {
                if trimmed.starts_with("set ") || trimmed.starts_with("#!") || redirects(trimmed) {
                    before.prepares(&line);
                    after.prepares(&line);
                }
                continue;
            }
            depth = deeper(depth, trimmed);
            part(&mut before, &mut after, call.is_some()).does(&line);
        }
        match call {
            Some(words) => Self::Calls { words, before: before.script(), after: after.script() },
            None => Self::CallsNothing,
        }
    }
}

fn part<'a>(before: &'a mut Part, after: &'a mut Part, called: bool) -> &'a mut Part {
    if called { after } else { before }
}

/// A part of a script on its way.
#[derive(Default)]
struct Part {
    lines: Vec<String>,
    does_something: bool,
}

impl Part {
    fn prepares(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn does(&mut self, line: &str) {
        self.does_something = true;
        self.prepares(line);
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
    let sourced = line.strip_prefix("source ").or_else(|| line.strip_prefix(". "));
    let prints = line.starts_with("echo ") && !line.contains(['>', '|', '`', '(']);
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("set ")
        || redirects(line)
        || prints
        || sourced.is_some_and(|file| SOURCED.iter().any(|folder| file.trim().starts_with(folder)))
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
        let Script::Calls { words, before, after } = of(script) else { panic!() };
        assert_eq!(words, ["demo", "--kubelet-extra-args", "--max-pods=40"]);
        assert_eq!(before.as_deref(), Some("#!/bin/bash\nset -ex\nPODS=40\ntouch /a\n"));
        assert_eq!(after.as_deref(), Some("#!/bin/bash\nset -ex\nPODS=40\ntouch /b\n"));
    }

    #[test]
    fn what_only_a_shell_can_follow_is_opaque() {
        for script in [
            "/etc/eks/bootstrap.sh $(hostname)",
            "if true; then\n/etc/eks/bootstrap.sh demo\nfi",
            "sed -i s/a/b/ /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh demo",
            "/etc/eks/bootstrap.sh demo && touch /b",
        ] {
            assert_eq!(of(script), Script::Opaque, "{script}");
        }
        assert_eq!(of("#!/bin/sh\n/opt/mine"), Script::CallsNothing);
    }
}
