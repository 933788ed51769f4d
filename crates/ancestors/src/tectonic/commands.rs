//! The commands that Tectonic's units are made of, known by what they do.

use super::known_files::image_of;
use super::unit_text::{Setting, command_words, prefix};
use crate::codes;
use crate::tell::Teller;

/// What a command of a unit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Makes directories.
    Directories(Vec<String>),
    /// Fetches an object of a store to a path: `s3` or another store's name, the location, the path.
    Fetch(String, String, String),
    /// Runs `tectonic-torcx-bootstrap` with these flags.
    Torcx(Vec<String>),
    /// Takes the authority out of the kubeconfig.
    Authority,
    /// Says something.
    Says,
    /// Makes an empty file, as a mark.
    Mark(String),
    /// Looks after the container that kubelet ran in.
    Container,
    /// Anything else.
    Other(Vec<String>),
}

/// Recognises a command.
pub(super) fn known(value: &str) -> Known {
    let words = command_words(value);
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = words.first().map(|word| base(word)).unwrap_or_default();
    let arguments: Vec<&String> = words.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let Some(at) = words.iter().position(|word| base(word) == "tectonic-torcx-bootstrap") {
        return Known::Torcx(words.into_iter().skip(at.saturating_add(1)).collect());
    }
    if value.contains("certificate-authority-data") && value.contains("base64") {
        return Known::Authority;
    }
    // `bash /opt/s3-puller.sh …` and `/opt/s3-puller.sh …` are the same.
    if let Some(at) = words.iter().take(2).position(|word| word.ends_with("-puller.sh"))
        && let [script, location, path] = words.get(at..).unwrap_or_default()
    {
        let store = base(script).trim_end_matches("-puller.sh").to_owned();
        return Known::Fetch(store, location.clone(), path.clone());
    }
    match (program.as_str(), arguments.as_slice()) {
        ("mkdir", paths) if !paths.is_empty() && paths.iter().all(|path| path.starts_with('/')) => {
            Known::Directories(paths.iter().map(|path| (*path).clone()).collect())
        }
        ("echo", _) => Known::Says,
        ("touch", [path]) => Known::Mark((*path).clone()),
        ("rkt", _) => Known::Container,
        ("docker" | "podman", [what, ..])
            if matches!(what.as_str(), "rm" | "stop" | "kill" | "pull" | "logs" | "image") =>
        {
            Known::Container
        }
        _ => Known::Other(words),
    }
}

/// Tells what the letters before a command ask for and is not done where it is run.
pub(super) fn tell_prefix(setting: &Setting, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    let asked = prefix(value);
    if asked.is_named {
        let message = format!("`{key}={value}` is run by its own name: what `@` asks for is not done");
        let hint =
            "write the program that has the name, or a shell that gives it: `bash -c 'exec -a NAME …'`";
        tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
    }
    if asked.in_shell {
        let message = format!("`{key}={value}` is not run in a shell: what `|` asks for is not done");
        tell.warning(codes::FIELD_DIFFERS, *span, message, "write the shell: `/bin/sh -c '…'`");
    }
}

/// Tells where systemd would put something into a command: it is run as it is written.
pub(super) fn tell_variables(setting: &Setting, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    let plain = value.replace("$$", "").replace("%%", "");
    let is_variable =
        |word: &str| word.trim_start_matches(['"', '\'']).starts_with('$') || word.contains("${");
    let variables = !prefix(value).is_verbatim && plain.split_whitespace().any(is_variable);
    let specifiers = plain.split('%').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    if variables || specifiers {
        let message = format!("`{key}={value}` is run as it is written: nothing is put in for `$` and `%`");
        let hint = "write the values, or a shell that has them: `/bin/sh -c '…'` with `$$NAME`";
        tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
    }
}

/// The words behind kubelet's own in a command that runs it: as a program, by a wrapper, in a container or in a shell.
pub(super) fn kubelet_words(words: &[String]) -> Option<Vec<String>> {
    let is_kubelet = |word: &String| {
        let base = word.rsplit('/').next().unwrap_or_default();
        matches!(base, "kubelet" | "kubelet-wrapper")
    };
    // A container has a name, and its image is kubelet's own program or is told which of its programs to run.
    let is_named = |at: usize| {
        at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|word| word == "--name")
    };
    let names = |(at, word): &(usize, &String)| is_kubelet(word) && !word.starts_with('-') && !is_named(*at);
    let at = if words.first().is_some_and(is_kubelet) {
        Some(0)
    } else {
        let program = words.iter().enumerate().filter(names).map(|(at, _)| at).next_back();
        program.max(words.iter().rposition(|word| image_of(word).is_some()))
    };
    if let Some(at) = at {
        return Some(words.iter().skip(at.saturating_add(1)).cloned().collect());
    }
    let shell = words.iter().any(|word| word == "-c").then(|| words.last()).flatten()?;
    let inner = super::unit_text::words(shell);
    (inner.len() > 1).then(|| kubelet_words(&inner)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn commands_are_known_by_what_they_do() {
        let made = Known::Directories(texts(&["/etc/kubernetes/manifests"]));
        assert_eq!(known("/bin/mkdir -p /etc/kubernetes/manifests"), made);
        let fetched =
            Known::Fetch("s3".to_owned(), "b/k".to_owned(), "/etc/kubernetes/kubeconfig".to_owned());
        assert_eq!(known("/opt/s3-puller.sh b/k /etc/kubernetes/kubeconfig"), fetched);
        assert_eq!(known("/usr/bin/bash /opt/s3-puller.sh b/k /etc/kubernetes/kubeconfig"), fetched);
        let torcx =
            "/usr/bin/docker run --rm -v /a:/b quay.io/x:1 /tectonic-torcx-bootstrap --upgrade-os=true";
        assert_eq!(known(torcx), Known::Torcx(texts(&["--upgrade-os=true"])));
        assert_eq!(known("-/usr/bin/rkt rm --uuid-file=/var/cache/kubelet-pod.uuid"), Known::Container);
        assert_eq!(
            known("/usr/bin/bash -c \"grep 'certificate-authority-data' /a | base64 -d > /b\""),
            Known::Authority
        );
        assert_eq!(
            known("/bin/touch /opt/tectonic/init_bootkube.done"),
            Known::Mark("/opt/tectonic/init_bootkube.done".to_owned())
        );
        assert_eq!(known("/opt/a b"), Known::Other(texts(&["/opt/a", "b"])));
    }

    #[test]
    fn kubelet_is_found_in_its_command() {
        let flags = Some(texts(&["--a=b"]));
        for command in [
            "/usr/lib/coreos/kubelet-wrapper --a=b",
            "/usr/bin/docker run --name kubelet --net=host quay.io/hyperkube:v1 /hyperkube kubelet --a=b",
            "/bin/sh -c 'exec /opt/bin/kubelet --a=b'",
            "/usr/bin/docker run -d --name kubelet --privileged quay.io/poseidon/kubelet:v1.33.1 --a=b",
        ] {
            assert_eq!(kubelet_words(&super::super::unit_text::words(command)), flags, "{command}");
        }
        assert_eq!(kubelet_words(&texts(&["/opt/start"])), None);
    }
}
