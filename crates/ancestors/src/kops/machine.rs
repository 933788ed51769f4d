//! What kops does to the machine itself: packages and volumes.

use std::fmt::Write as _;

use bringup_spec::Text;
use bringup_yaml::Node;

use super::group_fields::VOLUME_MOUNT;
use super::image::System;
use super::names::Names;
use super::steps::{step, words};
use crate::codes;
use crate::tell::Teller;
use crate::tree::{plain, text};

/// A step that installs packages of the system, as kops does before it sets up anything else.
pub(super) fn packages(
    system: System,
    packages: &[Node],
    names: &mut Names,
    tell: &mut Teller<'_>,
) -> Option<Node> {
    let span = packages.first()?.span;
    let mut all: Vec<&str> = packages.iter().filter_map(Node::text).collect();
    all.sort_unstable();
    all.dedup();
    let all: Vec<String> = all.into_iter().map(word).collect();
    let all = all.join(" ");
    let script = match system.family {
        "ubuntu" | "debian" => format!(
            "#!/bin/sh\nset -eu\nexport DEBIAN_FRONTEND=noninteractive\napt-get update\napt-get install --yes --no-install-recommends {all}\n"
        ),
        "amazon-linux-2" => format!("#!/bin/sh\nset -eu\nyum install --assumeyes {all}\n"),
        "amazon-linux-2023" | "generic" => format!("#!/bin/sh\nset -eu\ndnf install --assumeyes {all}\n"),
        _ => {
            let message = "this system has no packages, and `packages` is not carried out";
            tell.warning(
                codes::FIELD_DIFFERS,
                span,
                message,
                "download what is needed with `assets` in additions",
            );
            return None;
        }
    };
    let mut step = step(span, &names.give("packages"));
    // kops tries for ever.
    step.put("attempts", plain(span, 5));
    step.put("onFailure", text(span, "retry"));
    step.put("script", text(span, Text::literal(script).to_string()));
    step.put("before", words(span, &["runtime"]));
    Some(step.into_node())
}

/// Steps that make file systems on volumes that have none, and mount them.
pub(super) fn mounts(nodes: &[Node], names: &mut Names, tell: &mut Teller<'_>) -> Vec<Node> {
    let mut steps = Vec::new();
    for node in nodes {
        let given = tell.record(node, "a volume mount of kops", VOLUME_MOUNT);
        let (Some(device), Some(path), Some(kind)) =
            (given.text("device"), given.text("path"), given.text("filesystem"))
        else {
            let message = "a volume mount needs a device, a file system and a path";
            tell.error(codes::MISSING, node.span, message, "add `device`, `filesystem` and `path`");
            continue;
        };
        let list =
            |key: &str| -> Vec<String> { given.items(key).iter().filter_map(Node::text).map(word).collect() };
        let format = list("formatOptions").join(" ");
        let format = if format.is_empty() { format } else { format!(" {format}") };
        let options = list("mountOptions").join(",");
        let options = if options.is_empty() { String::new() } else { format!(" -o {options}") };
        let (name, device, path, kind) = (path, word(device), word(path), word(kind));
        let mut script = String::from("#!/bin/sh\nset -eu\n");
        let _ = write!(
            script,
            "if mountpoint -q {path}; then exit 0; fi\nblkid {device} >/dev/null || mkfs -t {kind}{format} {device}\nmkdir -p {path}\nmount -t {kind}{options} {device} {path}\n"
        );
        let mut step = step(node.span, &names.give(&format!("mount{name}")));
        step.put("script", text(node.span, Text::literal(script).to_string()));
        step.put("attempts", plain(node.span, 5));
        step.put("onFailure", text(node.span, "pause"));
        step.put("before", words(node.span, &["runtime"]));
        step.put("everyBoot", plain(node.span, true));
        steps.push(step.into_node());
    }
    steps
}

/// A word of a shell.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=+,@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
