//! Findings that concern several fields at once.

use crate::support::{AUTHORITY, cluster, codes, eks, eks_with, only, plain};

fn spec(more: &str) -> String {
    format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: bootstrap-token, token: {{file: /t}}}}\n{more}"
    )
}

fn network(network: &str) -> Vec<&'static str> {
    codes(&cluster(&spec(&format!("network: {network}")), "os: debian"))
}

#[test]
fn ranges_and_dns_must_fit_each_other() {
    assert_eq!(network("{serviceRanges: [10.96.0.0/16], dns: [10.96.0.10]}"), Vec::<&str>::new());
    assert_eq!(network("{serviceRanges: [10.96.0.0/16], dns: [10.97.0.10]}"), ["network/dns-outside-range"]);
    assert_eq!(network("{serviceRanges: [10.96.0.0/29]}"), ["network/dns-outside-range"]);
    assert_eq!(network("{serviceRanges: [10.96.0.0/16], dns: [fd00::a]}"), ["network/families"]);
    assert_eq!(network("{serviceRanges: [10.96.0.0/16, 10.97.0.0/16]}"), ["network/families"]);
    assert_eq!(network("{serviceRanges: [10.96.0.0/16], podRanges: [fd00::/64]}"), ["network/families"]);
    assert_eq!(network("{serviceRanges: [10.96.0.0/16], podRanges: [10.0.0.0/8]}"), ["network/overlap"]);
    assert_eq!(network("{domain: Cluster_local}"), ["network/domain"]);
    let document =
        cluster(&spec("network: {serviceRanges: [10.96.0.0/16], dns: [10.97.0.10]}"), "os: debian");
    let finding = only(&document, "network/dns-outside-range");
    assert_eq!(finding.hint.as_deref(), Some("write `10.96.0.10`, or leave `dns` out"));
}

#[test]
fn labels_and_taints_follow_kubernetes() {
    let found = |group: &str| codes(&eks("1.33", group));
    assert_eq!(found("labels: {node-role.kubernetes.io/worker: \"\"}"), ["label/refused-by-kubelet"]);
    assert_eq!(found("labels: {node-restriction.kubernetes.io/x: \"\"}"), ["label/refused-by-kubelet"]);
    assert_eq!(
        found("labels: {node.kubernetes.io/x: \"\", topology.kubernetes.io/zone: \"@{zone}\"}"),
        Vec::<&str>::new()
    );
    assert_eq!(found("labels: {\"a b\": x}"), ["label/name"]);
    assert_eq!(found("labels: {a: \"x y\"}"), ["label/value"]);
    for (value, written) in [
        ("${zone}", "@{zone}"),
        ("$(zone)", "@{zone}"),
        ("{{ zone }}", "@{zone}"),
        ("${instanceId}-x", "@{instanceId}"),
        ("$(curl -s http://x)", "@{zone}"),
        ("${AZ}", "@{zone}"),
    ] {
        let finding = only(&eks("1.33", &format!("labels: {{a: \"{value}\"}}")), "label/value");
        let hint = finding.hint.unwrap_or_default();
        assert!(hint.starts_with("what only the node knows is written as a fact"), "{value}: {hint}");
        assert!(hint.contains(&format!("`{written}`")), "{value}: {hint}");
    }
    assert_eq!(
        found("taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]"),
        ["taint/duplicate"]
    );
    assert_eq!(
        found("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"),
        Vec::<&str>::new()
    );
    assert_eq!(
        found("taints: [{key: \"a b\", value: \"c d\", effect: NoSchedule}]"),
        ["taint/name", "taint/value"]
    );
    let finding =
        only(&eks("1.33", "labels: {node-role.kubernetes.io/worker: \"\"}"), "label/refused-by-kubelet");
    assert!(finding.hint.is_some_and(|hint| hint.contains("kubectl label node")));
}

#[test]
fn instance_types_are_known_and_fit_the_architecture() {
    let found = |group: &str| codes(&eks("1.33", group));
    assert_eq!(found("instanceTypes: [m5.lrge]"), ["group/instance-type-unknown"]);
    assert_eq!(found("instanceTypes: [m6g.large]"), ["group/architecture-mismatch"]);
    assert_eq!(found("architecture: aarch64\ninstanceTypes: [m6g.large]"), Vec::<&str>::new());
    assert_eq!(found("architecture: aarch64\ninstanceTypes: [m5.large]"), ["group/architecture-mismatch"]);
    let finding = only(&eks("1.33", "instanceTypes: [m5.lrge]"), "group/instance-type-unknown");
    assert!(finding.hint.is_some_and(|hint| hint.contains("`m5.large`")));
}

#[test]
fn fields_of_another_platform_are_told() {
    let found = |group: &str| codes(&plain("1.33", group));
    assert_eq!(found("launch: {}"), ["group/field-without-effect"]);
    assert_eq!(found("scaling: {max: 3}"), ["group/field-without-effect"]);
    assert_eq!(found("instanceTypes: [m5.large]"), ["group/field-without-effect"]);
    assert_eq!(found("nodeName: instance-id"), ["group/node-name"]);
    assert_eq!(found("maxPods: {cap: 3}"), ["group/max-pods-platform"]);
    assert_eq!(codes(&eks("1.25", "nodeName: instance-id")), ["group/node-name"]);
    assert_eq!(found("nodeName: address"), Vec::<&str>::new());
    assert_eq!(codes(&eks("1.25", "nodeName: address")), ["group/node-name"]);
    assert_eq!(
        codes(&cluster(&spec("aws: {region: eu-west-1}"), "os: debian")),
        ["group/field-without-effect"]
    );
    assert_eq!(codes(&cluster(&spec(""), "platform: aws\nos: debian")), ["aws/missing"]);
}

#[test]
fn regions_partitions_and_accounts_are_checked() {
    let found = |aws: &str| {
        let spec = format!(
            "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: eks-token}}\nnetwork: {{serviceRanges: [10.100.0.0/16]}}\naws: {aws}"
        );
        cluster(&spec, "platform: aws\nos: amazon-linux-2023")
    };
    assert_eq!(codes(&found("{region: eu-central-1a}")), ["aws/region"]);
    assert_eq!(
        only(&found("{region: eu-central-1a}"), "aws/region").hint.as_deref(),
        Some("that is a zone; write `eu-central-1`")
    );
    assert_eq!(codes(&found("{region: cn-north-1, partition: aws}")), ["aws/region"]);
    assert_eq!(codes(&found("{region: cn-north-1, partition: aws-cn}")), Vec::<&str>::new());
    assert_eq!(codes(&found("{region: cn-north-1, partition: china}")), ["aws/region"]);
    assert_eq!(codes(&found("{region: eu-west-1, registryAccount: \"12\"}")), ["aws/registry-account"]);
}

#[test]
fn endpoints_are_https() {
    for (endpoint, hint) in
        [("http://x:1", "write `https://x:1`"), ("x.example.com", "write `https://x.example.com`")]
    {
        let document = cluster(&spec("").replace("https://x", endpoint), "os: debian");
        assert_eq!(only(&document, "api/endpoint").hint.as_deref(), Some(hint));
    }
    assert_eq!(codes(&cluster(&spec("").replace("https://x", "https://"), "os: debian")), ["api/endpoint"]);
}

#[test]
fn signals_need_their_target() {
    let found = |group: &str| codes(&eks("1.33", group));
    assert_eq!(found("signals: [{kind: cloudformation}]"), ["signal/target", "signal/target"]);
    assert_eq!(found("signals: [{kind: cloudformation}]\ncarriers: [cloudformation]"), Vec::<&str>::new());
    assert_eq!(
        found("signals: [{kind: cloudformation, stack: s, resource: r, url: u}]"),
        ["group/field-without-effect"]
    );
    assert_eq!(found("signals: [{kind: http}]"), ["signal/target"]);
    assert_eq!(
        found("signals: [{kind: lifecycle-action, resource: r}]\nscaling: {max: 2, lifecycleHook: h}"),
        Vec::<&str>::new()
    );
    assert_eq!(found("signals: [{kind: lifecycle-action, resource: r}]"), ["signal/target"]);
    assert_eq!(found("scaling: {max: 2, lifecycleHook: h}"), ["signal/hook-not-completed"]);
    assert_eq!(
        codes(&plain("1.33", "signals: [{kind: cloudformation, stack: s, resource: r}]")),
        ["signal/platform"]
    );
}

#[test]
fn units_must_be_ones_that_systemd_reads() {
    let found = |unit: &str| codes(&eks("1.33", &format!("units: [{unit}]")));
    assert_eq!(found("{name: drivers, content: \"[Service]\\nExecStart=/bin/x\\n\"}"), ["unit/name"]);
    assert_eq!(
        found("{name: a.service, content: \"[Service]\\nExecStart=/bin/x\\n\", enabled: true}"),
        ["unit/no-install"]
    );
    assert_eq!(found("{name: a.service, mask: true, enabled: true}"), ["unit/masked"]);
    assert_eq!(
        found("{name: a.service, dropIns: [{name: limits, content: \"[Service]\\nExecStart=/bin/x\\n\"}]}"),
        ["unit/name"]
    );
    assert_eq!(found("{name: a.service}"), ["group/field-without-effect"]);
    assert_eq!(
        found("{name: bringup.service, content: \"[Service]\\nExecStart=/bin/x\\n\"}"),
        ["unit/reserved"]
    );
    assert_eq!(
        found("{name: bringup-steps.service, content: \"[Service]\\nExecStart=/bin/x\\n\"}"),
        ["unit/reserved"]
    );
    assert_eq!(found("{name: kubelet.service, enabled: true}"), ["unit/reserved"]);
    assert_eq!(
        found(
            "{name: kubelet.service, dropIns: [{name: 20-limits.conf, content: \"[Service]\\nExecStart=/bin/x\\n\"}]}"
        ),
        Vec::<&str>::new()
    );
    assert_eq!(found("{name: a.service, mask: true}, {name: a.service, mask: true}"), ["unit/duplicate"]);
}

#[test]
fn two_groups_cannot_both_start_the_cluster() {
    let text = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: demo, labels: {{a: b}}}}\nspec:\n  kubernetes: {{version: \"1.33\"}}\n  api: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\n  \
         join: {{method: bootstrap-token, token: {{file: /t}}}}\n  nodeGroups:\n    - {{name: a, os: debian, role: control-plane, bootstrap: true}}\n    - {{name: b, os: debian, role: control-plane, bootstrap: true}}\n"
    );
    let read = bringup_spec::read("f", &text);
    assert_eq!(codes(&read.documents[0]), ["cluster/metadata-without-effect", "bootstrap/several-groups"]);
}

#[test]
fn all_findings_come_at_once() {
    let group = "labels: {\"a b\": x}\ntaints: [{key: a b, effect: NoSchedule}]\nkubelet: {config: {maxPod: 1}, flags: {network-plugin: cni}}\nsteps: [{name: a, run: [x], before: [nowhere]}]\nfiles: [{path: /etc/a}]";
    let found = codes(&eks("1.33", group));
    assert_eq!(
        found,
        [
            "label/name",
            "taint/name",
            "kubelet/field-unknown",
            "kubelet/flag-removed",
            "step/unknown-name",
            "file/source"
        ]
    );
}

#[test]
fn downloads_of_the_agent_are_for_the_groups_architecture() {
    let zeros = "ab12".repeat(16);
    let group = format!(
        "architecture: aarch64\nagent: {{from: fetch, downloads: {{x86_64: {{urls: [https://x], sha256: {zeros}}}}}}}"
    );
    assert_eq!(codes(&eks("1.33", &group)), ["agent/download"]);
    assert_eq!(
        codes(&eks_with("1.33", "", "os: {family: amazon-linux-2023, version: \"2023\"}")),
        ["group/field-without-effect"]
    );
}
