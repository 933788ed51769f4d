//! What the real cloud-init 22.4.2 was seen to do with these inputs, file by file and step by step.
//!
//! `record.py` runs it over them in a Debian root and keeps its answers; `./test tools` asks it afresh.

use bringup_cloudinit::{decode, effects};
use serde_json::{Value, json};

const ANSWERS: &str = include_str!("cloud-init-22.4.2/effects.json");

macro_rules! inputs {
    ($directory:literal: $($name:literal)*) => {
        &[$(($name, include_bytes!(concat!($directory, "/", $name)) as &[u8])),*]
    };
}

const FOREIGN: &[(&str, &[u8])] = inputs! {
    "../../../tests/tools/foreign/cloud-init":
    "archive.yaml"
    "bad-runcmd.yaml"
    "bad-yaml-part.mime"
    "binary.mime"
    "boothook.sh"
    "byte-order-mark.yaml"
    "capi-kubeadm.yaml"
    "capital-head.yaml"
    "commands.yaml"
    "crlf.yaml"
    "eksctl-al2.b64"
    "eksctl-al2.yaml"
    "empty-config.yaml"
    "equals-sign.yaml"
    "frequencies.mime"
    "head-with-words.yaml"
    "include.txt"
    "jinja-facts.yaml"
    "jinja.yaml"
    "kops-nodeup.mime"
    "late-preamble.mime"
    "leading-blank-lines.yaml"
    "list-at-the-top.yaml"
    "merge-how-first.mime"
    "merge-how-later.mime"
    "merge-sign-as-word.yaml"
    "merge-sign.yaml"
    "merge-type-header.mime"
    "names-of-sniffed.mime"
    "no-mime-version.mime"
    "not-lists.yaml"
    "nothing.txt"
    "numbers-as-content.yaml"
    "packed-parts.mime"
    "part-handler.mime"
    "script.sh"
    "seed-broken.yaml"
    "seed-without-tabs.yaml"
    "sniffed.mime"
    "spaced-shebang.sh"
    "two-runcmds.mime"
    "unclosed.mime"
    "write-files-null.yaml"
    "write-files-owner.yaml"
    "write-files.yaml"
    "yaml-features.yaml"
};

const OURS: &[(&str, &[u8])] = inputs! {
    "inputs":
    "bad-base64.yaml"
    "bom.yaml"
    "boundary-in-body.mime"
    "corrupt-part.mime"
    "dos.yaml"
    "gzip.gz"
    "jinja-typed.mime"
    "latin1.mime"
    "last-line.mime"
    "latin1.sh"
    "letters.mime"
    "merge-keys.yaml"
    "names.mime"
    "nested-archive.yaml"
    "no-boundary.mime"
    "null-item.yaml"
    "null-keys.yaml"
    "owners.yaml"
    "packed-letters.mime"
    "relative.yaml"
    "runcmd-script.mime"
    "scripts-by-file.yaml"
    "shell-with-mime.sh"
    "string-command.yaml"
    "text-item.yaml"
    "two-documents.yaml"
    "upper-head.yaml"
};

/// What this says is known only on the node: there the file can be named and the step be counted, not their content.
const TEMPLATED: &[&str] = &["jinja-facts.yaml"];

#[test]
fn a_node_does_what_effects_says() {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    let mut wrong = Vec::new();
    for (name, bytes) in FOREIGN.iter().chain(OURS) {
        let said = effects(&decode(name, bytes));
        let mut ours = json!({"files": said.files, "steps": said.steps});
        let mut theirs = answers[name].clone();
        if TEMPLATED.contains(name) {
            for side in [&mut ours, &mut theirs] {
                for file in side["files"].as_array_mut().unwrap() {
                    file["size"] = Value::Null;
                    file["sha256"] = Value::Null;
                }
                for step in side["steps"].as_array_mut().unwrap() {
                    step["run"] = Value::Null;
                }
            }
        }
        if ours != theirs {
            wrong.push(format!("{name}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_answer_has_its_input() {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    let mut named: Vec<_> = FOREIGN.iter().chain(OURS).map(|(name, _)| *name).collect();
    named.sort_unstable();
    let recorded: Vec<_> = answers.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(named, recorded);
}
