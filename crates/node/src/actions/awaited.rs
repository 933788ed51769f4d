//! What a stage waits for: files that somebody brings, perhaps late, and taken only when all of them are whole.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_disk::{Disk, Kind};
use bringup_plan::Awaited;
use bringup_progress::{Failure, FailureKind};
use sha2::{Digest as _, Sha256};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(200);
/// How often files that are there and not whole are read anew.
const READ: Duration = Duration::from_secs(2);
/// How long the first look may take before the status says what is missing.
const FIRST: Duration = Duration::from_secs(2);
/// How long a later one may take before the status is told anew.
const LATER: Duration = Duration::from_secs(20);
/// A list that is larger is none.
const LARGEST: usize = 4 << 20;
/// How many names a message has.
const SHOWN: usize = 3;

/// Waits for a while until all is there, and says what is missing if it is not.
pub(super) fn wait(disk: &dyn Disk, awaited: &[Awaited], attempt: u32) -> Result<(), Failure> {
    let until = Instant::now() + if attempt > 1 { LATER } else { FIRST };
    loop {
        // All that is to be there, before anything is read: bringing it may take long, and reading it, too.
        let (mut missing, mut pause) = (absent(disk, awaited), LOOK);
        if missing.is_empty() {
            (missing, pause) = (torn(disk, awaited), READ);
        }
        if missing.is_empty() {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(failure(&missing));
        }
        std::thread::sleep(pause);
    }
}

fn failure(missing: &[String]) -> Failure {
    let mut why = missing.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    if let Some(more @ 1..) = missing.len().checked_sub(SHOWN) {
        why = format!("{why}; and {more} more");
    }
    // Nobody's fault, and no attempt: what is awaited comes when it comes.
    Failure::new(FailureKind::Operator, why, "bring what it waits for; the agent goes on by itself")
}

/// What is not there, in the order in which it is named.
fn absent(disk: &dyn Disk, awaited: &[Awaited]) -> Vec<String> {
    let mut absent = Vec::new();
    for awaited in awaited {
        match awaited {
            Awaited::Path(path) => {
                if !matches!(disk.look(Path::new(path)), Ok(Some(_))) {
                    absent.push(format!("`{path}`, which it waits for, is not there"));
                }
            }
            Awaited::Manifest { manifest } => match list(disk, manifest) {
                Ok(lines) => {
                    let is_file = |path: &str| matches!(disk.look(Path::new(path)), Ok(Some(entry)) if entry.kind == Kind::File);
                    let gone = lines.iter().filter(|line| !is_file(&line.path));
                    absent.extend(
                        gone.map(|line| format!("`{}`, which `{manifest}` lists, is not there", line.path)),
                    );
                }
                Err(why) => absent.push(why),
            },
        }
    }
    absent
}

/// What is there and is not what it is to be.
fn torn(disk: &dyn Disk, awaited: &[Awaited]) -> Vec<String> {
    let mut torn = Vec::new();
    for awaited in awaited {
        let Awaited::Manifest { manifest } = awaited else { continue };
        match list(disk, manifest) {
            Ok(lines) => {
                let other =
                    lines.iter().filter(|line| digest(disk, &line.path).as_ref() != Some(&line.sha256));
                torn.extend(
                    other.map(|line| format!("`{}` is not whole, or not what `{manifest}` says", line.path)),
                );
            }
            Err(why) => torn.push(why),
        }
    }
    torn
}

/// What a list of digests says, or why it says nothing yet.
fn list(disk: &dyn Disk, manifest: &str) -> Result<Vec<Line>, String> {
    let path = Path::new(manifest);
    if !matches!(disk.look(path), Ok(Some(_))) {
        return Err(format!("`{manifest}`, which lists what it waits for, is not there"));
    }
    let text = disk.read(path).map_err(|fault| format!("`{manifest}` cannot be read: {fault}"))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    lines(&text, folder).map_err(|why| format!("`{manifest}` {why}"))
}

fn digest(disk: &dyn Disk, path: &str) -> Option<String> {
    let mut file = disk.open(Path::new(path)).ok()?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            count => hasher.update(piece.get(..count)?),
        }
    }
    let digest = hasher.finalize();
    Some(digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        text
    }))
}

/// A line of a list of digests.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    sha256: String,
    /// From the root.
    path: String,
}

/// The lines of what `sha256sum` writes: a digest, two spaces or a space and an asterisk, a path from the list's folder.
fn lines(text: &[u8], folder: &Path) -> Result<Vec<Line>, String> {
    if text.len() > LARGEST {
        return Err("is too large for a list of digests".to_owned());
    }
    let text = std::str::from_utf8(text).map_err(|_| "is no text".to_owned())?;
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    // Whoever is in the middle of writing it has not ended its last line.
    let Some(text) = text.strip_suffix('\n') else {
        return Err("does not end with a line end yet".to_owned());
    };
    text.split('\n')
        .enumerate()
        .map(|(index, line)| {
            let wrong = || format!("has no digest and path in line {}", index + 1);
            let (sha256, path) = line.split_at_checked(64).ok_or_else(wrong)?;
            let path = path.strip_prefix("  ").or_else(|| path.strip_prefix(" *")).ok_or_else(wrong)?;
            let is_digest = sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_digest || path.is_empty() {
                return Err(wrong());
            }
            Ok(Line { sha256: sha256.to_owned(), path: folder.join(path).display().to_string() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bringup_plan::Awaited;
    use bringup_progress::FailureKind;

    use super::{Line, absent, lines, torn, wait};
    use crate::actions::stage::{Stage, well};
    use crate::server::Reply;

    // What `printf hello | sha256sum` and `printf world | sha256sum` say.
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    const WORLD: &str = "486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7";

    fn awaited() -> [Awaited; 2] {
        let manifest = "/opt/tectonic/SHA256SUMS".to_owned();
        [Awaited::Path("/opt/tectonic/bootkube.sh".to_owned()), Awaited::Manifest { manifest }]
    }

    #[test]
    fn a_list_is_what_sha256sum_writes() {
        let text = format!("{HELLO}  a b\n{WORLD} *tls/ca.key\n");
        let line = |sha256: &str, path: &str| Line { sha256: sha256.to_owned(), path: path.to_owned() };
        let read = lines(text.as_bytes(), Path::new("/opt/x")).unwrap();
        assert_eq!(read, [line(HELLO, "/opt/x/a b"), line(WORLD, "/opt/x/tls/ca.key")]);
        for (wrong, why) in [
            ("", "is empty"),
            (&text[..text.len() - 1], "does not end with a line end yet"),
            ("\n", "has no digest and path in line 1"),
            (&text.replace("  a b", " a b"), "has no digest and path in line 1"),
            (&text.replacen('2', "G", 1), "has no digest and path in line 1"),
            (&format!("{HELLO}  a\nä\n"), "has no digest and path in line 2"),
        ] {
            assert_eq!(lines(wrong.as_bytes(), Path::new("/")), Err(why.to_owned()), "{wrong:?}");
        }
    }

    #[test]
    fn assets_are_taken_when_all_of_them_are_whole() {
        let stage = Stage::new(|_| Reply::new(500, ""), well);
        let awaited = awaited();
        let files = stage.machine.files();
        let disk = files.disk();
        let failure = wait(disk, &awaited, 1).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Operator);
        assert_eq!(
            failure.why,
            "`/opt/tectonic/bootkube.sh`, which it waits for, is not there; `/opt/tectonic/SHA256SUMS`, which lists \
             what it waits for, is not there"
        );
        stage.write("/opt/tectonic/bootkube.sh", "#!/bin/sh\n");
        stage.write("/opt/tectonic/SHA256SUMS", format!("{HELLO}  manifests/a\n{WORLD}  manifests/b\n"));
        stage.write("/opt/tectonic/manifests/a", "hel");
        assert_eq!(
            absent(disk, &awaited),
            ["`/opt/tectonic/manifests/b`, which `/opt/tectonic/SHA256SUMS` lists, is not there"]
        );
        stage.write("/opt/tectonic/manifests/b", "world");
        assert!(absent(disk, &awaited).is_empty());
        assert_eq!(
            torn(disk, &awaited),
            ["`/opt/tectonic/manifests/a` is not whole, or not what `/opt/tectonic/SHA256SUMS` says"]
        );
        stage.write("/opt/tectonic/manifests/a", "hello");
        assert!(wait(disk, &awaited, 1).is_ok());
    }

    #[test]
    fn a_message_names_a_few_and_counts_the_rest() {
        let many: Vec<String> = (0..5).map(|number| format!("`{number}`")).collect();
        assert_eq!(super::failure(&many).why, "`0`; `1`; `2`; and 2 more");
        assert_eq!(super::failure(&many[..3]).why, "`0`; `1`; `2`");
    }
}
