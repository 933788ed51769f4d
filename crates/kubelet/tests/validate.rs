//! Whole configurations: every fault at once, with a message that says what to write.

use bringup_kubelet::{
    ConfigFault, Lookup, Minor, Version, duration_nanoseconds, field, flag, validate_config,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn said(value: &Value, minor: u16) -> Vec<String> {
    let minor = Minor(minor);
    let line = |fault: &ConfigFault| {
        let hint = fault.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}: {}{hint}", fault.code(), fault.message(minor))
    };
    validate_config(value, minor).iter().map(line).collect()
}

#[test]
fn all_faults_are_found_at_once() {
    let config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1",
        "kind": "KubeletConfiguration",
        "MaxPods": 110,
        "authentication": {"x509": {"clientCAfile": "/etc/ca.crt"}, "anonymous": {"enabled": "false"}},
        "authorization": {"mode": "webhook"},
        "clusterDNS": "10.0.0.10",
        "evictionHard": {"memory.available": 100},
        "failCgroupV1": true,
        "iptablesDropBit": 15,
        "logging": {"sanitization": true},
        "registerWithTaints": [{"key": "gpu", "effect": "NoSchedule"}, {"key": "spot", "efect": "NoSchedule"}],
        "shutdownGracePeriod": "30 seconds",
    });
    assert_eq!(
        said(&config, 30),
        [
            "kubelet/field-value: `apiVersion` takes `kubelet.config.k8s.io/v1beta1`, not `kubelet.config.k8s.io/v1`",
            "kubelet/field-unknown: `MaxPods` is not a field of KubeletConfiguration in 1.30 (did you mean `maxPods`?)",
            "kubelet/field-type: `authentication.anonymous.enabled` takes `true` or `false`, not a string (write `true` or `false`, without quotes)",
            "kubelet/field-unknown: `authentication.x509.clientCAfile` is not a field of KubeletConfiguration in 1.30 (did you mean `authentication.x509.clientCAFile`?)",
            "kubelet/field-value: `authorization.mode` takes one of `AlwaysAllow`, `Webhook`, not `webhook`",
            "kubelet/field-type: `clusterDNS` takes a list, each entry a string, not a string (write a list, even for one entry)",
            "kubelet/field-type: `evictionHard[\"memory.available\"]` takes a string, not a number (put the value in quotes)",
            "kubelet/field-not-yet: `failCgroupV1` came with 1.31, and this is 1.30 (remove it, or use Kubernetes 1.31 or newer)",
            "kubelet/field-deprecated: `iptablesDropBit` is deprecated since 1.28 (remove it: it has no effect any more)",
            "kubelet/field-removed: `logging.sanitization` was removed in 1.24, and this is 1.30 (remove it: log sanitization was given up)",
            "kubelet/field-unknown: `registerWithTaints[1].efect` is not a field of KubeletConfiguration in 1.30 (did you mean `registerWithTaints[].effect`?)",
            "kubelet/field-value: `shutdownGracePeriod` takes a duration such as `1m30s`, not `30 seconds`",
        ]
    );
}

#[test]
fn a_good_configuration_has_no_fault_in_any_minor() {
    let config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": true, "cacheTTL": "2m0s"}},
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd",
        "clusterDNS": ["10.100.0.10"],
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
        "kubeReserved": {"cpu": "70m", "memory": "442Mi"},
        "maxPods": 29,
        "serverTLSBootstrap": true,
    });
    for minor in 14..=40 {
        assert_eq!(said(&config, minor), Vec::<String>::new(), "1.{minor}");
    }
}

#[test]
fn a_configuration_that_is_no_mapping_is_one_fault() {
    assert_eq!(said(&json!([]), 33), ["kubelet/field-type: `` takes a mapping, not a list"]);
}

#[test]
fn a_value_that_could_be_secret_is_not_repeated() {
    let config = json!({"staticPodURLHeader": {"Authorization": "Bearer hunter2"}});
    assert!(said(&config, 33).iter().all(|line| !line.contains("hunter2")));
    assert_eq!(said(&config, 33).len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("authentication".to_owned()),
        Just("registerWithTaints".to_owned()),
        Just("logging".to_owned()),
        Just("x509".to_owned()),
        Just("reservedMemory".to_owned()),
        Just("limits".to_owned()),
        Just("syncFrequency".to_owned()),
        Just("timeAdded".to_owned()),
        ".{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_answered(value in any_json(), minor in 0..60_u16) {
        for fault in validate_config(&value, Minor(minor)) {
            fault.message(Minor(minor));
            fault.hint();
        }
    }

    #[test]
    fn any_name_is_answered(name in "[-_.\\[\\]a-zA-Zµ0-9]{0,30}", minor in 0..60_u16) {
        if let Lookup::Unknown { suggestion: Some(path) } = field(&name, Minor(minor)) {
            prop_assert!(matches!(field(&path, Minor(minor)), Lookup::Known(_)), "{path}");
        }
        flag(&name, Minor(minor));
        duration_nanoseconds(&name);
        let _ = name.parse::<Version>();
    }

    /// `whole` seconds and `nanoseconds` written out are read back.
    #[test]
    fn durations_are_read_back(hours in 0..1000_i64, seconds in 0..3600_i64, nanoseconds in 0..1_000_000_000_i64) {
        let text = format!("{hours}h{seconds}s{nanoseconds}ns");
        let expected = (hours * 3600 + seconds) * 1_000_000_000 + nanoseconds;
        prop_assert_eq!(duration_nanoseconds(&text), Some(expected));
    }
}
