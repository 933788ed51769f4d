//! What a script does whatever the machine is like that it runs on.

use super::commands::{Behind, commands};
use super::units::units;

/// Heads of commands behind which there may be nothing more.
const ENDS: [&str; 3] = ["exit", "exec", "return"];

/// Commands of one line that follow each other for certain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Certain {
    /// Where the line stands.
    pub(crate) number: u32,
    /// Its commands without `sudo`.
    pub(crate) commands: Vec<String>,
}

/// The lines that the shell comes to in any case: none of a condition, a loop or a function, and none behind what may have ended
/// the shell.
pub(crate) fn certain(script: &str) -> Vec<Certain> {
    let mut all = Vec::new();
    for unit in units(script) {
        if unit.has(&ENDS) {
            break;
        }
        let parts = commands(&unit.code);
        let leads_on = |(command, behind): &(&str, Behind)| match behind {
            Behind::Follows | Behind::Reads => true,
            // A directory that is there already is made all the same.
            Behind::Succeeds => bare(command).starts_with("mkdir -p "),
            Behind::Beside | Behind::Fails => false,
        };
        if unit.block.is_none() && parts.iter().all(leads_on) {
            let commands = parts.iter().map(|(command, _)| bare(command).to_owned()).collect();
            all.push(Certain { number: unit.number, commands });
        }
    }
    all
}

fn bare(command: &str) -> &str {
    let command = command.trim();
    command.strip_prefix("sudo ").map_or(command, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::certain;

    #[test]
    fn only_what_is_come_to_in_any_case_counts() {
        let script = "#!/bin/bash\na x\nif b; then\n  c\nfi\nmkdir -p d && sudo e | f\n[ -e g ] && h\ni || j\nk &\nl\n[ -e m ] || exit\nn\n";
        let found: Vec<(u32, Vec<String>)> =
            certain(script).into_iter().map(|line| (line.number, line.commands)).collect();
        let line =
            |number: u32, words: &[&str]| (number, words.iter().map(|word| (*word).to_owned()).collect());
        let found: Vec<_> = found.into_iter().filter(|(number, _)| *number > 1).collect();
        assert_eq!(found, [line(2, &["a x"]), line(6, &["mkdir -p d", "e", "f"]), line(10, &["l"])]);
    }
}
