//! KubeletConfiguration: what we decide, with what the operator says laid over it.

use bringup_kubelet::{ConfigFault, FaultKind, Minor, Segment, validate_config};
use bringup_spec::{AgentSource, Fact, JoinMethod, SwapPolicy, Text};
use bringup_yaml::Path;
use serde_json::{Map, Value, json};

use super::credential_provider;
use crate::context::Context;
use crate::decisions::Decisions;
use crate::labels::taints_as_objects;
use crate::{Content, Origin, PodLimit, codes, reservations, template};

/// The first minor with these fields.
pub(super) const WITH_PROVIDER_ID: Minor = Minor(19);
const WITH_TAINTS: Minor = Minor(23);
const WITH_VERBOSITY: Minor = Minor(23);
const WITH_RUNTIME_ENDPOINT: Minor = Minor(27);
const WITH_SWAP: Minor = Minor(22);

/// Suites that are safe and that clients of kubelet still speak.
pub(crate) const TLS_SUITES: [&str; 8] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
];

/// Fields of ours that an image with a configuration of its own decides.
const IMAGES: [&str; 9] = [
    "authentication",
    "authorization",
    "cgroupRoot",
    "hairpinMode",
    "logging",
    "protectKernelDefaults",
    "readOnlyPort",
    "serializeImagePulls",
    "tlsCipherSuites",
];

/// The configuration for a kubelet that we start ourselves.
pub(crate) fn whole(context: &mut Context<'_>, decisions: &Decisions) -> Content {
    let ours = generated(context, decisions);
    let mut config = ours.clone();
    overlay(context, decisions.over_image, &mut config);
    settle_pods(context, decisions, &mut config);
    if !context.group.kubelet.config.is_empty() {
        super::together::check(context, &config);
    }
    if !decisions.over_image {
        return Content::Text(template::json_text(&config));
    }
    let (otherwise, ours) = apart(ours);
    let extra = (!context.group.kubelet.config.is_empty()).then(|| extra(context));
    let over = [template::json_text(&ours)].into_iter().chain(extra).collect();
    Content::Merged { otherwise: template::json_text(&otherwise), over }
}

/// What the operator sets, as a document of its own.
pub(crate) fn extra(context: &Context<'_>) -> Text {
    let given = &context.group.kubelet.config;
    let mut given = Value::Object(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
    fill(&mut given);
    template::json_text(&given)
}

/// What stands in for an image's configuration, and what is laid over it in any case.
fn apart(config: Value) -> (Value, Value) {
    let Value::Object(mut ours) = config else { return (json!({}), config) };
    let mut images: Map<String, Value> =
        IMAGES.into_iter().filter_map(|key| Some((key.to_owned(), ours.remove(key)?))).collect();
    // Where the cluster's authority is, only we know.
    let authentication = images.get_mut("authentication").and_then(Value::as_object_mut);
    if let Some(x509) = authentication.and_then(|fields| fields.remove("x509")) {
        ours.insert("authentication".to_owned(), json!({"x509": x509}));
    }
    (Value::Object(images), Value::Object(ours))
}

/// The part of the configuration that the document asks for, as a patch over what kubeadm writes.
pub(crate) fn patch(context: &mut Context<'_>, decisions: &Decisions) -> Option<Value> {
    let mut config = Map::new();
    if context.kubeadm < Minor(22) || decisions.cgroup_driver != "systemd" {
        // Until then kubeadm's own default was another driver than the runtime's.
        config.insert("cgroupDriver".to_owned(), json!(decisions.cgroup_driver));
    }
    if !context.spec.network.dns.is_empty() {
        let addresses: Vec<String> = decisions.dns.iter().map(ToString::to_string).collect();
        config.insert("clusterDNS".to_owned(), json!(addresses));
    }
    if context.group.max_pods.is_some() {
        config.insert("maxPods".to_owned(), max_pods(decisions));
    }
    swap(context, &mut config);
    let mut config = Value::Object(config);
    overlay(context, false, &mut config);
    config.as_object().is_some_and(|object| !object.is_empty()).then_some(config)
}

/// Where the image's program passes the number of pods on as a flag, that stands above the configuration.
fn settle_pods(context: &mut Context<'_>, decisions: &Decisions, config: &mut Value) {
    let PodLimit::Fixed(pods) = decisions.max_pods else { return };
    let Some(found) = config.get_mut("maxPods").filter(|found| **found != json!(pods)) else { return };
    if !context.takes_as_given() {
        return;
    }
    let message = format!(
        "kubelet takes {pods} pods: the program of the image passes that on as a flag, which stands above this"
    );
    *found = json!(pods);
    let path = context.at(["kubelet", "config", "maxPods"]);
    context.warning(codes::WITHOUT_EFFECT, &path, message, "keep one of the two numbers");
}

fn max_pods(decisions: &Decisions) -> Value {
    match decisions.max_pods {
        PodLimit::Fixed(pods) => json!(pods),
        PodLimit::Interfaces { .. } | PodLimit::Expression { .. } => template::number(&Fact::MaxPods),
    }
}

fn generated(context: &mut Context<'_>, decisions: &Decisions) -> Value {
    let minor = context.minor;
    // Without an agent nobody works it out on the node, unless the carrier has a script.
    let somebody = decisions.agent != AgentSource::None || context.group.is_scripted();
    let by_core = decisions.pods_per_core.is_some() && somebody;
    let reserved_memory = match decisions.memory_for_pods {
        PodLimit::Fixed(pods) if !by_core => json!(format!("{}Mi", reservations::memory_mib(pods))),
        _ => template::string(&Text::fact(Fact::ReservedMemory)),
    };
    let mut config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true, "cacheTTL": "2m0s"},
            "x509": {"clientCAFile": decisions.layout.certificate_authority},
        },
        "authorization": {
            "mode": "Webhook",
            "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
        },
        "cgroupDriver": decisions.cgroup_driver,
        "cgroupRoot": "/",
        "clusterDomain": context.spec.network.domain,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
        "hairpinMode": "hairpin-veth",
        "kubeReserved": {
            "cpu": template::string(&Text::fact(Fact::ReservedCpu)),
            "ephemeral-storage": reservations::EPHEMERAL_STORAGE,
            "memory": reserved_memory,
        },
        "maxPods": max_pods(decisions),
        "protectKernelDefaults": true,
        "readOnlyPort": 0,
        "serializeImagePulls": false,
        "tlsCipherSuites": TLS_SUITES,
    });
    let Some(fields) = config.as_object_mut() else { return config };
    // Without an agent the first stage's script works it out, where the carrier has one.
    if decisions.agent == AgentSource::None
        && !context.group.is_scripted()
        && let Some(reserved) = fields.get_mut("kubeReserved").and_then(Value::as_object_mut)
    {
        reserved.remove("cpu");
    }
    if !super::reserved::has_authority(context) {
        // The authority comes inside a kubeconfig that only the node sees: there is no file of it to name.
        if let Some(authentication) = fields.get_mut("authentication").and_then(Value::as_object_mut) {
            authentication.remove("x509");
        }
    }
    if decisions.dns.is_empty() && context.learns_cluster() {
        let address = Text::fact(Fact::ClusterDns);
        let how = "the tenth address of the range of services that EKS tells".to_owned();
        context.origin("kubelet config clusterDNS", address.to_string(), Origin::Node(how));
        fields.insert("clusterDNS".to_owned(), json!([template::string(&address)]));
    } else if context.guesses_dns() {
        let address = Text::fact(Fact::GuessedDns);
        let how = "by the addresses of the network, as `bootstrap.sh` guesses it".to_owned();
        context.origin("kubelet config clusterDNS", address.to_string(), Origin::Node(how));
        fields.insert("clusterDNS".to_owned(), json!([template::string(&address)]));
    } else if !decisions.dns.is_empty() {
        let addresses: Vec<String> = decisions.dns.iter().map(ToString::to_string).collect();
        let origin = if context.spec.network.dns.is_empty() {
            Origin::Derived(
                Context::spec_path(["network", "serviceRanges"]),
                "the tenth address of each range".to_owned(),
            )
        } else {
            Origin::Document(Context::spec_path(["network", "dns"]))
        };
        context.origin("kubelet config clusterDNS", addresses.join(", "), origin);
        fields.insert("clusterDNS".to_owned(), json!(addresses));
    }
    if minor >= WITH_VERBOSITY {
        fields.insert("logging".to_owned(), json!({"verbosity": 2}));
    }
    if minor >= WITH_RUNTIME_ENDPOINT {
        fields.insert("containerRuntimeEndpoint".to_owned(), json!(decisions.socket));
    }
    if !context.group.taints.is_empty() {
        let path = context.at(["taints"]);
        context.origin("taints", crate::labels::taints_flag(&context.group.taints), Origin::Document(path));
    }
    if minor >= WITH_TAINTS && !context.group.taints.is_empty() {
        fields.insert("registerWithTaints".to_owned(), taints_as_objects(&context.group.taints));
    }
    if context.on_aws() && minor >= WITH_PROVIDER_ID {
        fields.insert("providerID".to_owned(), template::string(&provider_id()));
        context.origin(
            "kubelet config providerID",
            provider_id().to_string(),
            Origin::Node("from the metadata service".to_owned()),
        );
    }
    if decisions.join == JoinMethod::EksToken {
        fields.insert("serverTLSBootstrap".to_owned(), json!(true));
    }
    if decisions.join == JoinMethod::BootstrapToken {
        fields.insert("rotateCertificates".to_owned(), json!(true));
    }
    eks(context, decisions, fields);
    // The credential provider is behind a gate until it is beta.
    if minor < Minor(24) && credential_provider::directory(context, decisions).is_some() {
        set_gate(fields, "KubeletCredentialProviders");
    }
    swap(context, fields);
    super::resolver::put(context, decisions, fields);
    config
}

/// `aws:///ZONE/INSTANCE`.
pub(crate) fn provider_id() -> Text {
    let mut id = Text::literal("aws:///");
    id.push(&Text::fact(Fact::Zone));
    id.push_str("/");
    id.push(&Text::fact(Fact::InstanceId));
    id
}

/// What EKS' own images and control planes add.
fn eks(context: &Context<'_>, decisions: &Decisions, fields: &mut Map<String, Value>) {
    let minor = context.minor;
    // Reserved processors and reserved cgroups exclude each other.
    let reserved_processors = context.group.kubelet.config.contains_key("reservedSystemCPUs")
        || context.group.kubelet.flags.contains_key("reserved-cpus");
    if decisions.eks_image && !reserved_processors {
        fields.insert("systemReservedCgroup".to_owned(), json!("/system"));
        fields.insert("kubeReservedCgroup".to_owned(), json!("/runtime"));
    }
    if decisions.join != JoinMethod::EksToken {
        return;
    }
    if let Some([all, critical]) = shutdown_periods(context) {
        fields.insert("shutdownGracePeriod".to_owned(), json!(all));
        fields.insert("shutdownGracePeriodCriticalPods".to_owned(), json!(critical));
    }
    // Each is off by default in exactly this minor, and on in later ones.
    let gate = match minor {
        Minor(33) => Some("DynamicResourceAllocation"),
        Minor(34) => Some("MutableCSINodeAllocatableCount"),
        _ => None,
    };
    if let Some(gate) = gate {
        set_gate(fields, gate);
    }
}

/// The time that all pods and that critical ones have to end, where EKS' images give them any.
pub(super) fn shutdown_periods(context: &Context<'_>) -> Option<[&'static str; 2]> {
    let eks = context.spec.join.method == JoinMethod::EksToken;
    // kubelet does not start with both ways to say it.
    let by_priority = context.group.kubelet.config.contains_key("shutdownGracePeriodByPodPriority");
    (eks && context.minor >= Minor(34) && !by_priority).then_some(["2m30s", "30s"])
}

fn set_gate(fields: &mut Map<String, Value>, gate: &str) {
    let gates = fields.entry("featureGates").or_insert_with(|| json!({}));
    if let Some(gates) = gates.as_object_mut() {
        gates.insert(gate.to_owned(), json!(true));
    }
}

/// Swap, by what this minor can do with it.
fn swap(context: &mut Context<'_>, fields: &mut Map<String, Value>) {
    let Some(swap) = &context.group.swap else { return };
    match swap.policy {
        SwapPolicy::Off => {}
        SwapPolicy::Keep => {
            fields.insert("failSwapOn".to_owned(), json!(false));
        }
        SwapPolicy::File => {
            fields.insert("failSwapOn".to_owned(), json!(false));
            if context.minor >= WITH_SWAP {
                fields.insert("memorySwap".to_owned(), json!({"swapBehavior": "LimitedSwap"}));
                if context.minor < Minor(30) {
                    set_gate(fields, "NodeSwap");
                }
            }
        }
    }
}

/// Remembers the fields that nobody asked for.
fn tell_defaults(context: &mut Context<'_>, over_image: bool, config: &Value) {
    let version = context.minor;
    for (key, value) in config.as_object().into_iter().flatten() {
        // These have a better origin already.
        let told = matches!(key.as_str(), "clusterDNS" | "providerID" | "registerWithTaints" | "resolvConf");
        if !told && !context.group.kubelet.config.contains_key(key) {
            let origin = if over_image && IMAGES.contains(&key.as_str()) {
                Origin::Node("the image's own, and this where it has none".to_owned())
            } else {
                Origin::Default(format!("ours for kubelet 1.{}", version.0))
            };
            context.origin(format!("kubelet config {key}"), template::shown(value), origin);
        }
    }
}

/// Lays the operator's fields over the configuration, and says what is wrong with them.
fn overlay(context: &mut Context<'_>, over_image: bool, config: &mut Value) {
    tell_defaults(context, over_image, config);
    let given = &context.group.kubelet.config;
    if given.is_empty() {
        return;
    }
    let path = context.at(["kubelet", "config"]);
    let given = Value::Object(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
    for fault in validate_config(&given, context.minor) {
        // What may not be set at all is told once, as that.
        if !is_header(&fault) {
            report(context, &path, &fault);
        }
    }
    super::reserved::check_fields(context, &path);
    super::values::check_fields(context, &path);
    super::limits::check(context, &path);
    let mut given = given;
    fill(&mut given);
    template::merge(config, &given);
    for key in context.group.kubelet.config.keys() {
        let value = context.group.kubelet.config.get(key).map(ToString::to_string).unwrap_or_default();
        context.origin(format!("kubelet config {key}"), value, Origin::Document(path.key(key.as_str())));
    }
}

fn is_header(fault: &ConfigFault) -> bool {
    matches!(fault.path.as_slice(), [Segment::Key(key)] if key == "apiVersion" || key == "kind")
}

fn report(context: &mut Context<'_>, path: &Path, fault: &ConfigFault) {
    let code = match fault.kind {
        FaultKind::Unknown { .. } => codes::FIELD_UNKNOWN,
        FaultKind::NotYet { .. } => codes::FIELD_NOT_YET,
        FaultKind::Removed { .. } => codes::FIELD_REMOVED,
        FaultKind::Deprecated { .. } => codes::FIELD_DEPRECATED,
        FaultKind::WrongType { .. } => codes::FIELD_TYPE,
        FaultKind::WrongValue { .. } => codes::FIELD_VALUE,
    };
    let mut place = path.clone();
    for segment in &fault.path {
        place.push(match segment {
            Segment::Key(key) => bringup_yaml::Segment::Key(key.clone()),
            Segment::Index(index) => bringup_yaml::Segment::Index(*index),
        });
    }
    let message = fault.message(context.minor);
    let about_value = matches!(fault.kind, FaultKind::WrongType { .. } | FaultKind::WrongValue { .. });
    let located =
        if about_value { context.document.place(&place) } else { context.document.key_place(&place) };
    let severity =
        if fault.is_warning() { bringup_diag::Severity::Warning } else { bringup_diag::Severity::Error };
    let mut finding = bringup_diag::Finding::new(severity, code, message).at(located);
    finding.hint = fault.hint().or_else(|| match &fault.kind {
        FaultKind::WrongValue { expected, .. } => Some(format!("write {expected}")),
        FaultKind::Unknown { .. } => Some(format!(
            "remove it: no kubelet 1.{} reads it; what it is for may be a flag",
            context.minor.0
        )),
        _ => None,
    });
    context.findings.push(finding);
}

/// Placeholders in the operator's strings become facts; wrong ones were told when the document was read.
fn fill(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("@{") => {
            if let Ok(parsed) = Text::parse(text) {
                *text = template::marked(&parsed);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(fields) => fields.values_mut().for_each(fill),
        _ => {}
    }
}
