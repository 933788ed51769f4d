//! A call of `bootstrap.sh` as a document.

use bringup_aws::partition::partition_of;
use bringup_diag::Severity;
use bringup_spec::bootstrap_flags::{BootstrapRequest, BootstrapRuntime, parse};
use bringup_yaml::{Limits, Node};

use super::signal::Told;
use crate::codes;
use crate::kubelet_flags::{self, add_labels};
use crate::nodeadm::{plain_name, region_of};
use crate::tell::Teller;
use crate::tree::{Branch, list, plain, text};

/// The document of a call, with steps around it.
pub(super) fn document(
    words: &[String],
    at: &Node,
    steps: Vec<Node>,
    signals: &[Told],
    tell: &mut Teller<'_>,
) -> Option<Node> {
    let span = at.span;
    let parsed = parse(words, &[]);
    for finding in &parsed.findings {
        let hint = finding.hint.clone().unwrap_or_default();
        match finding.severity {
            Severity::Error => tell.error(codes::FIELD_REFUSED, span, finding.message.as_str(), hint),
            _ => tell.warning(codes::FIELD_DIFFERS, span, finding.message.as_str(), hint),
        }
    }
    let mut request = parsed.request?;
    // The script takes docker by itself before 1.24 only.
    if request.runtime.is_none() && tell.added_minor.is_some_and(|minor| minor < 24) {
        request.runtime = Some(BootstrapRuntime::Dockerd);
        let message = "the runtime is docker: `bootstrap.sh` takes it before Kubernetes 1.24 where the call says nothing of it";
        let hint = "say which with `--container-runtime`";
        tell.note(codes::DIFFERENCE, span, message, hint);
    }
    tell_differences(&request, at, tell);

    let mut aws = Branch::new(span);
    if let Some(region) = request.endpoint.as_deref().and_then(region_of) {
        aws.put("region", text(span, region));
    } else {
        let example = "spec: {aws: {region: us-west-2}}";
        told_elsewhere(tell, at, &["spec", "aws", "region"], ("the region", example));
    }
    let name = plain_name(&request.cluster);
    if name != request.cluster {
        aws.put("clusterName", text(span, request.cluster.as_str()));
    }
    let example = "spec: {kubernetes: {version: \"1.32\"}}";
    let version = ["spec", "kubernetes", "version"];
    told_elsewhere(tell, at, &version, ("the version of Kubernetes", example));
    let mut join = Branch::new(span);
    join.put("method", text(span, "eks-token"));
    let mut spec = Branch::new(span);
    spec.put("flavour", plain(span, "eks"));
    if !request.needs_cluster() {
        let mut api = Branch::new(span);
        api.put_some("endpoint", request.endpoint.as_deref().map(|value| text(span, value)));
        api.put_some("certificateAuthority", request.authority.as_deref().map(|value| text(span, value)));
        if request.local_outpost == Some(true) {
            api.put_some("clusterId", request.cluster_id.as_deref().map(|value| text(span, value)));
        }
        spec.put("api", api.into_node());
    }
    spec.put_full("network", network(&request, at));
    spec.put("join", join.into_node());
    if let Some(account) = request.pause_account.as_deref().filter(|_| pause_image(&request).is_none()) {
        aws.put("registryAccount", text(span, account));
    }
    spec.put_full("aws", aws.into_node());
    spec.put("nodeGroups", list(span, vec![group(&request, at, steps, signals)]));
    let mut metadata = Branch::new(span);
    metadata.put("name", text(span, name));
    let mut tree = Branch::new(span);
    tree.put("apiVersion", text(span, "bringup.dev/v1alpha1"));
    tree.put("kind", text(span, "Cluster"));
    tree.put("metadata", metadata.into_node());
    tree.put("spec", spec.into_node());
    Some(tree.into_node())
}

fn network(request: &BootstrapRequest, at: &Node) -> Node {
    let span = at.span;
    let mut network = Branch::new(span);
    let range = request.service_ipv6.as_ref().or(request.service_ipv4.as_ref());
    network.put_some("serviceRanges", range.map(|range| list(span, vec![text(span, range.as_str())])));
    let servers = request.dns.iter().flat_map(|dns| dns.split(','));
    let servers = servers.map(|server| text(span, server.trim())).collect();
    network.put_full("dns", list(span, servers));
    network.into_node()
}

fn group(request: &BootstrapRequest, at: &Node, steps: Vec<Node>, signals: &[Told]) -> Node {
    let span = at.span;
    let mut group = Branch::new(span);
    group.put("name", text(span, "nodes"));
    group.put("platform", text(span, "aws"));
    group.put("os", text(span, "amazon-linux-2"));
    group.put("inPlaceOf", plain(span, "bootstrap"));
    let mut labels = Branch::new(span);
    let mut taints = Vec::new();
    let mut flags = Branch::new(span);
    // What kubelet itself takes where nobody tells it another number.
    let mut pods = (!request.use_max_pods).then_some(110);
    let words = request.extra_words();
    for flag in kubelet_flags::flags(words.iter().map(|word| (word.as_str(), span))) {
        match flag.name {
            "node-labels" => add_labels(&mut labels, &flag, flag.value),
            "max-pods" if flag.value.parse::<u32>().is_ok() => pods = flag.value.parse::<u32>().ok(),
            "register-with-taints" => taints = kubelet_flags::taints(flag.value, span),
            name => flags.put(name, text(span, flag.value)),
        }
    }
    group.put_full("labels", labels.into_node());
    group.put_full("taints", list(span, taints));
    let mut kubelet = Branch::new(span);
    // Memory is kept for the instance type's pods all the same.
    kubelet.put_some(
        "config",
        pods.map(|pods| {
            let mut config = Branch::new(span);
            config.put("maxPods", plain(span, pods));
            config.into_node()
        }),
    );
    kubelet.put_full("flags", flags.into_node());
    group.put_full("kubelet", kubelet.into_node());
    group.put_full("runtime", runtime(request, at));
    let disks = request.local_disks.as_deref().map(|how| disks(how, span));
    group.put_full("steps", list(span, disks.into_iter().chain(steps).collect()));
    if request.mount_bpf {
        group.put("units", list(span, vec![super::bpf::unit(span)]));
    }
    let told: Vec<(&str, Node)> = signals.iter().flat_map(|told| told.items(span)).collect();
    for key in ["carriers", "signals"] {
        let mut items: Vec<Node> = Vec::new();
        for (_, item) in told.iter().filter(|(of, _)| *of == key) {
            if !items.iter().any(|known| known.to_value() == item.to_value()) {
                items.push(item.clone());
            }
        }
        group.put_full(key, list(span, items));
    }
    group.into_node()
}

/// The image's own program makes the instance's disks one volume, or mounts each.
fn disks(how: &str, span: bringup_diag::Span) -> Node {
    let mut step = Branch::new(span);
    step.put("name", text(span, "local-disks"));
    step.put("run", list(span, vec![text(span, "/usr/bin/setup-local-disks"), text(span, how)]));
    step.put("before", list(span, vec![text(span, "runtime")]));
    step.put("everyBoot", plain(span, true));
    step.into_node()
}

fn runtime(request: &BootstrapRequest, at: &Node) -> Node {
    let mut runtime = Branch::new(at.span);
    match request.runtime {
        Some(BootstrapRuntime::Dockerd) => runtime.put("name", text(at.span, "docker")),
        Some(BootstrapRuntime::Containerd) => runtime.put("name", text(at.span, "containerd")),
        None => {}
    }
    let config = request.docker_config.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut config = match config {
        Some(serde_json::Value::Object(config)) => config,
        _ => serde_json::Map::new(),
    };
    if request.docker_bridge && request.runtime == Some(BootstrapRuntime::Dockerd) {
        // The script's own values: docker would not make its bridge anew with the other.
        config.insert("bridge".to_owned(), "docker0".into());
        config.insert("live-restore".to_owned(), false.into());
    }
    if !config.is_empty() {
        let yaml = serde_json::Value::Object(config).to_string();
        // Its places are those of the call, not of a document of its own.
        if let Ok(Some(tree)) = bringup_yaml::parse_one(&yaml, Limits::default()) {
            runtime.put("dockerConfig", crate::tree::moved(tree, at.span));
        }
    }
    runtime.put_some("sandboxImage", pause_image(request).map(|image| text(at.span, image)));
    runtime.into_node()
}

/// The image of the pause container, where its registry can be named: with an account, in a region that the call says.
fn pause_image(request: &BootstrapRequest) -> Option<String> {
    let account = request.pause_account.as_deref()?;
    let region = request.endpoint.as_deref().and_then(region_of)?;
    let domain = partition_of(region).domain;
    let version = &request.pause_version;
    Some(format!("{account}.dkr.ecr.{region}.{domain}/eks/pause:{version}"))
}

/// Whether all groups of a document say which image a pod's sandbox is made of.
fn says_sandbox(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")).and_then(Node::items);
    let says = |group: &Node| group.get("runtime").and_then(|runtime| runtime.get("sandboxImage")).is_some();
    groups.is_some_and(|groups| groups.iter().all(says))
}

/// Flags that a document has no words for, or that count for nothing.
fn tell_differences(request: &BootstrapRequest, at: &Node, tell: &mut Teller<'_>) {
    let both = [("apiserver-endpoint", &request.endpoint), ("b64-cluster-ca", &request.authority)];
    if let [(given, Some(_)), (other, None)] | [(other, None), (given, Some(_))] = both {
        let message = format!(
            "`--{given}` of the call counts for nothing without `--{other}`: EKS is asked for both, as `bootstrap.sh` does"
        );
        tell.note(codes::DIFFERENCE, at.span, message, "give both, or neither");
    }
    let docker = request.runtime == Some(BootstrapRuntime::Dockerd);
    if request.docker_bridge && !docker {
        let message = "`--enable-docker-bridge` of the call counts for nothing: the runtime is containerd, here as before";
        tell.note(codes::FIELD_ASIDE, at.span, message, "remove it");
    }
    if request.pause_version != "3.5" && pause_image(request).is_none() {
        let message = "`--pause-container-version` of the call is not carried out: the call does not say from which registry";
        let hint = "write `runtime: {sandboxImage: ...}` of the group with `--with additions.yaml`";
        tell.warning_unless(says_sandbox, (codes::FIELD_DIFFERS, at.span), message, hint);
    }
    if request.containerd_config_file.is_some() {
        let message = "`--containerd-config-file` of the call is not carried out: the node will differ";
        let hint = "write what it changes under `runtime.config` of the group";
        tell.warning(codes::FIELD_DIFFERS, at.span, message, hint);
    }
    if request.retry_attempts != 3 {
        beside_the_point("aws-api-retry-attempts", "the agent asks again by rules of its own", at, tell);
    }
    if request.cluster_id.is_some() && request.local_outpost != Some(true) {
        beside_the_point("cluster-id", "it goes with `--enable-local-outpost true`", at, tell);
    }
    if request.local_outpost == Some(true) && request.cluster_id.is_none() && !request.needs_cluster() {
        let message = "`--enable-local-outpost` of the call has no `--cluster-id`: a local cluster on an Outpost is joined by its id";
        tell.error(codes::FIELD_REFUSED, at.span, message, "add `--cluster-id ID`");
    }
    let sixth = [&request.service_ipv6, &request.dns];
    if request.ipv6 == Some(true) && !sixth.into_iter().flatten().any(|address| address.contains(':')) {
        tell_of_family(at, tell);
    }
}

/// A flag that changes nothing about the node.
pub(crate) fn beside_the_point(flag: &str, why: &str, at: &Node, tell: &mut Teller<'_>) {
    let message = format!("`--{flag}` of the call counts for nothing: {why}");
    tell.note(codes::FIELD_ASIDE, at.span, message, "remove it");
}

/// The node learns from its range of services, or from where its DNS is, that it is one of IPv6.
pub(crate) fn tell_of_family(at: &Node, tell: &mut Teller<'_>) {
    let says = |document: &Node| {
        let network = document.get("spec").and_then(|spec| spec.get("network"));
        let first = |key: &str| network?.get(key)?.items()?.first()?.text();
        first("serviceRanges").or_else(|| first("dns")).is_some_and(|address| address.contains(':'))
    };
    let message = "`--ip-family ipv6` of the call is not enough: nothing says the range of services, and without it nodes are known by their IPv4 addresses";
    let hint = "add `--service-ipv6-cidr RANGE`, or `spec: {network: {serviceRanges: [RANGE]}}` with `--with additions.yaml`; `aws eks describe-cluster` prints it as `serviceIpv6Cidr`";
    tell.warning_unless(says, (codes::FIELD_DIFFERS, at.span), message, hint);
}

/// What the script learns on the machine has to be said here.
fn told_elsewhere(tell: &mut Teller<'_>, at: &Node, path: &[&'static str], (what, example): (&str, &str)) {
    let message = format!("a call of `bootstrap.sh` does not say {what}: the image and the machine do");
    let hint = format!("say it with `--with additions.yaml`: `kind: Additions`, `{example}`");
    tell.note_of_missing(path, (codes::DIFFERENCE, at.span), message, hint);
}
