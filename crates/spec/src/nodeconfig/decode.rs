//! From text to a NodeConfig. nodeadm drops what it does not know; here it is named.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::{Finding, Findings, Place, Span, closest};
use bringup_yaml::{Limits, Node, Resolved, Value};
use serde_json::Map;

use super::{Fragment, NodeConfig, beginning};
use crate::{codes, syntax};

const API_VERSION: &str = "node.eks.aws/v1alpha1";
const KIND: &str = "NodeConfig";
const FEATURES: [&str; 2] = ["InstanceIdNodeName", "FastImagePull"];
/// What may become of an instance's disks.
pub const STRATEGIES: [&str; 3] = ["RAID0", "RAID10", "Mount"];
/// What may be kept off an instance's disks.
pub const MOUNTS: [&str; 3] = ["Containerd", "PodLogs", "SOCI"];

/// Reads the NodeConfig of a text, YAML or JSON: at most one, as nodeadm looks no further than the first document.
pub fn read(file: &str, text: &str) -> (Vec<NodeConfig>, Findings) {
    let mut findings = Findings::new();
    let trees = match bringup_yaml::parse(text, Limits::default()) {
        Ok(trees) => trees,
        Err(fault) => {
            findings.push(syntax::finding(file, text, &fault));
            return (Vec::new(), findings);
        }
    };
    let mut trees = trees.into_iter();
    let Some(tree) = trees.next() else {
        let finding = Finding::error(codes::NODECONFIG_KIND, "there is no NodeConfig in this text");
        findings.push(finding.at(beginning(file)).hint(format!("begin with `apiVersion: {API_VERSION}`")));
        return (Vec::new(), findings);
    };
    if let Some(next) = trees.next() {
        let message =
            "nodeadm reads the first document of a text only: this one and what follows are dropped";
        let place = Place::new(file, Span { end: next.span.start, ..next.span });
        let finding = Finding::warning(codes::NODECONFIG_FURTHER, message).at(place);
        findings.push(finding.hint("put it into a file or a part of its own"));
    }
    let mut reader = Reader { file, findings, places: BTreeMap::new() };
    let config = reader.node_config(&tree.with_merge_keys());
    let config = config.filter(|_| !reader.findings.has_errors());
    (config.into_iter().collect(), reader.findings)
}

struct Reader<'a> {
    file: &'a str,
    findings: Findings,
    places: BTreeMap<String, Place>,
}

/// What is under a key, and where.
struct Field<'a> {
    path: String,
    key: String,
    node: &'a Node,
}

impl Reader<'_> {
    fn node_config(&mut self, tree: &Node) -> Option<NodeConfig> {
        let says = |key: &str| tree.get(key).and_then(Node::text);
        if says("apiVersion") != Some(API_VERSION) || says("kind") != Some(KIND) {
            let place = Place::new(self.file, Span { end: tree.span.start, ..tree.span });
            let finding = Finding::error(codes::NODECONFIG_KIND, "this is no NodeConfig").at(place);
            self.findings.push(finding.hint(format!("write `apiVersion: {API_VERSION}` and `kind: {KIND}`")));
            return None;
        }
        let mut config = NodeConfig::default();
        let root = Field { path: String::new(), key: String::new(), node: tree };
        // What `metadata` says is read by nobody, and no mistake.
        for top in self.fields(&root, &["apiVersion", "kind", "metadata", "spec"]) {
            if top.path != "spec" {
                continue;
            }
            for part in self.fields(&top, &["cluster", "containerd", "featureGates", "instance", "kubelet"]) {
                match part.path.as_str() {
                    "spec.cluster" => self.cluster(&part, &mut config),
                    "spec.containerd" => self.containerd(&part, &mut config),
                    "spec.instance" => self.instance(&part, &mut config),
                    "spec.kubelet" => self.kubelet(&part, &mut config),
                    _ => self.feature_gates(&part, &mut config),
                }
            }
        }
        config.places = std::mem::take(&mut self.places);
        Some(config)
    }

    fn cluster(&mut self, part: &Field<'_>, config: &mut NodeConfig) {
        let known =
            ["apiServerEndpoint", "certificateAuthority", "cidr", "enableOutpost", "id", "name"].as_slice();
        let cluster = &mut config.cluster;
        for field in self.fields(part, known) {
            match field.key.as_str() {
                "name" => cluster.name = self.text(&field),
                "apiServerEndpoint" => cluster.api_server_endpoint = self.text(&field),
                "cidr" => cluster.cidr = self.text(&field),
                "id" => cluster.id = self.text(&field),
                "enableOutpost" => cluster.enable_outpost = self.truth(&field),
                _ => cluster.certificate_authority = self.bytes(&field),
            }
        }
    }

    fn kubelet(&mut self, part: &Field<'_>, config: &mut NodeConfig) {
        for field in self.fields(part, &["config", "flags", "maxPodsExpression"]) {
            match field.key.as_str() {
                "config" => config.kubelet.config = self.document(&field),
                "flags" => config.kubelet.flags = self.texts(&field),
                _ => config.kubelet.max_pods_expression = self.text(&field),
            }
        }
    }

    fn containerd(&mut self, part: &Field<'_>, config: &mut NodeConfig) {
        for field in self.fields(part, &["baseRuntimeSpec", "config"]) {
            if field.key == "config" {
                let text = self.text(&field);
                let place = Place::new(self.file, field.node.span);
                config.containerd.config =
                    if text.is_empty() { Vec::new() } else { vec![Fragment { text, place }] };
            } else {
                config.containerd.base_runtime_spec = self.document(&field);
            }
        }
    }

    fn instance(&mut self, part: &Field<'_>, config: &mut NodeConfig) {
        let instance = &mut config.instance;
        for field in self.fields(part, &["environment", "localStorage", "network"]) {
            match field.key.as_str() {
                "environment" => {
                    for service in self.entries(&field) {
                        let variables = self.entries(&service);
                        let variables = variables.iter().map(|field| (field.key.clone(), self.text(field)));
                        let variables = variables.collect();
                        let given = (!is_nothing(service.node)).then_some(variables);
                        instance.environment.insert(service.key, given);
                    }
                }
                "network" => {
                    for list in self.fields(&field, &["domains", "nameservers"]) {
                        let texts = self.texts(&list);
                        if list.key == "domains" {
                            instance.domains = texts;
                        } else {
                            instance.nameservers = texts;
                        }
                    }
                }
                _ => {
                    let storage = &mut instance.local_storage;
                    for field in self.fields(&field, &["disabledMounts", "mountPath", "strategy"]) {
                        match field.key.as_str() {
                            "strategy" => {
                                storage.strategy = self.text(&field);
                                self.one_of(&field, &storage.strategy, &STRATEGIES);
                            }
                            "mountPath" => storage.mount_path = self.text(&field),
                            _ => {
                                storage.disabled_mounts = self.texts(&field);
                                for mount in &storage.disabled_mounts {
                                    self.one_of(&field, mount, &MOUNTS);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn feature_gates(&mut self, part: &Field<'_>, config: &mut NodeConfig) {
        for field in self.entries(part) {
            let name = field.key.clone();
            self.one_of(&field, &name, &FEATURES);
            let truth = self.truth(&field).unwrap_or_default();
            config.feature_gates.insert(name, truth);
        }
    }

    /// The fields of a mapping that are known; the others are named.
    fn fields<'n>(&mut self, field: &Field<'n>, known: &[&str]) -> Vec<Field<'n>> {
        let all = self.entries(field);
        let (fields, unknown): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|field| known.contains(&field.key.as_str()));
        for stranger in unknown {
            let key = stranger.key.as_str();
            let hint = match closest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here are `{}`", known.join("`, `")),
            };
            let message = format!("nodeadm does not know `{key}` here, and drops it");
            let place = self.places.get(&stranger.path).cloned();
            let mut finding = Finding::warning(codes::NODECONFIG_UNKNOWN_KEY, message).hint(hint);
            finding.place = place;
            self.findings.push(finding);
        }
        fields
    }

    /// The entries of a mapping; of duplicates the last, null is nothing.
    fn entries<'n>(&mut self, field: &Field<'n>) -> Vec<Field<'n>> {
        if is_nothing(field.node) {
            return Vec::new();
        }
        let Some(entries) = field.node.entries() else {
            return self.wrong(field, "a mapping");
        };
        let mut last: BTreeMap<String, Field<'n>> = BTreeMap::new();
        for entry in entries {
            let key = entry.go_key();
            let path = match field.path.as_str() {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            self.places.insert(path.clone(), Place::new(self.file, entry.key_span));
            last.insert(key.clone(), Field { path, key, node: &entry.value });
        }
        last.into_values().collect()
    }

    fn text(&mut self, field: &Field<'_>) -> String {
        match field.node.to_go_value() {
            Value::String(text) => text,
            Value::Null => String::new(),
            _ => self.wrong(field, "text: put it in quotes"),
        }
    }

    fn truth(&mut self, field: &Field<'_>) -> Option<bool> {
        match field.node.to_go_value() {
            Value::Bool(truth) => Some(truth),
            Value::Null => None,
            _ => self.wrong(field, "`true` or `false`"),
        }
    }

    fn texts(&mut self, field: &Field<'_>) -> Vec<String> {
        if is_nothing(field.node) {
            return Vec::new();
        }
        let Some(items) = field.node.items() else { return self.wrong(field, "a list of texts") };
        let path = |index: usize| format!("{}[{index}]", field.path);
        items
            .iter()
            .enumerate()
            .map(|(index, node)| self.text(&Field { path: path(index), key: String::new(), node }))
            .collect()
    }

    fn bytes(&mut self, field: &Field<'_>) -> Option<Vec<u8>> {
        if is_nothing(field.node) {
            return None;
        }
        // Line ends inside are passed over.
        let text = self.text(field).replace(['\r', '\n'], "");
        if let Ok(bytes) = BASE64_STANDARD.decode(&text) {
            return Some(bytes);
        }
        self.wrong(field, "base64")
    }

    /// Fields of somebody else's document, as they are.
    fn document(&mut self, field: &Field<'_>) -> Map<String, serde_json::Value> {
        match field.node.to_go_value().to_json() {
            serde_json::Value::Object(map) => map,
            serde_json::Value::Null => Map::new(),
            _ => self.wrong(field, "a mapping"),
        }
    }

    fn one_of(&mut self, field: &Field<'_>, value: &str, known: &[&str]) {
        if !value.is_empty() && !known.contains(&value) {
            let message = format!("`{value}` is none that nodeadm knows");
            let hint = format!("known are `{}`", known.join("`, `"));
            let place = Place::new(self.file, field.node.span);
            self.findings.push(Finding::warning(codes::NODECONFIG_VALUE, message).at(place).hint(hint));
        }
    }

    fn wrong<T: Default>(&mut self, field: &Field<'_>, expected: &str) -> T {
        let message = format!("nodeadm reads something else as `{}`", field.path);
        let place = Place::new(self.file, field.node.span);
        let hint = format!("write {expected}");
        self.findings.push(Finding::error(codes::NODECONFIG_TYPE, message).at(place).hint(hint));
        T::default()
    }
}

fn is_nothing(node: &Node) -> bool {
    node.scalar().is_some_and(|scalar| scalar.go() == Resolved::Null)
}
