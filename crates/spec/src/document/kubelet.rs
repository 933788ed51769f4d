//! Settings of kubelet.

use std::collections::BTreeMap;

use bringup_yaml::{Node, Resolved};
use serde_json::json;

use crate::Text;
use crate::decode::{Decode, Reader, Schemas, choices, record};

record! {
    /// Configuration and flags of kubelet.
    "`kubelet`" pub struct Kubelet {
        /// Fields of KubeletConfiguration, merged over the generated ones; null takes one away.
        "config" => config: BTreeMap<String, serde_json::Value>,
        /// Flags, without the leading dashes.
        "flags" => flags: BTreeMap<String, Text>,
        /// Environment variables of kubelet.
        "environment" => environment: BTreeMap<String, Text>,
    }
}

#[expect(clippy::derivable_impls, reason = "a record derives what all records can")]
impl Default for Kubelet {
    fn default() -> Self {
        Self { config: BTreeMap::new(), flags: BTreeMap::new(), environment: BTreeMap::new() }
    }
}

record! {
    /// A taint.
    "a taint" pub struct Taint {
        /// The key.
        "key" => key: String,
        /// The value.
        "value" => value: String = String::new(),
        /// What it does to pods.
        "effect" => effect: TaintEffect,
    }
}

choices! {
    /// What a taint does to pods.
    "effect of a taint" pub enum TaintEffect {
        /// New pods stay away.
        NoSchedule = "NoSchedule",
        /// New pods stay away if they can.
        PreferNoSchedule = "PreferNoSchedule",
        /// Pods are evicted.
        NoExecute = "NoExecute",
    }
}

/// How many pods a node takes.
#[derive(Clone, Debug, PartialEq)]
pub enum MaxPods {
    /// So many.
    Fixed(u32),
    /// Worked out from the instance type's network interfaces.
    Interfaces(PodNetworking),
}

record! {
    /// How the pods of a node get their addresses.
    "`maxPods`" pub struct PodNetworking {
        /// The CNI hands out /28 prefixes instead of single addresses.
        "prefixDelegation" => prefix_delegation: bool = false,
        /// The first interface serves no pods.
        "customNetworking" => custom_networking: bool = false,
        /// At most so many; by default 110 or, above 30 processors, 250 where prefixes are delegated.
        "cap" => cap: Option<u32>,
        /// The number by an expression of nodeadm's, in CEL, with `default_enis`, `ips_per_eni` and `max_pods`.
        "expression" => expression: Option<String>,
    }
}

impl Decode for MaxPods {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            return PodNetworking::decode(node, reader).map(Self::Interfaces);
        }
        if let Some(Resolved::Integer(0)) = node.scalar().map(bringup_yaml::Scalar::core) {
            return reader.fault(
                crate::codes::WRONG_VALUE,
                node.span,
                "a node that takes no pods cannot run the DNS or CNI pods it needs",
                "write 1 or more",
            );
        }
        // Another tool's word for it, such as `auto`; a number in quotes is told as everywhere.
        let is_word = match node.scalar().map(bringup_yaml::Scalar::core) {
            Some(Resolved::String(text)) => text.parse::<u32>().is_err(),
            Some(_) => false,
            None => true,
        };
        if is_word {
            return reader.fault(
                crate::codes::WRONG_TYPE,
                node.span,
                "a whole number or a mapping is expected here",
                "write a number such as 110, or `{prefixDelegation: true}` or `{}` to have it worked out from the instance type",
            );
        }
        u32::decode(node, reader).map(Self::Fixed)
    }

    fn schema(schemas: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [{"type": "integer", "minimum": 1, "maximum": u32::MAX}, PodNetworking::schema(schemas)]})
    }
}
