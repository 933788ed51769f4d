//! Files that scripts and cloud-init change, and that the plan writes afterwards or does not read.

use bringup_diag::Span;

use super::paths::Paths;
use crate::codes;
use crate::shell::{self, Line};
use crate::tell::Teller;

/// What joins the node that such a file is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// A call of `bootstrap.sh`.
    Call,
    /// A NodeConfig.
    Config,
    /// eksctl's own files.
    Eksctl,
}

impl Joins {
    /// The plan's own drop-in of kubelet, which others come before or behind by their names.
    fn drop_in(self) -> &'static str {
        match self {
            Self::Call | Self::Config => "90-bringup.conf",
            // On Amazon Linux 2 it is eksctl's first one, `10-eksclt.al2.conf`: no other name comes between the two.
            Self::Eksctl => "10-eksctl.conf",
        }
    }
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
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
    /// Nobody runs it, at any time.
    NotRun,
    /// Nobody writes it, at any time, and to look for it is in vain.
    NotThere,
    /// kubelet reads another file, at any time.
    Elsewhere,
}

struct File {
    path: &'static str,
    of: &'static [Joins],
    fate: Fate,
    /// What to write instead.
    field: &'static str,
}

const ALL: &[Joins] = &[Joins::Call, Joins::Config, Joins::Eksctl];
const BOTH: &[Joins] = &[Joins::Call, Joins::Config];
const CALL: &[Joins] = &[Joins::Call];
const CALLED: &[Joins] = &[Joins::Call, Joins::Eksctl];
const CONFIG: &[Joins] = &[Joins::Config];
const CONFIGURED: &[Joins] = &[Joins::Config, Joins::Eksctl];
const EKSCTL: &[Joins] = &[Joins::Eksctl];

/// What eksctl's own fields say of a node.
const FIELDS: &str = "`labels`, `taints`, `maxPodsPerNode` or `kubeletExtraConfig`";

/// Docker's configuration is not among them: the plan lays one field over it, and what a script has written stays.
const FILES: [File; 21] = [
    File { path: "/etc/eks/bootstrap.sh", of: EKSCTL, fate: Fate::NotRun, field: FIELDS },
    File {
        path: "/etc/eks/nodeadm.d",
        of: EKSCTL,
        fate: Fate::NotRun,
        field: "a NodeConfig as `overrideBootstrapCommand`",
    },
    File { path: "/var/lib/cloud/scripts/eksctl/", of: EKSCTL, fate: Fate::NotThere, field: FIELDS },
    File { path: "/etc/eksctl/kubelet-extra.json", of: EKSCTL, fate: Fate::NotThere, field: FIELDS },
    File { path: "/etc/eksctl/", of: EKSCTL, fate: Fate::Written, field: FIELDS },
    File { path: "/etc/kubernetes/kubelet/", of: EKSCTL, fate: Fate::Elsewhere, field: FIELDS },
    File { path: "/etc/eks/kubelet/environment", of: EKSCTL, fate: Fate::Elsewhere, field: FIELDS },
    File {
        path: "/var/lib/kubelet/kubeconfig",
        of: EKSCTL,
        fate: Fate::Elsewhere,
        field: "nothing: the plan writes what the node joins with",
    },
    File {
        path: "/etc/kubernetes/kubelet/kubelet-config.json",
        of: CALL,
        fate: Fate::LaidOver,
        field: "`kubelet: {config: {...}}`",
    },
    File {
        path: "/etc/eks/containerd/containerd-config.toml",
        of: CALLED,
        fate: Fate::Unread,
        field: "`runtime: {config: ...}`",
    },
    File { path: "/etc/eks/eni-max-pods.txt", of: CALLED, fate: Fate::Unread, field: "`maxPods: ...`" },
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
        of: ALL,
        fate: Fate::Written,
        field: "`runtime: {config: ...}`",
    },
    File {
        path: "/etc/containerd/base-runtime-spec.json",
        of: CONFIGURED,
        fate: Fate::Written,
        field: "`containerd: {baseRuntimeSpec: {...}}` into the NodeConfig, or a file",
    },
    File {
        path: "/etc/eks/image-credential-provider/config.json",
        of: ALL,
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
        path: "/etc/systemd/system/snap.kubelet-eks.daemon.service.d/",
        of: EKSCTL,
        fate: Fate::Started,
        field: "`kubelet: {flags: {...}, environment: {...}}`",
    },
    File {
        path: "/etc/systemd/system/kubelet.service.d/",
        of: ALL,
        fate: Fate::Started,
        field: "`kubelet: {flags: {...}, environment: {...}}`",
    },
    File {
        path: "/etc/systemd/system/kubelet.service",
        of: ALL,
        fate: Fate::Started,
        field: "`kubelet: {flags: {...}, environment: {...}}`",
    },
];

/// Programs that change no file that they are given.
const LOOKS: [&str; 9] = ["mkdir", "ls", "cat", "stat", "test", "[", "chmod", "chown", "echo"];

/// What the plan's drop-in clears of those before it, and arguments that kubelet is not started with.
const CLEARED: [&str; 3] = ["ExecStart", "EnvironmentFile", "KUBELET_"];
/// What of a drop-in behind the plan's own does not do what it is for, or more.
const AMISS: [&str; 2] = ["ExecStart", "KUBELET_"];

/// Tells of the lines of a text that name such a file. `when` says of a line and its number when it is done, if it is; `at` has its
/// place.
pub(crate) fn tell_of(
    text: &str,
    joins: Joins,
    when: &dyn Fn(&str, u32) -> Option<When>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) {
    let lines = shell::lines(text);
    let paths = Paths::of(&lines);
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.text.trim();
        let is_idle = trimmed.starts_with('#') || paths.are_set_by(trimmed);
        let Some(when) = when(trimmed, line.number).filter(|_| !is_idle) else { continue };
        let trimmed = &paths.filled(trimmed);
        let named = |file: &&File| {
            file.of.contains(&joins)
                && trimmed.contains(file.path)
                && (file.fate == Fate::NotThere || changes(trimmed))
        };
        let Some(file) = FILES.iter().find(named) else { continue };
        let early = when == When::Before;
        let behind = lines.get(index.saturating_add(1)..).unwrap_or_default();
        let place = at(line.number);
        match file.fate {
            Fate::Started => tell_of_start(file, joins, (trimmed, behind), place, tell),
            Fate::Written | Fate::Unread if early => tell_of_loss(file, joins, place, tell),
            Fate::LaidOver if early => tell_of_fields(file, place, tell),
            Fate::NotRun | Fate::NotThere | Fate::Elsewhere => tell_of_loss(file, joins, place, tell),
            Fate::Written | Fate::Unread | Fate::LaidOver => {}
        }
    }
}

/// Whether a command may change a file that it names; `cat` and `echo` do so with `>`.
pub(super) fn changes(line: &str) -> bool {
    let first = line.trim_start_matches("sudo ").split_whitespace().next().unwrap_or_default();
    line.contains('>') || line.contains("tee ") || !(LOOKS.contains(&first) || line.starts_with("install -d"))
}

/// The name of the drop-in that a line writes, if it is seen.
fn drop_in<'a>(line: &'a str, folder: &str) -> Option<&'a str> {
    let rest = line.split(folder).nth(1).filter(|_| folder.ends_with('/'))?;
    let name = rest.split(|letter: char| letter.is_whitespace() || "'\";|&<>()".contains(letter)).next()?;
    (name.rsplit_once('.').is_some_and(|(_, ending)| ending == "conf") && !name.contains('$')).then_some(name)
}

fn tell_of_fields(file: &File, at: Span, tell: &mut Teller<'_>) {
    let message = format!(
        "this line has to do with `{}`: the plan lays `maxPods`, `kubeReserved`, `evictionHard`, `clusterDNS` and the like over it afterwards, as `bootstrap.sh` does; other fields stay",
        file.path
    );
    let hint = format!("write {} of the group with `--with additions.yaml` for those", file.field);
    tell.note(codes::DIFFERENCE, at, message, hint);
}

/// systemd reads drop-ins by their names (systemd.unit(5)): the plan's own clears what those before it say, and those behind it add
/// to it or take its place.
fn tell_of_start(
    file: &File,
    joins: Joins,
    (line, behind): (&str, &[Line]),
    at: Span,
    tell: &mut Teller<'_>,
) {
    let path = file.path;
    let follows = drop_in(line, path).is_some_and(|name| name > joins.drop_in());
    // What is written stands behind the line, or in it.
    let is_inside = shell::commands(line).iter().any(|(command, _)| {
        command.contains(path) && ["echo ", "printf "].iter().any(|program| command.starts_with(program))
    });
    let inside = Some(line).filter(|_| is_inside);
    let behind = behind.iter().take_while(|line| line.handed_on).map(|line| line.text.as_str());
    let written: Vec<&str> = inside.into_iter().chain(behind).collect();
    let says = |word: &&str| written.iter().any(|line| line.contains(*word));
    let words: &[&str] = if follows { &AMISS } else { &CLEARED };
    if !written.is_empty() && !words.iter().any(says) {
        return;
    }
    let own = match joins {
        Joins::Eksctl => "a drop-in of the plan's own".to_owned(),
        Joins::Call | Joins::Config => format!("the plan's own `{}`", joins.drop_in()),
    };
    let becomes = match follows {
        false => "`ExecStart`, `EnvironmentFile` and `KUBELET_EXTRA_ARGS` of others count for nothing",
        true if says(&"ExecStart") => {
            "this is read behind it: its `ExecStart` takes the place of the plan's, with all of kubelet's flags"
        }
        true => {
            "this is read behind it: an `ExecStart` in it takes the place of the plan's, and arguments such as `KUBELET_EXTRA_ARGS` count for nothing"
        }
    };
    let message = format!("this line has to do with `{path}`: kubelet is started by {own}, and {becomes}");
    let hint = format!("write {} of the group with `--with additions.yaml`", file.field);
    tell.warning(codes::FIELD_DIFFERS, at, message, hint);
}

/// What becomes of changes that nobody heeds.
const CHANGES: &str = "what it changes there is lost";

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
    let (why, lost) = match file.fate {
        Fate::Unread => ("which `bootstrap.sh` reads and the plan does not", CHANGES),
        Fate::NotRun => ("which is not run on the node", CHANGES),
        Fate::NotThere => ("which is not there", "what it looks for there is not found"),
        Fate::Elsewhere => ("which kubelet does not read here, as its files are in `/etc/eksctl`", CHANGES),
        Fate::Written | Fate::LaidOver | Fate::Started => ("where the plan writes afterwards", CHANGES),
    };
    let message = format!("this line has to do with `{path}`, {why}: {lost}");
    if file.of == EKSCTL {
        let hint = format!("write {field}, and take it out of the command");
        tell.warning(codes::FIELD_DIFFERS, at, message, hint);
        return;
    }
    let instead =
        if joins == Joins::Call && file.fate == Fate::Written { ", or do it behind the call" } else { "" };
    let hint = format!("write {field} of the group with `--with additions.yaml`{instead}");
    tell.warning(codes::FIELD_DIFFERS, at, message, hint);
}
