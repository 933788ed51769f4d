//! A script that has been read: the words of its call, and the two parts around it.

use std::collections::BTreeMap;

use bringup_spec::bootstrap_flags::{FLAGS, Flag};

use super::commands::without_redirections;
use super::halves;
use super::output::{appending, is_relative};
use super::piece::{Kind, Piece};
use super::prefix::Prefix;
use super::reading::{Called, Reading, first_line};
use super::script::{Call, Dropped, Script, Why};
use super::words;

/// What is another one in each of two shells.
const SHELLS_OWN: [&str; 8] = ["$0", "${0", "$$", "$PPID", "$BASHPID", "$SECONDS", "LINENO", "BASH_SOURCE"];

impl Reading {
    /// The arguments of the call, those first that it takes from variables.
    pub(super) fn words(
        &mut self,
        number: u32,
        command: &str,
        prefix: &Prefix,
        script: &str,
    ) -> Result<Vec<String>, Why> {
        let unknown = |written: Vec<String>| {
            let behind = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
            let line_of = |text: &str| {
                let mut lines = script.lines().zip(1_u32..).skip(behind);
                lines.find(|(line, _)| line.contains(text)).map_or(number, |(_, line)| line)
            };
            Why::Unknown(written.into_iter().map(|text| (text.clone(), line_of(&text))).collect())
        };
        let own = without_redirections(command.get(prefix.length..).unwrap_or_default());
        let own = self.without_asked(number, &own);
        let given = words::words(&own, &self.values).map_err(unknown)?;
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        let names: Vec<String> = FLAGS.iter().map(Flag::variable).collect();
        for name in names.iter().filter(|name| prefix.hands_on && self.exported.contains(*name)) {
            if self.values.is_unknown(name) {
                return Err(unknown(vec![format!("${name}")]));
            }
            variables.extend(self.values.get(name).map(|value| (name.clone(), value.clone())));
        }
        for assigned in &prefix.assigned {
            let Some((name, value)) = super::assignment(assigned) else { continue };
            variables.insert(name.to_owned(), words::value(value, &self.values).map_err(unknown)?);
        }
        for name in halves::used(&own).iter().chain(variables.keys()) {
            if let Some((line, command)) = self.values.doubted(name) {
                self.dropped.push((*line, command.clone(), Dropped::Doubtful));
            }
        }
        self.dropped.dedup();
        let mut all = Vec::new();
        for flag in FLAGS {
            if let Some(value) = variables.get(&flag.variable()) {
                all.extend([format!("--{}", flag.name), value.clone()]);
            }
        }
        all.extend(given);
        Ok(all)
    }

    pub(super) fn settled(mut self) -> Script {
        self.tell_of_status();
        let Some(Called { number, words, ways, .. }) = self.call.take() else { return Script::CallsNothing };
        let does = |pieces: &[Piece]| pieces.iter().any(|piece| piece.kind == Kind::Does);
        let traps = self.before.iter().any(|piece| piece.kind == Kind::Does && piece.unit.has(&["trap"]));
        let first = does(&self.before);
        // A trap for the end of the script is for the end of its second part.
        let second = does(&self.after) || (traps && self.bash);
        let mut changes = Vec::new();
        if second {
            let found = halves::changes(&self.before, &self.after);
            changes = found.iter().map(|piece| (piece.unit.number, first_line(&piece.unit.code))).collect();
        }
        let hands_over = !changes.is_empty() && self.bash;
        if !self.bash {
            self.dropped.extend(changes.into_iter().map(|(line, text)| (line, text, Dropped::Lost)));
        }
        if !second {
            self.dropped.retain(|(_, _, what)| *what != Dropped::Descriptor);
        }
        self.tell_of_own(first, second);
        let before = first.then(|| self.first(hands_over));
        let after = second.then(|| self.second(first, hands_over));
        Script::Calls(Call {
            number,
            words,
            before,
            after,
            strict: self.shell.may_end,
            dropped: self.dropped,
            ways,
        })
    }

    /// Tells of what belongs to one shell alone.
    fn tell_of_own(&mut self, first: bool, second: bool) {
        let both = first && second;
        let mentions =
            |pieces: &[Piece], what: &str| pieces.iter().any(|piece| piece.unit.text.contains(what));
        let mut told = Vec::new();
        for piece in self.before.iter().chain(&self.after) {
            for own in SHELLS_OWN.iter().filter(|own| piece.unit.text.contains(**own)) {
                // A number of its own is as good as another, where it is used in one part.
                let twice = both && mentions(&self.before, own) && mentions(&self.after, own);
                if *own == "$$" && !twice {
                    continue;
                }
                told.push((piece.unit.number, (*own).to_owned(), Dropped::Differs));
            }
        }
        let moves = self.before.iter().any(|piece| piece.unit.has(&["cd", "pushd", "popd"]));
        for piece in self.before.iter().filter(|piece| second && moves && piece.kind == Kind::Output) {
            if is_relative(&piece.unit.code) {
                told.push((piece.unit.number, first_line(&piece.unit.code), Dropped::Descriptor));
            }
        }
        let started = self.before.iter().any(|piece| piece.unit.has(&["&", "coproc"]));
        for piece in self.after.iter().filter(|_| started) {
            if piece.unit.has(&["wait", "jobs", "fg", "disown", "kill"]) || piece.unit.text.contains("$!") {
                told.push((piece.unit.number, first_line(&piece.unit.code), Dropped::Started));
            }
        }
        self.dropped.extend(told);
    }

    fn first(&self, hands_over: bool) -> String {
        let mut lines: Vec<String> = self.before.iter().map(|piece| piece.unit.text.clone()).collect();
        if hands_over {
            lines.extend(halves::writing());
        } else if self.shell.may_end && !self.ends_plainly() {
            // Whoever comes here comes to the call.
            lines.push(":".to_owned());
        }
        joined(&lines)
    }

    /// Whether the last command fails only where the shell ends with it.
    fn ends_plainly(&self) -> bool {
        let plain = |piece: &Piece| {
            let code = piece.unit.code.as_str();
            piece.kind != Kind::Does
                || (piece.unit.block.is_none()
                    && !["&&", "||", "!", "{", "("].iter().any(|way| code.contains(way)))
        };
        self.shell.errexit && self.before.last().is_none_or(plain)
    }

    fn second(&self, first: bool, hands_over: bool) -> String {
        let mut lines = Vec::new();
        for piece in &self.before {
            let text = piece.unit.text.as_str();
            match piece.kind {
                // What the first part wrote stays.
                Kind::Output if first => lines.push(appending(text)),
                Kind::Repeated | Kind::Output => lines.push(text.to_owned()),
                Kind::Setting if !hands_over => lines.push(text.to_owned()),
                Kind::Setting | Kind::Says | Kind::Does => {}
            }
        }
        if hands_over {
            let head = lines.iter().take_while(|line| line.starts_with("#!")).count();
            lines.insert(head, halves::reading());
        }
        lines.extend(self.after.iter().map(|piece| piece.unit.text.clone()));
        joined(&lines)
    }
}

fn joined(lines: &[String]) -> String {
    let text = lines.join("\n");
    let shebang = if text.starts_with("#!") { "" } else { "#!/bin/bash\n" };
    format!("{shebang}{text}\n")
}
