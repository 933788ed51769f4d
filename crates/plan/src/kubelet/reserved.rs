//! Fields and flags of kubelet that may not be set, because they would break the join or contradict the document.

use bringup_spec::SwapPolicy;
use bringup_yaml::Path;
use serde_json::Value;

use crate::codes;
use crate::context::Context;

/// Flags that the plan sets itself, and where the document says the same.
const FLAGS: [(&str, &str); 11] = [
    ("config", "write the fields under `kubelet.config`"),
    ("config-dir", "write the fields under `kubelet.config`"),
    ("kubeconfig", "say how to join under `join`"),
    ("bootstrap-kubeconfig", "say how to join under `join`"),
    ("node-labels", "write the labels under `labels`"),
    ("register-with-taints", "write the taints under `taints`"),
    ("hostname-override", "choose the source of the name with `nodeName`"),
    ("image-credential-provider-config", "write `imageCredentialProvider`"),
    ("image-credential-provider-bin-dir", "write `imageCredentialProvider.binDir`"),
    ("help", "remove it: kubelet would print its help and stop"),
    ("version", "remove it: kubelet would print its version and stop"),
];

/// Where the document says what this flag would say, if the plan sets the flag itself.
pub(crate) fn flag_instead(name: &str, on_aws: bool) -> Option<&'static str> {
    if name == "provider-id" && on_aws {
        return Some("remove it: on AWS it is always made of zone and instance id");
    }
    FLAGS.iter().find(|(flag, _)| *flag == name).map(|(_, instead)| *instead)
}

/// Why a flag may not have this value, and what to do: what holds for a field holds for the flag that overrides it.
pub(crate) fn flag_fault(context: &Context<'_>, name: &str, text: &str) -> Option<(&'static str, String)> {
    // A flag without a value is true.
    let truth = match text {
        "" => Some(true),
        text => text.parse::<bool>().ok(),
    };
    let network = &context.spec.network;
    let remove = || "remove it".to_owned();
    match name {
        "anonymous-auth" if truth == Some(true) => Some((ANONYMOUS, remove())),
        "authentication-token-webhook" if truth == Some(false) => Some((WEBHOOK, remove())),
        "authorization-mode" if text == "AlwaysAllow" => Some((ALWAYS_ALLOW, remove())),
        "register-node" if truth == Some(false) => Some((UNREGISTERED, remove())),
        "client-ca-file" if has_authority(context) => {
            Some((AUTHORITY, "put the certificate into `api.certificateAuthority`".to_owned()))
        }
        "cluster-domain" if text != network.domain => {
            Some((DOMAIN, format!("write `network.domain: {text}` and remove this")))
        }
        "cluster-dns" if !network.dns.is_empty() => {
            let same = text.split(',').map(str::trim).eq(network.dns.iter().map(ToString::to_string));
            (!same).then(|| (DNS, "keep `network.dns` and remove this".to_owned()))
        }
        "fail-swap-on" if truth == Some(true) && keeps_swap(context) => {
            Some((SWAP, "remove it, or write `swap: off`".to_owned()))
        }
        _ => None,
    }
}

/// Whether the node has a file with the cluster's certificate authority.
pub(super) fn has_authority(context: &Context<'_>) -> bool {
    context.learns_cluster()
        || context.spec.api.as_ref().is_some_and(|api| api.certificate_authority.is_some())
}

fn keeps_swap(context: &Context<'_>) -> bool {
    context.group.swap.as_ref().is_some_and(|swap| swap.policy != SwapPolicy::Off)
}

/// Why not, for fields and for the flags that override them.
const ANONYMOUS: &str = "anybody who reaches the node could then run commands in its pods";
const WEBHOOK: &str = "the API server could then no longer tell who asks";
const ALWAYS_ALLOW: &str = "anybody with a certificate could then run commands in the node's pods";
const UNREGISTERED: &str = "the plan waits until the node is registered, which would never be";
const AUTHORITY: &str = "the plan writes the cluster's authority itself";
const DOMAIN: &str = "the cluster's domain is another one for every other node";
const DNS: &str = "`network.dns` says otherwise";
const SWAP: &str = "the node is to have swap, and kubelet would not start";

const NOTHING: &str = "nothing would take the place of what the plan works out";

/// Fields that the plan decides, so that other parts of the node agree with them.
const DECIDED: [&[&str]; 13] = [
    &["authentication"],
    &["authentication", "anonymous"],
    &["authentication", "webhook"],
    &["authentication", "x509"],
    &["authorization"],
    &["authorization", "mode"],
    &["cgroupDriver"],
    &["clusterDNS"],
    &["clusterDomain"],
    &["containerRuntimeEndpoint"],
    &["maxPods"],
    &["registerWithTaints"],
    &["serverTLSBootstrap"],
];

/// Checks the fields that the operator gave under `path`.
pub(crate) fn check_fields(context: &mut Context<'_>, path: &Path) {
    let config = &context.group.kubelet.config;
    let network = &context.spec.network;
    let mut faults: Vec<(Vec<&str>, String, String)> = Vec::new();
    let mut refuse = |keys: &[&'static str], why: &str, instead: String| {
        faults.push((keys.to_vec(), why.to_owned(), instead));
    };
    for key in ["apiVersion", "kind"] {
        if config.contains_key(key) {
            refuse(&[key], "it is always the same", "remove it".to_owned());
        }
    }
    if config.contains_key("providerID") && context.on_aws() {
        refuse(&["providerID"], "on AWS it is always made of zone and instance id", "remove it".to_owned());
    }
    if config.contains_key("registerWithTaints") && !context.group.taints.is_empty() {
        refuse(
            &["registerWithTaints"],
            "it would replace the taints that `taints` names",
            "write all of them under `taints`".to_owned(),
        );
    }
    if let Some(given) = config.get("clusterDNS").and_then(Value::as_array)
        && !network.dns.is_empty()
    {
        let same = given.iter().filter_map(Value::as_str).eq(network.dns.iter().map(ToString::to_string));
        if !same {
            refuse(&["clusterDNS"], DNS, "keep `network.dns` and remove this".to_owned());
        }
    }
    if let Some(given) = config.get("clusterDomain").and_then(Value::as_str)
        && given != network.domain
    {
        refuse(&["clusterDomain"], DOMAIN, format!("write `network.domain: {given}` and remove this"));
    }
    let lookup = |keys: &[&str]| {
        let mut value = config.get(*keys.first()?)?;
        for key in keys.iter().skip(1) {
            value = value.get(*key)?;
        }
        Some(value)
    };
    let unsafe_fields: [(&[&'static str], Value, &str); 4] = [
        (&["registerNode"], Value::Bool(false), UNREGISTERED),
        (&["authentication", "anonymous", "enabled"], Value::Bool(true), ANONYMOUS),
        (&["authentication", "webhook", "enabled"], Value::Bool(false), WEBHOOK),
        (&["authorization", "mode"], Value::String("AlwaysAllow".to_owned()), ALWAYS_ALLOW),
    ];
    for (keys, value, why) in unsafe_fields {
        if lookup(keys) == Some(&value) {
            refuse(keys, why, "remove it".to_owned());
        }
    }
    let client_authority: &[&'static str] = &["authentication", "x509", "clientCAFile"];
    if has_authority(context) && lookup(client_authority).is_some() {
        refuse(client_authority, AUTHORITY, "put the certificate into `api.certificateAuthority`".to_owned());
    }
    if config.get("failSwapOn") == Some(&Value::Bool(true)) && keeps_swap(context) {
        refuse(&["failSwapOn"], SWAP, "remove it, or write `swap: off`".to_owned());
    }
    for keys in DECIDED {
        let nothing = match lookup(keys) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty() && *keys != ["registerWithTaints"],
            _ => false,
        };
        if nothing {
            refuse(keys, NOTHING, "remove it, or write the value that you mean".to_owned());
        }
    }
    // One finding for each field, the first and most telling one.
    let mut told = std::collections::BTreeSet::new();
    faults.retain(|(keys, ..)| told.insert(keys.clone()));
    for (keys, why, instead) in faults {
        let message = format!("`{}` may not be set: {why}", keys.join("."));
        context.key_error(codes::FIELD_RESERVED, &path.keys(keys), message, instead);
    }
}
