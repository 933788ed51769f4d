//! What a call may begin with, and what may answer its failure.

use super::commands::{Behind, commands};
use super::words::raw;

/// The script that joins a node, on images of EKS.
pub(crate) const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// What stands before the words of a call.
pub(super) struct Prefix {
    /// Its length, the name of the image's script included.
    pub(super) length: usize,
    /// Variables that are set for the call alone.
    pub(super) assigned: Vec<String>,
    /// Whether the shell becomes the call.
    pub(super) replaces: bool,
    /// Whether variables of the script reach the call, and not only those that are set for it.
    pub(super) hands_on: bool,
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
    let mut prefix = Prefix { length: 0, assigned: Vec::new(), replaces: false, hands_on: true };
    let mut runner = "";
    let mut value_follows = false;
    // What is set before `sudo` gets through it only with `-E`.
    let mut held = Vec::new();
    for (word, end) in raw(command) {
        if word.trim_matches(['"', '\'']) == BOOTSTRAP {
            prefix.length = end;
            return Some(prefix);
        }
        if std::mem::take(&mut value_follows) {
            continue;
        }
        if word.starts_with('-') {
            let program = runner.rsplit('/').next().unwrap_or_default();
            match (program, word) {
                ("sudo", word) if word.contains('E') || word.starts_with("--preserve-env") => {
                    prefix.hands_on = true;
                    prefix.assigned.append(&mut held);
                }
                ("env", "-i" | "-" | "--ignore-environment") => {
                    prefix.hands_on = false;
                    prefix.assigned.clear();
                }
                // What follows is a text for the shell, and no file.
                ("bash" | "sh", word) if !word.starts_with("--") && word.contains('c') => return None,
                // A program that is unset for the call alone.
                ("env", "-u") => return None,
                // `sudo -u root`, `bash -o pipefail`
                _ => value_follows = matches!(word, "-u" | "-o" | "-g"),
            }
        } else if super::assignment(word).is_some() {
            prefix.assigned.push(word.to_owned());
        } else if RUNNERS.contains(&word) {
            prefix.replaces |= word == "exec";
            runner = word;
            if word.ends_with("sudo") {
                prefix.hands_on = false;
                held.append(&mut prefix.assigned);
            }
        } else {
            return None;
        }
    }
    None
}

pub(super) fn first_word(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or_default()
}

/// Whether a command that answers a failure only ends the script, goes on or says something: the agent stops there by
/// itself, tries again and tells how it ended.
pub(super) fn is_plain_answer(command: &str) -> bool {
    let inside = command.trim().trim_start_matches(['{', '(']).trim_end_matches(['}', ')']);
    let inside = inside.replace('\n', ";");
    let plain = |(part, _): &(&str, Behind)| {
        matches!(first_word(part), "exit" | "return" | "true" | ":" | "false" | "echo" | "printf" | "logger")
    };
    commands(&inside).iter().all(plain)
}
