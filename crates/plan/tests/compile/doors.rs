//! What would leave a node outside, pods without names, or a door open.

use bringup_diag::Severity;

use crate::support::{AUTHORITY, cluster, codes, eks, eks_with, kubelet_config, only, plain, plan};

fn kubelet(config: &str) -> Vec<&'static str> {
    codes(&eks("1.33", &format!("kubelet: {{config: {{{config}}}}}")))
}

#[test]
fn a_flag_may_not_say_what_its_field_may_not() {
    for flag in [
        "anonymous-auth: \"true\"",
        "anonymous-auth: \"\"",
        "authentication-token-webhook: \"false\"",
        "authorization-mode: AlwaysAllow",
        "client-ca-file: /x",
        "cluster-domain: other.local",
        "register-node: \"false\"",
    ] {
        let found = codes(&eks("1.33", &format!("kubelet: {{flags: {{{flag}}}}}")));
        assert!(found.contains(&"kubelet/flag-reserved"), "{flag}: {found:?}");
    }
    for flag in ["anonymous-auth: \"false\"", "authorization-mode: Webhook", "cluster-domain: cluster.local"]
    {
        let found = codes(&eks("1.33", &format!("kubelet: {{flags: {{{flag}}}}}")));
        assert!(!found.contains(&"kubelet/flag-reserved"), "{flag}: {found:?}");
    }
    let swap = codes(&eks("1.33", "swap: keep\nkubelet: {flags: {fail-swap-on: \"true\"}}"));
    assert!(swap.contains(&"kubelet/flag-reserved"), "{swap:?}");
    let dns = eks_with(
        "1.33",
        "network: {dns: [10.100.0.10], serviceRanges: [10.100.0.0/16]}",
        "os: amazon-linux-2023\nkubelet: {flags: {cluster-dns: 10.100.0.11}}",
    );
    assert!(codes(&dns).contains(&"kubelet/flag-reserved"));
    assert_eq!(kubelet("registerNode: false"), ["kubelet/field-reserved"]);
    assert_eq!(kubelet("registerNode: true"), Vec::<&str>::new());
}

#[test]
fn taints_in_kubelets_own_field_follow_the_same_rules() {
    let twice = "registerWithTaints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]";
    assert_eq!(kubelet(twice), ["taint/duplicate"]);
    assert_eq!(
        kubelet("registerWithTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"),
        Vec::<&str>::new()
    );
    assert_eq!(kubelet("registerWithTaints: [{key: \"a b\", effect: NoSchedule}]"), ["taint/name"]);
    assert_eq!(kubelet("registerWithTaints: [{key: a, effect: Never}]"), ["kubelet/field-value"]);
    assert_eq!(
        kubelet("registerWithTaints: [{key: a, value: \"x y\", effect: NoSchedule}]"),
        ["taint/value"]
    );
    assert!(kubelet("registerWithTaints: [{key: z, value: \"@{zone}\", effect: NoSchedule}]").is_empty());
    assert_eq!(kubelet("registerWithTaints: [{effect: NoSchedule}]"), ["taint/name"]);
    assert_eq!(kubelet("registerWithTaints: [{key: a}]"), ["taint/effect"]);
}

#[test]
fn what_the_plan_decides_is_not_taken_away() {
    for field in [
        "clusterDNS: null",
        "clusterDNS: []",
        "clusterDomain: null",
        "cgroupDriver: \"\"",
        "cgroupDriver: null",
        "authentication: {x509: null}",
        "authentication: null",
        "authorization: {mode: null}",
        "maxPods: null",
    ] {
        assert_eq!(kubelet(field), ["kubelet/field-reserved"], "{field}");
    }
    let fact = eks("1.33", "kubelet: {flags: {max-pods: \"@{tags.pods}\"}}");
    assert!(codes(&fact).contains(&"kubelet/flag-reserved"));
}

#[test]
fn labels_hold_no_fact_that_cannot_be_one() {
    assert_eq!(codes(&eks("1.33", "labels: {a: \"@{providerId}\"}")), ["label/value"]);
    let six = |label: &str| {
        eks_with(
            "1.33",
            "network: {serviceRanges: [fd00::/108]}",
            &format!("os: amazon-linux-2023\nlabels: {{a: \"{label}\"}}"),
        )
    };
    assert_eq!(codes(&six("@{address}")), ["label/value"]);
    assert!(codes(&eks("1.33", "labels: {a: \"@{address}\"}")).is_empty());
}

#[test]
fn time_to_end_is_said_in_one_way() {
    let by_priority = "kubelet: {config: {shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]}}";
    let config = kubelet_config(&plan(&eks("1.34", by_priority)));
    assert_eq!(config.get("shutdownGracePeriod"), None);
    assert!(kubelet_config(&plan(&eks("1.34", ""))).get("shutdownGracePeriod").is_some());
}

#[test]
fn a_fragment_of_the_runtime_is_of_one_schema() {
    for fragment in [
        "version = 3\\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.nvidia]\\nruntime_type = 'x'",
        "version = 2\\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]\\nruntime_type = 'x'",
    ] {
        let document = eks("1.33", &format!("runtime: {{config: \"{fragment}\"}}"));
        assert!(codes(&document).contains(&"runtime/schema"), "{fragment}");
    }
}

#[test]
fn fields_that_kubelet_refuses_together_are_told() {
    for fields in [
        "maxParallelImagePulls: 5, serializeImagePulls: true",
        "enforceNodeAllocatable: [none, pods]",
        "enforceNodeAllocatable: [pods, pods]",
        "cgroupsPerQOS: false",
        "enforceNodeAllocatable: [pods, system-reserved], systemReservedCgroup: \"\"",
        "reservedSystemCPUs: 0-1, systemReservedCgroup: /system",
        "memoryManagerPolicy: Static",
        "imageMaximumGCAge: 1m",
        "memorySwap: {swapBehavior: UnlimitedSwap}",
        "shutdownGracePeriod: 1m, shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]",
    ] {
        assert_eq!(kubelet(fields), ["kubelet/field-value"], "{fields}");
    }
    for fields in [
        "maxParallelImagePulls: 5",
        "enforceNodeAllocatable: [none], cgroupsPerQOS: false",
        "enforceNodeAllocatable: [pods, kube-reserved, system-reserved]",
        "reservedSystemCPUs: 0-1",
        "memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]",
        "imageMaximumGCAge: 1h",
        "memorySwap: {swapBehavior: NoSwap}",
    ] {
        assert_eq!(kubelet(fields), Vec::<&str>::new(), "{fields}");
    }
}

#[test]
fn a_fragment_leaves_the_runtime_usable() {
    let with = |fragment: &str| codes(&eks("1.33", &format!("runtime: {{config: \"{fragment}\"}}")));
    let plugin = "[plugins.'io.containerd.grpc.v1.cri'.containerd";
    assert_eq!(with("disabled_plugins = ['cri']"), ["runtime/unusable"]);
    assert_eq!(with(&format!("{plugin}]\\ndefault_runtime_name = 'nvidia'")), ["runtime/unusable"]);
    let described = format!(
        "{plugin}]\\ndefault_runtime_name = 'nvidia'\\n{plugin}.runtimes.nvidia]\\nruntime_type = 'io.containerd.runc.v2'"
    );
    assert!(!with(&described).contains(&"runtime/unusable"));
    let registry = "[plugins.'io.containerd.grpc.v1.cri'.registry";
    let both = format!("{registry}]\\nconfig_path = '/x'\\n{registry}.mirrors.a]\\nendpoint = ['https://m']");
    assert_eq!(with(&both), ["runtime/unusable"]);
    let imported =
        format!("imports = ['/etc/containerd/conf.d/*.toml']\\n{plugin}]\\ndefault_runtime_name = 'nvidia'");
    let document = eks("1.33", &format!("runtime: {{config: \"{imported}\"}}"));
    assert_eq!(only(&document, "runtime/unusable").severity, Severity::Warning);
    // As containerd 2 writes its own default.
    let streaming = "version = 3\\n[plugins.'io.containerd.grpc.v1.cri']\\nstream_server_address = '127.0.0.1'\\ndisable_tcp_service = true";
    let document = eks("1.33", &format!("runtime: {{version: 2.1.4, config: \"{streaming}\"}}"));
    assert!(codes(&document).is_empty());
    assert!(!with("disabled_plugins = ['io.containerd.snapshotter.v1.btrfs']").contains(&"runtime/unusable"));
}

#[test]
fn a_cluster_of_eks_says_where_its_dns_is() {
    let without = |group: &str| eks_with("1.33", "network: {}\n", &format!("os: amazon-linux-2023\n{group}"));
    let finding = only(&without(""), "network/no-dns");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.hint.is_some_and(|hint| hint.contains("serviceRanges")));
    assert!(codes(&without("kubelet: {config: {clusterDNS: [10.0.0.10]}}")).is_empty());
    assert!(codes(&eks("1.33", "")).is_empty());
}

#[test]
fn dns_takes_no_address_that_is_kept() {
    let network = |dns: &str| {
        eks_with(
            "1.33",
            &format!("network: {{serviceRanges: [10.100.0.0/16], dns: [{dns}]}}"),
            "os: amazon-linux-2023",
        )
    };
    for kept in ["10.100.0.0", "10.100.0.1", "10.100.255.255"] {
        assert_eq!(codes(&network(kept)), ["network/dns-taken"], "{kept}");
        let field = format!("kubelet: {{config: {{clusterDNS: [{kept}]}}}}");
        assert_eq!(codes(&eks("1.33", &field)), ["network/dns-taken"], "{kept}");
    }
    // A cache on the node listens there.
    for free in ["10.100.0.2", "10.100.255.254", "169.254.20.10"] {
        assert_eq!(codes(&network(free)), Vec::<&str>::new(), "{free}");
    }
}

#[test]
fn kubeadms_own_taint_is_not_lost_in_silence() {
    let plane = |version: &str, taints: &str| {
        let spec = format!(
            "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeadm, token: {{file: /t}}}}"
        );
        codes(&cluster(&spec, &format!("os: debian\nrole: control-plane\nbootstrap: true\ntaints: {taints}")))
    };
    let other = "[{key: dedicated, effect: NoSchedule}]";
    assert!(plane("1.33", other).contains(&"taint/replaces-kubeadms"));
    assert!(!plane("1.33", "[]").contains(&"taint/replaces-kubeadms"));
    let own = |key: &str| format!("[{{key: node-role.kubernetes.io/{key}, effect: NoSchedule}}]");
    assert!(!plane("1.33", &own("control-plane")).contains(&"taint/replaces-kubeadms"));
    // Until 1.23 it has another name.
    assert!(!plane("1.23", &own("master")).contains(&"taint/replaces-kubeadms"));
    assert!(plane("1.23", &own("control-plane")).contains(&"taint/replaces-kubeadms"));
}

#[test]
fn a_step_uses_only_what_is_there() {
    let step = |step: &str| codes(&eks("1.33", &format!("steps: [{{name: a, {step}}}]")));
    assert_eq!(step("run: [/bin/x, \"@{zone}\"], before: [identify]"), ["step/impossible"]);
    assert_eq!(step("run: [/bin/x], environment: {A: \"@{zone}\"}, before: [identify]"), ["step/impossible"]);
    assert_eq!(step("run: [/bin/x], before: [identify]"), Vec::<&str>::new());
    assert_eq!(step("run: [/bin/x, \"@{zone}\"], after: [identify]"), Vec::<&str>::new());
    assert_eq!(step("script: \"#!/bin/sh\\n\", before: [identify]"), ["step/impossible"]);
    assert_eq!(step("script: \"#!/bin/sh\\n\", before: [fetch]"), ["step/impossible"]);
    assert_eq!(step("script: \"#!/bin/sh\\n\", after: [fetch]"), Vec::<&str>::new());
}

#[test]
fn a_region_that_is_not_known_is_only_doubted() {
    let region = |region: &str| {
        let spec = format!(
            "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: eks-token}}\naws: {{region: {region}}}\nnetwork: {{serviceRanges: [10.100.0.0/16]}}"
        );
        cluster(&spec, "platform: aws\nos: amazon-linux-2023")
    };
    let finding = only(&region("us-moon-1"), "aws/region");
    assert_eq!(finding.severity, Severity::Warning);
    for known in ["eu-central-1", "ap-southeast-7", "us-gov-west-1", "cn-north-1", "mx-central-1"] {
        assert!(codes(&region(known)).is_empty(), "{known}");
    }
}

#[test]
fn kubelet_takes_only_its_own_words() {
    for config in [
        "topologyManagerPolicy: best",
        "topologyManagerScope: node",
        "cpuManagerPolicy: Static",
        "memoryManagerPolicy: static",
        "hairpinMode: veth",
        "tlsMinVersion: \"1.2\"",
        "tlsCipherSuites: [TLS_AES_128_GCM_SHA256, ECDHE-RSA-AES128-GCM-SHA256]",
        "evictionHard: {memory.free: 1Gi}",
        "evictionSoft: {memory.available: 1Gi}",
        "shutdownGracePeriod: 30s, shutdownGracePeriodCriticalPods: 1m",
        "shutdownGracePeriodCriticalPods: 10s",
    ] {
        assert_eq!(kubelet(config), ["kubelet/field-value"], "{config}");
    }
    for config in [
        "topologyManagerPolicy: single-numa-node, topologyManagerScope: pod, cpuManagerPolicy: static, memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]",
        "hairpinMode: none, configMapAndSecretChangeDetectionStrategy: Cache, tlsMinVersion: VersionTLS13",
        "tlsCipherSuites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305]",
        "evictionHard: {containerfs.available: 5%, pid.available: 10%}",
        "evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 1m30s}",
        "shutdownGracePeriod: 30s, shutdownGracePeriodCriticalPods: 30s",
    ] {
        assert_eq!(kubelet(config), Vec::<&str>::new(), "{config}");
    }
    // 1.34's own 2m30s is less.
    let critical = "kubelet: {config: {shutdownGracePeriodCriticalPods: 3m}}";
    assert_eq!(codes(&eks("1.34", critical)), ["kubelet/field-value"]);
    assert_eq!(codes(&eks("1.34", &critical.replace("3m", "1m"))), Vec::<&str>::new());
    let signal = plain("1.28", "kubelet: {config: {evictionHard: {containerfs.available: 5%}}}");
    assert_eq!(codes(&signal), ["kubelet/field-value"]);
    let flag = |flag: &str| codes(&eks("1.33", &format!("kubelet: {{flags: {{{flag}}}}}")));
    assert!(flag("cpu-manager-policy: dynamic").contains(&"kubelet/flag-value"));
    assert!(flag("tls-cipher-suites: \"TLS_AES_128_GCM_SHA256,X\"").contains(&"kubelet/flag-value"));
    assert!(flag("node-ip: here").contains(&"kubelet/flag-value"));
    assert!(!flag("node-ip: \"10.0.0.1,fd00::1\"").contains(&"kubelet/flag-value"));
}
