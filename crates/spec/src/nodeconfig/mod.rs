//! nodeadm's NodeConfig (`node.eks.aws/v1alpha1`): read as nodeadm reads it, but told where nodeadm is silent.
//!
//! [`unpack`] takes user-data or a file apart, [`read`] reads one document, [`merge`] lays several over each other, and
//! [`check`] says what is missing in the whole.

mod base_spec;
mod check;
mod decode;
mod merge;
mod mime;
mod parallel_pulls;
mod unpack;

use std::collections::BTreeMap;

use bringup_diag::{Place, Span};
use serde_json::{Map, Value};

pub use base_spec::base_runtime_spec;
pub use bringup_diag::Finding;
pub use check::check;
pub use decode::{MOUNTS, STRATEGIES, read};
pub use merge::merge;
pub use parallel_pulls::{
    PARALLEL_PULLS_NEED, SNAPSHOTTER_CONFIG, SNAPSHOTTER_DROP_IN, SNAPSHOTTER_IMPORT, SNAPSHOTTER_SOCKET,
    snapshotter_config, snapshotter_plugin,
};
pub use unpack::{Unpacked, unpack};

/// What a node is told. What is not given is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeConfig {
    /// The cluster to join.
    pub cluster: ClusterDetails,
    /// What kubelet is told beyond the defaults.
    pub kubelet: KubeletOptions,
    /// What containerd is told beyond the defaults.
    pub containerd: ContainerdOptions,
    /// The machine's disks, environment and name resolution.
    pub instance: InstanceOptions,
    /// Features that are turned on or off, by name.
    pub feature_gates: BTreeMap<String, bool>,
    /// Where values stand, by path such as `spec.kubelet.config`.
    pub places: BTreeMap<String, Place>,
}

/// The cluster to join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterDetails {
    /// Its name.
    pub name: String,
    /// The URL of its API server.
    pub api_server_endpoint: String,
    /// The bytes of its certificate authority.
    pub certificate_authority: Option<Vec<u8>>,
    /// The range of its services.
    pub cidr: String,
    /// Whether it runs on an Outpost.
    pub enable_outpost: Option<bool>,
    /// Its id, for an Outpost.
    pub id: String,
}

/// What kubelet is told beyond the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KubeletOptions {
    /// Fields of its configuration.
    pub config: Map<String, Value>,
    /// Words of its command line.
    pub flags: Vec<String>,
    /// How many pods there may be, in CEL.
    pub max_pods_expression: String,
}

/// What containerd is told beyond the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerdOptions {
    /// Texts of TOML, each laid over the ones before it.
    pub config: Vec<Fragment>,
    /// Fields of the runtime specification that every container begins with.
    pub base_runtime_spec: Map<String, Value>,
}

/// A text of TOML and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// The machine's disks, environment and name resolution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceOptions {
    /// What becomes of the instance's own disks.
    pub local_storage: LocalStorage,
    /// Variables by service; `default` stands for all of them. None takes back what was said before.
    pub environment: BTreeMap<String, Option<BTreeMap<String, String>>>,
    /// Name servers.
    pub nameservers: Vec<String>,
    /// Domains to search names in.
    pub domains: Vec<String>,
}

/// What becomes of the instance's own disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalStorage {
    /// `RAID0`, `RAID10`, `Mount`, or nothing.
    pub strategy: String,
    /// Where they are mounted.
    pub mount_path: String,
    /// Directories that stay where they are: `Containerd`, `PodLogs`, `SOCI`.
    pub disabled_mounts: Vec<String>,
}

impl NodeConfig {
    /// Where the value at this path stands or, if it is not written, its nearest ancestor that is.
    pub fn place(&self, path: &str) -> Option<Place> {
        let mut path = path;
        loop {
            if let Some(place) = self.places.get(path) {
                return Some(place.clone());
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    /// Whether it runs on an Outpost.
    pub fn is_on_outpost(&self) -> bool {
        self.cluster.enable_outpost == Some(true)
    }

    /// Whether a feature is on; all of them are off unless said otherwise.
    pub fn has_feature(&self, name: &str) -> bool {
        self.feature_gates.get(name) == Some(&true)
    }
}

/// The beginning of a text.
pub fn beginning(file: &str) -> Place {
    Place::new(file, Span::point(1, 1))
}
