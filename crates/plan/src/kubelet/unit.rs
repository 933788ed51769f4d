//! kubelet's unit: held behind the gate, whatever the image has.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bringup_spec::{AgentSource, Flavour, JoinMethod, OsFamily, RuntimeName, SoftwareSource};

use crate::context::Context;
use crate::decisions::{Decisions, program_root};
use crate::flavour::{ARGUMENTS_VARIABLE, GATE_FILE};
use crate::kubelet::flags::Flags;
use crate::runtime::sandbox;
use crate::units::Systemd;
use crate::{PlacedBy, Unit, eksctl};

/// Where kubelet's arguments stand when there is no agent to open a gate.
pub(crate) const STATIC_ENVIRONMENT: &str = "/etc/kubernetes/kubelet.env";

/// kubelet's unit with our drop-in and, where the image has no unit, the unit itself.
pub(crate) fn unit(context: &Context<'_>, decisions: &Decisions) -> Unit {
    let old = Systemd::of(&context.group.os).lacks_unit_limits;
    let kubeadm = decisions.join == JoinMethod::Kubeadm;
    let gated = decisions.agent != AgentSource::None;
    let runtime = runtime_unit(decisions.runtime);
    let snap = decisions.is_snap();
    let mut drop_ins = BTreeMap::new();
    let mut text = String::from("[Unit]\n");
    if gated {
        text.push_str("Requires=bringup-gate.target\nAfter=bringup-gate.target\n");
    }
    // A broken machine is to be retried for ever: a start limit would leave it down after the cause has gone.
    let limit = if old { "" } else { "StartLimitIntervalSec=0\n" };
    let fetched =
        if sandbox::is_fetched(context, decisions) { format!(" {}", sandbox::UNIT) } else { String::new() };
    let _ = write!(text, "Wants={runtime}{fetched}\nAfter={runtime}{fetched}\n{limit}\n[Service]\n");
    if old {
        text.push_str("StartLimitInterval=0\n");
    }
    if kubeadm || snap {
        // The program and its arguments are those of kubeadm's packages, or of the snap.
        if gated {
            let _ = writeln!(text, "EnvironmentFile={GATE_FILE}");
        } else if has_static_environment(context, decisions) {
            let _ = writeln!(text, "EnvironmentFile={STATIC_ENVIRONMENT}");
        }
    } else {
        // An image's own environment files may not exist; the empty line forgets them.
        text.push_str("EnvironmentFile=\n");
        let file = if gated { GATE_FILE } else { STATIC_ENVIRONMENT };
        for file in decisions.layout.environment_files.iter().chain(&[file]) {
            let _ = writeln!(text, "EnvironmentFile={file}");
        }
        let program = Decisions::kubelet_program(context);
        let _ = write!(text, "ExecStart=\nExecStart={program} ${ARGUMENTS_VARIABLE}\n");
    }
    text.push_str("Restart=always\nRestartSec=5\n");
    drop_ins.insert(decisions.layout.drop_in.to_owned(), text);
    let brings = brings_unit(context, decisions);
    if kubeadm && brings {
        drop_ins.insert("10-kubeadm.conf".to_owned(), kubeadm_drop_in(context));
    }
    Unit {
        name: if snap { eksctl::snap(Flags::new()).unit() } else { "kubelet.service".to_owned() },
        content: brings.then(|| unit_file(context, decisions, runtime)),
        // The agent starts it, on every boot, once the gate is open. Without one, a snap is enabled when it has been set.
        enabled: if gated { Some(false) } else { (!snap).then_some(true) },
        mask: false,
        drop_ins,
        // A person, and a document, may call it by its usual name all the same.
        aliases: if snap { vec!["kubelet.service".to_owned()] } else { Vec::new() },
        placed_by: PlacedBy::Carrier,
    }
}

/// Whether kubelet's variables stand in a file: there is no agent to publish them with the gate, and there are some.
pub(crate) fn has_static_environment(context: &Context<'_>, decisions: &Decisions) -> bool {
    let some = !decisions.is_snap() || !context.group.kubelet.environment.is_empty();
    // Tectonic has a file of its own there, and is refused without an agent.
    let free = context.spec.flavour != Flavour::Tectonic;
    free && decisions.agent == AgentSource::None && decisions.join != JoinMethod::Kubeadm && some
}

/// The runtime's unit.
pub(crate) fn runtime_unit(runtime: RuntimeName) -> &'static str {
    match runtime {
        RuntimeName::Containerd => "containerd.service",
        RuntimeName::Docker => "docker.service",
    }
}

/// The runtime's unit with the drop-ins that it needs, if any.
pub(crate) fn runtime(context: &Context<'_>, decisions: &Decisions) -> Unit {
    let mut drop_ins = BTreeMap::new();
    if context.group.os.family == OsFamily::Flatcar && decisions.runtime == RuntimeName::Containerd {
        // Flatcar's own unit reads a configuration beneath /usr, which cannot be changed.
        let text =
            "[Service]\nExecStart=\nExecStart=/usr/bin/containerd --config /etc/containerd/config.toml\n";
        drop_ins.insert("10-use-custom-config.conf".to_owned(), text.to_owned());
    }
    Unit {
        name: runtime_unit(decisions.runtime).to_owned(),
        content: brings_runtime_unit(context, decisions).then(|| containerd_unit(context)),
        enabled: None,
        mask: false,
        drop_ins,
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    }
}

/// containerd's archive has programs alone. Flatcar's image has the unit, and a document may have its own.
fn brings_runtime_unit(context: &Context<'_>, decisions: &Decisions) -> bool {
    let group = context.group;
    let name = runtime_unit(decisions.runtime);
    decisions.runtime == RuntimeName::Containerd
        && group.software.runtime.from == SoftwareSource::Url
        && group.os.family != OsFamily::Flatcar
        && !group.units.iter().any(|unit| unit.name == name && unit.content.is_some())
}

/// What containerd's own unit says: containers outlive it, and are killed before it is.
fn containerd_unit(context: &Context<'_>) -> String {
    let path = context.group.software.runtime.path.as_ref().map(bringup_spec::AbsolutePath::as_str);
    let root = path.unwrap_or_else(|| program_root(context.group.os.family));
    let root = root.trim_end_matches('/');
    format!(
        "[Unit]\nDescription=containerd: the container runtime\nDocumentation=https://containerd.io\nAfter=network.target dbus.service\n\n\
         [Service]\nType=notify\nExecStartPre=-/sbin/modprobe overlay\nExecStart={root}/bin/containerd --config /etc/containerd/config.toml\n\
         Restart=always\nRestartSec=5\nDelegate=yes\nKillMode=process\nOOMScoreAdjust=-999\n\
         LimitNOFILE=1048576\nLimitNPROC=infinity\nLimitCORE=infinity\nTasksMax=infinity\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}

/// A download or an extension brings the program alone, and Flatcar's image has no kubelet at all. The unit of Amazon
/// Linux 2 requires docker, and a drop-in cannot take a requirement back.
fn brings_unit(context: &Context<'_>, decisions: &Decisions) -> bool {
    let os = context.group.os.family;
    matches!(context.group.software.kubelet.from, SoftwareSource::Url | SoftwareSource::Extension)
        || os == OsFamily::Flatcar
        || (os == OsFamily::AmazonLinux2 && decisions.eks_image)
}

fn unit_file(context: &Context<'_>, decisions: &Decisions, runtime: &str) -> String {
    let program = Decisions::kubelet_program(context);
    // EKS' images account for kubelet and the runtime in a slice of their own, and docker once closed this policy.
    let slice = if decisions.eks_image {
        "Slice=runtime.slice\nExecStartPre=/sbin/iptables -P FORWARD ACCEPT -w 5\n"
    } else {
        ""
    };
    format!(
        "[Unit]\nDescription=kubelet: the Kubernetes node agent\nDocumentation=https://kubernetes.io/docs/\nAfter={runtime}\n\n\
         [Service]\n{slice}ExecStart={program}\nRestart=always\nRestartSec=5\nKillMode=process\nCPUAccounting=true\nMemoryAccounting=true\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}

/// The variables through which kubeadm tells kubelet what to do, as its packages have them.
fn kubeadm_drop_in(context: &Context<'_>) -> String {
    let program = Decisions::kubelet_program(context);
    format!(
        "[Service]\n\
         Environment=\"KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf\"\n\
         Environment=\"KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml\"\n\
         EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\n\
         ExecStart=\n\
         ExecStart={program} $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS\n"
    )
}
