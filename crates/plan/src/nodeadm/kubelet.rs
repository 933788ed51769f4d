//! What kubelet reads: its configuration, what the operator lays over it, its credentials and its arguments.

use std::collections::BTreeMap;
use std::net::IpAddr;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_diag::Finding;
use bringup_spec::nodeconfig::NodeConfig;
use bringup_spec::{Fact, Phase, Text};
use serde_json::{Value, json};

use super::{Surroundings, Work, containerd, json as json_text};
use crate::kubelet::config::TLS_SUITES;
use crate::steps::write_file;
use crate::{Content, Step, codes, reservations, template};

const CONFIG: &str = "/etc/kubernetes/kubelet/config.json";
const DROP_INS: &str = "/etc/kubernetes/kubelet/config.json.d";
const AUTHORITY: &str = "/etc/kubernetes/pki/ca.crt";
pub(super) const KUBECONFIG: &str = "/var/lib/kubelet/kubeconfig";
const BOOTSTRAP_KUBECONFIG: &str = "/var/lib/kubelet/bootstrap-kubeconfig";
const CREDENTIAL_PROVIDER: &str = "/etc/eks/image-credential-provider/config.json";
const ENVIRONMENT: &str = "/etc/eks/kubelet/environment";

/// The files for the phase `configure`.
pub(super) fn steps(work: &mut Work<'_>) -> Vec<Step> {
    let config = work.config;
    let mut files: Vec<(&str, &str, Content)> = Vec::new();
    files.push(("kubelet-config", CONFIG, Content::Text(json_text::text(&whole(config, work.around)))));
    let drop_in = format!("{DROP_INS}/40-nodeadm.conf");
    if !config.kubelet.config.is_empty() {
        let text = Text::literal(json_text::written(&given(config)));
        files.push(("kubelet-config-drop-in", &drop_in, Content::Text(text)));
    }
    let kubeconfig_path = if config.is_on_outpost() { BOOTSTRAP_KUBECONFIG } else { KUBECONFIG };
    files.push(("kubeconfig", kubeconfig_path, Content::Text(kubeconfig(config))));
    let provider = Text::literal(json_text::written(&credential_provider(work.around)));
    files.push(("image-credential-provider", CREDENTIAL_PROVIDER, Content::Text(provider)));
    files.push(("certificate-authority", AUTHORITY, authority(config)));
    files.push(("kubelet-environment", ENVIRONMENT, Content::Text(environment(config, work.around))));
    notes(work);
    let step = |(name, path, content)| write_file(name, Phase::Configure, path, "0644", content);
    files.into_iter().map(step).collect()
}

/// nodeadm's own configuration; what the operator says is beside it, for kubelet to merge.
fn whole(config: &NodeConfig, around: &Surroundings) -> Value {
    let mut gates = BTreeMap::from([("RotateKubeletServerCertificate", true)]);
    if around.is_at_least(33) {
        gates.insert("DynamicResourceAllocation", true);
    }
    if around.is_at_least(34) {
        gates.insert("MutableCSINodeAllocatableCount", true);
    }
    let mut whole = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "0.0.0.0",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true, "cacheTTL": "2m0s"},
            "x509": {"clientCAFile": AUTHORITY},
        },
        "authorization": {
            "mode": "Webhook",
            "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
        },
        "cgroupDriver": "systemd",
        "cgroupRoot": "/",
        "clusterDNS": [cluster_dns(&config.cluster.cidr)],
        "clusterDomain": "cluster.local",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
        "featureGates": gates,
        "hairpinMode": "hairpin-veth",
        "kubeReserved": {
            "cpu": template::string(&Text::fact(Fact::ReservedCpu)),
            "ephemeral-storage": reservations::EPHEMERAL_STORAGE,
            "memory": template::string(&Text::fact(Fact::ReservedMemory)),
        },
        "kubeReservedCgroup": "/runtime",
        "logging": {"verbosity": 2},
        "maxPods": template::number(&Fact::MaxPods),
        "protectKernelDefaults": true,
        "providerID": template::string(&Text::fact(Fact::ProviderId)),
        "readOnlyPort": 0,
        "serializeImagePulls": false,
        "serverTLSBootstrap": true,
        "systemReservedCgroup": "/system",
        "tlsCipherSuites": TLS_SUITES,
    });
    if around.is_at_least(34) {
        whole["shutdownGracePeriod"] = json!("2m30s");
        whole["shutdownGracePeriodCriticalPods"] = json!("30s");
    }
    if containerd::pulls_in_parallel(config, around) {
        whole["imageServiceEndpoint"] = json!(containerd::image_endpoint());
    }
    whole
}

/// What the operator says, made a document of its own.
fn given(config: &NodeConfig) -> Value {
    let mut whole = json!({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"});
    template::lay_over(&mut whole, &Value::Object(config.kubelet.config.clone()));
    whole
}

/// nodeadm's guess: the range's own text with `10` or `a` for its end, wherever the range ends.
fn cluster_dns(cidr: &str) -> String {
    let address = cidr.split('/').next().unwrap_or_default();
    if is_ipv6(cidr) {
        return format!("{address}a");
    }
    let begin = address.rsplit_once('.').map_or(address, |(begin, _)| begin);
    format!("{begin}.10")
}

/// Whether a range is one of IPv6; a mapped address of IPv4 is none.
pub(super) fn is_ipv6(cidr: &str) -> bool {
    let address = cidr.split('/').next().unwrap_or_default();
    matches!(address.parse(), Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none())
}

fn authority(config: &NodeConfig) -> Content {
    let bytes = config.cluster.certificate_authority.clone().unwrap_or_default();
    match String::from_utf8(bytes) {
        Ok(text) => Content::Text(Text::literal(text)),
        Err(fault) => Content::Base64(BASE64_STANDARD.encode(fault.as_bytes())),
    }
}

/// Credentials that the AWS command line makes, as nodeadm has it.
fn kubeconfig(config: &NodeConfig) -> Text {
    let cluster = if config.is_on_outpost() { &config.cluster.id } else { &config.cluster.name };
    let server = &config.cluster.api_server_endpoint;
    let mut text = Text::literal(format!(
        "---
apiVersion: v1
kind: Config
clusters:
  - name: kubernetes
    cluster:
      certificate-authority: {AUTHORITY}
      server: {server}
current-context: kubelet
contexts:
  - name: kubelet
    context:
      cluster: kubernetes
      user: kubelet
users:
  - name: kubelet
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1beta1
        command: aws
        args:
          - \"eks\"
          - \"get-token\"
          - \"--cluster-name\"
          - \"{cluster}\"
          - \"--region\"
          - \""
    ));
    text.push(&Text::fact(Fact::Region));
    text.push_str("\"\n");
    text
}

fn credential_provider(around: &Surroundings) -> Value {
    let mut images = vec![
        "*.dkr.ecr.*.amazonaws.com",
        "*.dkr-ecr.*.on.aws",
        "*.dkr.ecr.*.amazonaws.com.cn",
        "*.dkr-ecr.*.on.amazonwebservices.com.cn",
        "*.dkr.ecr-fips.*.amazonaws.com",
        "*.dkr-ecr-fips.*.on.aws",
        "*.dkr.ecr.*.c2s.ic.gov",
        "*.dkr.ecr.*.sc2s.sgov.gov",
        "*.dkr.ecr.*.cloud.adc-e.uk",
        "*.dkr.ecr.*.csp.hci.ic.gov",
        "*.dkr.ecr.*.amazonaws.eu",
        "public.ecr.aws",
    ];
    // The first release of ECR's provider that knows this name.
    if around.is_at_least(32) {
        images.push("ecr-public.aws.com");
    }
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1",
        "kind": "CredentialProviderConfig",
        "providers": [{
            "name": around.credential_provider.rsplit('/').next().unwrap_or_default(),
            "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
            "defaultCacheDuration": "12h0m0s",
            "matchImages": images,
        }],
    })
}

/// Variables for kubelet's unit: nodeadm's flags sorted by name, the operator's behind them, so that they win.
fn environment(config: &NodeConfig, around: &Surroundings) -> Text {
    let literal = |text: &str| Text::literal(text);
    let directory = around.credential_provider.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut flags = BTreeMap::from([
        ("cloud-provider", literal("external")),
        ("config", literal(CONFIG)),
        ("hostname-override", Text::fact(Fact::NodeName)),
        ("image-credential-provider-bin-dir", literal(directory)),
        ("image-credential-provider-config", literal(CREDENTIAL_PROVIDER)),
        ("kubeconfig", literal(KUBECONFIG)),
        ("node-ip", Text::fact(Fact::Address)),
        ("runtime-cgroups", literal("/runtime.slice/containerd.service")),
    ]);
    if !config.kubelet.config.is_empty() {
        flags.insert("config-dir", literal(DROP_INS));
    }
    if config.is_on_outpost() {
        flags.insert("bootstrap-kubeconfig", literal(BOOTSTRAP_KUBECONFIG));
    }
    if around.is_at_least(35) && around.nvidia_device {
        flags.insert("node-labels", literal("nvidia.com/gpu.present=true"));
    }
    let mut text = Text::default();
    if !config.kubelet.config.is_empty() && !around.is_at_least(30) {
        text.push_str("KUBELET_CONFIG_DROPIN_DIR_ALPHA=on\n");
    }
    text.push_str("NODEADM_KUBELET_ARGS=");
    for (index, (name, value)) in flags.iter().enumerate() {
        let gap = if index == 0 { "" } else { " " };
        text.push_str(&format!("{gap}--{name}="));
        text.push(value);
    }
    for flag in &config.kubelet.flags {
        text.push_str(" ");
        text.push_str(flag);
    }
    text
}

/// Where kubelet says whether it is well, wherever the operator has put that; flags win over fields.
pub(super) fn health(config: &NodeConfig) -> String {
    let flag = |name: &str| {
        let flags = config.kubelet.flags.iter().rev();
        flags.filter_map(|flag| flag.trim_start_matches('-').split_once('=')).find(|(key, _)| *key == name)
    };
    let setting =
        |name: &str, field: &str, default: &str| match (flag(name), config.kubelet.config.get(field)) {
            (Some((_, value)), _) => value.to_owned(),
            (None, Some(Value::String(text))) if !text.is_empty() => text.clone(),
            (None, Some(Value::Number(number))) => number.to_string(),
            _ => default.to_owned(),
        };
    let port = setting("healthz-port", "healthzPort", "10248");
    let address = setting("healthz-bind-address", "healthzBindAddress", "127.0.0.1");
    let host = match address.parse::<IpAddr>() {
        // Bound everywhere, it answers on the loopback too.
        Ok(IpAddr::V4(address)) if address.is_unspecified() => "127.0.0.1".to_owned(),
        Ok(IpAddr::V6(address)) if address.is_unspecified() => "[::1]".to_owned(),
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => address,
    };
    format!("http://{host}:{port}/healthz")
}

/// What we would have done otherwise.
fn notes(work: &mut Work<'_>) {
    let mut note = |path: &str, message: &str, hint: &str| {
        let mut finding = Finding::note(codes::NODEADM_DIFFERS, message).hint(hint);
        finding.place = work.config.place(path);
        work.findings.push(finding);
    };
    note(
        "spec.cluster",
        "as with nodeadm, kubelet starts the AWS command line for every token",
        "with a `Cluster` of `bringup.dev/v1alpha1`, `bringup-node token` makes it without another program",
    );
    if work.config.kubelet.config.contains_key("maxPods") {
        note(
            "spec.kubelet.config.maxPods",
            "as with nodeadm, memory is set aside for as many pods as the instance type has addresses, not for so many",
            "write `maxPodsExpression` as well, or a `Cluster` of `bringup.dev/v1alpha1` with `maxPods`",
        );
    }
    if !work.config.kubelet.config.contains_key("clusterDNS") && is_outside(&work.config.cluster.cidr) {
        note(
            "spec.cluster.cidr",
            "nodeadm's guess of the address of the cluster's DNS lies outside of this range",
            "write `clusterDNS` under `spec.kubelet.config`",
        );
    }
}

/// Whether nodeadm's guess of the DNS address is outside of the range; of IPv6 it is taken as it is.
fn is_outside(cidr: &str) -> bool {
    let Some((address, length)) = cidr.split_once('/') else { return false };
    let (Ok(IpAddr::V4(base)), Ok(length)) = (address.parse::<IpAddr>(), length.parse::<u32>()) else {
        return false;
    };
    let Ok(IpAddr::V4(guess)) = cluster_dns(cidr).parse::<IpAddr>() else { return true };
    let mask = u32::MAX.checked_shl(32_u32.saturating_sub(length)).unwrap_or(0);
    u32::from(base) & mask != u32::from(guess) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_dns_is_guessed_from_the_text_of_the_range() {
        for (cidr, dns, outside) in [
            ("10.100.0.0/16", "10.100.0.10", false),
            ("172.20.0.0/16", "172.20.0.10", false),
            ("10.100.0.128/25", "10.100.0.10", true),
            ("fd30:1c53:5f8a::/108", "fd30:1c53:5f8a::a", false),
        ] {
            assert_eq!(cluster_dns(cidr), dns);
            assert_eq!(is_outside(cidr), outside, "{cidr}");
        }
    }
}
