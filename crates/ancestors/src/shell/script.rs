//! A script, taken apart around its call of `/etc/eks/bootstrap.sh`.

use std::collections::{BTreeMap, BTreeSet};

use bringup_spec::bootstrap_flags::FLAGS;

use super::commands::{Behind, commands, without_redirections};
use super::halves::{self, Handover};
use super::prefix::{BOOTSTRAP, Prefix, first_word, is_plain_answer, prefix};
use super::{Line, lines, words};

/// What a script does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// It calls the image's own bootstrap.
    Calls(Call),
    /// It calls nothing of the kind.
    CallsNothing,
    /// It calls the image's bootstrap in a way that only a shell could follow.
    Opaque(Opaque),
}

/// The call, and what stands around it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The line of the script that it stands on.
    pub(crate) number: u32,
    /// Its arguments.
    pub(crate) words: Vec<String>,
    /// What the script does before.
    pub(crate) before: Option<String>,
    /// What it does afterwards.
    pub(crate) after: Option<String>,
    /// Whether a failure before the call ends it.
    pub(crate) strict: bool,
    /// Variables that the part behind the call uses, and that do not reach it.
    pub(crate) lost: Vec<String>,
    /// Commands that nobody gives any more, with their lines and when the script would.
    pub(crate) dropped: Vec<(u32, String, Dropped)>,
}

/// When a script would give a command that nobody gives any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// Where the call fails.
    OnFailure,
    /// To read what the call writes.
    Reader,
    /// Never: the shell has become the call.
    Never,
    /// Beside the call, while that is under way.
    Beside,
    /// To keep what the call writes.
    Output,
    /// Where the call fails or the script ends: it was set before the call.
    Trap,
}

/// Why a call cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opaque {
    /// The line of the script.
    pub(crate) number: u32,
    /// Why.
    pub(crate) why: Why,
}

/// What keeps a call from being read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Words that are known only on the node, each with its line.
    Unknown(Vec<(String, u32)>),
    /// It stands in a condition, a loop or a function, or hangs on how another command ends.
    Condition,
    /// It is called on an earlier line already.
    Twice(u32),
    /// Something else is done with the script's file.
    Touched,
}

/// Files of eksctl's own that people read in.
const SOURCED: [&str; 2] = ["/etc/eksctl/", "/var/lib/cloud/scripts/eksctl/"];

/// eksctl's file that people read in for its variables, and what else it does to their shell.
pub(crate) const HELPER: &str = "bootstrap.helper.sh";
const STRICT: &str = "set -o errexit -o pipefail -o nounset";

/// Programs that hand on what they read, for people: what the call writes is in the journal.
const READERS: [&str; 4] = ["tee", "logger", "cat", "ts"];

/// Programs that leave a file that they are given as it is.
const LOOKS: [&str; 9] = ["echo", "printf", "ls", "chmod", "test", "[", "stat", "file", "logger"];

impl Script {
    /// Takes a script apart. `given` are variables of eksctl's files.
    pub(crate) fn of(script: &str, given: &BTreeMap<&str, String>) -> Self {
        if !script.contains(BOOTSTRAP) {
            return Self::CallsNothing;
        }
        let mut reading = Reading::new(given);
        for line in lines(script) {
            if let Err(why) = reading.line(&line, script) {
                return Self::Opaque(Opaque { number: line.number, why });
            }
        }
        reading.settled(is_bash(script))
    }
}

/// A script on its way.
struct Reading {
    variables: BTreeMap<String, String>,
    exported: BTreeSet<String>,
    /// Variables that the part before the call asks for, whose values the part behind it cannot ask for again.
    asked: BTreeSet<String>,
    before: Part,
    after: Part,
    call: Option<(u32, Vec<String>)>,
    /// How many conditions, loops and functions are open.
    depth: usize,
    strict: bool,
    /// Whether the shell has become the call.
    replaced: bool,
    dropped: Vec<(u32, String, Dropped)>,
    /// What is set before the call for failures and the end.
    traps: Vec<(u32, String)>,
}

impl Reading {
    fn new(given: &BTreeMap<&str, String>) -> Self {
        Self {
            variables: given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            exported: BTreeSet::new(),
            asked: BTreeSet::new(),
            before: Part::default(),
            after: Part::default(),
            call: None,
            depth: 0,
            strict: false,
            replaced: false,
            dropped: Vec::new(),
            traps: Vec::new(),
        }
    }

    fn part(&mut self) -> &mut Part {
        if self.call.is_some() { &mut self.after } else { &mut self.before }
    }

    fn line(&mut self, line: &Line, script: &str) -> Result<(), Why> {
        let trimmed = line.text.trim();
        if line.handed_on {
            self.part().does(&line.text);
            return Ok(());
        }
        if self.replaced && !trimmed.starts_with('#') && !trimmed.is_empty() {
            self.dropped.push((line.number, trimmed.to_owned(), Dropped::Never));
            return Ok(());
        }
        if trimmed.contains(BOOTSTRAP) && !trimmed.starts_with('#') {
            let parts = commands(trimmed);
            if parts.iter().any(|(command, _)| prefix(command).is_some()) {
                return self.line_of_call(line.number, &parts, script);
            }
            let harmless = |command: &str| {
                !command.contains(BOOTSTRAP)
                    || (LOOKS.contains(&first_word(command)) && !command.contains(['>', '`']))
            };
            let alone = parts.iter().all(|(_, behind)| *behind != Behind::Reads);
            if !(alone && parts.iter().all(|(command, _)| harmless(command))) {
                return Err(if self.depth > 0 || is_block(trimmed) { Why::Condition } else { Why::Touched });
            }
        }
        self.plain(line.number, &line.text);
        Ok(())
    }

    /// A line that does not call the image's bootstrap.
    fn plain(&mut self, number: u32, line: &str) {
        let trimmed = line.trim();
        // A block stays whole: what stands in it may be done or not, and it must not be empty.
        if self.depth == 0 {
            if self.assigns(trimmed) {
                // A question that needs what only a shell can tell, such as a token, is asked once.
                let asks = !halves::used(trimmed).iter().all(|name| self.variables.contains_key(name));
                if asks && self.call.is_none() {
                    self.asked.extend(halves::assigned(trimmed).into_iter().map(str::to_owned));
                    self.before.does(line);
                    return;
                }
                self.before.prepares(line);
                self.after.prepares(line);
                return;
            }
            let reads_helper = is_sourced(trimmed) && trimmed.contains(HELPER);
            if is_idle(trimmed) {
                let option = if reads_helper { STRICT } else { trimmed };
                if option.starts_with("set ") || option.starts_with("#!") || redirects(option) {
                    if self.call.is_none() {
                        self.strict = is_strict(option).unwrap_or(self.strict);
                    }
                    self.before.prepares(option);
                    self.after.prepares(&appending(option));
                } else if prints(option) {
                    self.part().says(option);
                }
                return;
            }
        }
        if self.depth == 0 && first_word(trimmed) == "trap" && self.call.is_none() {
            self.traps.push((number, trimmed.to_owned()));
        }
        for name in halves::assigned(trimmed) {
            self.variables.remove(name);
        }
        self.depth = deeper(self.depth, trimmed);
        self.part().does(line);
    }

    /// Takes the values that a line sets, if it does nothing else and they are known.
    fn assigns(&mut self, line: &str) -> bool {
        let parts = commands(line);
        let in_turn = parts.iter().all(|(_, behind)| matches!(behind, Behind::Follows | Behind::Succeeds));
        let mut set = self.variables.clone();
        let mut exported = BTreeSet::new();
        for (command, _) in &parts {
            let known = |name: &str| set.get(name).cloned();
            let Some(found) = words::assignments(command, &known) else { return false };
            if command.starts_with("export ") {
                exported.extend(found.iter().map(|(name, _)| name.clone()));
            }
            set.extend(found);
        }
        if parts.is_empty() || !in_turn {
            return false;
        }
        self.variables = set;
        self.exported.extend(exported);
        true
    }

    /// The line that has the call: what stands before it on the line comes before it, what stands behind it afterwards.
    fn line_of_call(&mut self, number: u32, parts: &[(&str, Behind)], script: &str) -> Result<(), Why> {
        if self.depth > 0 {
            return Err(Why::Condition);
        }
        let mut rest = parts.iter().copied().peekable();
        while let Some((command, behind)) = rest.next() {
            let Some(begin) = prefix(command) else {
                match behind {
                    Behind::Follows => self.plain(number, command),
                    Behind::Beside => self.plain(number, &format!("{command} &")),
                    // Without it there is no call.
                    Behind::Succeeds if self.assigns(command) => {
                        self.before.prepares(command);
                        self.after.prepares(command);
                    }
                    Behind::Succeeds => self.plain(number, &format!("{command} || exit 1")),
                    Behind::Fails | Behind::Reads => return Err(Why::Condition),
                }
                continue;
            };
            if let Some((first, _)) = &self.call {
                return Err(Why::Twice(*first));
            }
            let words = self.words(number, command, &begin, script)?;
            self.call = Some((number, words));
            if without_redirections(command) != command {
                self.dropped.push((number, redirections(command), Dropped::Output));
            }
            self.after.begins = self.after.lines.len();
            self.replaced = begin.replaces;
            let mut behind = behind;
            while behind == Behind::Reads {
                let Some((reader, next)) = rest.next() else { break };
                if !READERS.contains(&first_word(reader)) {
                    self.dropped.push((number, reader.to_owned(), Dropped::Reader));
                }
                behind = next;
            }
            // What answers a failure is over with the next `;`.
            while matches!(behind, Behind::Fails | Behind::Reads) {
                let Some((answer, next)) = rest.next() else { break };
                if !is_plain_answer(answer) {
                    self.dropped.push((number, answer.to_owned(), Dropped::OnFailure));
                }
                behind = if matches!(next, Behind::Follows | Behind::Beside) { next } else { Behind::Fails };
            }
            if behind == Behind::Beside {
                self.dropped.push((number, "&".to_owned(), Dropped::Beside));
            }
            let mut last = String::new();
            for (command, behind) in rest {
                if prefix(command).is_some() {
                    return Err(Why::Twice(number));
                }
                last.push_str(command);
                last.push_str(match behind {
                    Behind::Follows => "; ",
                    Behind::Beside => " & ",
                    Behind::Succeeds => " && ",
                    Behind::Fails => " || ",
                    Behind::Reads => " | ",
                });
            }
            let last = last.trim().trim_end_matches(';').to_owned();
            if !last.is_empty() && self.replaced {
                self.dropped.push((number, last, Dropped::Never));
            } else if !last.is_empty() {
                self.plain(number, &last);
            }
            return Ok(());
        }
        Ok(())
    }

    /// The arguments of the call, those first that it takes from variables.
    fn words(&self, number: u32, command: &str, prefix: &Prefix, script: &str) -> Result<Vec<String>, Why> {
        let known = |name: &str| self.variables.get(name).cloned();
        let unknown = |written: Vec<String>| {
            let behind = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
            let line_of = |text: &str| {
                let mut lines = script.lines().zip(1_u32..).skip(behind);
                lines.find(|(line, _)| line.contains(text)).map_or(number, |(_, line)| line)
            };
            Why::Unknown(written.into_iter().map(|text| (text.clone(), line_of(&text))).collect())
        };
        let own = without_redirections(command.get(prefix.length..).unwrap_or_default());
        let own = words::words(&own, &known).map_err(unknown)?;
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        for name in &self.exported {
            variables.extend(self.variables.get(name).map(|value| (name.clone(), value.clone())));
        }
        for assigned in &prefix.assigned {
            variables.extend(words::assignments(assigned, &known).unwrap_or_default());
        }
        let mut all = Vec::new();
        for flag in FLAGS {
            if let Some(value) = variables.get(&flag.variable()) {
                all.extend([format!("--{}", flag.name), value.clone()]);
            }
        }
        all.extend(own);
        Ok(all)
    }

    fn settled(mut self, bash: bool) -> Script {
        let Some((number, words)) = self.call else { return Script::CallsNothing };
        // Assignments that both parts have are no news.
        let known = |name: &str| self.variables.contains_key(name) && !self.asked.contains(name);
        let handover = Some(&self.after)
            .filter(|after| after.does_something)
            .and_then(|after| Handover::between(&self.before.doings(), &after.doings(), &known));
        let mut lost = Vec::new();
        if let Some(handover) = handover {
            if bash {
                self.before.lines.extend(handover.writing());
                self.after.lines.insert(self.after.begins.min(self.after.lines.len()), Handover::reading());
            } else {
                lost = handover.names;
            }
        }
        self.dropped.extend(self.traps.into_iter().map(|(line, trap)| (line, trap, Dropped::Trap)));
        Script::Calls(Call {
            number,
            words,
            before: self.before.script(),
            after: self.after.script(),
            strict: self.strict,
            lost,
            dropped: self.dropped,
        })
    }
}

/// What says where the output of a command goes: all that follows the first of it.
fn redirections(command: &str) -> String {
    let kept = without_redirections(command);
    let same = command.chars().zip(kept.chars()).take_while(|(one, other)| one == other);
    let length: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    command.get(length..).unwrap_or_default().trim().to_owned()
}

/// A script without the call, whose words are read rather than run.
pub(crate) fn without_call(script: &str) -> String {
    let kept = lines(script).into_iter().filter(|line| {
        line.handed_on || !commands(line.text.trim()).iter().any(|(command, _)| prefix(command).is_some())
    });
    kept.map(|line| line.text).collect::<Vec<_>>().join("\n")
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

/// A part of a script.
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

    /// A line for people alone: it is there where the part is.
    fn says(&mut self, line: &str) {
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

/// Whether a line opens a block.
fn is_block(line: &str) -> bool {
    deeper(0, line) > 0 || matches!(first_word(line), "if" | "for" | "while" | "until" | "case")
}

/// Lines that change nothing on the node.
fn is_idle(line: &str) -> bool {
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("set ")
        || redirects(line)
        || prints(line)
        || is_sourced(line)
}

/// Whether a line only says something.
fn prints(line: &str) -> bool {
    line.starts_with("echo ") && !line.contains(['>', '|', '`', '('])
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

/// The same redirection for a second script: what the first one wrote stays.
fn appending(line: &str) -> String {
    if !redirects(line) {
        return line.to_owned();
    }
    if line.contains("tee -a ") || line.contains("tee --append ") || line.contains(">>") {
        return line.to_owned();
    }
    if line.contains("tee ") {
        return line.replacen("tee ", "tee -a ", 1);
    }
    match line.find('>').and_then(|at| line.split_at_checked(at)) {
        Some((head, rest)) if !rest.starts_with(">&") && !rest.contains('(') => format!("{head}>{rest}"),
        _ => line.to_owned(),
    }
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
#[path = "script_tests.rs"]
mod tests;
