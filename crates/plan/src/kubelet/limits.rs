//! What kubelet's own validation refuses, by field: numbers and times beyond a range.
//!
//! The rules are those of `ValidateKubeletConfiguration` and of the managers that kubelet starts. A zero that kubelet
//! replaces by its default is no fault.

use bringup_kubelet::{duration_nanoseconds, is_quantity};
use bringup_yaml::Path;
use serde_json::Value;

use crate::codes;
use crate::context::Context;

const ANY: i64 = i32::MAX as i64;

/// Fields with the least and the greatest number that they take.
const NUMBERS: [(&str, i64, i64); 19] = [
    ("containerLogMaxFiles", 2, ANY),
    ("containerLogMaxWorkers", 1, ANY),
    ("eventBurst", 0, ANY),
    ("eventRecordQPS", 0, ANY),
    ("healthzPort", 0, 65_535),
    ("iptablesDropBit", 0, 31),
    ("iptablesMasqueradeBit", 0, 31),
    ("kubeAPIBurst", 0, ANY),
    ("kubeAPIQPS", 0, ANY),
    ("maxOpenFiles", 0, i64::MAX),
    ("maxParallelImagePulls", 1, ANY),
    ("nodeLeaseDurationSeconds", 0, ANY),
    ("nodeStatusMaxImages", -1, ANY),
    ("oomScoreAdj", -1000, 1000),
    ("podsPerCore", 0, ANY),
    ("port", 0, 65_535),
    ("readOnlyPort", 0, 65_535),
    ("registryBurst", 0, ANY),
    ("registryPullQPS", 0, ANY),
];

/// What `enforceNodeAllocatable` takes.
const ENFORCED: [&str; 6] = [
    "pods",
    "kube-reserved",
    "system-reserved",
    "none",
    "kube-reserved-compressible",
    "system-reserved-compressible",
];

/// Times that cannot be below zero.
const TIMES: [&str; 6] = [
    "evictionPressureTransitionPeriod",
    "imageMaximumGCAge",
    "imageMinimumGCAge",
    "nodeStatusUpdateFrequency",
    "shutdownGracePeriod",
    "shutdownGracePeriodCriticalPods",
];

/// Checks the fields that the operator gave under `path`.
pub(crate) fn check(context: &mut Context<'_>, path: &Path) {
    let config = &context.group.kubelet.config;
    let mut refuse = |path: Path, message: String, hint: String| {
        context.error(codes::FIELD_VALUE, &path, message, hint);
    };
    for (field, least, most) in NUMBERS {
        let number = config.get(field).and_then(Value::as_i64);
        if let Some(number) = number.filter(|number| !(least..=most).contains(number)) {
            let hint = match most {
                i64::MAX | ANY => format!("write {least} or more"),
                most => format!("write a number from {least} to {most}"),
            };
            refuse(path.key(field), format!("kubelet refuses {number} for `{field}`"), hint);
        }
    }
    let enforced = config.get("enforceNodeAllocatable").and_then(Value::as_array);
    for (index, word) in enforced.into_iter().flatten().enumerate() {
        if let Some(word) = word.as_str().filter(|word| !ENFORCED.contains(word)) {
            let hint = bringup_diag::closest(word, ENFORCED).map_or_else(
                || format!("write one of {}", bringup_spec::decode::known_fields(&ENFORCED)),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("`enforceNodeAllocatable` does not take `{word}`");
            refuse(path.key("enforceNodeAllocatable").index(index), message, hint);
        }
    }
    for field in TIMES {
        let time = config.get(field).and_then(Value::as_str).and_then(duration_nanoseconds);
        if time.is_some_and(|time| time < 0) {
            refuse(
                path.key(field),
                format!("`{field}` cannot be below zero"),
                "write a time such as `5m`".to_owned(),
            );
        }
    }
    if let Some(size) = config.get("containerLogMaxSize").and_then(Value::as_str)
        && !is_quantity(size)
    {
        let message = format!("`{size}` is no size of a log");
        refuse(path.key("containerLogMaxSize"), message, "write a quantity such as `10Mi`".to_owned());
    }
    for field in ["address", "healthzBindAddress"] {
        if let Some(address) = config.get(field).and_then(Value::as_str)
            && !address.contains("@{")
            && address.parse::<std::net::IpAddr>().is_err()
        {
            let message = format!("`{address}` is no IP address");
            refuse(path.key(field), message, "write one such as `0.0.0.0`".to_owned());
        }
    }
    check_grace_periods(context, path);
}

/// Times to bear a soft threshold.
fn check_grace_periods(context: &mut Context<'_>, path: &Path) {
    let periods = context.group.kubelet.config.get("evictionSoftGracePeriod").and_then(Value::as_object);
    for (signal, period) in periods.into_iter().flatten() {
        let wrong = period.as_str().filter(|period| {
            !period.contains("@{") && duration_nanoseconds(period).is_none_or(|time| time < 0)
        });
        if let Some(period) = wrong {
            let place = path.key("evictionSoftGracePeriod").key(signal.as_str());
            let message = format!("`{period}` is no time to bear `{signal}`");
            context.error(codes::FIELD_VALUE, &place, message, "write a duration such as `1m30s`");
        }
    }
}
