//! A script on its way: command by command, to the two parts and the call between them.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::Asked;
use super::commands::{Behind, commands, without_redirections};
use super::options::Options;
use super::output::{redirections, redirects};
use super::piece::{Kind, Piece};
use super::prefix::{BOOTSTRAP, first_word, is_plain_answer, prefix};
use super::script::{Dropped, HELPER, STRICT, Why};
use super::units::{Block, Unit, units};
use super::values::Values;
use super::way::Way;

/// Files of eksctl's own that people read in.
const SOURCED: [&str; 2] = ["/etc/eksctl/", "/var/lib/cloud/scripts/eksctl/"];

/// Programs that hand on what they read, for people: what the call writes is in the journal.
const READERS: [&str; 4] = ["tee", "logger", "cat", "ts"];

/// Programs that leave a file that they are given as it is.
const LOOKS: [&str; 9] = ["echo", "printf", "ls", "chmod", "test", "[", "stat", "file", "logger"];

/// The call.
pub(super) struct Called {
    pub(super) number: u32,
    pub(super) words: Vec<String>,
    /// What decides by which way it asks EKS.
    pub(super) ways: Vec<Way>,
    /// Whether something on its line answers its failure.
    pub(super) is_answered: bool,
    /// Whether the shell has become the call.
    replaces: bool,
}

/// How the shell goes about its commands.
#[derive(Default)]
pub(super) struct Shell {
    /// Whether the first failure ends it where the call is.
    pub(super) errexit: bool,
    /// Whether it may end anywhere before the call.
    pub(super) may_end: bool,
    /// Whether programs get all variables.
    pub(super) exports_all: bool,
}

/// A script on its way.
pub(super) struct Reading {
    pub(super) values: Values,
    /// Variables that hold what EKS says of a cluster.
    pub(super) asked: BTreeMap<String, Asked>,
    pub(super) exported: BTreeSet<String>,
    pub(super) before: Vec<Piece>,
    pub(super) after: Vec<Piece>,
    pub(super) call: Option<Called>,
    pub(super) shell: Shell,
    /// Whether the output of the script goes where somebody said.
    redirected: bool,
    pub(super) dropped: Vec<(u32, String, Dropped)>,
    pub(super) bash: bool,
    /// Whether eksctl's files are known.
    of_eksctl: bool,
}

impl Reading {
    pub(super) fn new(given: &BTreeMap<&str, String>, bash: bool) -> Self {
        Self {
            values: Values::of(given),
            asked: BTreeMap::new(),
            exported: BTreeSet::new(),
            before: Vec::new(),
            after: Vec::new(),
            call: None,
            shell: Shell::default(),
            redirected: false,
            dropped: Vec::new(),
            bash,
            of_eksctl: !given.is_empty(),
        }
    }

    pub(super) fn unit(&mut self, unit: Unit, script: &str) -> Result<(), Why> {
        let code = unit.code.trim();
        let idle = code.is_empty() || (code.starts_with('#') && !code.starts_with("#!"));
        if self.is_replaced() && !idle {
            self.dropped.push((unit.number, first_line(code), Dropped::Never));
            return Ok(());
        }
        if code.contains(BOOTSTRAP) && !idle {
            let parts = commands(code);
            let calls = unit.block.is_none() && parts.iter().any(|(command, _)| prefix(command).is_some());
            if calls && unit.hands_on {
                return Err(Why::Touched(first_line(code)));
            }
            if calls {
                return self.line_of_call(unit.number, &parts, script);
            }
            touches(code, unit.block).map_or(Ok(()), Err)?;
        }
        self.plain(unit)
    }

    /// A command that does not call the image's bootstrap.
    fn plain(&mut self, unit: Unit) -> Result<(), Why> {
        let code = unit.code.trim().to_owned();
        let first = self.call.is_none();
        for name in unit.sets() {
            self.asked.remove(name);
        }
        if unit.block.is_none()
            && let Some((name, value)) = super::assignment(&code)
            && let Some(asked) = Asked::of(value, &self.values)
        {
            self.asked.insert(name.to_owned(), asked);
        }
        if unit.block.is_none() && !unit.hands_on {
            if code.is_empty() || (code.starts_with('#') && !code.starts_with("#!")) {
                return Ok(());
            }
            if let Some(kind) = self.idle(&code) {
                let reads_helper = self.is_sourced(&code);
                if reads_helper && code.contains(HELPER) {
                    self.sets_options(STRICT);
                    self.push(kind, of_text(unit.number, STRICT));
                } else if !reads_helper {
                    if kind == Kind::Output && first {
                        self.dropped.push((unit.number, code, Dropped::Output));
                    }
                    self.push(kind, unit);
                }
                return Ok(());
            }
            if first && (unit.heads.first().is_some_and(|head| head == "exit") || replaces(&code)) {
                return Err(Why::Ended(first_line(&code)));
            }
            if first && unit.heads == ["ulimit"] && !code.contains('>') {
                self.push(Kind::Repeated, unit);
                return Ok(());
            }
        }
        if first {
            self.looks_ahead(&unit, &code);
        }
        for name in unit.sets() {
            self.values.forget(name);
        }
        if unit.sets_by_name() {
            for name in self.values.names().iter().filter(|name| super::halves::mentions(&code, name)) {
                self.values.forget(name);
            }
        }
        if unit.has(&["export"]) || (unit.has(&["declare", "typeset"]) && code.contains("-x")) {
            let words = code.split(|letter: char| !super::values::is_name(letter));
            self.exported.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        if unit.block.is_none() && unit.has(&["unset"]) {
            self.exported.retain(|name| !super::halves::mentions(&code, name));
        }
        if unit.reads_in {
            self.values.doubt(unit.number, &first_line(&code));
        }
        self.push(Kind::Does, unit);
        Ok(())
    }

    /// What there is to tell of a command before the call.
    fn looks_ahead(&mut self, unit: &Unit, code: &str) {
        let mut tell = |what| self.dropped.push((unit.number, first_line(code), what));
        if unit.has(&["trap"]) {
            tell(Dropped::Trap);
        }
        if unit.has(&["exec", "coproc"]) {
            tell(Dropped::Descriptor);
            self.redirected = true;
        }
        if unit.may_end_well() {
            tell(Dropped::Ends);
        }
        self.shell.may_end |= unit.has(&["exit"]) || code.contains(":?");
        // Options that a block sets hold behind it, if it is come to.
        self.shell.may_end |= unit.has(&["set"]) && code.contains("-e");
    }

    /// What kind of command it is, if it changes nothing on the node; its effects on the shell are taken.
    fn idle(&mut self, code: &str) -> Option<Kind> {
        if code.starts_with("#!") {
            self.sets_options(code);
            return Some(Kind::Repeated);
        }
        if redirects(code) {
            self.redirected = true;
            return Some(Kind::Output);
        }
        let parts = commands(code);
        if first_word(code) == "set" && parts.len() == 1 && !code.contains(['$', '`']) {
            self.sets_options(code);
            return Some(Kind::Setting);
        }
        if self.is_sourced(code) {
            return Some(Kind::Setting);
        }
        if self.assigns(&parts) {
            // A question whose answer needs what only a shell can tell, such as a token, is asked once.
            let used = super::halves::used(code);
            let asks = !used.iter().all(|name| self.values.is_known(name));
            return Some(if asks { Kind::Does } else { Kind::Setting });
        }
        let known = || super::halves::used(code).iter().all(|name| self.values.is_known(name));
        let says = first_word(code) == "echo" && !code.contains(['>', '|', '`', '(', ';', '&']);
        (says && !self.redirected && known()).then_some(Kind::Says)
    }

    fn sets_options(&mut self, line: &str) {
        let options = Options::of(line);
        if self.call.is_none() {
            self.shell.errexit = options.errexit.unwrap_or(self.shell.errexit);
            self.shell.may_end |= self.shell.errexit || options.nounset == Some(true);
        }
        self.shell.exports_all = options.allexport.unwrap_or(self.shell.exports_all);
    }

    /// Whether a line reads in a file of eksctl's own.
    fn is_sourced(&self, line: &str) -> bool {
        self.of_eksctl && reads_eksctls(line)
    }

    /// Takes the values that commands set, if they do nothing else and what they set is known.
    fn assigns(&mut self, parts: &[(&str, Behind)]) -> bool {
        let in_turn = parts.iter().all(|(_, behind)| matches!(behind, Behind::Follows | Behind::Succeeds));
        let mut set = self.values.clone();
        let mut exported = BTreeSet::new();
        for (command, _) in parts {
            let exports = command.starts_with("export ");
            let marks = exports || command.starts_with("readonly ");
            // `export NAME` alone
            let names = command.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
            let names = if marks && !names.is_empty() && names.iter().all(|name| set.is_known(name)) {
                names
            } else {
                let Some(names) = set.take(command) else { return false };
                names
            };
            if exports || self.shell.exports_all {
                exported.extend(names);
            }
        }
        if parts.is_empty() || !in_turn {
            return false;
        }
        self.values = set;
        self.exported.extend(exported);
        true
    }

    fn is_replaced(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.replaces)
    }

    fn push(&mut self, kind: Kind, unit: Unit) {
        let part = if self.call.is_some() { &mut self.after } else { &mut self.before };
        part.push(Piece { kind, unit });
    }

    /// The line that has the call: what stands before it on the line comes before it, what stands behind it afterwards.
    fn line_of_call(&mut self, number: u32, parts: &[(&str, Behind)], script: &str) -> Result<(), Why> {
        let mut rest = parts.iter().copied();
        while let Some((command, behind)) = rest.next() {
            let Some(begin) = prefix(command) else {
                let text = match behind {
                    Behind::Follows => command.to_owned(),
                    Behind::Beside => format!("{command} &"),
                    // Without it there is no call.
                    Behind::Succeeds if self.assigns(&[(command, Behind::Follows)]) => {
                        self.push(Kind::Setting, of_text(number, command));
                        continue;
                    }
                    Behind::Succeeds => {
                        self.dropped.push((number, command.to_owned(), Dropped::Hangs));
                        format!("{command} || exit 1")
                    }
                    Behind::Fails | Behind::Reads => return Err(Why::Condition),
                };
                self.plain(of_text(number, &text))?;
                continue;
            };
            if let Some(Called { number: first, .. }) = &self.call {
                return Err(Why::Twice(*first));
            }
            let words = self.words(number, command, &begin, script)?;
            let ways = self.ways(number, &begin, script);
            let is_answered = behind == Behind::Fails;
            self.call = Some(Called { number, words, ways, is_answered, replaces: begin.replaces });
            if without_redirections(command) != command {
                self.dropped.push((number, redirections(command), Dropped::Output));
            }
            return self.behind_call(number, behind, rest.collect());
        }
        Ok(())
    }

    /// What stands behind the call on its line.
    fn behind_call(&mut self, number: u32, mut behind: Behind, rest: Vec<(&str, Behind)>) -> Result<(), Why> {
        let mut rest = rest.into_iter();
        while behind == Behind::Reads {
            let Some((reader, next)) = rest.next() else { break };
            let plain = READERS.contains(&first_word(reader));
            let what = if plain { Dropped::Output } else { Dropped::Reader };
            self.dropped.push((number, reader.to_owned(), what));
            behind = next;
        }
        // What answers a failure is over with the next `;`, or where success is asked for.
        while behind == Behind::Fails {
            let Some((answer, next)) = rest.next() else { break };
            if !is_plain_answer(answer) {
                self.dropped.push((number, first_line(answer), Dropped::OnFailure));
            }
            behind = if next == Behind::Reads { Behind::Fails } else { next };
        }
        // `call && this || that`: that is done where the call fails, too.
        let mut list = if behind == Behind::Succeeds { rest.as_slice() } else { &[] }.iter();
        while let Some((_, next)) =
            list.next().filter(|(_, next)| !matches!(next, Behind::Follows | Behind::Beside))
        {
            if *next == Behind::Fails
                && let Some((answer, _)) = list.as_slice().first()
                && !is_plain_answer(answer)
            {
                self.dropped.push((number, first_line(answer), Dropped::OnFailure));
            }
        }
        if behind == Behind::Beside {
            self.dropped.push((number, "&".to_owned(), Dropped::Beside));
            // Whoever waits for the call waits for nothing.
            self.push(Kind::Setting, of_text(number, ": &"));
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
        match (last.is_empty(), self.is_replaced()) {
            (true, _) => Ok(()),
            (false, true) => {
                self.dropped.push((number, first_line(&last), Dropped::Never));
                Ok(())
            }
            (false, false) => self.plain(of_text(number, &last)),
        }
    }
}

/// Whether a line reads in a file of eksctl's own.
pub(crate) fn reads_eksctls(line: &str) -> bool {
    let file = line.strip_prefix("source ").or_else(|| line.strip_prefix(". "));
    file.is_some_and(|file| SOURCED.iter().any(|folder| file.trim().starts_with(folder)))
}

/// A command of the script by itself.
fn of_text(number: u32, text: &str) -> Unit {
    let first = units(text).into_iter().next();
    first.map_or_else(|| Unit::of_text(number, text), |unit| Unit { number, ..unit })
}

pub(super) fn first_line(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{} …", first.trim()),
        None => text.trim().to_owned(),
    }
}

/// Whether the shell becomes another program.
fn replaces(code: &str) -> bool {
    code.strip_prefix("exec ").is_some_and(|rest| {
        let program = without_redirections(rest);
        !program.trim().is_empty() && !program.trim_start().starts_with('{')
    })
}

/// What else a command does with the image's script than look at it.
fn touches(code: &str, block: Option<Block>) -> Option<Why> {
    let separate = |letter: char| matches!(letter, ';' | '\n');
    let ahead = ["if", "elif", "while", "until", "then", "else", "do", "!", "{", "("];
    let pieces = if block.is_some() { code.split(separate).collect() } else { vec![code] };
    for piece in pieces {
        let parts = commands(piece);
        let alone = parts.iter().all(|(_, behind)| *behind != Behind::Reads);
        let harmless = parts.iter().all(|(command, _)| {
            let mut command = *command;
            while ahead.contains(&first_word(command)) {
                command = command.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
            }
            !command.contains(BOOTSTRAP)
                || (LOOKS.contains(&first_word(command))
                    && !command.contains(['>', '`'])
                    && !command.contains("$("))
        });
        if piece.contains(BOOTSTRAP) && !(alone && harmless) {
            return Some(block.map_or_else(|| Why::Touched(first_line(piece)), Why::Within));
        }
    }
    None
}
