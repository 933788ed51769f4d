//! What is wished for beside the subject.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{Hindrance, Instance, Kubernetes, MetadataFault, Misbehaviour};

/// What is wished for beside the subject.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The instance that the machine takes itself for.
    pub instance: Instance,
    /// Where the machine's disk is kept, to be booted again another time.
    pub machine: Option<PathBuf>,
    /// A kubelet to run, instead of the stand-in.
    pub kubelet: Option<PathBuf>,
    /// A cluster to join.
    pub kubernetes: Option<Arc<Kubernetes>>,
    /// How the stand-in misbehaves.
    pub misbehaviour: Misbehaviour,
    /// How the metadata service fails.
    pub metadata_fault: Option<MetadataFault>,
    /// Steps that are made to fail or to take long, by name.
    pub hindrances: BTreeMap<String, Hindrance>,
    /// How often it is booted again after it came up.
    pub reboots: u32,
    /// The power goes when one of these steps begins, once for each, and the machine is booted again.
    pub power_cuts: Vec<String>,
    /// The agent is killed when one of these steps begins, once for each.
    pub kills: Vec<String>,
    /// A boot is over once all of these were seen: a step or a unit, and what happened to it.
    pub until: Vec<(String, String)>,
    /// How long one boot may take.
    pub patience: Duration,
    /// A shell in the machine once there is nothing more to see, for as long as it is open.
    pub shell: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            instance: Instance::default(),
            machine: None,
            kubelet: None,
            kubernetes: None,
            misbehaviour: Misbehaviour::None,
            metadata_fault: None,
            hindrances: BTreeMap::new(),
            reboots: 0,
            power_cuts: Vec::new(),
            kills: Vec::new(),
            until: Vec::new(),
            patience: Duration::from_mins(2),
            shell: false,
        }
    }
}

impl Wishes {
    /// The kubelet to run, if it is not to be the stand-in.
    pub(crate) fn real_kubelet(&self) -> Option<PathBuf> {
        let of_cluster = || self.kubernetes.as_ref().map(|cluster| cluster.program("kubelet"));
        self.kubelet.clone().or_else(of_cluster)
    }
}
