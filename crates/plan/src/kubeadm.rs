//! kubeadm as the way to join: its configuration, and its run in the phase `kubelet`.

mod phases;

use bringup_kubelet::Minor;
use bringup_spec::{
    Fact, JoinMethod, NodeNamePolicy, OnFailure, Phase, Role, RuntimeName, SecretSource, Span, Text,
};
use serde_json::{Map, Value, json};

use self::phases::{Command, skipped};
use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::SECRETS;
use crate::join::{Joining, check_secret};
use crate::kubelet::kubeconfig::{User, kubeconfig};
use crate::kubelet::{config, flags};
use crate::labels::taints_as_objects;
use crate::steps::{plain, policy, write_file};
use crate::{Action, Content, Election, Step, codes, template};

const INIT_FILE: &str = "/etc/kubernetes/kubeadm-init.yaml";
const JOIN_FILE: &str = "/etc/kubernetes/kubeadm-join.yaml";
const DISCOVERY_FILE: &str = "/etc/kubernetes/discovery.conf";
const PATCHES: &str = "/etc/kubernetes/patches";
const AUTHORITY: &str = "/etc/kubernetes/discovery-ca.crt";

/// Stand for the secrets until the text is cut there.
const TOKEN: &str = "\u{FDD3}t";
const CERTIFICATE_KEY: &str = "\u{FDD3}k";

/// The first minors with a newer API of kubeadm, and with patches of kubelet's configuration.
const V1BETA2: Minor = Minor(15);
const V1BETA3: Minor = Minor(22);
const V1BETA4: Minor = Minor(31);
const KUBELET_PATCHES: Minor = Minor(25);

/// Files and programs of kubeadm.
pub(crate) fn joining(context: &mut Context<'_>, decisions: &Decisions) -> Joining {
    let mut joining = Joining { kubeconfig: "/etc/kubernetes/kubelet.conf".to_owned(), ..Joining::default() };
    let starts = decisions.election.is_some();
    let joins = decisions.election != Some(Election::Always);
    let settings = config::patch(context, decisions);
    let patched = settings.is_some() && context.kubeadm >= KUBELET_PATCHES;
    if let Some(settings) = &settings {
        if patched {
            // A merge patch replaces lists whole and removes with null, as the document's own rule is.
            let path = format!("{PATCHES}/kubeletconfiguration+merge.json");
            let body = Content::Text(template::json_text(settings));
            joining.files.push(write_file("kubelet-config", Phase::Configure, &path, "0644", body));
        } else if joins && asks_for_more(context, settings) {
            let path = context.at(["kubelet", "config"]);
            context.warning(
                codes::KUBEADM_CONFIG,
                &path,
                format!(
                    "kubeadm {} joins every node with the cluster's own kubelet configuration",
                    context.kubeadm
                ),
                "set the fields on the node that starts the cluster, or use Kubernetes 1.25 or newer",
            );
        }
    }
    let registration = registration(context, decisions);
    if starts {
        init(context, decisions, &mut joining, &registration, settings.filter(|_| !patched), patched);
    }
    if joins {
        join(context, decisions, &mut joining, &registration, patched);
    }
    joining
}

/// Whether the group itself asks for a setting: the driver that kubeadm once had to be told is the same on every node.
fn asks_for_more(context: &Context<'_>, settings: &Value) -> bool {
    let own = |key: &String| key != "cgroupDriver" || context.group.kubelet.config.contains_key(key);
    settings.as_object().is_some_and(|settings| settings.keys().any(own))
}

fn version(minor: Minor) -> &'static str {
    match minor {
        minor if minor < V1BETA2 => "kubeadm.k8s.io/v1beta1",
        minor if minor < V1BETA3 => "kubeadm.k8s.io/v1beta2",
        minor if minor < V1BETA4 => "kubeadm.k8s.io/v1beta3",
        _ => "kubeadm.k8s.io/v1beta4",
    }
}

/// How this node is registered.
fn registration(context: &mut Context<'_>, decisions: &Decisions) -> Value {
    let mut arguments = flags::common(context);
    flags::overlay(context, &mut arguments);
    let arguments = if context.kubeadm >= V1BETA4 {
        Value::Array(
            arguments
                .iter()
                .map(|(name, value)| json!({"name": name, "value": template::marked(value)}))
                .collect(),
        )
    } else {
        arguments.iter().map(|(name, value)| (name.clone(), template::string(value))).collect()
    };
    let mut registration = Map::new();
    let empty =
        arguments.as_array().is_some_and(Vec::is_empty) || arguments.as_object().is_some_and(Map::is_empty);
    if !empty {
        registration.insert("kubeletExtraArgs".to_owned(), arguments);
    }
    if decisions.runtime == RuntimeName::Containerd {
        registration.insert("criSocket".to_owned(), json!(decisions.socket));
    }
    if decisions.node_name != NodeNamePolicy::Hostname {
        registration.insert("name".to_owned(), template::string(&Text::fact(Fact::NodeName)));
    }
    if !context.group.taints.is_empty() {
        registration.insert("taints".to_owned(), taints_as_objects(&context.group.taints));
    }
    if let Some(kubeadm) = &context.spec.join.kubeadm
        && !kubeadm.ignore_preflight_errors.is_empty()
        && context.kubeadm >= V1BETA2
    {
        registration.insert("ignorePreflightErrors".to_owned(), json!(kubeadm.ignore_preflight_errors));
    }
    Value::Object(registration)
}

/// The operator's fields, laid over a document of ours.
fn overlaid(mut document: Value, over: Option<&std::collections::BTreeMap<String, Value>>) -> Value {
    if let Some(over) = over {
        let over = Value::Object(over.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
        template::merge(&mut document, &over);
    }
    document
}

fn common(context: &Context<'_>, command: Command, registration: &Value, patched: bool) -> Value {
    let kind = if command == Command::Init { "InitConfiguration" } else { "JoinConfiguration" };
    let mut document =
        json!({"apiVersion": version(context.kubeadm), "kind": kind, "nodeRegistration": registration});
    if let Some(fields) = document.as_object_mut() {
        if patched {
            fields.insert("patches".to_owned(), json!({"directory": PATCHES}));
        }
        let skipped = skipped(context, command);
        if !skipped.is_empty() && context.kubeadm >= V1BETA3 {
            fields.insert("skipPhases".to_owned(), json!(skipped));
        }
    }
    document
}

fn init(
    context: &mut Context<'_>,
    decisions: &Decisions,
    joining: &mut Joining,
    registration: &Value,
    kubelet: Option<Value>,
    patched: bool,
) {
    let kubeadm = context.spec.join.kubeadm.as_ref();
    let mut document = common(context, Command::Init, registration, patched);
    if let Some(fields) = document.as_object_mut() {
        if kubeadm.is_some_and(|kubeadm| kubeadm.certificate_key.is_some()) {
            fields.insert("certificateKey".to_owned(), json!(CERTIFICATE_KEY));
        }
        if context.spec.join.token.is_some() {
            fields.insert("bootstrapTokens".to_owned(), json!([{"token": TOKEN}]));
        }
    }
    let document = overlaid(document, kubeadm.map(|kubeadm| &kubeadm.init_configuration));
    let mut cluster = json!({
        "apiVersion": version(context.kubeadm),
        "kind": "ClusterConfiguration",
        "clusterName": context.document.cluster.metadata.name.as_str(),
        "kubernetesVersion": kubernetes_version(context),
    });
    let network = &context.spec.network;
    let list = |ranges: &[bringup_spec::Cidr]| {
        ranges.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
    };
    let mut networking = Map::new();
    networking.insert("dnsDomain".to_owned(), json!(network.domain));
    if !network.service_ranges.is_empty() {
        networking.insert("serviceSubnet".to_owned(), json!(list(&network.service_ranges)));
    }
    if !network.pod_ranges.is_empty() {
        networking.insert("podSubnet".to_owned(), json!(list(&network.pod_ranges)));
    }
    if let Some(fields) = cluster.as_object_mut() {
        fields.insert("networking".to_owned(), Value::Object(networking));
        if let Some(api) = &context.spec.api {
            fields.insert("controlPlaneEndpoint".to_owned(), json!(host_of(&api.endpoint)));
        }
    }
    let cluster = overlaid(cluster, kubeadm.map(|kubeadm| &kubeadm.cluster_configuration));
    let mut documents = vec![cluster, document];
    if let Some(mut kubelet) = kubelet {
        let head = json!({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"});
        template::merge(&mut kubelet, &head);
        documents.push(kubelet);
    }
    let proxy = kubeadm.map(|kubeadm| &kubeadm.kube_proxy_configuration).filter(|proxy| !proxy.is_empty());
    if proxy.is_some() {
        let head =
            json!({"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration"});
        documents.push(overlaid(head, proxy));
    }
    let uploads = kubeadm.is_some_and(|kubeadm| kubeadm.certificate_key.is_some());
    push_config(context, joining, "kubeadm-init-config", INIT_FILE, &documents);
    let mut step = program(context, Command::Init, uploads.then_some("--upload-certs"));
    step.elected_only = joins_by_election(decisions);
    joining.programs.push(step);
}

fn join(
    context: &mut Context<'_>,
    decisions: &Decisions,
    joining: &mut Joining,
    registration: &Value,
    patched: bool,
) {
    let kubeadm = context.spec.join.kubeadm.as_ref();
    let mut document = common(context, Command::Join, registration, patched);
    let api = context.spec.api.as_ref();
    let authority = api.and_then(|api| api.certificate_authority.as_ref());
    let hashes = kubeadm.map(|kubeadm| kubeadm.ca_cert_hashes.clone()).unwrap_or_default();
    let mut discovery = json!({});
    if let Some(authority) = authority {
        // The token stays in a file of its own, and kubeadm takes it from there.
        let token = format!("{SECRETS}/bootstrap-token");
        if let Some(source) = &context.spec.join.token {
            check_secret(context, &Context::spec_path(["join", "token"]), source);
            let body = Content::Secret(source.clone());
            joining.files.push(write_file("bootstrap-token", Phase::Configure, &token, "0600", body));
        }
        let body = Content::Text(Text::literal(authority.pem()));
        joining.files.push(write_file("certificate-authority", Phase::Configure, AUTHORITY, "0644", body));
        let text = kubeconfig(context, User::TokenFile(token), AUTHORITY);
        let body = Content::Text(text);
        joining.files.push(write_file("discovery", Phase::Configure, DISCOVERY_FILE, "0600", body));
        discovery = json!({"file": {"kubeConfigPath": DISCOVERY_FILE}});
    } else if let (Some(source), true) = (&context.spec.join.kubeconfig, hashes.is_empty()) {
        check_secret(context, &Context::spec_path(["join", "kubeconfig"]), source);
        let body = Content::Secret(source.clone());
        let mut file = write_file("discovery", Phase::Configure, DISCOVERY_FILE, "0600", body);
        // Whoever starts the cluster has nobody to be told of.
        file.others_only = joins_by_election(decisions);
        joining.files.push(file);
        discovery = json!({"file": {"kubeConfigPath": DISCOVERY_FILE}});
        if context.spec.join.token.is_some() {
            discovery["tlsBootstrapToken"] = json!(TOKEN);
        }
    } else if context.spec.join.token.is_some() {
        let endpoint = api.map(|api| host_of(&api.endpoint)).unwrap_or_default();
        let mut token = json!({"apiServerEndpoint": endpoint, "token": TOKEN});
        if let Some(fields) = token.as_object_mut() {
            if hashes.is_empty() {
                fields.insert("unsafeSkipCAVerification".to_owned(), json!(true));
            } else {
                fields.insert("caCertHashes".to_owned(), json!(hashes));
            }
        }
        discovery = json!({"bootstrapToken": token});
    }
    if let Some(fields) = document.as_object_mut() {
        fields.insert("discovery".to_owned(), discovery);
        if context.group.role == Role::ControlPlane {
            let has_key = kubeadm.is_some_and(|kubeadm| kubeadm.certificate_key.is_some());
            let plane = if has_key { json!({"certificateKey": CERTIFICATE_KEY}) } else { json!({}) };
            fields.insert("controlPlane".to_owned(), plane);
        }
    }
    let document = overlaid(document, kubeadm.map(|kubeadm| &kubeadm.join_configuration));
    push_config(context, joining, "kubeadm-join-config", JOIN_FILE, &[document]);
    let mut step = program(context, Command::Join, None);
    step.others_only = joins_by_election(decisions);
    joining.programs.push(step);
}

/// Whether one node of the group starts the cluster, and the others join it.
fn joins_by_election(decisions: &Decisions) -> bool {
    matches!(decisions.election, Some(Election::When { .. } | Election::Store { .. }))
}

/// The documents as one file, each secret cut in where its mark stands.
fn push_config(
    context: &mut Context<'_>,
    joining: &mut Joining,
    name: &str,
    path: &str,
    documents: &[Value],
) {
    let written: Vec<String> = documents
        .iter()
        .map(|document| format!("{}\n", serde_json::to_string_pretty(document).unwrap_or_default()))
        .collect();
    let written = written.join("---\n");
    let marks = [TOKEN, CERTIFICATE_KEY];
    let mut pieces = Vec::new();
    let mut rest = written.as_str();
    while let Some((at, mark)) = marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min() {
        let (before, after) = rest.split_at(at);
        pieces.push(Content::Text(template::unmarked(before)));
        pieces.extend(secret(context, mark).map(Content::Secret));
        rest = after.strip_prefix(mark).unwrap_or(after);
    }
    let last = Content::Text(template::unmarked(rest));
    let body = if pieces.is_empty() {
        last
    } else {
        pieces.push(last);
        Content::Pieces(pieces)
    };
    joining.files.push(write_file(name, Phase::Configure, path, "0600", body));
}

/// The secret that a mark stands for.
fn secret(context: &mut Context<'_>, mark: &str) -> Option<SecretSource> {
    let join = &context.spec.join;
    let (source, keys) = if mark == TOKEN {
        (join.token.as_ref(), ["join", "token"].as_slice())
    } else {
        let key = join.kubeadm.as_ref().and_then(|kubeadm| kubeadm.certificate_key.as_ref());
        (key, ["join", "kubeadm", "certificateKey"].as_slice())
    };
    let source = source?;
    check_secret(context, &Context::spec_path(keys.iter().copied()), source);
    Some(source.clone())
}

fn program(context: &Context<'_>, which: Command, flag: Option<&str>) -> Step {
    let (name, verb, file) = match which {
        Command::Init => ("kubeadm-init", "init", INIT_FILE),
        Command::Join => ("kubeadm-join", "join", JOIN_FILE),
    };
    let mut command =
        vec![Decisions::kubeadm_program(context), verb.to_owned(), "--config".to_owned(), file.to_owned()];
    command.extend(flag.map(ToOwned::to_owned));
    let skipped = skipped(context, which);
    if context.kubeadm < V1BETA3 && !skipped.is_empty() {
        command.push(format!("--skip-phases={}", skipped.join(",")));
    }
    if context.kubeadm < V1BETA2
        && let Some(kubeadm) = &context.spec.join.kubeadm
        && !kubeadm.ignore_preflight_errors.is_empty()
    {
        command.push(format!("--ignore-preflight-errors={}", kubeadm.ignore_preflight_errors.join(",")));
    }
    let action = Action::Run {
        command: command.into_iter().map(Text::literal).collect(),
        environment: std::collections::BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    };
    let mut step = plain(name, Phase::Kubelet, action);
    step.policy = Some(policy(Span::seconds(900), 3, Span::seconds(15), OnFailure::Pause));
    step
}

fn kubernetes_version(context: &Context<'_>) -> String {
    let version = &context.spec.kubernetes.version;
    match version.patch {
        Some(_) => format!("v{version}"),
        // kubeadm asks for the newest patch of a minor that it is not told.
        None => format!("stable-{version}"),
    }
}

/// `host:port` of an endpoint.
fn host_of(endpoint: &str) -> String {
    let rest = endpoint.strip_prefix("https://").unwrap_or(endpoint);
    let host = rest.split('/').next().unwrap_or(rest);
    let has_port = host.rsplit_once(':').is_some_and(|(before, port)| {
        port.parse::<u16>().is_ok() && (!before.contains(':') || before.ends_with(']'))
    });
    if has_port { host.to_owned() } else { format!("{host}:443") }
}

/// Checks what kubeadm needs and what it would not read.
pub(crate) fn check(context: &mut Context<'_>, decisions: &Decisions) {
    if decisions.join != JoinMethod::Kubeadm {
        return;
    }
    phases::check(context);
    if context.kubeadm < V1BETA2
        && context.spec.join.kubeadm.as_ref().is_some_and(|kubeadm| kubeadm.certificate_key.is_some())
    {
        let path = Context::spec_path(["join", "kubeadm", "certificateKey"]);
        context.key_error(
            codes::SOFTWARE_VERSION,
            &path,
            format!(
                "kubeadm {} takes the key only on its command line, where everybody can read it",
                context.kubeadm
            ),
            "copy the certificates by other means, or use Kubernetes 1.15 or newer",
        );
    }
    check_taints(context);
    let joins = decisions.election != Some(Election::Always);
    let api = context.spec.api.as_ref();
    let authority = api.is_some_and(|api| api.certificate_authority.is_some());
    let hashes = context.spec.join.kubeadm.as_ref().is_some_and(|kubeadm| !kubeadm.ca_cert_hashes.is_empty());
    if joins && !authority && !hashes && context.spec.join.kubeconfig.is_none() {
        context.error(
            codes::JOIN_TRUST,
            &Context::spec_path(["join"]),
            "a node that joins cannot tell the API server from an impostor",
            "give `api.certificateAuthority`, or `join.kubeadm.caCertHashes` as `kubeadm token create --print-join-command` prints them",
        );
    }
}

/// kubeadm gives its own taint only to a control-plane node that is given none.
fn check_taints(context: &mut Context<'_>) {
    let own = if context.kubeadm < Minor(24) {
        "node-role.kubernetes.io/master"
    } else {
        "node-role.kubernetes.io/control-plane"
    };
    let taints = &context.group.taints;
    if context.group.role == Role::ControlPlane
        && !taints.is_empty()
        && !taints.iter().any(|taint| taint.key == own)
    {
        let path = context.at(["taints"]);
        context.key_warning(
            codes::TAINT_REPLACED,
            &path,
            format!(
                "kubeadm then leaves out its own taint `{own}`, and any pod may run on the control plane"
            ),
            format!("add `{{key: {own}, effect: NoSchedule}}`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn endpoints_become_host_and_port() {
        assert_eq!(host_of("https://api.example.com"), "api.example.com:443");
        assert_eq!(host_of("https://api.example.com:6443/x"), "api.example.com:6443");
        assert_eq!(host_of("https://[fd00::1]"), "[fd00::1]:443");
        assert_eq!(host_of("https://[fd00::1]:8443"), "[fd00::1]:8443");
    }
}
