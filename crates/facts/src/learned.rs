//! What was learned, in the form of the facts file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was learned. What is not known is left out; that is an error only where a plan uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Facts {
    /// Where the machine runs: `aws` or `generic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The availability zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The instance's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// The instance's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// `spot`, `on-demand` and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<String>,
    /// The primary address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The host's name as the platform gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// How many processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// How much memory, in MiB.
    #[serde(rename = "memoryMiB", skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// The file that names the servers which pods ask for names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolv_conf: Option<String>,
    /// The instance's tags.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The address ranges of the network that the machine is in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vpc_cidrs: Vec<String>,
    /// The cluster that the machine belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterFacts>,
    /// The tag of the API server's images, as it tells its version: `v1.33.4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_tag: Option<String>,
    /// Which machine starts the cluster, where an object in a store decides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub election: Option<ElectionFacts>,
}

/// How an election by a store ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ElectionFacts {
    /// The object that decides it.
    pub object: String,
    /// The id of the instance that was the first to make it.
    pub holder: String,
}

/// What EKS says of a cluster, in its own words where there are some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterFacts {
    /// Its name; facts of another cluster are not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address of its API server.
    pub endpoint: String,
    /// The authority of its API server: a certificate in base64.
    pub certificate_authority: String,
    /// The range of its services' addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_cidr: Option<String>,
    /// The id of a local cluster on an Outpost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether it is a local cluster on an Outpost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outpost: bool,
}

/// A facts file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct FactsFileFault {
    line: usize,
    column: usize,
    message: String,
}

impl Facts {
    /// Reads a facts file. Names that are none of a fact's are an error: a misspelt one would be missed much later.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FactsFileFault> {
        serde_json::from_slice(bytes).map_err(|fault| FactsFileFault {
            line: fault.line(),
            column: fault.column(),
            message: message(&fault),
        })
    }

    /// What was learned, in the form of the facts file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// These facts where they are known, and those of another where not.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut tags = other.tags;
        tags.extend(self.tags);
        Self {
            platform: self.platform.or(other.platform),
            region: self.region.or(other.region),
            zone: self.zone.or(other.zone),
            instance_id: self.instance_id.or(other.instance_id),
            instance_type: self.instance_type.or(other.instance_type),
            lifecycle: self.lifecycle.or(other.lifecycle),
            address: self.address.or(other.address),
            hostname: self.hostname.or(other.hostname),
            cores: self.cores.or(other.cores),
            memory_mib: self.memory_mib.or(other.memory_mib),
            resolv_conf: self.resolv_conf.or(other.resolv_conf),
            tags,
            cluster: self.cluster.or(other.cluster),
            election: self.election.or(other.election),
            kubernetes_tag: self.kubernetes_tag.or(other.kubernetes_tag),
            vpc_cidrs: if self.vpc_cidrs.is_empty() { other.vpc_cidrs } else { self.vpc_cidrs },
        }
    }
}

/// What serde says, without the place, which is told apart.
fn message(fault: &serde_json::Error) -> String {
    let text = fault.to_string();
    text.rfind(" at line ").and_then(|at| text.get(..at)).unwrap_or(&text).to_owned()
}
