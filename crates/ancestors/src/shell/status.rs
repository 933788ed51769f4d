//! What a script makes of how its call ended.
//!
//! Behind the call stands a step of its own, which is come to only where the call has succeeded. What would answer a failure there
//! is never done.

use super::halves;
use super::piece::Piece;
use super::prefix::first_word;
use super::reading::{Reading, first_line};
use super::script::Dropped;
use super::units::{Unit, units};

/// How a shell says how the last command ended.
const STATUS: [&str; 3] = ["$?", "${?}", "PIPESTATUS"];

/// Commands that only look, say something or end the script: the agent stops there by itself and tells how it ended.
const PLAIN: [&str; 14] = [
    "if", "[", "[[", "test", "((", "case", "echo", "printf", "logger", "exit", "return", "true", "false", ":",
];

impl Reading {
    /// Tells of commands behind the call that ask how it ended.
    pub(super) fn tell_of_status(&mut self) {
        let is_come_to = !self.shell.errexit && self.call.as_ref().is_some_and(|call| !call.is_answered);
        let Some(first) = self.after.first().filter(|_| is_come_to) else { return };
        if !STATUS.iter().any(|status| first.unit.code.contains(status)) {
            return;
        }
        let asks: Vec<&Piece> = match held(&first.unit) {
            Some(name) => {
                // Where it is set anew, it is about something else, too.
                let behind = self.after.iter().skip(1);
                let held = behind.take_while(|piece| !piece.unit.sets().contains(&name));
                held.filter(|piece| halves::used(&piece.unit.code).contains(name)).collect()
            }
            None => vec![first],
        };
        let told: Vec<_> = asks
            .into_iter()
            .filter(|piece| answers_failure(&piece.unit))
            .map(|piece| (piece.unit.number, first_line(&piece.unit.code), Dropped::Status))
            .collect();
        self.dropped.extend(told);
    }
}

/// The variable that a command puts the status into, if that is all that it does.
fn held(unit: &Unit) -> Option<&str> {
    let (name, value) = super::assignment(unit.code.trim())?;
    let value = value.trim_matches(['"', '\'']);
    matches!(value, "$?" | "${?}" | "${PIPESTATUS[0]}").then_some(name)
}

/// Whether something is done there that is for a failure, or is not known to be for a success.
fn answers_failure(unit: &Unit) -> bool {
    // Signals are the plan's.
    let is_signal = |line: &&str| first_word(line).rsplit('/').next() == Some("cfn-signal");
    let code: Vec<&str> = unit.code.lines().filter(|line| !is_signal(line)).collect();
    let code = code.join("\n");
    let heads = units(&code).into_iter().flat_map(|unit| unit.heads);
    let mut does = heads.filter(|head| !PLAIN.iter().any(|plain| head == plain));
    let for_success = ["-eq 0", "= 0", "== 0"].iter().any(|way| code.contains(way))
        && !["else", "elif", "||", "! ", "!="].iter().any(|way| code.contains(way));
    does.next().is_some() && !for_success
}
