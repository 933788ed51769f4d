//! Files that scripts and cloud-init change, and that the plan writes afterwards or does not read.

use bringup_diag::Span;

use crate::codes;
use crate::shell::{self, Line};
use crate::tell::Teller;

/// What joins the node that such a file is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// A call of `bootstrap.sh`.
    Call,
    /// A NodeConfig.
    Config,
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before the node is joined.
    Before,
    /// When it has been.
    After,
}

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The plan writes the file afterwards.
    Written,
    /// What the image's program reads there is not read.
    Unread,
    /// The plan lays its own fields over it, as the image's program does.
    LaidOver,
    /// The plan's own drop-in says how kubelet is started, at any time.
    Started,
}

struct File {
    path: &'static str,
    of: &'static [Joins],
    fate: Fate,
    /// What to write instead.
    field: &'static str,
}

const BOTH: &[Joins] = &[Joins::Call, Joins::Config];
const CALL: &[Joins] = &[Joins::Call];
const CONFIG: &[Joins] = &[Joins::Config];

/// Docker's configuration is not among them: the plan lays one field over it, and what a script has written stays.
const FILES: [File; 12] = [
    File {
        path: "/etc/kubernetes/kubelet/kubelet-config.json",
        of: CALL,
        fate: Fate::LaidOver,
        field: "`kubelet: {config: {...}}`",
    },
    File {
        path: "/etc/eks/containerd/containerd-config.toml",
        of: CALL,
        fate: Fate::Unread,
        field: "`runtime: {config: ...}`",
    },
    File { path: "/etc/eks/eni-max-pods.txt", of: CALL, fate: Fate::Unread, field: "`maxPods: ...`" },
    File { path: "/etc/eks/nodeadm.d/", of: CONFIG, fate: Fate::Unread, field: "" },
    File {
        path: "/etc/kubernetes/kubelet/config.json",
        of: CONFIG,
        fate: Fate::Written,
        field: "`kubelet: {config: {...}}`",
    },
    File {
        path: "/etc/eks/kubelet/environment",
        of: CONFIG,
        fate: Fate::Written,
        field: "`kubelet: {flags: {...}}`",
    },
    File {
        path: "/etc/containerd/config.toml",
        of: BOTH,
        fate: Fate::Written,
        field: "`runtime: {config: ...}`",
    },
    File {
        path: "/etc/containerd/base-runtime-spec.json",
        of: CONFIG,
        fate: Fate::Written,
        field: "`containerd: {baseRuntimeSpec: {...}}` into the NodeConfig, or a file",
    },
    File {
        path: "/etc/eks/image-credential-provider/config.json",
        of: BOTH,
        fate: Fate::Written,
        field: "`kubelet: {imageCredentialProviders: ...}`",
    },
    File {
        path: "/var/lib/kubelet/kubeconfig",
        of: BOTH,
        fate: Fate::Written,
        field: "nothing: the plan writes what the node joins with",
    },
    File {
        path: "/etc/systemd/system/kubelet.service.d/",
        of: BOTH,
        fate: Fate::Started,
        field: "`kubelet: {flags: {...}, environment: {...}}`",
    },
    File {
        path: "/etc/systemd/system/kubelet.service",
        of: BOTH,
        fate: Fate::Started,
        field: "`kubelet: {flags: {...}, environment: {...}}`",
    },
];

/// Programs that change no file that they are given.
const LOOKS: [&str; 9] = ["mkdir", "ls", "cat", "stat", "test", "[", "chmod", "chown", "echo"];

/// What a drop-in says that the plan's own says, too.
const STARTS: [&str; 3] = ["ExecStart", "EnvironmentFile", "KUBELET_"];

/// Tells of the lines of a text that name such a file. `when` says of a line when it is done, if it is; `at` has its place.
pub(super) fn tell_of(
    text: &str,
    joins: Joins,
    when: &dyn Fn(&str) -> Option<When>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) {
    let lines = shell::lines(text);
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.text.trim();
        let Some(when) = when(trimmed).filter(|_| !trimmed.starts_with('#') && changes(trimmed)) else {
            continue;
        };
        let named = |file: &&File| file.of.contains(&joins) && trimmed.contains(file.path);
        let Some(file) = FILES.iter().find(named) else { continue };
        let early = when == When::Before;
        let behind = lines.get(index.saturating_add(1)..).unwrap_or_default();
        match file.fate {
            Fate::Started if !is_harmless(behind) => tell_of_start(file, at(line.number), tell),
            Fate::Written | Fate::Unread if early => tell_of_loss(file, joins, at(line.number), tell),
            Fate::LaidOver if early => tell_of_fields(file, at(line.number), tell),
            _ => {}
        }
    }
}

/// Whether a command may change a file that it names; `cat` and `echo` do so with `>`.
pub(super) fn changes(line: &str) -> bool {
    let first = line.trim_start_matches("sudo ").split_whitespace().next().unwrap_or_default();
    line.contains('>') || line.contains("tee ") || !(LOOKS.contains(&first) || line.starts_with("install -d"))
}

/// Whether what a command writes is seen, and none of it is what the plan says itself.
fn is_harmless(behind: &[Line]) -> bool {
    let written: Vec<&Line> = behind.iter().take_while(|line| line.handed_on).collect();
    !written.is_empty() && !written.iter().any(|line| STARTS.iter().any(|word| line.text.contains(word)))
}

fn tell_of_fields(file: &File, at: Span, tell: &mut Teller<'_>) {
    let message = format!(
        "this line has to do with `{}`: the plan lays `maxPods`, `kubeReserved`, `evictionHard`, `clusterDNS` and the like over it afterwards, as `bootstrap.sh` does; other fields stay",
        file.path
    );
    let hint = format!("write {} of the group with `--with additions.yaml` for those", file.field);
    tell.note(codes::DIFFERENCE, at, message, hint);
}

fn tell_of_start(file: &File, at: Span, tell: &mut Teller<'_>) {
    let path = file.path;
    let message = format!(
        "this line has to do with `{path}`: kubelet is started by the plan's own `90-bringup.conf`, and `ExecStart`, `EnvironmentFile` and `KUBELET_EXTRA_ARGS` of others count for nothing"
    );
    let hint = format!("write {} of the group with `--with additions.yaml`", file.field);
    tell.warning(codes::FIELD_DIFFERS, at, message, hint);
}

fn tell_of_loss(file: &File, joins: Joins, at: Span, tell: &mut Teller<'_>) {
    let File { path, field, .. } = file;
    if file.fate == Fate::Unread && joins == Joins::Config {
        let message = format!(
            "this line has to do with `{path}`, which is not read: nodeadm is not run on the node, and what it would find there is lost"
        );
        let hint = "put it into a part of its own of the type `application/node.eks.aws`, or give it as a further file; what is known only on the node, as facts such as `@{instanceId}` with `--with additions.yaml`";
        tell.warning(codes::FIELD_DIFFERS, at, message, hint);
        return;
    }
    let why = match file.fate {
        Fate::Unread => "which `bootstrap.sh` reads and the plan does not",
        _ => "where the plan writes afterwards",
    };
    let message = format!("this line has to do with `{path}`, {why}: what it changes there is lost");
    let instead =
        if joins == Joins::Call && file.fate == Fate::Written { ", or do it behind the call" } else { "" };
    let hint = format!("write {field} of the group with `--with additions.yaml`{instead}");
    tell.warning(codes::FIELD_DIFFERS, at, message, hint);
}
