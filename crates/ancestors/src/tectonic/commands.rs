//! The commands that Tectonic's units are made of, known by what they do.

use super::directories::{Directories, directories};
use super::known_files::{ENVIRONMENTS, MAPPINGS, image_of};
use super::unit_text::Setting;
use super::words::{Variables, Word, command_words, prefix, split};
use crate::codes;
use crate::tell::Teller;

/// Where the authority of a cluster is kept.
const AUTHORITY: &str = "/etc/kubernetes/ca.crt";
/// What containers that Tectonic's units run, and their images, are called.
const CONTAINERS: [&str; 6] = [
    "hyperkube",
    "hyperkube-amd64",
    "k8s-node-bootstrap",
    "kubelet",
    "tectonic-torcx",
    "tectonic-torcx-bootstrap",
];

/// What a command of a unit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Makes directories.
    Directories(Directories),
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
    /// Looks after the container that kubelet, or what comes before it, ran in.
    Container,
    /// Puts `kubelet.env` where kubelet looks for it.
    Environment,
    /// Has systemd start kubelet, and other units: the command without kubelet, if there are any.
    StartsKubelet(Vec<String>),
    /// Anything else.
    Other(Vec<String>),
}

/// Recognises a command.
pub(super) fn known(value: &str, variables: &Variables) -> Known {
    let given = command_words(value, variables);
    let is_known = given.iter().all(|word| word.is_known);
    let words: Vec<String> = given.into_iter().map(|word| word.text).collect();
    let program = words.first().map(|word| base(word)).unwrap_or_default();
    if let Some(at) = words.iter().position(|word| base(word) == "tectonic-torcx-bootstrap") {
        return Known::Torcx(words.into_iter().skip(at.saturating_add(1)).collect());
    }
    if value.contains("certificate-authority-data") && value.contains("base64") && value.contains(AUTHORITY) {
        return Known::Authority;
    }
    match program {
        "echo" => return Known::Says,
        "rkt" | "docker" | "podman" if is_of_container(&words) => return Known::Container,
        // What only the machine knows, only the machine can do.
        _ if !is_known => return Known::Other(words),
        "systemctl" => return started(&words).map_or(Known::Other(words), Known::StartsKubelet),
        _ => {}
    }
    // `bash /opt/s3-puller.sh …` and `/opt/s3-puller.sh …` are the same.
    if let Some(at) = words.iter().take(2).position(|word| word.ends_with("-puller.sh"))
        && let [script, location, path] = words.get(at..).unwrap_or_default()
    {
        let store = base(script).trim_end_matches("-puller.sh").to_owned();
        return Known::Fetch(store, location.clone(), path.clone());
    }
    if let Some(made) = directories(program, words.get(1..).unwrap_or_default()) {
        return Known::Directories(made);
    }
    if matches!(program, "cp" | "ln" | "mv" | "install") {
        let mut paths = words.iter().skip(1).filter(|word| !word.starts_with('-')).map(String::as_str);
        if [paths.next(), paths.next()] == ENVIRONMENTS.map(Some) && paths.next().is_none() {
            return Known::Environment;
        }
    }
    match words.as_slice() {
        [_, path] if program == "touch" && path.starts_with('/') => Known::Mark(path.clone()),
        _ => Known::Other(words),
    }
}

/// The last part of a path.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// Whether a command looks after containers of Tectonic's own, or their images, and after no other.
fn is_of_container(words: &[String]) -> bool {
    let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let (verb, named) = match arguments.as_slice() {
        ["container" | "image", verb, rest @ ..] | [verb, rest @ ..] => (*verb, rest),
        [] => return false,
    };
    let looks_after =
        matches!(verb, "rm" | "rmi" | "stop" | "kill" | "pull" | "fetch" | "logs" | "wait" | "inspect");
    // Names of containers and images, and the file that a pod's name is in; a number is how long to wait.
    let file = |word: &str| word.strip_prefix("--uuid-file=").map(str::to_owned);
    let is_name = |word: &&str| !word.starts_with('-') && !word.bytes().all(|byte| byte.is_ascii_digit());
    let names: Vec<String> = named
        .iter()
        .filter_map(|word| {
            file(word).or_else(|| Some(word).filter(|word| is_name(word)).map(|&word| word.to_owned()))
        })
        .collect();
    looks_after && !names.is_empty() && names.iter().all(|name| is_own_name(name))
}

fn is_own_name(name: &str) -> bool {
    let variable = name.trim_start_matches(['$', '{']);
    let stem = base(name).split([':', '@']).next().unwrap_or_default();
    (variable != name && variable.starts_with("KUBELET_"))
        || (name.starts_with('/') && base(name).starts_with("kubelet"))
        || image_of(name).is_some()
        || CONTAINERS.contains(&stem)
}

/// A command that has systemd start kubelet, without kubelet; empty if there is no other unit in it.
fn started(words: &[String]) -> Option<Vec<String>> {
    let is_kubelet = |word: &&String| matches!(word.as_str(), "kubelet" | "kubelet.service");
    let mut plain = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let verb = plain.next()?;
    let starts = matches!(
        verb.as_str(),
        "start" | "restart" | "try-restart" | "reload-or-restart" | "enable" | "reenable"
    );
    let (own, others): (Vec<&String>, Vec<&String>) = plain.partition(is_kubelet);
    if !starts || own.is_empty() {
        return None;
    }
    if others.is_empty() {
        return Some(Vec::new());
    }
    Some(words.iter().filter(|word| !is_kubelet(word)).cloned().collect())
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

/// Tells of a command that looks at a file of the config that is read here, and not written.
pub(super) fn tell_files(setting: &Setting, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    for path in [ENVIRONMENTS[0], MAPPINGS] {
        if value.contains(path) {
            let message =
                format!("`{key}={value}` does not find `{path}`: the file is read here, and not written");
            let hint = "let the command look at a file of another name, with the same content";
            tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
        }
    }
}

/// Whether a command speaks of a file that the agent writes when it configures kubelet.
pub(super) fn is_of_configuration(words: &[String]) -> bool {
    let written = ["/etc/kubernetes/kubeconfig", AUTHORITY];
    words.iter().any(|word| written.iter().any(|path| word.contains(path)))
}

/// Tells where systemd would put something into a command that only the machine knows: it is run as it is written.
pub(super) fn tell_variables(setting: &Setting, variables: &Variables, tell: &mut Teller<'_>) {
    let Setting { key, value, span, .. } = setting;
    if command_words(value, variables).iter().any(|word| !word.is_known) {
        let message = format!("`{key}={value}` is run as it is written: nothing is put in for `$` and `%`");
        let hint = "write the values, or a shell that has them: `/bin/sh -c '…'` with `$$NAME`";
        tell.warning(codes::FIELD_DIFFERS, *span, message, hint);
    }
}

/// The words behind kubelet's own in a command that runs it: as a program, by a wrapper, in a container or in a shell.
pub(super) fn kubelet_words(words: &[Word]) -> Option<Vec<Word>> {
    let is_kubelet = |word: &Word| matches!(base(&word.text), "kubelet" | "kubelet-wrapper");
    // A container has a name, and its image is kubelet's own program or is told which of its programs to run.
    let is_named = |at: usize| {
        at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|word| word.text == "--name")
    };
    let names =
        |(at, word): &(usize, &Word)| is_kubelet(word) && !word.text.starts_with('-') && !is_named(*at);
    let at = if words.first().is_some_and(is_kubelet) {
        Some(0)
    } else {
        let program = words.iter().enumerate().filter(names).map(|(at, _)| at).next_back();
        program.max(words.iter().rposition(|word| image_of(&word.text).is_some()))
    };
    if let Some(at) = at {
        return Some(words.iter().skip(at.saturating_add(1)).cloned().collect());
    }
    let shell = words.iter().any(|word| word.text == "-c").then(|| words.last()).flatten()?;
    // What a shell puts in, it puts in on the machine; `%` is a letter to it.
    let of_shell = |text: String| {
        let is_known = shell.is_known && !text.contains(['$', '`']);
        Word { text, is_known }
    };
    let inner: Vec<Word> = split(&shell.text).into_iter().map(of_shell).collect();
    (inner.len() > 1).then(|| kubelet_words(&inner)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn of(value: &str) -> Known {
        known(value, &Variables::new())
    }

    #[test]
    fn commands_are_known_by_what_they_do() {
        let fetched =
            Known::Fetch("s3".to_owned(), "b/k".to_owned(), "/etc/kubernetes/kubeconfig".to_owned());
        assert_eq!(of("/opt/s3-puller.sh b/k /etc/kubernetes/kubeconfig"), fetched);
        assert_eq!(of("/usr/bin/bash /opt/s3-puller.sh b/k /etc/kubernetes/kubeconfig"), fetched);
        let torcx =
            "/usr/bin/docker run --rm -v /a:/b quay.io/x:1 /tectonic-torcx-bootstrap --upgrade-os=true";
        assert_eq!(of(torcx), Known::Torcx(texts(&["--upgrade-os=true"])));
        assert_eq!(
            of(
                "/usr/bin/bash -c \"grep 'certificate-authority-data' /a | base64 -d > /etc/kubernetes/ca.crt\""
            ),
            Known::Authority
        );
        let mark = "/opt/tectonic/init_bootkube.done";
        assert_eq!(of(&format!("/bin/touch {mark}")), Known::Mark(mark.to_owned()));
        assert_eq!(of("/opt/a b"), Known::Other(texts(&["/opt/a", "b"])));
    }

    /// What is asked for, and only the machine knows, is not taken for something else.
    #[test]
    fn what_is_not_all_known_stays_a_command() {
        for command in [
            "/opt/s3-puller.sh ${BUCKET}/k /etc/kubernetes/kubeconfig",
            "/bin/mkdir -p /run/%n",
            "/bin/touch /etc/%H",
            "/bin/touch -d yesterday /etc/a",
            "/bin/touch /etc/a /etc/b",
            "/bin/bash -c \"grep certificate-authority-data /a | base64 -d > /etc/other.crt\"",
        ] {
            assert!(matches!(of(command), Known::Other(_)), "{command}");
        }
        assert_eq!(of("/bin/touch %t/a"), Known::Mark("/run/a".to_owned()));
    }

    #[test]
    fn who_puts_the_variables_of_kubelet_in_place_is_known() {
        let [from, to] = ENVIRONMENTS;
        for command in ["cp", "/bin/cp -f", "/bin/ln -s", "/usr/bin/install -v"] {
            assert_eq!(of(&format!("{command} {from} {to}")), Known::Environment, "{command}");
        }
        for other in [format!("cp {to} {from}"), format!("cp {from} /etc/a"), format!("rm {from} {to}")] {
            assert!(matches!(of(&other), Known::Other(_)), "{other}");
        }
    }

    #[test]
    fn only_tectonics_own_containers_are_passed_over() {
        for own in [
            "-/usr/bin/rkt rm --uuid-file=/var/cache/kubelet-pod.uuid",
            "-/usr/bin/rkt stop --uuid-file /var/run/kubelet-pod.uuid",
            "docker stop -t 10 kubelet",
            "-/usr/bin/docker rm -f kubelet",
            "/usr/bin/podman container rm kubelet",
            "docker logs -f kubelet",
            "/usr/bin/docker pull quay.io/coreos/hyperkube:v1.9.6_coreos.0",
            "/usr/bin/docker image pull ${KUBELET_IMAGE_URL}:${KUBELET_IMAGE_TAG}",
            "-/usr/bin/docker rm k8s-node-bootstrap",
        ] {
            assert_eq!(of(own), Known::Container, "{own}");
        }
        for other in [
            "/usr/bin/rkt run --insecure-options=image docker://example.com/prepare --exec /prepare",
            "/usr/bin/rkt gc --grace-period=0s",
            "/usr/bin/docker image prune -af",
            "/usr/bin/docker rm kubelet other",
            "/usr/bin/docker pull example.com/prepare:1",
            "/usr/bin/docker pull example.com/kubelet-plugin:1",
            "/usr/bin/docker volume rm kubelet",
        ] {
            assert!(matches!(of(other), Known::Other(_)), "{other}");
        }
    }

    #[test]
    fn who_starts_kubelet_is_known() {
        assert_eq!(of("/usr/bin/systemctl start --no-block kubelet"), Known::StartsKubelet(Vec::new()));
        assert_eq!(
            of("systemctl --no-block restart a.service kubelet.service"),
            Known::StartsKubelet(texts(&["systemctl", "--no-block", "restart", "a.service"]))
        );
        for other in ["systemctl stop kubelet", "systemctl start docker", "systemctl daemon-reload"] {
            assert!(matches!(of(other), Known::Other(_)), "{other}");
        }
    }

    #[test]
    fn kubelet_is_found_in_its_command() {
        let flags = Some(vec![Word::known("--a=b")]);
        let found = |command: &str| kubelet_words(&command_words(command, &Variables::new()));
        for command in [
            "/usr/lib/coreos/kubelet-wrapper --a=b",
            "/usr/bin/docker run --name kubelet --net=host quay.io/hyperkube:v1 /hyperkube kubelet --a=b",
            "/bin/sh -c 'exec /opt/bin/kubelet --a=b'",
            "/usr/bin/docker run -d --name kubelet --privileged quay.io/poseidon/kubelet:v1.33.1 --a=b",
        ] {
            assert_eq!(found(command), flags, "{command}");
        }
        assert_eq!(found("/opt/start"), None);
        let of_shell = found("/bin/sh -c 'exec kubelet --a=5%% --b=$$B'").unwrap();
        let of_shell: Vec<(&str, bool)> =
            of_shell.iter().map(|word| (word.text.as_str(), word.is_known)).collect();
        assert_eq!(of_shell, [("--a=5%", true), ("--b=$B", false)]);
    }
}
