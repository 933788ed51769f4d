//! Words of shell lines that are wrong wherever they stand.

use bringup_diag::{Finding, Findings, Place};

use crate::codes;

/// What `systemctl` does and `systemd` does not.
const VERBS: [&str; 12] = [
    "daemon-reload",
    "daemon-reexec",
    "start",
    "stop",
    "restart",
    "reload",
    "enable",
    "disable",
    "mask",
    "unmask",
    "status",
    "is-active",
];

/// The column of a `>>` that nothing guards from being repeated. Logs are meant to grow, devices cannot.
pub(super) fn unguarded_append(line: &str) -> Option<u32> {
    // Within quotes it is text, unless a shell is given the text.
    let given = ["sh -c", "sh -ec", "cloud-init-per", "eval "].iter().any(|shell| line.contains(shell));
    let at = if given { line.find(">>")? } else { unquoted(line, ">>")? };
    let target = line.get(at.saturating_add(2)..)?.trim_start().trim_start_matches(['"', '\'']);
    let grows_by_design = ["/var/log/", "/dev/", "&"].iter().any(|start| target.starts_with(start));
    let guarded = line.contains("cloud-init-per") || line.contains("grep -q");
    (!grows_by_design && !guarded).then(|| column_at(line, at))
}

/// Where the operator stands outside of quotes.
fn unquoted(line: &str, operator: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, _) if line.get(at..).is_some_and(|rest| rest.starts_with(operator)) => return Some(at),
            _ => {}
        }
    }
    None
}

/// The column of the letter at this byte.
pub(super) fn column_at(line: &str, at: usize) -> u32 {
    let letters = line.get(..at).map_or(0, |before| before.chars().count());
    u32::try_from(letters).unwrap_or(u32::MAX).saturating_add(1)
}

/// Adds what is wrong with a line; `place` makes a place of a column and a width in it.
pub(super) fn line_lints(line: &str, findings: &mut Findings, place: impl Fn(u32, usize) -> Place) {
    if let Some((at, verb)) = systemd_verb(line) {
        findings.push(
            Finding::error(codes::NOT_SYSTEMCTL, format!("`systemd {verb}` is no command: it fails"))
                .at(place(column_at(line, at), "systemd".len()))
                .hint(format!("write `systemctl {verb}`")),
        );
    }
    for directory in ["/lib/systemd/system/", "/usr/lib/systemd/system/"] {
        let found = line.match_indices(directory).find(|(at, _)| {
            let before = line.get(..*at).and_then(|before| before.chars().next_back());
            before.is_none_or(|letter| !letter.is_ascii_alphanumeric()) && writes(line)
        });
        if let Some((at, _)) = found {
            findings.push(
                Finding::warning(
                    codes::VENDOR_PATH,
                    format!(
                        "`{}` belongs to the image, and is elsewhere on other distributions",
                        directory.trim_end_matches('/')
                    ),
                )
                .at(place(column_at(line, at), directory.len().saturating_sub(1)))
                .hint("write units and drop-ins to `/etc/systemd/system`"),
            );
        }
    }
    let old = "/var/cache/kubernetes-install";
    if let Some(at) = line.find(old) {
        findings.push(
            Finding::note(codes::KOPS_PATH, "kops keeps nodeup elsewhere now")
                .at(place(column_at(line, at), old.len()))
                .hint("the directory is `/opt/kops`"),
        );
    }
}

/// Whether a line makes or changes files, as far as its words tell.
fn writes(line: &str) -> bool {
    let verbs = ["mkdir", "cp", "mv", "ln", "tee", "install", "sed", "touch", "rm"];
    line.contains('>')
        || line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| verbs.contains(&word))
}

/// `systemd` followed by a verb of `systemctl`.
fn systemd_verb(line: &str) -> Option<(usize, &str)> {
    line.match_indices("systemd").find_map(|(at, word)| {
        let before = line.get(..at)?.chars().next_back();
        let rest = line.get(at.saturating_add(word.len())..)?;
        let alone = before.is_none_or(|letter| letter.is_whitespace() || "'\";&|(=".contains(letter));
        let next = rest.trim_start_matches(['\'', '"', ' ', ',']);
        let verb = next.split(|letter: char| !(letter.is_ascii_alphabetic() || letter == '-')).next()?;
        (alone && next.len() < rest.len() && VERBS.contains(&verb)).then_some((at, verb))
    })
}

#[cfg(test)]
mod tests {
    use super::{systemd_verb, unguarded_append};

    #[test]
    fn systemd_is_told_from_systemctl() {
        assert_eq!(systemd_verb("systemd daemon-reload"), Some((0, "daemon-reload")));
        assert_eq!(systemd_verb("'systemd' 'restart' 'x'"), Some((1, "restart")));
        assert_eq!(systemd_verb("a && systemd enable x"), Some((5, "enable")));
        assert_eq!(systemd_verb("ExecStart=systemd restart x"), Some((10, "restart")));
        for line in [
            "systemctl daemon-reload",
            "apt-get install systemd",
            "ls /etc/systemd start",
            "systemd-run start",
            "mysystemd start",
        ] {
            assert_eq!(systemd_verb(line), None, "{line}");
        }
    }

    #[test]
    fn appending_to_logs_and_behind_a_guard_is_fine() {
        assert_eq!(unguarded_append("echo x >> /etc/y"), Some(8));
        for line in [
            "echo x > /etc/y",
            "date >> /var/log/boot",
            "grep -q x /etc/y || echo x >> /etc/y",
            "cloud-init-per once a sh -c 'echo >> b'",
            "echo >>/dev/console",
            "echo 'a >> b'",
            "logger \"x >> /etc/y\"",
        ] {
            assert_eq!(unguarded_append(line), None, "{line}");
        }
    }
}
