//! What a node would refuse, or lose without a word, is told before it boots.

use bringup_diag::Severity;
use bringup_plan::Origin;

use crate::support::{codes, compiled, eks, eks_with, only, plan};

fn kubelet(config: &str) -> Vec<&'static str> {
    codes(&eks("1.33", &format!("kubelet: {{config: {{{config}}}}}")))
}

#[test]
fn the_dns_that_kubelet_hands_out_is_a_service() {
    let document = eks("1.33", "kubelet: {config: {clusterDNS: [10.100.0.10, 1.2.3.4]}}");
    let finding = only(&document, "network/dns-outside-range");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("`1.2.3.4`"), "{finding:?}");
    assert_eq!(codes(&document), ["network/dns-outside-range"]);
    assert_eq!(kubelet("clusterDNS: [10.100.0.53]"), Vec::<&str>::new());
    // A cache on the node listens on a link-local address.
    assert_eq!(kubelet("clusterDNS: [169.254.20.10]"), Vec::<&str>::new());
    assert_eq!(kubelet("clusterDNS: [dns.example.com]"), ["kubelet/field-value"]);
    let flag = eks("1.33", "kubelet: {flags: {cluster-dns: \"10.100.0.10,1.2.3.4\"}}");
    assert_eq!(codes(&flag), ["kubelet/flag-shadows-field", "network/dns-outside-range"]);
    let name = eks("1.33", "kubelet: {flags: {cluster-dns: dns.example.com}}");
    assert_eq!(codes(&name), ["kubelet/flag-shadows-field", "kubelet/flag-value"]);
    let unknown = eks_with(
        "1.33",
        "network: {dns: []}\n",
        "os: amazon-linux-2023\nkubelet: {config: {clusterDNS: [1.2.3.4]}}",
    );
    assert_eq!(codes(&unknown), Vec::<&str>::new());
}

#[test]
fn kubelet_refuses_some_values_of_the_right_type() {
    for config in [
        "maxPods: -1",
        "cgroupDriver: cgroups",
        "kubeReserved: {cpu: lots}",
        "kubeReserved: {memory: -1Gi}",
        "kubeReserved: {gpu: \"1\"}",
        "systemReserved: {memory: 100MiB}",
        "evictionHard: {memory.available: lots}",
        "evictionHard: {memory.available: \"0\"}",
        "evictionHard: {nodefs.available: 10%%}",
        "evictionHard: {nodefs.available: 101%}",
        "evictionSoft: {memory.available: -5%}, evictionSoftGracePeriod: {memory.available: 1m}",
        "imageGCHighThresholdPercent: 101",
        "imageGCLowThresholdPercent: -1",
        "imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 70",
        // The other one is 80 and 85 unless it is said.
        "imageGCHighThresholdPercent: 80",
        "imageGCLowThresholdPercent: 90",
    ] {
        let document = eks("1.33", &format!("kubelet: {{config: {{{config}}}}}"));
        assert_eq!(codes(&document), ["kubelet/field-value"], "{config}");
        assert!(only(&document, "kubelet/field-value").hint.is_some(), "{config}");
    }
    for config in [
        "maxPods: 20",
        "cgroupDriver: cgroupfs",
        "kubeReserved: {cpu: 100m, memory: 1Gi, ephemeral-storage: 1Gi, pid: \"1000\"}",
        "evictionHard: {memory.available: 100Mi, nodefs.available: 7.5%, imagefs.available: 0%}",
        "imageGCHighThresholdPercent: 81",
        "imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 0",
    ] {
        assert_eq!(kubelet(config), Vec::<&str>::new(), "{config}");
    }
}

#[test]
fn nothing_of_the_operators_lies_where_the_plan_puts_its_own() {
    let sha256 = "ab12".repeat(16);
    for group in [
        "files: [{path: /etc/bringup/plan.json, content: a}]".to_owned(),
        "files: [{path: /var/lib/bringup/state/a, content: a}]".to_owned(),
        "files: [{path: /etc/systemd/system/bringup.service, content: a}]".to_owned(),
        "files: [{path: /etc/systemd/system/bringup-gate.target, content: a}]".to_owned(),
        "files: [{path: /etc/systemd/system/kubelet.service.d/90-bringup.conf, content: a}]".to_owned(),
        "links: [{path: /etc/bringup, target: /srv}]".to_owned(),
        "links: [{path: /opt/bringup, target: /srv}]".to_owned(),
        "links: [{path: /etc/systemd/system/bringup-after.service, target: /dev/null}]".to_owned(),
        "links: [{path: /etc/systemd/system/kubelet.service.d, target: /srv}]".to_owned(),
        "directories: [{path: /opt/bringup/bin, mode: \"0700\"}]".to_owned(),
        format!(
            "assets: [{{name: a, urls: [https://x/y], sha256: {sha256}, path: /opt/bringup/bin/bringup-node}}]"
        ),
    ] {
        assert_eq!(codes(&eks("1.33", &group)), ["file/generated-path"], "{group}");
    }
    let volatile = codes(&eks("1.33", "files: [{path: /run/bringup/kubelet.env, content: a}]"));
    assert!(volatile.contains(&"file/generated-path"), "{volatile:?}");
    for group in [
        "files: [{path: /etc/bringup.d/a, content: a}]",
        "files: [{path: /etc/systemd/system/kubelet.service.d/20-mine.conf, content: a}]",
        "directories: [{path: /opt}, {path: /etc/systemd/system/kubelet.service.d}]",
    ] {
        assert_eq!(codes(&eks("1.33", group)), Vec::<&str>::new(), "{group}");
    }
}

#[test]
fn a_flag_from_before_the_table_is_only_doubted() {
    let old = only(&eks("1.14", "kubelet: {flags: {allow-privileged: \"true\"}}"), "kubelet/flag-unknown");
    assert_eq!(old.severity, Severity::Warning);
    assert!(old.message.contains("1.20"), "{old:?}");
    let known = only(&eks("1.20", "kubelet: {flags: {allow-privileged: \"true\"}}"), "kubelet/flag-unknown");
    assert_eq!(known.severity, Severity::Error);
}

#[test]
fn the_cap_is_named_where_it_decides() {
    let origin = |group: &str| {
        let compiled = compiled(&eks("1.33", group));
        compiled
            .provenance
            .into_iter()
            .find(|known| known.subject == "max pods")
            .expect("pods have an origin")
    };
    let capped = origin("instanceTypes: [m5.large]\nmaxPods: {cap: 20}");
    assert_eq!(capped.value, "20");
    let Origin::Derived(path, _) = capped.origin else { panic!("{capped:?}") };
    assert_eq!(path.to_string(), "spec.nodeGroups[0].maxPods.cap");
    // 29 by its interfaces.
    let free = origin("instanceTypes: [m5.large]\nmaxPods: {cap: 29}");
    let Origin::Derived(path, _) = free.origin else { panic!("{free:?}") };
    assert_eq!(path.to_string(), "spec.nodeGroups[0].instanceTypes");
}

#[test]
fn assertions_on_order_have_four_forms() {
    for good in [
        "a.service before b.service",
        "a.service succeeds before b.service",
        "b.service eventually active",
        "b.service never while not network-online",
    ] {
        let document = eks("1.33", &format!("order: [{good}]"));
        assert_eq!(plan(&document).order, [good]);
        assert_eq!(codes(&document), Vec::<&str>::new(), "{good}");
    }
    for wrong in
        ["a.service", "a.service after b.service", "before b.service", "b.service never while x", "x"]
    {
        let finding = only(&eks("1.33", &format!("order: [{wrong}]")), "order/syntax");
        assert_eq!(finding.severity, Severity::Error);
        let hint = finding.hint.unwrap_or_default();
        for form in
            ["A before B", "A succeeds before B", "B eventually active", "B never while not network-online"]
        {
            assert!(hint.contains(form), "{hint}");
        }
    }
    let cluster = eks_with("1.33", "order: [a then b]\n", "os: amazon-linux-2023");
    assert_eq!(codes(&cluster), ["order/syntax"]);
}

#[test]
fn a_timeout_that_nobody_waits_for_is_told() {
    let found = |rest: &str| codes(&eks("1.33", &format!("carriers: [cloudformation]\n{rest}")));
    assert_eq!(found("scaling: {max: 3, creationTimeout: 15m}"), ["group/field-without-effect"]);
    assert_eq!(found("scaling: {max: 3}"), Vec::<&str>::new());
    let signalled = "scaling: {max: 3, creationTimeout: 15m}\nsignals: [{kind: cloudformation}]";
    assert_eq!(found(signalled), Vec::<&str>::new());
    // The heartbeat of a life-cycle hook is the same time.
    let hooked =
        "scaling: {max: 3, creationTimeout: 15m, lifecycleHook: ready}\nsignals: [{kind: lifecycle-action}]";
    assert_eq!(found(hooked), Vec::<&str>::new());
}
