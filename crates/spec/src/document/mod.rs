//! The shape of a document: what a person may write.

mod access;
mod cluster;
mod content;
mod group;
mod kubelet;
mod launch;
mod machine;
mod software;
mod step;
mod upgrade;

pub use access::{Api, Aws, Join, JoinMethod, Kubeadm, Kubernetes, Network, Proxy, TrustedAuthority};
pub use cluster::{Cluster, ClusterSpec, Flavour, Metadata};
pub use content::{Asset, Directory, DropIn, File, FileEncoding, Link, Part, PartType, Unit, Unpack};
pub use group::{
    Architecture, Bootstrap, Carrier, FactCondition, ImageProgram, KernelDefaults, KernelModule, NodeGroup,
    NodeNamePolicy, Os, OsFamily, OsRecord, Platform, Role, StoreElection, SysctlValue, UserDataEncoding,
};
pub use kubelet::{Kubelet, MaxPods, PodNetworking, Taint, TaintEffect};
pub use launch::{
    CpuCredits, Launch, LaunchUserData, MetadataOptions, NodeRole, RollingUpdate, Scaling, Signal,
    SignalKind, SpotStrategy, Volume, VolumeType,
};
pub use machine::{JumpHost, Machine};
pub use software::{
    Agent, AgentRecord, AgentSource, Download, ImageCredentialProvider, Runtime, RuntimeName, RuntimeVersion,
    Software, SoftwareItem, SoftwareSource, Swap, SwapPolicy, SwapRecord,
};
pub use step::{
    Hook, HookPoint, Manifest, OnFailure, OsUpdate, Phase, Reboot, RebootPolicy, Stage, Step, WaitFor,
};
pub use upgrade::{Share, Upgrade, UpgradeMode};
