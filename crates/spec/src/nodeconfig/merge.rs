//! Several NodeConfigs as one, by nodeadm's rules.
//!
//! The later one wins, field by field, but what is empty in it never does: `""`, an empty list, `false` for
//! `enableOutpost`; but null takes a service's variables back. Flags are added up. Free documents are merged deeply, and there everything wins that is written, null,
//! `""`, `0` and `false` included; lists are replaced whole.

use serde_json::{Map, Value};

use super::NodeConfig;

/// All of them as one; none if there are none.
pub fn merge(configs: impl IntoIterator<Item = NodeConfig>) -> Option<NodeConfig> {
    configs.into_iter().reduce(|mut base, over| {
        lay_over(&mut base, over);
        base
    })
}

fn lay_over(base: &mut NodeConfig, over: NodeConfig) {
    text(&mut base.cluster.name, over.cluster.name);
    text(&mut base.cluster.api_server_endpoint, over.cluster.api_server_endpoint);
    text(&mut base.cluster.cidr, over.cluster.cidr);
    text(&mut base.cluster.id, over.cluster.id);
    if let Some(bytes) = over.cluster.certificate_authority.filter(|bytes| !bytes.is_empty()) {
        base.cluster.certificate_authority = Some(bytes);
    }
    // A pointer to `false` is as empty as `false` itself.
    match (base.cluster.enable_outpost, over.cluster.enable_outpost) {
        (None, given) | (Some(_), given @ Some(true)) => base.cluster.enable_outpost = given,
        (Some(_), _) => {}
    }
    document(&mut base.kubelet.config, over.kubelet.config);
    base.kubelet.flags.extend(over.kubelet.flags);
    text(&mut base.kubelet.max_pods_expression, over.kubelet.max_pods_expression);
    base.containerd.config.extend(over.containerd.config);
    document(&mut base.containerd.base_runtime_spec, over.containerd.base_runtime_spec);
    let (instance, given) = (&mut base.instance, over.instance);
    text(&mut instance.local_storage.strategy, given.local_storage.strategy);
    text(&mut instance.local_storage.mount_path, given.local_storage.mount_path);
    list(&mut instance.local_storage.disabled_mounts, given.local_storage.disabled_mounts);
    list(&mut instance.nameservers, given.nameservers);
    list(&mut instance.domains, given.domains);
    for (service, variables) in given.environment {
        match (instance.environment.get_mut(&service), variables) {
            (Some(Some(there)), Some(variables)) => there.extend(variables),
            (_, variables) => {
                instance.environment.insert(service, variables);
            }
        }
    }
    base.feature_gates.extend(over.feature_gates);
    base.places.extend(over.places);
}

fn text(base: &mut String, over: String) {
    if !over.is_empty() {
        *base = over;
    }
}

fn list(base: &mut Vec<String>, over: Vec<String>) {
    if !over.is_empty() {
        *base = over;
    }
}

fn document(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => document(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
