//! Where keys belong: for the one who wrote a right key in a wrong place, or another system's word for it.

use std::collections::BTreeMap;

use bringup_diag::closest;
use serde_json::Value;

use super::known_fields;

/// What other systems call it, and what to write here.
const FOREIGN: [(&str, &str); 25] = [
    ("ami", "`launch.image`"),
    ("amiFamily", "`os`"),
    ("bootstrapCommands", "`steps`, with `before: [configure]`"),
    ("cloudConfig", "a part of type `text/cloud-config` under `parts`"),
    ("clusterDNS", "`spec.network.dns`"),
    ("containerRuntime", "`runtime`"),
    ("desiredCapacity", "`scaling.desired`"),
    ("desiredSize", "`scaling.desired`"),
    ("envs", "`environment`"),
    ("instanceType", "`instanceTypes`, a list"),
    ("kubeletExtraArgs", "`kubelet.flags`"),
    ("kubeletExtraConfig", "`kubelet.config`"),
    ("machineType", "`instanceTypes`, a list"),
    ("managedNodeGroups", "`spec.nodeGroups`"),
    ("maxPodsPerNode", "`maxPods`"),
    ("maxSize", "`scaling.max`"),
    ("minSize", "`scaling.min`"),
    ("nodeLabels", "`labels`"),
    ("permissions", "`mode`"),
    ("postBootstrapCommands", "`steps`, with `after: [kubelet]`"),
    ("preBootstrapCommands", "`steps`, with `before: [configure]`"),
    ("runcmd", "`steps`"),
    ("userData", "`parts`"),
    ("volumeSize", "`launch.volumes[].sizeGiB`"),
    ("write_files", "`files`"),
];

/// Beyond so many, saying where a key belongs is of no help.
const FEW: usize = 3;

/// Every key of a document, with the mappings that have it.
#[derive(Debug)]
pub(crate) struct KeyHomes {
    homes: BTreeMap<String, Vec<String>>,
}

impl KeyHomes {
    /// The keys of our documents.
    pub(crate) fn of_documents() -> Self {
        let schema = crate::json_schema();
        let mut homes = Self { homes: BTreeMap::new() };
        homes.walk(&schema, &schema, "");
        homes
    }

    fn walk(&mut self, root: &Value, schema: &Value, path: &str) {
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
            self.walk(root, &root["$defs"][name], path);
        }
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            let homes = self.homes.entry(key.clone()).or_default();
            if !homes.iter().any(|home| home == path) {
                homes.push(path.to_owned());
            }
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.walk(root, value, &below);
        }
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            self.walk(root, choice, path);
        }
        if schema["items"].is_object() {
            self.walk(root, &schema["items"], &format!("{path}[]"));
        }
        if schema["additionalProperties"].is_object() {
            self.walk(root, &schema["additionalProperties"], &format!("{path}.*"));
        }
    }

    /// What to do about a key that is not one of `known`.
    pub(crate) fn hint(&self, key: &str, known: &[&str]) -> String {
        let near = closest(key, known.iter().copied());
        // A letter too many or too few at the end (`nodeGroup`) is a slip, even where another mapping has that very key.
        let same = |other: &str| fold(other).starts_with(&fold(key)) || fold(key).starts_with(&fold(other));
        if let Some(near) = near.filter(|near| same(near)) {
            return format!("did you mean `{near}`?");
        }
        if let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| *foreign == key) {
            return format!("write {ours}");
        }
        if let Some(places) = self.places(key) {
            return format!("`{key}` belongs {places}");
        }
        if let Some(near) = near {
            return format!("did you mean `{near}`?");
        }
        let elsewhere = closest(key, self.homes.keys().map(String::as_str));
        if let Some((near, places)) = elsewhere.and_then(|near| Some((near, self.places(near)?))) {
            return format!("did you mean `{near}`? it belongs {places}");
        }
        if known.is_empty() {
            "remove it".to_owned()
        } else {
            format!("known keys are {}", known_fields(known))
        }
    }

    fn places(&self, key: &str) -> Option<String> {
        let homes = self.homes.get(key).filter(|homes| homes.len() <= FEW)?;
        let places: Vec<String> = homes
            .iter()
            .map(|home| if home.is_empty() { "at the top".to_owned() } else { format!("under `{home}`") })
            .collect();
        Some(places.join(" or "))
    }
}

fn fold(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase).collect()
}
