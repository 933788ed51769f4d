//! What systemd makes of the lines of a unit and of its drop-ins: what is reset is gone, and commands stand in the order
//! in which they run.

use super::unit_text::Setting;

/// The commands of a start, in systemd's order, whatever the order of the lines is.
const ORDER: [&str; 4] = ["ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost"];
/// Dependencies are only ever added to.
const DEPENDENCIES: [&str; 11] = [
    "After",
    "Before",
    "BindsTo",
    "Conflicts",
    "OnFailure",
    "PartOf",
    "Requires",
    "Requisite",
    "RequiresMountsFor",
    "Upholds",
    "Wants",
];

/// The settings that count, of the lines of a unit and after them those of its drop-ins.
pub(super) fn effective(lines: Vec<Setting>) -> Vec<Setting> {
    let mut kept: Vec<Setting> = Vec::new();
    // systemd.unit(5): sections whose names begin so are for other programs.
    for line in lines.into_iter().filter(|line| !line.section.starts_with("X-")) {
        if !line.value.is_empty() {
            kept.extend(commands(line));
        } else if !DEPENDENCIES.contains(&line.key.as_str()) {
            kept.retain(|other| other.section != line.section || list_of(other) != list_of(&line));
        }
    }
    let rank =
        |setting: &Setting| ORDER.iter().position(|key| setting.section == "Service" && setting.key == *key);
    let mut started: Vec<(usize, Setting)> =
        kept.iter().filter_map(|setting| Some((rank(setting)?, setting.clone()))).collect();
    started.sort_by_key(|(rank, _)| *rank);
    let mut started = started.into_iter().map(|(_, setting)| setting);
    // Other settings stay where they are, so that what is kept of them reads as it was written.
    kept.into_iter()
        .filter_map(|setting| if rank(&setting).is_some() { started.next() } else { Some(setting) })
        .collect()
}

/// Which list a setting adds to: conditions are one, and so are the paths of a path unit.
fn list_of(setting: &Setting) -> &str {
    match (setting.section.as_str(), setting.key.as_str()) {
        (_, key) if key.starts_with("Condition") => "Condition",
        (_, key) if key.starts_with("Assert") => "Assert",
        ("Path", "PathExists" | "PathExistsGlob" | "PathChanged" | "PathModified" | "DirectoryNotEmpty") => {
            "PathExists"
        }
        (_, key) => key,
    }
}

/// The commands of a line: a `;` that is a word of its own stands between two.
fn commands(line: Setting) -> Vec<Setting> {
    if !line.key.starts_with("Exec") || !line.value.contains(';') {
        return vec![line];
    }
    let mut found = vec![String::new()];
    let mut quote = None;
    let mut letters = line.value.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let is_end = letters.peek().is_none_or(|next| next.is_whitespace());
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ';') if before.is_whitespace() && is_end => {
                found.push(String::new());
                before = letter;
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(letter);
            if letter == '\\' {
                last.extend(letters.next());
            }
        }
        before = letter;
    }
    let found = found.iter().map(|command| command.trim()).filter(|command| !command.is_empty());
    found.map(|command| Setting { value: command.to_owned(), ..line.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use bringup_diag::Span;

    use super::super::unit_text::{Lines, settings};
    use super::*;
    use crate::tree::text;

    fn shown(unit: &str) -> Vec<String> {
        let settings = settings(&text(Span::default(), unit), Lines::OfFile);
        effective(settings).iter().map(|one| format!("{}={}", one.key, one.value)).collect()
    }

    /// systemd.service(5): the order of `ExecCondition=`, `ExecStartPre=`, `ExecStart=` and `ExecStartPost=` is their own.
    #[test]
    fn commands_stand_in_the_order_in_which_they_run() {
        let unit = "[Service]\nExecStartPost=/d\nExecStart=/c ; /c2 ';' \\; x\nNice=1\nExecStartPre=/b\nExecStartPre=-/b2\nExecCondition=/a\n";
        assert_eq!(
            shown(unit),
            [
                "ExecCondition=/a",
                "ExecStartPre=/b",
                "ExecStartPre=-/b2",
                "Nice=1",
                "ExecStart=/c",
                "ExecStart=/c2 ';' \\; x",
                "ExecStartPost=/d"
            ]
        );
    }

    /// systemd.unit(5): an empty value resets a list; dependencies cannot be reset; conditions are one list. systemd.path(5):
    /// so are the paths.
    #[test]
    fn an_empty_value_resets_what_stands_before_it() {
        let unit = "[Unit]\nAfter=a\nAfter=\nConditionPathExists=/a\nConditionHost=b\nConditionHost=\n[Service]\nExecStart=/a\nExecStartPre=/b\nExecStart=\nExecStart=/c\n[Path]\nPathExists=/a\nPathChanged=\nPathExists=/b\n";
        assert_eq!(shown(unit), ["After=a", "ExecStartPre=/b", "ExecStart=/c", "PathExists=/b"]);
    }
}
