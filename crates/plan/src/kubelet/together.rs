//! Fields of kubelet that are right by themselves and refused together, by kubelet's own validation.
//!
//! What counts is the configuration in force: ours with the operator's fields over it.

use std::collections::BTreeSet;

use bringup_kubelet::{Minor, duration_nanoseconds};
use serde_json::Value;

use crate::codes;
use crate::context::Context;

/// The first minor that takes `NoSwap` and no longer takes `UnlimitedSwap`.
const WITH_NO_SWAP: Minor = Minor(30);

/// Checks the configuration in force; findings stand at the field that the operator gave.
pub(crate) fn check(context: &mut Context<'_>, config: &Value) {
    let text = |field: &str| config.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let truth = |field: &str| config.get(field).and_then(Value::as_bool);
    let flag = |name: &str| context.group.kubelet.flags.contains_key(name);
    let mut faults: Vec<(&str, String, String)> = Vec::new();
    let mut refuse = |field: &'static str, message: &str, hint: &str| {
        faults.push((field, message.to_owned(), hint.to_owned()));
    };

    let pulls = config.get("maxParallelImagePulls").and_then(Value::as_i64);
    if pulls.is_some_and(|pulls| pulls > 1) && truth("serializeImagePulls") == Some(true) {
        refuse(
            "maxParallelImagePulls",
            "images are pulled one by one: `serializeImagePulls` is true",
            "remove `serializeImagePulls`, or this",
        );
    }
    let by_priority = config.get("shutdownGracePeriodByPodPriority").and_then(Value::as_array);
    let period = |field: &str| text(field).and_then(duration_nanoseconds).is_some_and(|time| time > 0);
    if by_priority.is_some_and(|list| !list.is_empty())
        && (period("shutdownGracePeriod") || period("shutdownGracePeriodCriticalPods"))
    {
        refuse(
            "shutdownGracePeriodByPodPriority",
            "the time for pods to end is given twice: `shutdownGracePeriod` stands beside this",
            "keep one of the two",
        );
    }
    let enforced: Option<Vec<&str>> = config
        .get("enforceNodeAllocatable")
        .and_then(Value::as_array)
        .map(|words| words.iter().filter_map(Value::as_str).collect());
    let words = enforced.clone().unwrap_or_else(|| vec!["pods"]);
    let distinct: BTreeSet<&&str> = words.iter().collect();
    if distinct.len() < words.len() {
        refuse("enforceNodeAllocatable", "a word stands here twice", "write each once");
    }
    if words.contains(&"none") && distinct.len() > 1 {
        refuse(
            "enforceNodeAllocatable",
            "`none` takes no other word beside it",
            "remove `none`, or all others",
        );
    }
    for (prefix, cgroup, name) in [
        ("system-reserved", "systemReservedCgroup", "system-reserved-cgroup"),
        ("kube-reserved", "kubeReservedCgroup", "kube-reserved-cgroup"),
    ] {
        let of_it = words.iter().filter(|word| word.starts_with(prefix)).collect::<BTreeSet<_>>();
        if of_it.len() > 1 {
            let message = format!("`{prefix}` and `{prefix}-compressible` exclude each other");
            refuse("enforceNodeAllocatable", &message, "keep one of the two");
        }
        if !of_it.is_empty() && text(cgroup).is_none() && !flag(name) {
            let message = format!("`{prefix}` is enforced on a control group, and `{cgroup}` names none");
            refuse("enforceNodeAllocatable", &message, &format!("write `{cgroup}: /the.slice` too"));
        }
    }
    if truth("cgroupsPerQOS") == Some(false) && words.iter().any(|word| *word != "none") {
        refuse(
            "cgroupsPerQOS",
            "nothing can be enforced without control groups for each class of pods",
            "write `enforceNodeAllocatable: [none]` too, or remove this",
        );
    }
    if text("reservedSystemCPUs").is_some()
        && (text("systemReservedCgroup").is_some() || text("kubeReservedCgroup").is_some())
    {
        refuse(
            "reservedSystemCPUs",
            "reserved processors and reserved control groups exclude each other",
            "remove `systemReservedCgroup` and `kubeReservedCgroup`, or this",
        );
    }
    let memory = config.get("reservedMemory").and_then(Value::as_array);
    if text("memoryManagerPolicy") == Some("Static")
        && memory.is_none_or(Vec::is_empty)
        && !flag("reserved-memory")
    {
        refuse(
            "memoryManagerPolicy",
            "the policy `Static` must know what to keep of each NUMA node",
            "write `reservedMemory` too; its sum is `kubeReserved` + `systemReserved` + `evictionHard`",
        );
    }
    let age = |field: &str| text(field).and_then(duration_nanoseconds).unwrap_or(0);
    let least = if text("imageMinimumGCAge").is_some() { age("imageMinimumGCAge") } else { 120_000_000_000 };
    if age("imageMaximumGCAge") > 0 && age("imageMaximumGCAge") <= least {
        refuse(
            "imageMaximumGCAge",
            "images would be removed for their age before they may be removed at all",
            "let it be longer than `imageMinimumGCAge`, which is two minutes if it is not given",
        );
    }
    if truth("runOnce") == Some(true) {
        refuse("runOnce", "kubelet would run its pods once and end", "remove it");
    }
    let behaviour =
        config.get("memorySwap").and_then(|swap| swap.get("swapBehavior")).and_then(Value::as_str);
    let known = if context.minor >= WITH_NO_SWAP {
        ["LimitedSwap", "NoSwap"]
    } else {
        ["LimitedSwap", "UnlimitedSwap"]
    };
    if behaviour.is_some_and(|word| !word.is_empty() && !word.contains("@{") && !known.contains(&word)) {
        let hint = format!("write `{}` or `{}`", known[0], known[1]);
        refuse("memorySwap", "kubelet of this version knows no such way to use swap", &hint);
    }
    for (field, message, hint) in faults {
        let path = context.at(["kubelet", "config", field]);
        context.error(codes::FIELD_VALUE, &path, message, hint);
    }
}
