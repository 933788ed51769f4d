//! Where the output of a script's commands goes: `exec > FILE`, and the same for a second script.

use super::commands::without_redirections;

/// Whether a line only says where the output of the lines behind it goes.
pub(super) fn redirects(line: &str) -> bool {
    line.strip_prefix("exec ").is_some_and(|rest| {
        let kept = without_redirections(rest);
        kept.trim().is_empty() && !rest.trim().is_empty() && !rest.replace("<&", "").contains('<')
    })
}

/// Whether a redirection names a file by a path that hangs on the working directory.
pub(super) fn is_relative(line: &str) -> bool {
    let targets = line.split('>').skip(1).map(|rest| rest.trim_start_matches('|').trim_start());
    let by_tee =
        line.split("tee ").skip(1).map(|rest| rest.trim_start().trim_start_matches("-a").trim_start());
    let mut targets = targets.chain(by_tee).map(|target| target.trim_start_matches(['"', '\'']));
    targets.any(|target| target.starts_with(|letter: char| letter.is_alphanumeric() || "._".contains(letter)))
}

/// What says where the output of a command goes: all that follows the first of it.
pub(super) fn redirections(command: &str) -> String {
    let kept = without_redirections(command);
    let same = command.chars().zip(kept.chars()).take_while(|(one, other)| one == other);
    let length: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    command.get(length..).unwrap_or_default().trim().to_owned()
}

/// The same redirection for a second script: what the first one wrote stays.
pub(super) fn appending(line: &str) -> String {
    if !redirects(line) {
        return line.to_owned();
    }
    let mut second = String::with_capacity(line.len());
    let mut rest = line;
    let mut quote: Option<char> = None;
    while let Some(letter) = rest.chars().next() {
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        second.push(letter);
        rest = behind;
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('>', None) if behind.starts_with('>') => {
                second.push('>');
                rest = behind.get(1..).unwrap_or_default();
            }
            ('>', None) if !behind.starts_with(['&', '(']) => {
                let target = behind.trim_start_matches('|').trim_start();
                if !target.starts_with('>') && !target.starts_with("/dev/") {
                    second.push('>');
                    rest = behind.trim_start_matches('|');
                }
            }
            ('e', None) if is_tee(&second) && behind.starts_with(' ') => {
                let flags = behind.trim_start();
                if !(flags.starts_with("-a") || flags.starts_with("--append")) {
                    second.push_str(" -a");
                }
            }
            _ => {}
        }
    }
    second
}

fn is_tee(text: &str) -> bool {
    text.strip_suffix("tee").is_some_and(|before| !before.ends_with(|letter: char| letter.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_script_adds_to_what_the_first_one_wrote() {
        for (line, second) in [
            ("exec > /var/log/x 2>&1", "exec >> /var/log/x 2>&1"),
            ("exec 1>/x", "exec 1>>/x"),
            ("exec &> /x", "exec &>> /x"),
            ("exec >>/x", "exec >>/x"),
            ("exec 2>&1", "exec 2>&1"),
            ("exec > /x 2> /y", "exec >> /x 2>> /y"),
            ("exec 3>&1 >|/x", "exec 3>&1 >>/x"),
            ("exec > >(logger -t x)", "exec > >(logger -t x)"),
            ("exec > >(tee /x) 2> >(tee /y >&2)", "exec > >(tee -a /x) 2> >(tee -a /y >&2)"),
            ("exec > >(tee /x|logger -s 2>/dev/console)", "exec > >(tee -a /x|logger -s 2>/dev/console)"),
            ("exec > >(tee -a /x)", "exec > >(tee -a /x)"),
        ] {
            assert!(redirects(line), "{line}");
            assert_eq!(appending(line), second);
        }
        for (line, relative) in [
            ("exec > x", true),
            ("exec > >(tee -a x) 2>&1", true),
            ("exec >> /x 2>&1", false),
            ("exec > $LOG", false),
        ] {
            assert_eq!(is_relative(line), relative, "{line}");
        }
        for line in ["exec /x > /y", "exec < /x", "exec", "executor > /x", "exec {log}>/x"] {
            assert!(!redirects(line), "{line}");
        }
    }
}
