//! Where things stand on the node: our own places, and those that the users of another system rely on.

use bringup_spec::{Flavour, OsFamily};

/// The agent's program.
pub const AGENT: &str = "/opt/bringup/bin/bringup-node";

/// The gate: kubelet's unit cannot start without it.
pub const GATE_FILE: &str = "/run/bringup/kubelet.env";

/// What runs the operator's steps and starts kubelet where there is no agent.
pub const STEPS_UNIT: &str = "bringup-steps.service";

/// Names of units that plans keep for themselves: the agent's, and what stands in for it.
pub const OUR_UNITS: [&str; 4] =
    ["bringup.service", "bringup-gate.target", "bringup-after.service", STEPS_UNIT];

/// What sets kubelet and starts it where it is a snap and there is no agent.
pub const SNAP_STARTER: &str = "eksctl-bootstrap.service";

/// The variable of the gate file that holds kubelet's arguments.
pub const ARGUMENTS_VARIABLE: &str = "BRINGUP_KUBELET_ARGS";

/// Secrets that the node resolved.
pub(crate) const SECRETS: &str = "/etc/bringup/secrets";

/// Scripts of steps and hooks.
pub(crate) const SCRIPTS: &str = "/opt/bringup/steps";

/// Paths of the files that kubelet reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// KubeletConfiguration.
    pub(crate) config: &'static str,
    /// Credentials for the API server.
    pub(crate) kubeconfig: &'static str,
    /// Credentials that are traded for better ones.
    pub(crate) bootstrap_kubeconfig: &'static str,
    /// The cluster's certificate authority.
    pub(crate) certificate_authority: &'static str,
    /// Configuration of the image credential provider.
    pub(crate) credential_provider: &'static str,
    /// The drop-in that holds kubelet behind the gate.
    pub(crate) drop_in: &'static str,
    /// Further environment files of kubelet's unit.
    pub(crate) environment_files: &'static [&'static str],
    /// Further names of the agent's unit.
    pub(crate) aliases: &'static [&'static str],
}

const OURS: Layout = Layout {
    config: "/etc/kubernetes/kubelet/config.json",
    kubeconfig: "/var/lib/kubelet/kubeconfig",
    bootstrap_kubeconfig: "/etc/kubernetes/bootstrap-kubeconfig",
    certificate_authority: "/etc/kubernetes/pki/ca.crt",
    credential_provider: "/etc/kubernetes/image-credential-provider/config.json",
    drop_in: "90-bringup.conf",
    environment_files: &[],
    aliases: &[],
};

/// The places that the flavour keeps.
pub(crate) fn layout(flavour: Flavour, os: OsFamily) -> Layout {
    match flavour {
        Flavour::Bringup => OURS,
        Flavour::Kops => Layout {
            credential_provider: "/var/lib/kubelet/credential-provider.conf",
            aliases: &["kops-configuration.service"],
            ..OURS
        },
        Flavour::Tectonic => Layout {
            kubeconfig: "/etc/kubernetes/kubeconfig",
            certificate_authority: "/etc/kubernetes/ca.crt",
            environment_files: &["/etc/kubernetes/kubelet.env"],
            aliases: &["k8s-node-bootstrap.service"],
            ..OURS
        },
        Flavour::Eksctl => Layout {
            config: "/etc/eksctl/kubelet.yaml",
            kubeconfig: "/etc/eksctl/kubeconfig.yaml",
            certificate_authority: "/etc/eksctl/ca.crt",
            credential_provider: "/etc/eks/image-credential-provider/config.json",
            // The misspelling is eksctl's own, and people's scripts name the file.
            drop_in: if os == OsFamily::AmazonLinux2 { "10-eksclt.al2.conf" } else { "10-eksctl.conf" },
            environment_files: &[
                "/etc/eksctl/metadata.env",
                "/etc/eksctl/kubelet.env",
                "/etc/eksctl/kubelet.local.env",
            ],
            ..OURS
        },
        Flavour::Eks => Layout {
            config: if os == OsFamily::AmazonLinux2 {
                "/etc/kubernetes/kubelet/kubelet-config.json"
            } else {
                "/etc/kubernetes/kubelet/config.json"
            },
            bootstrap_kubeconfig: "/var/lib/kubelet/bootstrap-kubeconfig",
            credential_provider: "/etc/eks/image-credential-provider/config.json",
            ..OURS
        },
    }
}
