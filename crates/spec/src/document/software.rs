//! The software of a node and where it comes from.

use std::collections::BTreeMap;

use bringup_yaml::Node;
use serde_json::json;

use crate::decode::{Decode, Reader, Schemas, choices, record};
use crate::{AbsolutePath, MinorRange, Sha256, Url};

choices! {
    /// Container runtimes.
    "container runtime" pub enum RuntimeName {
        /// containerd, 1.x or 2.x.
        Containerd = "containerd",
        /// Docker, for Kubernetes below 1.24.
        Docker = "docker",
    }
}

record! {
    /// The container runtime.
    "`runtime`" pub struct Runtime {
        /// Which.
        "name" => name: RuntimeName = RuntimeName::Containerd,
        /// Its version; of containerd, the first number decides the schema of its configuration.
        "version" => version: Option<String>,
        /// Which version goes with which minors of Kubernetes, instead of `version`. Where another one is installed than the
        /// node had, the old one's data is set aside and the machine is rebooted.
        "versions" => versions: Vec<RuntimeVersion>,
        /// TOML that is merged over containerd's generated configuration.
        "config" => config: Option<String>,
        /// Fields of docker's daemon.json, merged over the generated ones.
        "dockerConfig" => docker_config: BTreeMap<String, serde_json::Value>,
        /// The image of the pod sandbox; on AWS the default is the region's own.
        "sandboxImage" => sandbox_image: Option<String>,
    }
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            name: RuntimeName::Containerd,
            version: None,
            versions: Vec::new(),
            config: None,
            docker_config: BTreeMap::new(),
            sandbox_image: None,
        }
    }
}

record! {
    /// The version of the runtime that goes with some minors of Kubernetes.
    "a version of the runtime" pub struct RuntimeVersion {
        /// The minors of the cluster that it goes with, `1.33` or `1.28-1.30`.
        "kubernetes" => kubernetes: MinorRange,
        /// The version to expect or install.
        "version" => version: String,
        /// Its downloads by architecture, `x86_64` and `aarch64`, where `software.runtime` is fetched.
        "downloads" => downloads: BTreeMap<String, Download>,
    }
}

record! {
    /// How kubelet gets credentials for images.
    "`imageCredentialProvider`" pub struct ImageCredentialProvider {
        /// The directory of the provider's program.
        "binDir" => bin_dir: AbsolutePath,
        /// The provider's program.
        "name" => name: String,
        /// Images that it is asked about; for ECR's provider the default follows from the partition.
        "matchImages" => match_images: Vec<String>,
        /// How long an answer is kept.
        "cacheDuration" => cache_duration: Option<crate::Span>,
        /// Arguments of the program.
        "args" => args: Vec<String>,
        /// Environment variables of the program.
        "environment" => environment: BTreeMap<String, String>,
    }
}

record! {
    /// Where the software of a node comes from.
    "`software`" pub struct Software {
        /// kubelet.
        "kubelet" => kubelet: SoftwareItem = SoftwareItem::in_image(),
        /// kubeadm.
        "kubeadm" => kubeadm: SoftwareItem = SoftwareItem::in_image(),
        /// The container runtime.
        "runtime" => runtime: SoftwareItem = SoftwareItem::in_image(),
        /// The CNI plugins.
        "cni" => cni: SoftwareItem = SoftwareItem::in_image(),
    }
}

impl Default for Software {
    fn default() -> Self {
        let item = SoftwareItem::in_image;
        Self { kubelet: item(), kubeadm: item(), runtime: item(), cni: item() }
    }
}

choices! {
    /// Where a piece of software comes from.
    "source of software" pub enum SoftwareSource {
        /// The image has it; only its version is checked.
        Image = "image",
        /// A package of the operating system.
        Package = "package",
        /// A system extension image.
        Extension = "extension",
        /// A download.
        Url = "url",
    }
}

record! {
    /// A piece of software.
    "a piece of software" pub struct SoftwareItem {
        /// Where it comes from.
        "from" => from: SoftwareSource = SoftwareSource::Image,
        /// The version to expect or install.
        "version" => version: Option<String>,
        /// The package's name, if not the usual one.
        "package" => package: Option<String>,
        /// Where to put what is downloaded: a file, or a directory for an archive.
        "path" => path: Option<AbsolutePath>,
        /// Downloads by architecture, `x86_64` and `aarch64`.
        "downloads" => downloads: BTreeMap<String, Download>,
    }
}

impl SoftwareItem {
    /// The image has it, in whatever version.
    pub fn in_image() -> Self {
        Self {
            from: SoftwareSource::Image,
            version: None,
            package: None,
            path: None,
            downloads: BTreeMap::new(),
        }
    }
}

record! {
    /// A download with its digest.
    "a download" pub struct Download {
        /// Where to fetch it; several are mirrors, tried in this order.
        "urls" => urls: Vec<Url>,
        /// The digest of what is fetched.
        "sha256" => sha256: Sha256,
    }
}

choices! {
    /// How the agent arrives.
    "way for the agent to arrive" pub enum AgentSource {
        /// The image has it.
        Image = "image",
        /// The first stage fetches it.
        Fetch = "fetch",
        /// There is no agent: the carrier itself must do everything.
        None = "none",
    }
}

/// How the agent arrives on the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The way.
    pub from: AgentSource,
    /// What to fetch, by architecture.
    pub downloads: BTreeMap<String, Download>,
}

impl Default for Agent {
    fn default() -> Self {
        Self { from: AgentSource::Image, downloads: BTreeMap::new() }
    }
}

record! {
    /// How the agent arrives on the machine, in full.
    "`agent`" pub struct AgentRecord {
        /// The way.
        "from" => from: AgentSource = AgentSource::Fetch,
        /// What to fetch, by architecture, `x86_64` and `aarch64`.
        "downloads" => downloads: BTreeMap<String, Download>,
    }
}

impl Decode for Agent {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            return AgentRecord::decode(node, reader)
                .map(|agent| Self { from: agent.from, downloads: agent.downloads });
        }
        AgentSource::decode(node, reader).map(|from| Self { from, downloads: BTreeMap::new() })
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [AgentSource::schema(schemas), AgentRecord::schema(schemas)]})
    }
}

choices! {
    /// What to do about swap.
    "policy on swap" pub enum SwapPolicy {
        /// Turn it off, now and at every boot.
        Off = "off",
        /// Leave it as it is.
        Keep = "keep",
        /// Make a swap file and let pods use it.
        File = "file",
    }
}

/// What to do about swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The policy.
    pub policy: SwapPolicy,
    /// The size of the swap file.
    pub size_mib: Option<u32>,
    /// Its path.
    pub path: Option<AbsolutePath>,
}

record! {
    /// A swap file.
    "`swap`" pub struct SwapRecord {
        /// The policy.
        "policy" => policy: SwapPolicy = SwapPolicy::File,
        /// The size of the swap file.
        "sizeMiB" => size_mib: Option<u32>,
        /// Its path.
        "path" => path: Option<AbsolutePath>,
    }
}

impl Decode for Swap {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            return SwapRecord::decode(node, reader).map(|swap| Self {
                policy: swap.policy,
                size_mib: swap.size_mib,
                path: swap.path,
            });
        }
        SwapPolicy::decode(node, reader).map(|policy| Self { policy, size_mib: None, path: None })
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [SwapPolicy::schema(schemas), SwapRecord::schema(schemas)]})
    }
}
