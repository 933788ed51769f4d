//! What stands in for programs that are not given: kubelet, the container runtime, and what other systems' images have.

use bringup_plan::{Action, Plan};
use serde_json::json;

/// How the stand-in for kubelet misbehaves, if it is asked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Not at all.
    #[default]
    None,
    /// It dies after so many seconds, each time.
    DiesAfter(u32),
    /// Its health endpoint never answers.
    NeverAnswers,
    /// Its health endpoint answers with 500.
    Answers500,
    /// The image has it enabled, so that it starts by itself.
    StartsEarly,
}

/// The program.
pub(crate) const KUBELET: &str = include_str!("kubelet.py");

/// Its unit, as packages have it.
pub(crate) const KUBELET_UNIT: &str = "[Unit]\nDescription=kubelet (stand-in)\n\n[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\nRestartSec=10\n\n[Install]\nWantedBy=multi-user.target\n";

/// A runtime that does nothing but run.
pub(crate) const RUNTIME_UNIT: &str = "[Unit]\nDescription=containerd (stand-in)\n\n[Service]\nExecStart=/usr/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n";

/// docker, where a plan starts it: it does nothing but run, as containerd does.
pub(crate) fn docker(plan: &Plan) -> Option<[(&'static str, String, u32); 2]> {
    let starts =
        |action: &Action| matches!(action, Action::StartUnit { unit, .. } if unit == "docker.service");
    plan.steps.iter().any(|step| starts(&step.action)).then(|| {
        let version = expected(plan, "docker").unwrap_or_else(|| "20.10.0".to_owned());
        let program = format!("#!/bin/sh\necho Docker version {version}, build lab\n");
        let unit = RUNTIME_UNIT.replace("containerd", "docker");
        [("/usr/bin/dockerd", program, 0o755), ("/usr/lib/systemd/system/docker.service", unit, 0o644)]
    })
}

/// A runtime that says a version and nothing else.
pub(crate) fn runtime(version: &str) -> String {
    format!("#!/bin/sh\necho containerd github.com/containerd/containerd v{version} lab\n")
}

/// A way to join that reaches nobody: it leaves what kubelet and the agent look for afterwards, and starts kubelet.
pub(crate) fn kubeadm(version: &str) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": "https://api.lab.example"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        "users": [{"name": "lab", "user": {}}],
    });
    format!(
        "#!/bin/sh\ncase $1 in\nversion) echo v{version} ;;\n\
         init | join) echo '{config}' >/etc/kubernetes/kubelet.conf && systemctl start --no-block kubelet.service ;;\nesac\n"
    )
}

/// What keeps the snaps of a machine.
const SNAPD: &str = include_str!("snapd.py");
/// What asks it, for those who do not speak to its socket.
pub(crate) const SNAP: (&str, &str) = ("/usr/bin/snap", include_str!("snap.py"));

/// snapd with a snap that is kubelet, as Ubuntu's images have them: paths, contents and permissions.
pub(crate) fn snapd(snap: &str) -> [(String, String, u32); 5] {
    let units = "/usr/lib/systemd/system";
    let daemon = format!("snap.{snap}.daemon.service");
    let service =
        format!("[Unit]\nDescription=snapd (stand-in)\n\n[Service]\nExecStart=/lab/snapd {daemon} {snap}\n");
    let socket =
        "[Unit]\nDescription=snapd's socket (stand-in)\n\n[Socket]\nListenStream=/run/snapd.socket\n";
    let kubelet = "[Unit]\nDescription=kubelet (snap, stand-in)\n\n[Service]\nExecStart=/lab/snap-daemon\nRestart=on-failure\n\n[Install]\nWantedBy=multi-user.target\n";
    let program = "#!/bin/sh\nexec /usr/bin/kubelet $(cat /var/lib/lab-snap-arguments)\n";
    [
        ("/lab/snapd".to_owned(), SNAPD.to_owned(), 0o755),
        ("/lab/snap-daemon".to_owned(), program.to_owned(), 0o755),
        (format!("{units}/snapd.service"), service, 0o644),
        (format!("{units}/snapd.socket"), socket.to_owned(), 0o644),
        (format!("{units}/{daemon}"), kubelet.to_owned(), 0o644),
    ]
}

/// Whether a plan has kubeadm bring the node into its cluster.
pub(crate) fn joins_by_kubeadm(plan: &Plan) -> bool {
    plan.steps
        .iter()
        .any(|step| matches!(&step.action, Action::Install { software, .. } if software == "kubeadm"))
}

/// A packet filter that leaves the kernel's alone: units of other systems' images call it before kubelet.
pub(crate) const PACKET_FILTER: (&str, &str) = ("/usr/sbin/iptables", "#!/bin/sh\n");

/// The version that a plan expects of a piece of software, with all three numbers.
pub(crate) fn expected(plan: &Plan, software: &str) -> Option<String> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::Install { software: name, version: Some(version), .. } if name == software => {
            Some(whole(version))
        }
        _ => None,
    })
}

/// A version with all three numbers, and with whatever comes before a release.
fn whole(version: &str) -> String {
    let (numbers, suffix) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let three: Vec<&str> = numbers.split('.').chain(["0", "0"]).take(3).collect();
    format!("{}{suffix}", three.join("."))
}

impl Misbehaviour {
    /// What the stand-in reads; `version` is what it says that it is.
    pub(crate) fn wishes(self, version: &str) -> String {
        let dies = if let Self::DiesAfter(seconds) = self { Some(seconds) } else { None };
        let health = match self {
            Self::NeverAnswers => "never",
            Self::Answers500 => "500",
            Self::None | Self::DiesAfter(_) | Self::StartsEarly => "ok",
        };
        json!({"dies_after_s": dies, "health": health, "version": version}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_three_numbers_and_keeps_what_is_behind_them() {
        for (said, is) in
            [("1.33", "1.33.0"), ("2", "2.0.0"), ("1.34.2", "1.34.2"), ("1.34.0-alpha.1", "1.34.0-alpha.1")]
        {
            assert_eq!(whole(said), is);
        }
    }
}
