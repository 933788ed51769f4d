//! User-data for the node agent of EKS images: a NodeConfig, behind the operator's own parts.

use bringup_diag::{Finding, Findings};
use bringup_spec::{HookPoint, MaxPods, NodeNamePolicy, PodNetworking, RuntimeName};
use bringup_yaml::{Value, to_yaml};

use crate::budget::PartSize;
use crate::codes;
use crate::load::Load;
use crate::lost::Lost;
use crate::multipart::message;
use crate::nodeadm_parts::{OwnPart, OwnParts};
use crate::nodeadm_pulls::{GATE, IMAGE_ENDPOINT, parallel_pulls};
use crate::nodeadm_settings::{local_storage, network, own_base_spec};

/// The message and what its parts take. What is placed comes first, then the operator's parts, then the steps:
/// cloud-init is done with all of them before nodeadm starts kubelet.
pub(crate) fn nodeconfig(load: &Load<'_>, findings: &mut Findings) -> (Vec<u8>, Vec<PartSize>) {
    tell_what_is_lost(load, findings);
    let own = OwnParts::of(load, findings);
    let config = to_yaml(&node_config(load, findings));
    let ours = |part: &'_ OwnPart| (part.name.clone(), part.kind, part.text.clone().into_bytes());
    let mut parts: Vec<(String, &str, Vec<u8>)> = own.placing.iter().map(ours).collect();
    parts.extend(load.parts.iter().map(|part| (part.name.clone(), part.kind.word(), part.bytes.clone())));
    parts.extend(own.steps.iter().map(ours));
    parts.push(("nodeconfig.yaml".to_owned(), "application/node.eks.aws", config.into_bytes()));
    let named = parts.iter().map(|(name, kind, bytes)| (name.as_str(), *kind, bytes.as_slice()));
    let (bytes, mut sizes) = message(named.collect());
    if let (Some(first), Some(placing)) = (sizes.first_mut(), own.placing) {
        first.inside = placing.inside;
    }
    (bytes, sizes)
}

fn node_config(load: &Load<'_>, findings: &mut Findings) -> Value {
    let mut spec = Value::map([("cluster", cluster(load, findings))]);
    let mut put = |key: &str, value: Value| {
        if !is_empty(&value) {
            spec.set(key, value);
        }
    };
    let parallel = parallel_pulls(load);
    put("kubelet", kubelet(load, parallel.is_some(), findings));
    let mut containerd = Value::Map(Vec::new());
    let config = match &parallel {
        Some(pulls) => pulls.containerd.as_deref(),
        None => load.group.runtime.config.as_deref(),
    };
    if let Some(config) = config {
        containerd.set("config", config);
    }
    if let Some(base) = own_base_spec(load.plan) {
        containerd.set("baseRuntimeSpec", base);
    }
    put("containerd", containerd);
    put("instance", instance(load, findings));
    let by_id = load.plan.node_name == NodeNamePolicy::InstanceId;
    let gates = [("InstanceIdNodeName", by_id), (GATE, parallel.is_some())];
    put("featureGates", Value::map(gates.into_iter().filter(|(_, on)| *on)));
    Value::map([
        ("apiVersion", Value::from("node.eks.aws/v1alpha1")),
        ("kind", Value::from("NodeConfig")),
        ("spec", spec),
    ])
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Map(pairs) if pairs.is_empty())
}

/// The four things that it must be told.
fn cluster(load: &Load<'_>, findings: &mut Findings) -> Value {
    let spec = &load.document.cluster.spec;
    let aws_name = spec.aws.as_ref().and_then(|aws| aws.cluster_name.clone());
    let name = aws_name.unwrap_or_else(|| load.document.cluster.metadata.name.as_str().to_owned());
    let endpoint = spec.api.as_ref().map(|api| api.endpoint.clone());
    let authority = spec
        .api
        .as_ref()
        .and_then(|api| api.certificate_authority.as_ref())
        .map(bringup_spec::Authority::base64);
    let range = spec.network.service_ranges.first().map(ToString::to_string);
    let mut cluster = Value::map([("name", name)]);
    for (key, value, wanted) in [
        ("apiServerEndpoint", endpoint, "`api.endpoint`"),
        ("certificateAuthority", authority, "`api.certificateAuthority`"),
        ("cidr", range, "`network.serviceRanges`"),
    ] {
        match value {
            Some(value) => cluster.set(key, value),
            None => findings.push(
                Finding::error(
                    codes::NODECONFIG_MISSING,
                    format!("a NodeConfig needs `{key}`, and the document does not say it"),
                )
                .at(load.document.key_place(&bringup_yaml::Path::root().key("spec")))
                .hint(format!("write {wanted} of the cluster; `aws eks describe-cluster` prints it")),
            ),
        }
    }
    if let Some(id) = spec.api.as_ref().and_then(|api| api.cluster_id.clone()) {
        cluster.set("id", id);
        cluster.set("enableOutpost", true);
    }
    cluster
}

/// `parallel` is whether images are pulled in parallel, which has a setting of kubelet's made.
fn kubelet(load: &Load<'_>, parallel: bool, findings: &mut Findings) -> Value {
    let group = load.group;
    let network = &load.document.cluster.spec.network;
    let mut config = Value::Map(Vec::new());
    if !network.dns.is_empty() {
        config.set("clusterDNS", Value::list(network.dns.iter().map(ToString::to_string)));
    }
    if network.domain != "cluster.local" {
        config.set("clusterDomain", network.domain.as_str());
    }
    match &group.max_pods {
        Some(MaxPods::Fixed(pods)) => config.set("maxPods", *pods),
        Some(MaxPods::Interfaces(pods)) if pods.expression.is_none() => {
            lost(load, findings, "maxPods", "it works out the number of pods by its own rule");
        }
        Some(MaxPods::Interfaces(_)) | None => {}
    }
    if !group.taints.is_empty() {
        let taint = |taint: &bringup_spec::Taint| {
            Value::map([
                ("key", taint.key.as_str()),
                ("value", taint.value.as_str()),
                ("effect", taint.effect.word()),
            ])
        };
        config.set("registerWithTaints", Value::list(group.taints.iter().map(taint)));
    }
    let own = group.kubelet.config.iter().filter(|(key, _)| !parallel || *key != IMAGE_ENDPOINT);
    for (key, value) in own {
        config.set(key.as_str(), Value::from(value.clone()));
    }
    let mut flags = Vec::new();
    let mut labels = Vec::new();
    for (key, value) in &group.labels {
        match value.as_literal() {
            Some(value) => labels.push(format!("{key}={value}")),
            None => lost(
                load,
                findings,
                "labels",
                &format!("the value of label `{key}` is known only on the node"),
            ),
        }
    }
    if !labels.is_empty() {
        flags.push(format!("--node-labels={}", labels.join(",")));
    }
    for (name, value) in &group.kubelet.flags {
        match value.as_literal() {
            Some(value) => flags.push(format!("--{name}={value}")),
            None => lost(
                load,
                findings,
                "kubelet",
                &format!("the value of flag `{name}` is known only on the node"),
            ),
        }
    }
    let mut kubelet = Value::Map(Vec::new());
    if !is_empty(&config) {
        kubelet.set("config", config);
    }
    if !flags.is_empty() {
        kubelet.set("flags", Value::list(flags));
    }
    if let Some(MaxPods::Interfaces(PodNetworking { expression: Some(cel), .. })) = &group.max_pods {
        kubelet.set("maxPodsExpression", cel.as_str());
    }
    kubelet
}

/// The instance's disks, and variables of services; the proxy is for all of them.
fn instance(load: &Load<'_>, findings: &mut Findings) -> Value {
    let mut environment = Value::Map(Vec::new());
    if !load.plan.environment.is_empty() {
        environment.set("default", Value::map(load.plan.environment.clone()));
    }
    let mut own = Value::Map(Vec::new());
    for (name, value) in &load.group.kubelet.environment {
        match value.as_literal() {
            Some(value) => own.set(name.as_str(), value),
            None => lost(
                load,
                findings,
                "kubelet",
                &format!("the value of variable `{name}` is known only on the node"),
            ),
        }
    }
    if !is_empty(&own) {
        environment.set("kubelet", own);
    }
    let mut instance = Value::Map(Vec::new());
    if !is_empty(&environment) {
        instance.set("environment", environment);
    }
    if let Some((_, storage)) = local_storage(load.plan) {
        instance.set("localStorage", storage);
    }
    if let Some(network) = network(load.plan) {
        instance.set("network", network);
    }
    instance
}

/// What the document asks for and the node agent of EKS images has no place for.
fn tell_what_is_lost(load: &Load<'_>, findings: &mut Findings) {
    let docker = load.group.runtime.name == RuntimeName::Docker;
    let on_request =
        |hook: &bringup_spec::Hook| !matches!(hook.on, HookPoint::PreInstall | HookPoint::PostInstall);
    let own = [
        ("hooks", load.group.hooks.iter().any(on_request), "nobody asks for them on such a node"),
        ("signals", !load.group.signals.is_empty(), "it tells nobody how it ended"),
        ("runtime", docker, "it knows containerd only"),
        (
            "runtime",
            load.group.runtime.sandbox_image.is_some(),
            "it sets the sandbox image itself; set it in `runtime.config`",
        ),
        ("agent", load.has_agent() && load.agent_download().is_some(), "it brings no agent of ours"),
    ];
    LOST.tell(load, own, findings);
}

fn lost(load: &Load<'_>, findings: &mut Findings, key: &str, why: &str) {
    LOST.one(load, key, why, findings);
}

/// The finding for something that is left out.
pub(crate) fn not_carried(what: &str, why: &str) -> Finding {
    LOST.finding(what, why)
}

const LOST: Lost = Lost {
    who: "nodeadm",
    carried: &["files", "directories", "links", "steps", "hooks", "units", "kernelModules", "sysctls"],
    code: codes::NODECONFIG,
    hint: "take the carrier `multipart` or `cloud-init` with `agent: image` or `agent: fetch`, whose agent does it, or leave it out",
};
