//! What a call may begin with, and what may answer its failure.

use super::commands::{Behind, commands};

/// The script that joins a node, on images of EKS.
pub(super) const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// What stands before the words of a call.
pub(super) struct Prefix {
    /// Its length, the name of the image's script included.
    pub(super) length: usize,
    /// Variables that are set for the call alone.
    pub(super) assigned: Vec<String>,
    /// Whether the shell becomes the call.
    pub(super) replaces: bool,
}

/// Programs that run another.
const RUNNERS: [&str; 12] = [
    "bash",
    "/bin/bash",
    "/usr/bin/bash",
    "sh",
    "/bin/sh",
    "/usr/bin/sh",
    "sudo",
    "/usr/bin/sudo",
    "exec",
    "env",
    "time",
    "nohup",
];

/// What stands before the words of a call, if a command is one, perhaps through a shell or sudo.
pub(super) fn prefix(command: &str) -> Option<Prefix> {
    let mut prefix = Prefix { length: 0, assigned: Vec::new(), replaces: false };
    let mut rest = command;
    let mut value_follows = false;
    loop {
        let word = rest.split_whitespace().next()?;
        let begin = rest.find(word)?;
        rest = rest.get(begin + word.len()..)?;
        if word.trim_matches(['"', '\'']) == BOOTSTRAP {
            prefix.length = command.len() - rest.len();
            return Some(prefix);
        }
        if std::mem::take(&mut value_follows) {
            continue;
        }
        if word.starts_with('-') {
            // `sudo -u root`, `bash -o pipefail`
            value_follows = matches!(word, "-u" | "-o");
        } else if super::assignment(word).is_some() {
            prefix.assigned.push(word.to_owned());
        } else if RUNNERS.contains(&word) {
            prefix.replaces |= word == "exec";
        } else {
            return None;
        }
    }
}

pub(super) fn first_word(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or_default()
}

/// Whether a command that answers a failure only ends the script, goes on or says something: the agent stops there by
/// itself, tries again and tells how it ended.
pub(super) fn is_plain_answer(command: &str) -> bool {
    let inside = command.trim().trim_start_matches(['{', '(']).trim_end_matches(['}', ')']);
    let plain = |(part, _): &(&str, Behind)| {
        matches!(first_word(part), "exit" | "return" | "true" | ":" | "false" | "echo" | "printf" | "logger")
    };
    commands(inside).iter().all(plain)
}
