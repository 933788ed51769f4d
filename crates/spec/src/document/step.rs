//! What the operator runs, and when.

use std::collections::BTreeMap;

use bringup_yaml::Node;
use serde_json::json;

use crate::decode::{Decode, Reader, Schemas, choices, record};
use crate::{AbsolutePath, Name, Span, Text};

choices! {
    /// The phases of a node, in order.
    "phase" pub enum Phase {
        /// Learn the facts.
        Identify = "identify",
        /// Fetch what is needed.
        Fetch = "fetch",
        /// The operator's first word.
        PreInstall = "pre-install",
        /// Update the operating system, where asked.
        Update = "update",
        /// Install and configure the container runtime.
        Runtime = "runtime",
        /// Write kubelet's configuration.
        Configure = "configure",
        /// Reboot, where asked.
        Reboot = "reboot",
        /// Open the gate: kubelet may start.
        Gate = "gate",
        /// Start kubelet and see it healthy.
        Kubelet = "kubelet",
        /// Make the control plane, on the elected node.
        ControlPlane = "control-plane",
        /// The node object exists.
        Registered = "registered",
        /// Install what stands on top, on the elected node.
        Platform = "platform",
        /// The operator's last word.
        PostInstall = "post-install",
        /// Tell how it ended.
        Report = "report",
    }
}

record! {
    /// A command of the operator.
    "a step" pub struct Step {
        /// Its name, unique in the node group.
        "name" => name: Name,
        /// The command and its arguments; never seen by a shell.
        "run" => run: Vec<Text>,
        /// A script with its shebang, instead of `run`.
        "script" => script: Option<Text>,
        /// Phases or steps that it must end before.
        "before" => before: Vec<String>,
        /// Phases or steps that must have ended before it starts.
        "after" => after: Vec<String>,
        /// Variables of its environment.
        "environment" => environment: BTreeMap<String, Text>,
        /// The working directory.
        "directory" => directory: Option<AbsolutePath>,
        /// How long one attempt may take.
        "timeout" => timeout: Span = Span::seconds(600),
        /// How many attempts.
        "attempts" => attempts: u32 = 3,
        /// The wait before the second attempt; it doubles each time.
        "backoff" => backoff: Span = Span::seconds(5),
        /// What happens when the last attempt has failed.
        "onFailure" => on_failure: OnFailure = OnFailure::Pause,
        /// Whether it runs on every boot rather than once for the same input.
        "everyBoot" => every_boot: bool = false,
    }
}

choices! {
    /// What happens when the last attempt has failed.
    "policy on failure" pub enum OnFailure {
        /// Start over, for ever.
        Retry = "retry",
        /// Wait for the operator, reachable and saying why.
        Pause = "pause",
        /// Go on without it.
        Continue = "continue",
        /// Stop for good.
        GiveUp = "give-up",
    }
}

choices! {
    /// Points of the life of a node or a cluster.
    "lifecycle point" pub enum HookPoint {
        /// On each node, before it is installed.
        PreInstall = "pre-install",
        /// On each node, after it is ready.
        PostInstall = "post-install",
        /// On each node, before its upgrade.
        PreUpgrade = "pre-upgrade",
        /// On each node, after its upgrade.
        PostUpgrade = "post-upgrade",
        /// On each node, before it is deleted.
        PreDelete = "pre-delete",
        /// On each node, after it is deleted.
        PostDelete = "post-delete",
        /// On the first control-plane node, before the cluster is installed.
        PreClusterInstall = "pre-cluster-install",
        /// On the first control-plane node, after the cluster is installed.
        PostClusterInstall = "post-cluster-install",
        /// On the first control-plane node, before the cluster's upgrade.
        PreClusterUpgrade = "pre-cluster-upgrade",
        /// On the first control-plane node, after the cluster's upgrade.
        PostClusterUpgrade = "post-cluster-upgrade",
        /// On the first control-plane node, before the cluster is deleted.
        PreClusterDelete = "pre-cluster-delete",
        /// On the first control-plane node, after the cluster is deleted.
        PostClusterDelete = "post-cluster-delete",
    }
}

record! {
    /// A program of the operator at a lifecycle point: a step whose place has a name.
    "a hook" pub struct Hook {
        /// Its name.
        "name" => name: Name,
        /// When it runs.
        "on" => on: HookPoint,
        /// The command and its arguments; never seen by a shell.
        "run" => run: Vec<Text>,
        /// A script with its shebang, instead of `run`.
        "script" => script: Option<Text>,
        /// How long one attempt may take.
        "timeout" => timeout: Span = Span::seconds(600),
        /// How many attempts.
        "attempts" => attempts: u32 = 3,
        /// The wait before the second attempt; it doubles each time.
        "backoff" => backoff: Span = Span::seconds(5),
        /// What happens when the last attempt has failed.
        "onFailure" => on_failure: OnFailure = OnFailure::Pause,
    }
}

record! {
    /// Update of the operating system before the node joins.
    "`update`" pub struct OsUpdate {
        /// Whether to update at all.
        "enabled" => enabled: bool = true,
        /// How long it may take.
        "timeout" => timeout: Span = Span::seconds(3600),
        /// Packages to hold back, where there are packages.
        "hold" => hold: Vec<String>,
    }
}

choices! {
    /// Whether the machine may be rebooted on its way.
    "policy on reboots" pub enum RebootPolicy {
        /// Never; what would need one is an error.
        Never = "never",
        /// If an update or a kernel argument needs it.
        IfNeeded = "if-needed",
        /// Once, in any case.
        Always = "always",
    }
}

record! {
    /// Reboot of the machine before the gate.
    "`reboot`" pub struct Reboot {
        /// The policy.
        "policy" => policy: RebootPolicy = RebootPolicy::IfNeeded,
        /// How long the machine may take to come back.
        "timeout" => timeout: Span = Span::seconds(600),
    }
}

impl Default for Reboot {
    fn default() -> Self {
        Self { policy: RebootPolicy::IfNeeded, timeout: Span::seconds(600) }
    }
}

/// Something that must be there before a stage starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// A path.
    Path(AbsolutePath),
    /// Every file of a list, with the digest that the list says.
    Manifest(AbsolutePath),
}

record! {
    /// A list of files that must be whole.
    "what a stage waits for" pub struct Manifest {
        /// The list, as `sha256sum` writes it, itself written last; paths in it start from its folder.
        "manifest" => manifest: AbsolutePath,
    }
}

impl Decode for WaitFor {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            return Manifest::decode(node, reader).map(|list| Self::Manifest(list.manifest));
        }
        AbsolutePath::decode(node, reader).map(Self::Path)
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [AbsolutePath::schema(schemas), Manifest::schema(schemas)]})
    }
}

record! {
    /// A stage that runs on the node that starts the cluster.
    "a stage" pub struct Stage {
        /// The command and its arguments.
        "run" => run: Vec<Text>,
        /// What must be there before it starts: paths, and `{manifest: PATH}` for a list of digests of which every file
        /// must be whole.
        "waitFor" => wait_for: Vec<WaitFor>,
        /// The working directory.
        "directory" => directory: Option<AbsolutePath>,
        /// How long one attempt may take.
        "timeout" => timeout: Span = Span::seconds(1800),
        /// How many attempts.
        "attempts" => attempts: u32 = 3,
    }
}
