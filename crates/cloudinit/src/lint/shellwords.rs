//! Words of shell lines that are wrong wherever they stand.

use bringup_diag::{Finding, Findings, Place};

use crate::codes;
use crate::invocations::{Invocation, Lines, invocations};

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

/// Something that makes a file grow each time it runs.
pub(super) struct Append {
    /// The line of the script, from 0, and the column in it.
    pub line: usize,
    pub column: u32,
    /// `>>` or `tee -a`.
    pub by: &'static str,
}

/// Where a script appends to a file, and nothing on that line guards it from being repeated; the first of each line.
pub(super) fn unguarded_appends(script: &str) -> Vec<Append> {
    let mut found: Vec<Append> = Vec::new();
    let lines = Lines::of(script);
    for called in invocations(script) {
        let by_shell = called.outputs.iter().find(|output| output.appends && !grows_by_design(&output.path));
        let at = match by_shell {
            Some(output) => Some((output.at, ">>")),
            None => appends_by_itself(&called).then_some((called.at, "tee -a")),
        };
        let Some((at, by)) = at else { continue };
        let (line, column) = lines.place(at);
        if found.last().is_none_or(|last| last.line != line) && !is_guarded(lines.line(line)) {
            found.push(Append { line, column, by });
        }
    }
    found
}

fn appends_by_itself(called: &Invocation) -> bool {
    let words = called.words.iter().skip(1).map(String::as_str);
    called.program() == "tee"
        && words.clone().any(|word| matches!(word, "-a" | "--append" | "-ai" | "-ia"))
        && words.filter(|word| !word.starts_with('-')).any(|path| !grows_by_design(path))
}

/// Logs are meant to grow, devices cannot.
fn grows_by_design(path: &str) -> bool {
    ["/var/log/", "/dev/", "&"].iter().any(|start| path.starts_with(start))
}

/// Whether a line asks first whether there is something to do.
fn is_guarded(line: &str) -> bool {
    let asks = |called: Invocation| match called.program() {
        "grep" => called.words.iter().any(|word| {
            word == "--quiet" || word.starts_with('-') && !word.starts_with("--") && word.contains('q')
        }),
        "[" | "[[" | "test" => line.contains("||") || called.words.iter().any(|word| word == "!"),
        _ => false,
    };
    line.contains("cloud-init-per") || invocations(line).into_iter().any(asks)
}

/// The column of the letter at this byte.
pub(super) fn column_at(line: &str, at: usize) -> u32 {
    let letters = line.get(..at).map_or(0, |before| before.chars().count());
    u32::try_from(letters).unwrap_or(u32::MAX).saturating_add(1)
}

/// Adds what is wrong with a line; `place` makes a place of a column and a width in it.
pub(super) fn line_lints(line: &str, findings: &mut Findings, place: impl Fn(u32, usize) -> Place) {
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

/// Adds a finding for each `systemd` that a script calls with a verb of `systemctl`; `place` makes a place of a line of the
/// script, from 0, and a column and a width in it.
pub(super) fn systemd_lints(
    script: &str,
    findings: &mut Findings,
    place: impl Fn(usize, u32, usize) -> Option<Place>,
) {
    let lines = Lines::of(script);
    for called in invocations(script).into_iter().filter(|called| called.program() == "systemd") {
        let Some(verb) = called.words.get(1).filter(|verb| VERBS.contains(&verb.as_str())) else { continue };
        let (line, column) = lines.place(called.at);
        let Some(place) = place(line, column, "systemd".len()) else { continue };
        findings.push(
            Finding::error(codes::NOT_SYSTEMCTL, format!("`systemd {verb}` is no command: it fails"))
                .at(place)
                .hint(format!("write `systemctl {verb}`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::unguarded_appends;

    #[test]
    fn appending_to_logs_and_behind_a_guard_is_fine() {
        let column = |line: &str| unguarded_appends(line).first().map(|append| (append.column, append.by));
        assert_eq!(column("echo x >> /etc/y"), Some((8, ">>")));
        assert_eq!(column("[ -d /etc ] && echo x >>/etc/y"), Some((23, ">>")));
        assert_eq!(column("echo x | tee -a /etc/y"), Some((10, "tee -a")));
        assert_eq!(column("sh -c 'echo x >> /etc/y'"), Some((15, ">>")));
        for line in [
            "echo x > /etc/y",
            "date >> /var/log/boot",
            "grep -q x /etc/y || echo x >> /etc/y",
            "grep -Fxq x /etc/y || echo x >> /etc/y",
            "[ -f /etc/y ] || echo x >> /etc/y",
            "test ! -e /etc/y && echo x >> /etc/y",
            "cloud-init-per once a sh -c 'echo >> b'",
            "echo >>/dev/console",
            "echo x | tee -a /var/log/boot",
            "echo 'a >> b'",
            "# echo a >> b",
            "logger \"x >> /etc/y\"",
        ] {
            assert_eq!(column(line), None, "{line}");
        }
    }
}
