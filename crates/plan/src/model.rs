//! What one kind of node will do, as data.

use std::collections::{BTreeMap, BTreeSet};

use bringup_spec::{
    Architecture, Fact, Flavour, NodeNamePolicy, OnFailure, OsFamily, Phase, Platform, Role, Text,
};
use serde::{Deserialize, Serialize};

use crate::Action;

/// The version of the plan's format. An agent that is too old for a plan refuses it, naming both.
pub const FORMAT: u32 = 1;

/// What one kind of node will do: steps in order, units, and every value that can be known before boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    pub format: u32,
    /// The cluster's name.
    pub cluster: String,
    /// The node group's name.
    pub group: String,
    /// Whose names and files the node keeps.
    pub flavour: Flavour,
    /// The version of Kubernetes.
    pub kubernetes: String,
    /// Where the machine runs.
    pub platform: Platform,
    /// The family of its operating system.
    pub os: OsFamily,
    /// The version of the operating system, where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
    /// Its processor.
    pub architecture: Architecture,
    /// What it is for.
    pub role: Role,
    /// Whether this node starts the cluster; absent means no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Election>,
    /// Where its name comes from.
    pub node_name: NodeNamePolicy,
    /// Whether the node's primary address is its IPv6 one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ipv6: bool,
    /// How many pods it takes.
    pub max_pods: PodLimit,
    /// How many pods memory is kept for, where that is another number: programs of EKS' images go by the instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_for_pods: Option<PodLimit>,
    /// How many pods each core takes; a node takes no more than this and [`Self::max_pods`] allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods_per_core: Option<u32>,
    /// The facts that the node must learn, derived ones included.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub facts: BTreeSet<Fact>,
    /// The cluster that EKS is asked about, where a fact of it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eks: Option<EksCluster>,
    /// The API server that a node asks for its version before it joins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detect: Option<ApiServer>,
    /// Ranges of service and pod addresses: the node's own address must lie in none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster_ranges: Vec<String>,
    /// Variables for every program that the agent starts and every fetch: the proxy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Certificate authorities that every fetch trusts beside the system's own, PEM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificate_authorities: Vec<String>,
    /// Units: ours, which the carrier places, and the operator's.
    pub units: Vec<Unit>,
    /// Everything else, in the order in which it is done.
    pub steps: Vec<Step>,
    /// Programs of the operator that run only when a controller asks for them: around upgrades and deletions, and around
    /// the life of the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookStep>,
    /// Assertions on order that this node must satisfy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

/// A program of the operator at a point of the life of a node or a cluster, run when a controller asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookStep {
    /// Its name, unique among the hooks of the plan.
    pub name: String,
    /// When it runs.
    pub on: bringup_spec::HookPoint,
    /// The program and its arguments; never seen by a shell. Hooks of cluster scope get the cluster's labels and
    /// annotations as further arguments, `key=value`.
    pub command: Vec<Text>,
    /// How failures are met.
    pub policy: Policy,
}

/// An API server, as a machine without credentials sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApiServer {
    /// Its address.
    pub endpoint: String,
    /// The authority that signed its certificate, PEM.
    pub certificate_authority: String,
}

impl ApiServer {
    /// Where it tells its version.
    pub fn version_url(&self) -> String {
        format!("{}/version", self.endpoint.trim_end_matches('/'))
    }
}

/// A cluster of EKS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EksCluster {
    /// Its name.
    pub name: String,
    /// Its region.
    pub region: String,
}

/// Which node starts the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Election {
    /// Every node with this plan.
    Always,
    /// The node of which the fact has this value.
    When {
        /// The fact.
        fact: Fact,
        /// Its value.
        equals: String,
    },
    /// The node that is the first to make this object in S3.
    Store {
        /// `s3://BUCKET/KEY`.
        object: String,
    },
}

/// How many pods a node takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PodLimit {
    /// So many, whatever the instance.
    Fixed(u32),
    /// Worked out on the node from its instance type.
    Interfaces {
        /// The CNI hands out prefixes.
        prefix_delegation: bool,
        /// The first interface serves no pods.
        custom_networking: bool,
        /// At most so many.
        cap: Option<u32>,
    },
    /// Worked out on the node by nodeadm's way: from its instance type, and by an expression.
    Expression {
        /// In CEL.
        cel: String,
    },
}

/// A systemd unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unit {
    /// Its full name.
    pub name: String,
    /// The unit file, if the plan brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Whether it starts at boot: yes, no, or as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether it must never start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mask: bool,
    /// Drop-ins by file name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drop_ins: BTreeMap<String, String>,
    /// Further names that it answers to: links to it beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Who puts it in place.
    pub placed_by: PlacedBy,
}

impl Unit {
    /// Whether it mounts one of the kernel's own file systems, such as `sys-fs-bpf.mount`: a systemd that mounts them by itself
    /// refuses to start units for them.
    pub fn is_kernels_mount(name: &str) -> bool {
        let path = name.strip_suffix(".mount").unwrap_or_default();
        ["sys-", "proc-", "dev-"].iter().any(|root| path.starts_with(root))
    }
}

/// Who puts a unit in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacedBy {
    /// The carrier, before anything of ours runs.
    Carrier,
    /// The agent, in the phase `configure` (an Ignition carrier places it itself).
    Agent,
}

/// One thing that the node does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Its name, unique in the plan. Stable: it is in journals on disks.
    pub name: String,
    /// The phase that it belongs to.
    pub phase: Phase,
    /// What is done.
    pub action: Action,
    /// How failures are met, where it differs from the agent's own way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Whether it is done on every boot, rather than once for the same input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub every_boot: bool,
    /// Whether only the node that starts the cluster does it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elected_only: bool,
    /// Whether every node but the one that starts the cluster does it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others_only: bool,
    /// The units of which it is the work, where that is not the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_to: Option<HandedTo>,
}

/// Units under names that people rely on, whose work is one step: an agent that comes to the step leaves it to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandedTo {
    /// Starts the service once what it needs has begun to arrive.
    pub path: String,
    /// Runs the agent for the step's phase.
    pub service: String,
    /// What both look at: once it is there, neither starts. Written last, by a step of its own.
    pub done: String,
}

/// How failures of a step are met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// How long one attempt may take.
    pub timeout_ms: u64,
    /// How many attempts.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles each time.
    pub backoff_ms: u64,
    /// What happens when the last attempt has failed.
    pub on_failure: OnFailure,
}
