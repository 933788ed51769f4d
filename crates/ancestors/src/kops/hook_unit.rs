//! The text of a hook's unit, as kops writes it.

use std::fmt::Write as _;

use bringup_yaml::Node;

use super::hooks::{AGENTS, Hook};
use crate::fields::Record;

/// The head of a unit. What it requires it also follows: to require alone gives no order.
fn head(hook: &Hook<'_>, name: &str, more: Option<&str>) -> String {
    let mut unit = format!("[Unit]\nDescription=Kops Hook {name}\n");
    let before = hook.units("before");
    // The agent starts it: what it asks for is there, and the agent would wait for itself.
    let required = hook.units("requires").into_iter().filter(|unit| !AGENTS.contains(unit));
    for required in required.chain(more) {
        let _ = writeln!(unit, "Requires={required}");
        if !before.contains(&required) {
            let _ = writeln!(unit, "After={required}");
        }
    }
    for other in before {
        let _ = writeln!(unit, "Before={other}");
    }
    unit.push_str("\n[Service]\n");
    unit
}

/// A unit around the body of its `[Service]`.
pub(super) fn service_unit(hook: &Hook<'_>, name: &str, manifest: &str) -> String {
    let mut unit = head(hook, name, None);
    unit.push_str(manifest);
    if !unit.ends_with('\n') {
        unit.push('\n');
    }
    unit
}

/// A unit that runs a container, with the machine's own files and network in reach.
pub(super) fn container_unit(
    hook: &Hook<'_>,
    container: &Record<'_>,
    name: &str,
    docker: bool,
) -> Option<String> {
    let image = container.text("image").map(str::trim).filter(|image| !image.is_empty())?;
    let full = full_name(image);
    let command = container.items("command").iter().filter_map(Node::text);
    let mut variables: Vec<String> = container
        .get("environment")
        .and_then(Node::entries)
        .unwrap_or_default()
        .iter()
        .map(|entry| format!("{}={}", entry.key, entry.value.text().unwrap_or_default()))
        .collect();
    variables.sort();
    let variables = variables.iter().flat_map(|variable| ["--env", variable.as_str()]);
    let (service, pull, run) = if docker {
        let pull = vec!["/usr/bin/docker", "pull", image];
        let mut run = vec!["/usr/bin/docker", "run", "--rm"];
        run.extend(["-v", "/:/rootfs/", "-v", "/var/run/dbus:/var/run/dbus"]);
        run.extend(["-v", "/run/systemd:/run/systemd", "--net=host", "--privileged"]);
        run.extend(variables);
        run.push(image);
        run.extend(command);
        ("docker.service", line(&pull), line(&run))
    } else {
        let pull = ["/usr/bin/ctr", "--namespace", "k8s.io", "image", "pull", &full];
        let mut run = vec!["/usr/bin/ctr", "--namespace", "k8s.io", "run", "--rm"];
        for mount in [
            "type=bind,src=/,dst=/rootfs,options=rbind:rslave",
            "type=bind,src=/var/run/dbus,dst=/var/run/dbus,options=rbind:rprivate",
            "type=bind,src=/run/systemd,dst=/run/systemd,options=rbind:rprivate",
        ] {
            run.extend(["--mount", mount]);
        }
        run.extend(["--net-host", "--privileged"]);
        run.extend(variables);
        run.extend([full.as_str(), name]);
        run.extend(command);
        ("containerd.service", line(&pull), line(&run))
    };
    let mut unit = head(hook, name, Some(service));
    let _ = write!(
        unit,
        "ExecStartPre={pull}\nExecStart={run}\nType=oneshot\n\n[Install]\nWantedBy=multi-user.target\n"
    );
    Some(unit)
}

/// The name of an image in full: containerd, unlike docker, knows no short ones.
fn full_name(image: &str) -> String {
    let mut image = if image.contains('/') { image.to_owned() } else { format!("docker.io/library/{image}") };
    let last = image.rsplit('/').next().unwrap_or_default();
    if !last.contains([':', '@']) {
        image.push_str(":latest");
    }
    image
}

/// A command line of systemd. Its variables and specifiers are left as they are, as kops leaves them.
fn line(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter {
            '"' | '\'' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            letter => text.push(letter),
        }
    }
    let needs = word.is_empty() || word.contains([' ', '\n', '\t', ';']);
    if needs { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::{full_name, quoted};

    #[test]
    fn images_have_their_full_names() {
        assert_eq!(full_name("busybox"), "docker.io/library/busybox:latest");
        assert_eq!(full_name("kopeio/nvidia-bootstrap:1.6"), "kopeio/nvidia-bootstrap:1.6");
        assert_eq!(full_name("registry:5000/tools"), "registry:5000/tools:latest");
    }

    #[test]
    fn words_are_quoted_for_systemd() {
        assert_eq!(quoted("/bin/true"), "/bin/true");
        assert_eq!(quoted("echo 'a b'"), "\"echo \\'a b\\'\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
