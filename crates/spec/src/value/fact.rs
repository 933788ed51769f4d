//! What only the node knows.

use std::fmt;

use bringup_diag::closest;
use bringup_yaml::Node;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Fault, quoted};
use crate::codes;
use crate::decode::{Decode, Reader, Schemas};

/// What only the node knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Fact {
    /// The instance's id.
    InstanceId,
    /// The instance's type.
    InstanceType,
    /// The region.
    Region,
    /// The availability zone.
    Zone,
    /// `spot`, `on-demand` and the like.
    Lifecycle,
    /// The node's primary address.
    Address,
    /// The host's name as the platform gives it.
    Hostname,
    /// How many processors.
    Cores,
    /// How much memory, in MiB.
    MemoryMiB,
    /// The name that the node registers with; worked out from other facts.
    NodeName,
    /// The platform's name of the machine in Kubernetes' form; worked out from other facts.
    ProviderId,
    /// How many pods the node takes; worked out from the instance type.
    MaxPods,
    /// Processor time kept for kubelet and the runtime, such as `80m`; worked out from the cores.
    ReservedCpu,
    /// Memory kept for kubelet and the runtime, such as `893Mi`; worked out from the pods really in force.
    ReservedMemory,
    /// The address of the cluster's API server, as EKS tells it.
    ClusterEndpoint,
    /// The authority of the cluster's API server, a certificate in PEM; EKS tells it.
    ClusterAuthority,
    /// The address of the cluster's DNS; worked out from the range of its services, which EKS tells.
    ClusterDns,
    /// The address of the cluster's DNS as `bootstrap.sh` guesses it; worked out from the addresses of the network.
    GuessedDns,
    /// The tag of Kubernetes' images: the API server's version where the document asks for it, else the document's.
    KubernetesTag,
    /// The file that names the servers which pods ask for names: the system's, or the one behind it where that names only the
    /// machine itself.
    ResolvConf,
    /// A tag of the instance.
    Tag(String),
}

impl Fact {
    /// The names of the facts that take no argument.
    pub const NAMES: [&'static str; 10] = [
        "instanceId",
        "instanceType",
        "region",
        "zone",
        "lifecycle",
        "address",
        "hostname",
        "cores",
        "memoryMiB",
        "resolvConf",
    ];

    /// The names of the facts that are worked out from others.
    pub const DERIVED: [&'static str; 7] =
        ["nodeName", "providerId", "maxPods", "reservedCpu", "reservedMemory", "guessedDns", "kubernetesTag"];

    /// The names of the facts that EKS tells of the cluster, where the document does not.
    pub const OF_CLUSTER: [&'static str; 3] = ["clusterEndpoint", "clusterAuthority", "clusterDns"];

    /// The names of all facts that take no argument.
    fn names() -> impl Iterator<Item = &'static str> + Clone {
        Self::NAMES.into_iter().chain(Self::DERIVED).chain(Self::OF_CLUSTER)
    }

    /// Whether EKS has to be asked about the cluster for it.
    pub const fn is_of_cluster(&self) -> bool {
        matches!(self, Self::ClusterEndpoint | Self::ClusterAuthority | Self::ClusterDns)
    }

    /// Reads a fact's name.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        Ok(match text {
            "instanceId" => Self::InstanceId,
            "instanceType" => Self::InstanceType,
            "region" => Self::Region,
            "zone" => Self::Zone,
            "lifecycle" => Self::Lifecycle,
            "address" => Self::Address,
            "hostname" => Self::Hostname,
            "cores" => Self::Cores,
            "memoryMiB" => Self::MemoryMiB,
            "nodeName" => Self::NodeName,
            "providerId" => Self::ProviderId,
            "maxPods" => Self::MaxPods,
            "reservedCpu" => Self::ReservedCpu,
            "reservedMemory" => Self::ReservedMemory,
            "clusterEndpoint" => Self::ClusterEndpoint,
            "clusterAuthority" => Self::ClusterAuthority,
            "clusterDns" => Self::ClusterDns,
            "guessedDns" => Self::GuessedDns,
            "kubernetesTag" => Self::KubernetesTag,
            "resolvConf" => Self::ResolvConf,
            _ => {
                if let Some(tag) = text.strip_prefix("tags.").filter(|tag| !tag.is_empty()) {
                    return Ok(Self::Tag(tag.to_owned()));
                }
                let names = Self::names();
                let hint = if let Some(near) = closest(text, names.clone()) {
                    format!("did you mean `{near}`?")
                } else {
                    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                    format!("write one of {}, or `tags.NAME`", names.join(", "))
                };
                return Err(Fault::new(format!("{} names no fact of a node", quoted(text)), hint));
            }
        })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InstanceId => "instanceId",
            Self::InstanceType => "instanceType",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Lifecycle => "lifecycle",
            Self::Address => "address",
            Self::Hostname => "hostname",
            Self::Cores => "cores",
            Self::MemoryMiB => "memoryMiB",
            Self::NodeName => "nodeName",
            Self::ProviderId => "providerId",
            Self::MaxPods => "maxPods",
            Self::ReservedCpu => "reservedCpu",
            Self::ReservedMemory => "reservedMemory",
            Self::ClusterEndpoint => "clusterEndpoint",
            Self::ClusterAuthority => "clusterAuthority",
            Self::ClusterDns => "clusterDns",
            Self::GuessedDns => "guessedDns",
            Self::KubernetesTag => "kubernetesTag",
            Self::ResolvConf => "resolvConf",
            Self::Tag(tag) => return write!(formatter, "tags.{tag}"),
        })
    }
}

impl From<Fact> for String {
    fn from(fact: Fact) -> Self {
        fact.to_string()
    }
}

impl TryFrom<String> for Fact {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|fault| fault.message)
    }
}

impl Decode for Fact {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = String::decode(node, reader)?;
        match Self::parse(&text) {
            Ok(fact) => Some(fact),
            Err(fault) => reader.fault(codes::PLACEHOLDER, node.span, fault.message, fault.hint),
        }
    }

    fn schema(_: &mut Schemas) -> serde_json::Value {
        let names: Vec<&str> = Self::names().collect();
        json!({"type": "string", "pattern": format!("^({}|tags\\..+)$", names.join("|"))})
    }
}
