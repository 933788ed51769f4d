//! What is tried.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use bringup_plan::Plan;
use bringup_spec::Platform;

use crate::{Authority, LabFault, proxy};

/// How a carrier gets into the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the metadata service of EC2.
    Ec2,
    /// From a seed on the disk.
    NoCloud,
    /// By Ignition, before the first boot.
    Ignition,
}

/// What the machine is given: a file of this machine, or bytes that were made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A file, read when it is asked for.
    File(PathBuf),
    /// A program that stands in for one, or an answer.
    Made(Vec<u8>),
}

impl Given {
    /// What is in it.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, LabFault> {
        match self {
            Self::File(path) => std::fs::read(path).map_err(LabFault::file("read", path)),
            Self::Made(bytes) => Ok(bytes.clone()),
        }
    }

    /// Its permissions on the machine: a file that can be run here can be run there.
    pub(crate) fn mode(&self) -> u32 {
        match self {
            Self::File(path) => {
                std::fs::metadata(path).map_or(0o600, |status| status.permissions().mode() & 0o7777)
            }
            Self::Made(bytes) if bytes.starts_with(b"#!") => 0o755,
            Self::Made(_) => 0o600,
        }
    }
}

/// What is tried: a carrier, and what is known about it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The carrier's bytes, exactly as the machine would get them.
    pub carrier: Vec<u8>,
    /// How it gets in.
    pub way: Way,
    /// The system that it is meant for, if it is not Debian.
    pub stands_for: Option<String>,
    /// The plan inside, if it is one of ours.
    pub plan: Option<Plan>,
    /// Whether it starts kubelet without our agent: the machine has not come up before kubelet is healthy.
    pub expects_kubelet: bool,
    /// The snap that kubelet is, if it is one.
    pub kubelet_snap: Option<String>,
    /// The agent, where the image is to have it.
    pub agent: Option<PathBuf>,
    /// What URLs give, by URL.
    pub served: Vec<(String, Given)>,
    /// Who vouches for what is served by `https`, where the carrier names it; else the lab finds somebody.
    pub authority: Option<Arc<Authority>>,
    /// Files that the image has beside what the lab puts there, by their paths in it.
    pub files: Vec<(String, Given)>,
    /// What of all this stands in for something else, for people.
    pub stand_ins: Vec<String>,
}

impl Subject {
    /// Whether a script sets and starts kubelet's snap: our agent speaks to snapd itself.
    pub(crate) fn needs_snap(&self) -> bool {
        self.kubelet_snap.is_some() && self.plan.is_none()
    }

    /// The proxies that the machine goes through.
    pub(crate) fn proxies(&self) -> Vec<String> {
        self.plan.as_ref().map(proxy::of).unwrap_or_default()
    }

    /// Whether the machine is an instance of EC2.
    pub(crate) fn is_on_aws(&self) -> bool {
        self.way == Way::Ec2 || self.plan.as_ref().is_some_and(|plan| plan.platform == Platform::Aws)
    }
}
