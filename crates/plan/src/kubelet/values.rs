//! Values of the right type that kubelet refuses all the same, or that leave pods without DNS.

use std::net::IpAddr;

use bringup_diag::Code;
use bringup_kubelet::{duration_nanoseconds, is_quantity};
use bringup_yaml::Path;
use serde_json::Value;

use crate::context::Context;
use crate::endpoints::own_fault;
use crate::{codes, network};

/// What kubelet can set aside.
const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// Kubelet's own thresholds for the removal of images, in percent.
const IMAGES_HIGH: i64 = 85;
const IMAGES_LOW: i64 = 80;

/// Checks the fields that the operator gave under `path`.
pub(crate) fn check_fields(context: &mut Context<'_>, path: &Path) {
    let config = &context.group.kubelet.config;
    let mut refuse = |path: Path, message: String, hint: &str| {
        context.error(codes::FIELD_VALUE, &path, message, hint);
    };
    if let Some(pods) = config.get("maxPods").and_then(Value::as_i64).filter(|pods| *pods < 0) {
        refuse(path.key("maxPods"), format!("a node cannot take {pods} pods"), "write 1 or more");
    }
    if let Some(driver) = config.get("cgroupDriver").and_then(Value::as_str)
        && !matches!(driver, "" | "systemd" | "cgroupfs")
    {
        let message = format!("`{driver}` is no driver of control groups");
        refuse(path.key("cgroupDriver"), message, "write `systemd`, or remove it");
    }
    for field in ["kubeReserved", "systemReserved"] {
        for (resource, amount) in strings(config.get(field)) {
            let place = path.key(field).key(resource);
            if !RESERVABLE.contains(&resource) {
                let message = format!("kubelet cannot reserve `{resource}`");
                refuse(place, message, "it reserves `cpu`, `memory`, `ephemeral-storage` and `pid`");
            } else if !is_quantity(amount) || amount.starts_with('-') {
                let message = format!("`{amount}` is no amount of `{resource}`");
                refuse(place, message, "write a quantity such as `100m` or `1Gi`");
            }
        }
    }
    for field in ["evictionHard", "evictionSoft"] {
        for (signal, threshold) in strings(config.get(field)) {
            if !is_threshold(threshold) {
                let message = format!("`{threshold}` is no threshold of `{signal}`");
                let hint = "write a quantity such as `100Mi`, or a percentage such as `10%`";
                refuse(path.key(field).key(signal), message, hint);
            }
        }
    }
    check_image_thresholds(context, path);
    check_shutdown(context, path);
    crate::labels::check_field_taints(context, &path.key("registerWithTaints"));
    super::choices::check_fields(context, path);
    if let Some(addresses) = config.get("clusterDNS").and_then(Value::as_array) {
        for (index, address) in addresses.iter().enumerate() {
            if let Some(address) = address.as_str() {
                check_dns(context, &path.key("clusterDNS").index(index), address, codes::FIELD_VALUE);
            }
        }
    }
}

/// The time for critical pods is the end of the time for all. Kubelet's own default of both is none.
fn check_shutdown(context: &mut Context<'_>, path: &Path) {
    let names = ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"];
    let eks = super::config::shutdown_periods(context);
    let given = names.map(|name| context.group.kubelet.config.get(name).and_then(Value::as_str));
    if given == [None, None] || given.iter().flatten().any(|text| text.contains("@{")) {
        return;
    }
    let in_force = |index: usize| {
        let text = given.get(index).copied().flatten().or_else(|| eks.map(|eks| eks[index]));
        text.map_or(Some(0), duration_nanoseconds)
    };
    if let (Some(all), Some(critical)) = (in_force(0), in_force(1))
        && critical > all
    {
        let name = if given[1].is_some() { names[1] } else { names[0] };
        let message = "critical pods are given more time to end than all pods together".to_owned();
        let hint = "let `shutdownGracePeriod` be at least `shutdownGracePeriodCriticalPods`";
        context.error(codes::FIELD_VALUE, &path.key(name), message, hint);
    }
}

/// Kubelet removes images above the one until it is below the other.
fn check_image_thresholds(context: &mut Context<'_>, path: &Path) {
    let names = ["imageGCHighThresholdPercent", "imageGCLowThresholdPercent"];
    let given = names.map(|name| context.group.kubelet.config.get(name).and_then(Value::as_i64));
    let mut inside = true;
    for (name, percent) in names.iter().zip(given) {
        if let Some(percent) = percent.filter(|percent| !(0..=100).contains(percent)) {
            inside = false;
            let message = format!("`{name}` is a percentage, and {percent} is none");
            context.error(codes::FIELD_VALUE, &path.key(*name), message, "write a number from 0 to 100");
        }
    }
    let [high, low] = given;
    let (above, below) = (high.unwrap_or(IMAGES_HIGH), low.unwrap_or(IMAGES_LOW));
    if inside && above <= below {
        let place = path.key(if high.is_some() { names[0] } else { names[1] });
        let default = if high.is_some() && low.is_some() { "" } else { ", kubelet's own default," };
        let message = if high.is_some() {
            format!("the high threshold {above} is not above the low one{default} {below}")
        } else {
            format!("the low threshold {below} is not below the high one{default} {above}")
        };
        let hint = format!("let `{}` be greater than `{}`", names[0], names[1]);
        context.error(codes::FIELD_VALUE, &place, message, hint);
    }
}

/// Checks an address that pods are to ask for names; `invalid` is what to say of a text that is none.
pub(crate) fn check_dns(context: &mut Context<'_>, path: &Path, address: &str, invalid: Code) {
    if address.contains("@{") {
        return;
    }
    let Ok(parsed) = address.parse::<IpAddr>() else {
        let message = format!("`{address}` is no address of a DNS server");
        context.error(invalid, path, message, "write an IP address such as `10.100.0.10`");
        return;
    };
    if let Some(what) = network::kept_for(&context.spec.network, parsed) {
        let message = format!("`{address}` is kept for {what}: no service of DNS can have it");
        context.error(
            codes::DNS_TAKEN,
            path,
            message,
            "write the address of the cluster's DNS, or remove it",
        );
        return;
    }
    let ranges = &context.spec.network.service_ranges;
    if network::is_on_the_node(parsed)
        || ranges.is_empty()
        || ranges.iter().any(|range| range.contains(parsed))
    {
        return;
    }
    let shown: Vec<String> = ranges.iter().map(|range| format!("`{range}`")).collect();
    let usual: Vec<String> =
        network::dns_addresses(&context.spec.network).iter().map(|address| format!("`{address}`")).collect();
    let message = format!("the cluster's DNS `{address}` is outside the service range {}", shown.join(", "));
    let hint = match usual.as_slice() {
        [] => "remove it".to_owned(),
        usual => format!("write {}, or remove it", usual.join(" or ")),
    };
    let place = context.document.place(path);
    let finding = own_fault(context.takes_as_given(), codes::DNS_OUTSIDE, message);
    context.findings.push(finding.at(place).hint(hint));
}

/// The entries of a mapping that are strings known before boot.
fn strings(value: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .filter(|(_, value)| !value.contains("@{"))
}

/// Whether kubelet takes this as a threshold of an eviction: a percentage, or an amount above zero.
fn is_threshold(text: &str) -> bool {
    if let Some(percentage) = text.strip_suffix('%') {
        return percentage.parse::<f32>().is_ok_and(|percentage| (0.0..=100.0).contains(&percentage));
    }
    let digits = text.trim_start_matches('+');
    let number = digits.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next();
    is_quantity(text)
        && number.is_some_and(|number| number.contains(|digit: char| ('1'..='9').contains(&digit)))
}
