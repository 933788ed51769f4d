//! What each version of Kubernetes takes, from the oldest that is accepted to the newest.

use bringup_diag::Severity;
use serde_json::{Value, json};

use crate::support::{
    AUTHORITY, arguments, cluster, codes, content, eks, eks_with, findings, kubelet_config, only, plain,
    plan, step, text,
};

/// Every flag that a plan for `version` gives to kubelet.
fn flags(document: &bringup_spec::Document) -> Vec<String> {
    let name = |word: String| word.trim_start_matches("--").split('=').next().unwrap_or_default().to_owned();
    arguments(&plan(document)).into_iter().map(name).collect()
}

/// Flags of 1.14, 1.18 and 1.19: `cmd/kubelet/app/options` and `pkg/kubelet/config/flags.go` of each.
const OLD_FLAGS: [&str; 16] = [
    "bootstrap-kubeconfig",
    "cloud-provider",
    "cni-bin-dir",
    "cni-conf-dir",
    "config",
    "container-runtime",
    "container-runtime-endpoint",
    "kubeconfig",
    "network-plugin",
    "node-ip",
    "node-labels",
    "pod-infra-container-image",
    "provider-id",
    "register-with-taints",
    "runtime-cgroups",
    "v",
];

/// Fields of 1.14's `KubeletConfiguration` that later minors still have; `providerID` came with 1.19.
const OLD_FIELDS: [&str; 25] = [
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupDriver",
    "cgroupRoot",
    "clusterDNS",
    "clusterDomain",
    "evictionHard",
    "failSwapOn",
    "featureGates",
    "hairpinMode",
    "kind",
    "kubeReserved",
    "kubeReservedCgroup",
    "maxPods",
    "protectKernelDefaults",
    "providerID",
    "readOnlyPort",
    "resolvConf",
    "rotateCertificates",
    "serializeImagePulls",
    "serverTLSBootstrap",
    "systemReservedCgroup",
    "tlsCipherSuites",
    "tlsMinVersion",
];

#[test]
fn versions_below_the_table_get_only_what_they_know() {
    let group = "taints: [{key: a, effect: NoSchedule}]\nlabels: {a: b}\nswap: keep";
    for minor in [14, 15, 16, 17, 18, 19] {
        let version = format!("1.{minor}");
        let docker = format!("{group}\nruntime: {{name: docker}}");
        for document in [
            eks(&version, group),
            eks(&version, &docker),
            eks_with(&version, "", "os: amazon-linux-2"),
            plain(&version, group),
        ] {
            for flag in flags(&document) {
                assert!(OLD_FLAGS.contains(&flag.as_str()), "{version}: --{flag}");
            }
            let config = kubelet_config(&plan(&document));
            for field in config.as_object().unwrap().keys() {
                assert!(OLD_FIELDS.contains(&field.as_str()), "{version}: {field}");
                assert!(minor >= 19 || field != "providerID", "{version}: {field}");
            }
            // An unknown gate ends kubelet, and none of 1.14's is needed.
            assert_eq!(config["featureGates"], Value::Null, "{version}");
        }
    }
    let id = |version: &str| {
        let words = arguments(&plan(&eks(version, "")));
        words.into_iter().find(|word| word.starts_with("--provider-id="))
    };
    assert_eq!(id("1.18").as_deref(), Some("--provider-id=aws:///@{zone}/@{instanceId}"));
    assert_eq!(id("1.19"), None);
}

#[test]
fn kubelet_asks_no_program_for_credentials_before_1_20() {
    let provider = "imageCredentialProvider: {binDir: /opt/p, name: mine, matchImages: [r.example.com]}";
    let finding = only(&plain("1.19", provider), "kubelet/flag-not-yet");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("1.20") && finding.message.contains("1.19"), "{finding:?}");
    assert_eq!(codes(&plain("1.20", provider)), Vec::<&str>::new());
}

#[test]
fn the_gate_of_credential_providers_is_opened_wherever_it_is_shut() {
    let provider = "imageCredentialProvider: {binDir: /opt/p, name: mine, matchImages: [r.example.com]}";
    let gates =
        |version: &str, group: &str| kubelet_config(&plan(&plain(version, group)))["featureGates"].clone();
    for version in ["1.20", "1.21", "1.22", "1.23"] {
        assert_eq!(gates(version, provider), json!({"KubeletCredentialProviders": true}), "{version}");
        assert_eq!(gates(version, ""), Value::Null, "{version}");
    }
    // On by default in 1.24, and gone in 1.28.
    for version in ["1.24", "1.28"] {
        assert_eq!(gates(version, provider), Value::Null, "{version}");
    }
}

#[test]
fn ecrs_provider_speaks_the_first_protocol_until_1_26() {
    let spoken = |document: &bringup_spec::Document| {
        let path = "/etc/kubernetes/image-credential-provider/config.json";
        let config: Value = serde_json::from_str(&text(&plan(document), path)).unwrap();
        let strip = |value: &Value| value.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (strip(&config["apiVersion"]), strip(&config["providers"][0]["apiVersion"]))
    };
    let both = |version: &str| (version.to_owned(), version.to_owned());
    // The provider of cloud-provider-aws 1.26.0 refuses all but v1alpha1; kubelets up to the newest decode that.
    for version in ["1.20", "1.23", "1.24", "1.25", "1.26"] {
        assert_eq!(spoken(&eks(version, "")), both("v1alpha1"), "{version}");
    }
    assert_eq!(spoken(&eks("1.27", "")), both("v1"));
    let other = "imageCredentialProvider: {binDir: /opt/p, name: mine, matchImages: [r.example.com]}";
    for (version, expected) in
        [("1.23", "v1alpha1"), ("1.24", "v1beta1"), ("1.25", "v1beta1"), ("1.26", "v1")]
    {
        assert_eq!(spoken(&plain(version, other)), both(expected), "{version}");
    }
}

fn kubeadm(version: &str, more: &str, group: &str) -> bringup_spec::Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://x:6443, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: kubeadm, token: {{file: /t}}{more}}}\n"
    );
    cluster(&spec, &format!("os: debian\n{group}"))
}

#[test]
fn kubeadms_api_is_one_that_its_minor_serves() {
    // `cmd/kubeadm/app/apis/kubeadm` and `validateSupportedVersion` of each minor.
    for (minors, api) in
        [(14..=14, "v1beta1"), (15..=21, "v1beta2"), (22..=30, "v1beta3"), (31..=37, "v1beta4")]
    {
        for minor in minors {
            let plan = plan(&kubeadm(&format!("1.{minor}"), "", ""));
            let body: Value =
                serde_json::from_str(&text(&plan, "/etc/kubernetes/kubeadm-join.yaml")).unwrap();
            assert_eq!(body["apiVersion"], format!("kubeadm.k8s.io/{api}"), "1.{minor}");
        }
    }
}

#[test]
fn what_v1beta1_has_no_field_for_goes_to_the_command_line_or_is_refused() {
    let ignore = ", kubeadm: {ignorePreflightErrors: [Swap, NumCPU]}";
    let command = |version: &str| {
        let plan = plan(&kubeadm(version, ignore, ""));
        let bringup_plan::Action::Run { command, .. } = &step(&plan, "kubeadm-join").action else {
            panic!("kubeadm does not run")
        };
        let body = format!("{:?}", content(&plan, "/etc/kubernetes/kubeadm-join.yaml"));
        (
            command.iter().map(ToString::to_string).collect::<Vec<String>>(),
            body.contains("ignorePreflightErrors"),
        )
    };
    let (old, in_file) = command("1.14");
    assert!(old.contains(&"--ignore-preflight-errors=Swap,NumCPU".to_owned()) && !in_file, "{old:?}");
    let (new, in_file) = command("1.15");
    assert!(!new.iter().any(|word| word.contains("preflight")) && in_file, "{new:?}");
    let key = ", kubeadm: {certificateKey: {file: /k}}";
    assert_eq!(only(&kubeadm("1.14", key, ""), "software/version").severity, Severity::Error);
    assert!(!codes(&kubeadm("1.15", key, "")).contains(&"software/version"));
    let skipped = |version: &str| codes(&kubeadm(version, ", kubeadm: {skipPhases: [kubelet-finalize]}", ""));
    assert!(skipped("1.16").contains(&"kubeadm/phase-unknown"));
    assert!(!skipped("1.17").contains(&"kubeadm/phase-unknown"));
}

#[test]
fn kubelet_is_not_newer_than_the_cluster_and_not_much_older() {
    let with = |cluster: &str, kubelet: &str| {
        plain(cluster, &format!("software: {{kubelet: {{from: package, version: \"{kubelet}\"}}}}"))
    };
    // https://kubernetes.io/releases/version-skew-policy/: three minors, two for kubelets before 1.25.
    for (cluster, kubelet) in [
        ("1.33", "1.33.1"),
        ("1.33", "1.30.2-1.1"),
        ("1.28", "1.25.0"),
        ("1.27", "1.25.0"),
        ("1.26", "1.24.1"),
    ] {
        assert!(!codes(&with(cluster, kubelet)).contains(&"software/version"), "{cluster} {kubelet}");
    }
    for (cluster, kubelet) in [
        ("1.33", "1.34.0"),
        ("1.33", "1.29.9"),
        ("1.27", "1.24.0"),
        ("1.24", "1.21.0"),
        ("1.33", "latest"),
        ("1.33", "2.0.0"),
    ] {
        let document = with(cluster, kubelet);
        let finding = only(&document, "software/version");
        assert_eq!(finding.severity, Severity::Error, "{cluster} {kubelet}");
        assert!(finding.hint.is_some());
    }
}

#[test]
fn fields_and_flags_follow_kubelets_own_version() {
    let group = "software: {kubelet: {from: package, version: \"1.26.3-1.1\"}}";
    let document = plain("1.28", group);
    assert_eq!(kubelet_config(&plan(&document))["containerRuntimeEndpoint"], Value::Null);
    let given = flags(&document);
    assert!(given.contains(&"container-runtime-endpoint".to_owned()), "{given:?}");
    // `registryBurst` is old; `crashLoopBackOff` came with 1.32.
    let newer = "software: {kubelet: {from: package, version: \"1.31.0\"}}\nkubelet: {config: {crashLoopBackOff: {}}}";
    assert_eq!(codes(&plain("1.33", newer)), ["kubelet/field-not-yet"]);
    // The way that kubeadm reads is kubeadm's own version's.
    let kubeadm = kubeadm("1.33", "", "software: {kubelet: {from: package, version: \"1.30.0\"}}");
    assert!(text(&plan(&kubeadm), "/etc/kubernetes/kubeadm-join.yaml").contains("kubeadm.k8s.io/v1beta4"));
}

#[test]
fn kubeadm_handles_its_own_minor_and_the_one_before() {
    let with = |kubeadm_: &str| {
        let group = format!("software: {{kubeadm: {{from: package, version: \"{kubeadm_}\"}}}}");
        codes(&kubeadm("1.30", "", &group)).contains(&"software/version")
    };
    assert!(!with("1.30.4") && !with("1.31.1"));
    assert!(with("1.29.9") && with("1.32.0") && with("stable"));
    let newer = kubeadm("1.30", "", "software: {kubeadm: {from: package, version: \"1.31.1\"}}");
    assert!(text(&plan(&newer), "/etc/kubernetes/kubeadm-join.yaml").contains("kubeadm.k8s.io/v1beta4"));
}

#[test]
fn the_runtime_that_is_installed_decides() {
    let group = |said: &str, installed: &str| {
        plain(
            "1.33",
            &format!(
                "runtime: {{version: \"{said}\"}}\nsoftware: {{runtime: {{from: package, version: \"{installed}\"}}}}"
            ),
        )
    };
    let document = group("2.1.4", "1.7.28-1");
    let finding = only(&document, "software/version");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("`1.7.28-1`") && finding.message.contains("`2.1.4`"), "{finding:?}");
    assert_eq!(finding.related.len(), 1);
    let schema = |document: &bringup_spec::Document| {
        let text = text(&plan(document), "/etc/containerd/config.toml");
        text.parse::<toml::Table>().unwrap()["version"].as_integer().unwrap()
    };
    assert_eq!(schema(&group("2.1", "2.1.4~ds1-1")), 3);
    assert_eq!(
        schema(&plain("1.33", "software: {runtime: {from: package, version: \"1:2.0.5-1~deb13\"}}")),
        3
    );
    assert_eq!(schema(&plain("1.33", "software: {runtime: {from: package, version: 1.7.24~ds1-6}}")), 2);
    assert!(findings(&group("1.7", "1.7.28")).is_empty());
}
