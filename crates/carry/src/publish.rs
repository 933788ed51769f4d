//! What nodes fetch, laid out for upload under names that follow from the content.

use std::collections::BTreeMap;

use bringup_plan::{Plan, sha256_hex};
use bringup_spec::Architecture;

/// A file to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its path beneath the directory, and beneath the address.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their digest.
    pub sha256: String,
    /// Where it will be, if the address is known.
    pub url: Option<String>,
    /// What it is, for people: `agent x86_64`, `plan CLUSTER/GROUP`.
    pub about: String,
}

/// Agents and plans as files to upload, sorted by path; equal plans once.
pub fn publish_layout<'plan>(
    plans: impl IntoIterator<Item = &'plan Plan>,
    agents: &BTreeMap<Architecture, Vec<u8>>,
    base: Option<&str>,
) -> Vec<Published> {
    let mut files: BTreeMap<String, Published> = BTreeMap::new();
    let mut add = |path: String, bytes: Vec<u8>, sha256: String, about: String| {
        let url = base.map(|base| format!("{}/{path}", base.trim_end_matches('/')));
        files.entry(path.clone()).or_insert(Published { path, bytes, sha256, url, about });
    };
    for (architecture, bytes) in agents {
        let sha256 = sha256_hex(bytes);
        let about = format!("agent {architecture}");
        add(format!("agent/{sha256}/bringup-node-{architecture}"), bytes.clone(), sha256, about);
    }
    for plan in plans {
        let bytes = plan.to_json().into_bytes();
        let sha256 = sha256_hex(&bytes);
        add(plan_name(&sha256), bytes, sha256, format!("plan {}/{}", plan.cluster, plan.group));
    }
    files.into_values().collect()
}

/// The path of a plan with this digest.
pub(crate) fn plan_name(sha256: &str) -> String {
    format!("plan/{sha256}.json")
}

/// The address beneath which an agent was published, if its own address has our layout.
pub(crate) fn base_of_agent(url: &str) -> Option<&str> {
    let (rest, name) = url.rsplit_once('/')?;
    let (rest, digest) = rest.rsplit_once('/')?;
    let (base, folder) = rest.rsplit_once('/')?;
    let ours = folder == "agent"
        && name.starts_with("bringup-node-")
        && digest.len() == 64
        && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    ours.then_some(base)
}

#[cfg(test)]
mod tests {
    use super::base_of_agent;

    #[test]
    fn the_base_follows_from_an_agent_address_of_our_layout() {
        let digest = "5".repeat(64);
        let url = format!("https://mirror.example/b/agent/{digest}/bringup-node-x86_64");
        assert_eq!(base_of_agent(&url), Some("https://mirror.example/b"));
        assert_eq!(base_of_agent("https://mirror.example/b/bringup-node-x86_64"), None);
    }
}
