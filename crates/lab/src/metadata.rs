//! A metadata service as EC2 has it, version 2 only, that can be told to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::json;

use crate::network;
use crate::server::{Answer, Request, TOKEN_HEADER};

/// The instance that the machine takes itself for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its zone; the region is what it begins with.
    pub zone: String,
    /// How it is paid for.
    pub lifecycle: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

impl Default for Instance {
    fn default() -> Self {
        Self {
            id: "i-0123456789abcdef0".to_owned(),
            kind: "m5.large".to_owned(),
            address: network::address(&[]),
            zone: "eu-central-1a".to_owned(),
            lifecycle: "on-demand".to_owned(),
            tags: BTreeMap::new(),
        }
    }
}

impl Instance {
    /// The region.
    pub fn region(&self) -> &str {
        self.zone.trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
    }

    /// The host's name.
    pub fn hostname(&self) -> String {
        format!("ip-{}.{}.compute.internal", self.address.to_string().replace('.', "-"), self.region())
    }
}

/// How the service fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataFault {
    /// Nobody answers, for so long after the agent asked first.
    Down(Duration),
    /// Each answer has this status.
    Status(u16),
    /// Each answer takes so long.
    Slow(Duration),
    /// Each answer is something else.
    Garbage,
}

/// The service.
#[derive(Debug)]
pub(crate) struct Metadata {
    leaves: BTreeMap<String, Vec<u8>>,
    fault: Option<MetadataFault>,
}

/// Who the role of the lab's instances is to AWS.
pub(crate) const ACCESS_KEY: &str = "ASIALAB0000000000000";
/// The address of the other family that an instance has, for clusters of that.
const IPV6: &str = "fd77::10";

const TOKEN: &str = "lab-session-token";

impl Metadata {
    /// Of this instance, with this user-data.
    pub(crate) fn new(instance: &Instance, user_data: &[u8], fault: Option<MetadataFault>) -> Self {
        let document = json!({
            "accountId": "111122223333", "architecture": "x86_64", "availabilityZone": instance.zone,
            "imageId": "ami-0123456789abcdef0", "instanceId": instance.id, "instanceType": instance.kind,
            "pendingTime": "2026-01-01T00:00:00Z", "privateIp": instance.address, "region": instance.region(),
            "version": "2017-09-30",
        });
        let credentials = json!({
            "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-01-01T00:00:00Z", "AccessKeyId": ACCESS_KEY,
            "SecretAccessKey": "lab-secret-key", "Token": "lab-role-token", "Expiration": "2099-01-01T00:00:00Z",
        });
        let text = |value: &str| value.as_bytes().to_vec();
        let mut leaves = BTreeMap::from([
            ("user-data".to_owned(), user_data.to_vec()),
            ("dynamic/instance-identity/document".to_owned(), text(&document.to_string())),
            // The lab's word for it: nobody else can sign for EC2.
            ("dynamic/instance-identity/signature".to_owned(), text("bGFi\nbGFi\n")),
            ("meta-data/iam/security-credentials/lab".to_owned(), text(&credentials.to_string())),
            ("meta-data/instance-id".to_owned(), text(&instance.id)),
            ("meta-data/instance-type".to_owned(), text(&instance.kind)),
            ("meta-data/instance-life-cycle".to_owned(), text(&instance.lifecycle)),
            ("meta-data/hostname".to_owned(), text(&instance.hostname())),
            ("meta-data/local-hostname".to_owned(), text(&instance.hostname())),
            ("meta-data/local-ipv4".to_owned(), text(&instance.address.to_string())),
            ("meta-data/ipv6".to_owned(), text(IPV6)),
            ("meta-data/ami-id".to_owned(), text("ami-0123456789abcdef0")),
            ("meta-data/placement/availability-zone".to_owned(), text(&instance.zone)),
            ("meta-data/placement/region".to_owned(), text(instance.region())),
        ]);
        for (name, value) in &instance.tags {
            leaves.insert(format!("meta-data/tags/instance/{name}"), text(value));
        }
        Self { leaves, fault }
    }

    /// What the service answers, so long after the agent asked first.
    pub(crate) fn answer(&self, request: &Request, since_first: Duration) -> Answer {
        let mut answer = Answer::default();
        match self.fault {
            // Cloud-init gets its user-data in any case: a machine without it has nothing to try.
            Some(_) if !request.is_agent() => {}
            Some(MetadataFault::Down(until)) if since_first < until => return Answer::silence(),
            Some(MetadataFault::Status(status)) => return Answer::status(status),
            Some(MetadataFault::Slow(wait)) => answer.after = wait,
            Some(MetadataFault::Garbage) => {
                return Answer::of(b"<html>\x00\xff this is not what you asked for".to_vec());
            }
            Some(MetadataFault::Down(_)) | None => {}
        }
        let Some(path) = request.path.trim_start_matches('/').split_once('/').map(|(_, rest)| rest) else {
            return Answer::of(b"latest\n2021-03-23\n".to_vec());
        };
        if path == "api/token" {
            return match request.method.as_str() {
                "PUT" => Answer { body: TOKEN.as_bytes().to_vec(), ..answer },
                _ => Answer::status(405),
            };
        }
        // Cloud-init knows EC2 by a number of the hypervisor, which a container cannot have, and asks others without a
        // token. The agent must have one.
        if request.is_agent() && request.header(TOKEN_HEADER) != Some(TOKEN) {
            return Answer::status(401);
        }
        match self.leaf(path.trim_end_matches('/')) {
            Some(body) => Answer { body, ..answer },
            None => Answer::status(404),
        }
    }

    /// A value, or the names beneath.
    fn leaf(&self, path: &str) -> Option<Vec<u8>> {
        if let Some(value) = self.leaves.get(path) {
            return Some(value.clone());
        }
        let prefix = format!("{path}/");
        let names: BTreeSet<String> = self
            .leaves
            .keys()
            .filter_map(|leaf| leaf.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => format!("{name}/"),
                None => rest.to_owned(),
            })
            .collect();
        if names.is_empty() {
            None
        } else {
            Some(names.into_iter().collect::<Vec<_>>().join("\n").into_bytes())
        }
    }
}
