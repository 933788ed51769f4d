//! What is tried.

use std::path::PathBuf;

use bringup_plan::Plan;
use bringup_spec::Platform;

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
    /// The agent, where the image is to have it.
    pub agent: Option<PathBuf>,
    /// What URLs give, by URL: files of this machine.
    pub served: Vec<(String, PathBuf)>,
    /// Files that the image has beside what the lab puts there: path in the image and file of this machine.
    pub files: Vec<(String, PathBuf)>,
}

impl Subject {
    /// Whether the machine is an instance of EC2.
    pub(crate) fn is_on_aws(&self) -> bool {
        self.way == Way::Ec2 || self.plan.as_ref().is_some_and(|plan| plan.platform == Platform::Aws)
    }
}
