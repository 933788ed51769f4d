//! kubelet's configuration, flags and unit, by version.

use bringup_kubelet::{FaultKind, Lookup, Minor, OLDEST, flag, newest, validate_config};
use serde_json::{Value, json};

use crate::support::{arguments, codes, eks, eks_with, findings, kubelet_config, only, plain, plan, unit};

fn with_argument(document: &bringup_spec::Document, wanted: &str) -> Option<String> {
    let start = format!("--{wanted}=");
    arguments(&plan(document)).into_iter().find_map(|word| word.strip_prefix(&start).map(str::to_owned))
}

#[test]
fn every_minor_gets_only_fields_and_flags_that_it_has() {
    for minor in OLDEST.0..=newest().0 {
        let group = "taints: [{key: a, effect: NoSchedule}]\nlabels: {a: b}\nswap: keep";
        for document in [
            eks(&format!("1.{minor}"), group),
            plain(&format!("1.{minor}"), group),
            eks_with(&format!("1.{minor}"), "", "os: amazon-linux-2"),
        ] {
            let plan = plan(&document);
            let mut config = kubelet_config(&plan);
            // A number stands where the node fills in one.
            if config["maxPods"].is_string() {
                config["maxPods"] = json!(29);
            }
            if config["kubeReserved"]["memory"].as_str().is_some_and(|memory| memory.starts_with('@')) {
                config["kubeReserved"]["memory"] = json!("574Mi");
            }
            let faults: Vec<_> = validate_config(&config, Minor(minor))
                .into_iter()
                .filter(|fault| !matches!(fault.kind, FaultKind::Deprecated { .. }))
                .collect();
            assert!(faults.is_empty(), "1.{minor}: {faults:?}");
            for word in arguments(&plan) {
                let name = word.trim_start_matches("--").split('=').next().unwrap_or_default().to_owned();
                assert!(matches!(flag(&name, Minor(minor)), Lookup::Known(_)), "1.{minor}: --{name}");
            }
        }
    }
}

/// systemd-resolved puts 127.0.0.53 into `/etc/resolv.conf` of these systems: a DNS server in a pod would forward to itself.
#[test]
fn pods_are_told_the_servers_behind_systemd_resolved() {
    let told = |os: &str, more: &str| {
        let document = eks_with("1.33", "", &format!("os: {os}\n{more}"));
        kubelet_config(&plan(&document))["resolvConf"].clone()
    };
    for os in ["ubuntu", "{family: ubuntu, version: \"18.04\"}", "flatcar"] {
        assert_eq!(told(os, ""), "/run/systemd/resolve/resolv.conf", "{os}");
    }
    // The first of these came before systemd-resolved; the other names the servers behind it.
    for os in ["{family: ubuntu, version: \"16.04\"}", "amazon-linux-2023"] {
        assert_eq!(told(os, ""), Value::Null, "{os}");
    }
    // An image of these may have it or not: whoever is on the node looks.
    for os in ["debian", "generic"] {
        assert_eq!(told(os, ""), "@{resolvConf}", "{os}");
        assert_eq!(told(os, "kubelet: {config: {resolvConf: /x}}"), "/x", "{os}");
    }
    let silent = plan(&plain("1.33", "agent: none\ncarriers: [bundle]"));
    assert_eq!(kubelet_config(&silent)["resolvConf"], Value::Null);
    assert_eq!(kubelet_config(&plan(&plain("1.33", "agent: none")))["resolvConf"], "@{resolvConf}");
    assert_eq!(told("ubuntu", "kubelet: {config: {resolvConf: /etc/resolv.conf}}"), "/etc/resolv.conf");
}

#[test]
fn the_defaults_are_those_of_eks() {
    let config = kubelet_config(&plan(&eks("1.31", "instanceTypes: [m5.large]")));
    assert_eq!(config["kind"], "KubeletConfiguration");
    assert_eq!(config["authentication"]["anonymous"]["enabled"], false);
    assert_eq!(config["authentication"]["webhook"]["enabled"], true);
    assert_eq!(config["authentication"]["x509"]["clientCAFile"], "/etc/kubernetes/pki/ca.crt");
    assert_eq!(config["authorization"]["mode"], "Webhook");
    assert_eq!(config["cgroupDriver"], "systemd");
    let eviction = json!({"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"});
    assert_eq!(config["evictionHard"], eviction);
    assert_eq!(config["serializeImagePulls"], false);
    assert_eq!(config["serverTLSBootstrap"], true);
    assert_eq!(config["protectKernelDefaults"], true);
    assert_eq!(config["tlsCipherSuites"].as_array().map(Vec::len), Some(8));
    assert_eq!(config["systemReservedCgroup"], "/system");
    assert_eq!(config["kubeReservedCgroup"], "/runtime");
    assert_eq!(config["clusterDNS"], json!(["10.100.0.10"]));
    assert_eq!(config["providerID"], "aws:///@{zone}/@{instanceId}");
    assert_eq!(config["shutdownGracePeriod"], Value::Null);
}

#[test]
fn versions_switch_what_they_brought() {
    let config = |version: &str| kubelet_config(&plan(&eks(version, "")));
    assert_eq!(config("1.33")["featureGates"], json!({"DynamicResourceAllocation": true}));
    assert_eq!(config("1.34")["featureGates"], json!({"MutableCSINodeAllocatableCount": true}));
    assert_eq!(config("1.35")["featureGates"], Value::Null);
    assert_eq!(config("1.34")["shutdownGracePeriod"], "2m30s");
    assert_eq!(config("1.34")["shutdownGracePeriodCriticalPods"], "30s");
    assert_eq!(config("1.23")["featureGates"], json!({"KubeletCredentialProviders": true}));
    assert_eq!(config("1.26")["containerRuntimeEndpoint"], Value::Null);
    assert_eq!(config("1.27")["containerRuntimeEndpoint"], "unix:///run/containerd/containerd.sock");
}

#[test]
fn flags_follow_the_version() {
    let value = |version: &str, name: &str| {
        with_argument(&eks(version, "taints: [{key: k, value: v, effect: NoExecute}]"), name)
    };
    assert_eq!(value("1.25", "cloud-provider").as_deref(), Some("aws"));
    assert_eq!(value("1.25", "hostname-override"), None);
    assert_eq!(value("1.26", "cloud-provider").as_deref(), Some("external"));
    assert_eq!(value("1.26", "hostname-override").as_deref(), Some("@{nodeName}"));
    assert_eq!(value("1.22", "register-with-taints").as_deref(), Some("k=v:NoExecute"));
    assert_eq!(value("1.23", "register-with-taints"), None);
    assert_eq!(value("1.23", "container-runtime").as_deref(), Some("remote"));
    assert_eq!(value("1.24", "container-runtime"), None);
    assert_eq!(
        value("1.26", "container-runtime-endpoint").as_deref(),
        Some("unix:///run/containerd/containerd.sock")
    );
    assert_eq!(value("1.27", "container-runtime-endpoint"), None);
    assert_eq!(value("1.33", "node-ip").as_deref(), Some("@{address}"));
    assert_eq!(value("1.33", "runtime-cgroups").as_deref(), Some("/runtime.slice/containerd.service"));
    let taints = kubelet_config(&plan(&eks("1.23", "taints: [{key: k, value: v, effect: NoExecute}]")));
    assert_eq!(taints["registerWithTaints"], json!([{"key": "k", "value": "v", "effect": "NoExecute"}]));
}

#[test]
fn reservations_follow_the_pods_really_in_force() {
    let reserved = |group: &str| {
        let config = kubelet_config(&plan(&eks("1.33", group)));
        (config["maxPods"].clone(), config["kubeReserved"]["memory"].clone())
    };
    // m5.large has 29 pods: 11 * 29 + 255 = 574.
    assert_eq!(reserved("instanceTypes: [m5.large]"), (json!(29), json!("574Mi")));
    assert_eq!(reserved("instanceTypes: [m5.large]\nmaxPods: 110"), (json!(110), json!("1465Mi")));
    assert_eq!(
        reserved("instanceTypes: [m5.large]\nkubelet: {config: {maxPods: 58}}"),
        (json!(58), json!("893Mi"))
    );
    assert_eq!(
        reserved("instanceTypes: [m5.large]\nkubelet: {flags: {max-pods: \"234\"}}").1,
        json!("2829Mi")
    );
    // Two types with one number are one number; two numbers, and no type at all, are for the node to know.
    assert_eq!(reserved("instanceTypes: [m5.large, c5.large]"), (json!(29), json!("574Mi")));
    let open = (json!("@{maxPods}"), json!("@{reservedMemory}"));
    assert_eq!(reserved("instanceTypes: [m5.large, m5.xlarge]"), open);
    assert_eq!(reserved(""), open);
    // Delegated prefixes are capped by the processors, which the table does not know.
    assert_eq!(reserved("instanceTypes: [m5.large]\nmaxPods: {prefixDelegation: true}"), open);
    assert_eq!(
        reserved("instanceTypes: [m5.large]\nmaxPods: {prefixDelegation: true, cap: 110}"),
        (json!(110), json!("1465Mi"))
    );
    assert_eq!(kubelet_config(&plan(&eks("1.33", "")))["kubeReserved"]["cpu"], "@{reservedCpu}");
}

#[test]
fn two_numbers_of_pods_contradict_each_other() {
    let document = eks("1.33", "maxPods: 50\nkubelet: {config: {maxPods: 58}}");
    let finding = only(&document, "kubelet/field-reserved");
    assert!(finding.message.contains("58") && finding.message.contains("50"), "{finding:?}");
}

#[test]
fn a_node_takes_some_pods() {
    for group in [
        "maxPods: {cap: 0}",
        "kubelet: {config: {maxPods: 0}}",
        "instanceTypes: [m5.large]\nmaxPods: {cap: 0}",
    ] {
        assert_eq!(codes(&eks("1.33", group)), ["group/max-pods-zero"], "{group}");
    }
}

#[test]
fn the_operators_fields_are_merged_and_lists_replaced() {
    let group = "kubelet:\n  config:\n    evictionHard: {memory.available: 500Mi}\n    tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n    authentication: {webhook: {cacheTTL: 1m0s}}\n    cgroupRoot: null\n    topologyManagerPolicy: \"@{zone}-x\"";
    let config = kubelet_config(&plan(&eks("1.33", group)));
    assert_eq!(config["evictionHard"]["memory.available"], "500Mi");
    assert_eq!(config["evictionHard"]["nodefs.available"], "10%");
    assert_eq!(config["tlsCipherSuites"], json!(["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]));
    assert_eq!(config["authentication"]["webhook"], json!({"enabled": true, "cacheTTL": "1m0s"}));
    assert_eq!(config["cgroupRoot"], Value::Null);
    assert_eq!(config["topologyManagerPolicy"], "@{zone}-x");
}

#[test]
fn wrong_fields_name_version_and_place() {
    let group = "kubelet:\n  config:\n    maxPod: 3\n    seccompDefault: true\n    evictionHard: [x]\n    kind: KubeletConfiguration";
    let document = eks("1.21", group);
    let unknown = only(&document, "kubelet/field-unknown");
    assert!(unknown.message.contains("1.21"), "{unknown:?}");
    assert!(unknown.hint.as_deref().is_some_and(|hint| hint.contains("maxPods")), "{unknown:?}");
    // The group begins at line 10; its `config` has `maxPod` four lines on.
    let line = unknown.place.map(|place| place.span.start.line);
    let too_new = only(&document, "kubelet/field-not-yet");
    assert!(too_new.message.contains("1.22") && too_new.message.contains("1.21"), "{too_new:?}");
    assert_eq!(too_new.place.map(|place| place.span.start.line), line.map(|line| line + 1));
    assert_eq!(
        only(&document, "kubelet/field-type").message,
        "`evictionHard` takes a mapping, each value a string, not a list"
    );
    only(&document, "kubelet/field-reserved");
}

#[test]
fn the_seeds_own_flags_are_gone_since_1_24() {
    let group = "kubelet: {flags: {container-runtime: docker, network-plugin: cni, cni-bin-dir: /opt/cni/bin, cni-conf-dir: /etc/cni/net.d}}";
    let gone = |version: &str| {
        codes(&eks(version, group)).iter().filter(|code| **code == "kubelet/flag-removed").count()
    };
    assert_eq!(gone("1.23"), 0);
    // `--container-runtime` itself went later.
    assert_eq!(gone("1.24"), 3);
    assert_eq!(gone("1.27"), 4);
    assert!(codes(&eks("1.24", group)).contains(&"kubelet/flag-value"));
}

#[test]
fn flags_are_checked_against_the_table() {
    let found = |flags: &str| codes(&eks("1.33", &format!("kubelet: {{flags: {{{flags}}}}}")));
    assert_eq!(found("v: \"4\""), ["kubelet/flag-shadows-field"]);
    assert_eq!(found("node-labels: a=b"), ["kubelet/flag-reserved"]);
    assert_eq!(found("kubeconfg: x"), ["kubelet/flag-unknown"]);
    assert_eq!(found("max-pods: many"), ["kubelet/flag-shadows-field", "kubelet/flag-value"]);
    assert_eq!(found("--root-dir: /x"), ["kubelet/flag-name"]);
    assert_eq!(found("root-dir: /x"), Vec::<&str>::new());
    assert_eq!(found("root-dir: \"/x\\n\""), ["kubelet/flag-value"]);
}

#[test]
fn fields_that_loosen_the_door_or_contradict_the_document_are_refused() {
    for config in [
        "authentication: {anonymous: {enabled: true}}",
        "authentication: {webhook: {enabled: false}}",
        "authorization: {mode: AlwaysAllow}",
        "authentication: {x509: {clientCAFile: /x}}",
        "providerID: x",
        "clusterDomain: other.local",
        "apiVersion: kubelet.config.k8s.io/v1beta1",
    ] {
        let document = eks("1.33", &format!("kubelet: {{config: {{{config}}}}}"));
        assert_eq!(codes(&document), ["kubelet/field-reserved"], "{config}");
    }
    let taints = "taints: [{key: a, effect: NoSchedule}]\nkubelet: {config: {registerWithTaints: []}}";
    assert_eq!(codes(&eks("1.33", taints)), ["kubelet/field-reserved"]);
    let swap = "swap: keep\nkubelet: {config: {failSwapOn: true}}";
    assert_eq!(codes(&eks("1.33", swap)), ["kubelet/field-reserved"]);
    let dns = |given: &str| {
        eks_with(
            "1.33",
            "network: {dns: [10.100.0.10], serviceRanges: [10.100.0.0/16]}",
            &format!("os: amazon-linux-2023\nkubelet: {{config: {{clusterDNS: [{given}]}}}}"),
        )
    };
    assert_eq!(codes(&dns("10.100.0.10")), Vec::<&str>::new());
    assert_eq!(codes(&dns("169.254.20.10")), ["kubelet/field-reserved"]);
}

#[test]
fn swap_follows_the_version() {
    let config = |version: &str, swap: &str| kubelet_config(&plan(&eks(version, &format!("swap: {swap}"))));
    let file = "{policy: file, sizeMiB: 1024}";
    assert_eq!(config("1.33", "\"off\"")["failSwapOn"], Value::Null);
    assert_eq!(config("1.33", "keep")["failSwapOn"], false);
    assert_eq!(config("1.33", file)["memorySwap"], json!({"swapBehavior": "LimitedSwap"}));
    assert_eq!(config("1.33", file)["featureGates"]["NodeSwap"], Value::Null);
    assert_eq!(config("1.28", file)["featureGates"]["NodeSwap"], true);
    assert_eq!(codes(&eks("1.21", &format!("swap: {file}"))), ["swap/unsupported"]);
    assert_eq!(codes(&eks("1.33", "swap: {policy: file}")), ["swap/size"]);
}

#[test]
fn reserved_processors_exclude_reserved_cgroups() {
    let config = kubelet_config(&plan(&eks("1.33", "kubelet: {config: {reservedSystemCPUs: \"0\"}}")));
    assert_eq!(config["systemReservedCgroup"], Value::Null);
    assert_eq!(config["kubeReservedCgroup"], Value::Null);
}

#[test]
fn old_and_future_versions_are_accepted_with_a_warning() {
    for version in ["1.14.10", "1.18.3"] {
        assert_eq!(codes(&eks(version, "")), ["kubelet/old-version"]);
    }
    let future = format!("1.{}", newest().0 + 1);
    assert_eq!(codes(&eks(&future, "")), ["kubelet/new-version"]);
    assert!(findings(&eks(&format!("1.{}", newest().0), "")).is_empty());
}

#[test]
fn kubelet_stands_behind_the_gate() {
    let plan = plan(&eks("1.33", ""));
    let kubelet = unit(&plan, "kubelet.service");
    assert_eq!((kubelet.enabled, &kubelet.content), (Some(false), &None));
    assert_eq!(
        kubelet.drop_ins["90-bringup.conf"],
        "[Unit]\nRequires=bringup-gate.target\nAfter=bringup-gate.target\nWants=containerd.service\nAfter=containerd.service\nStartLimitIntervalSec=0\n\n\
         [Service]\nEnvironmentFile=\nEnvironmentFile=/run/bringup/kubelet.env\nExecStart=\nExecStart=/usr/bin/kubelet $BRINGUP_KUBELET_ARGS\nRestart=always\nRestartSec=5\n"
    );
}

#[test]
fn a_downloaded_kubelet_brings_its_unit() {
    let download = "{urls: [https://example.com/kubelet], sha256: ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12}";
    let group = format!("software: {{kubelet: {{from: url, downloads: {{x86_64: {download}}}}}}}");
    let plan = plan(&plain("1.33", &group));
    let kubelet = unit(&plan, "kubelet.service");
    let content = kubelet.content.as_deref().unwrap_or_default();
    assert!(content.contains("ExecStart=/usr/local/bin/kubelet\n"), "{content}");
    assert!(
        kubelet.drop_ins["90-bringup.conf"]
            .contains("ExecStart=/usr/local/bin/kubelet $BRINGUP_KUBELET_ARGS\n")
    );
}
