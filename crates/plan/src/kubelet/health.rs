//! Where kubelet says whether it is well, which is what the agent asks before it counts a node as started.

use std::net::IpAddr;

use bringup_spec::AgentSource;
use bringup_yaml::Path;
use serde_json::Value;

use crate::codes;
use crate::context::Context;
use crate::decisions::Decisions;

/// Kubelet's own defaults.
const PORT: &str = "10248";
const ADDRESS: &str = "127.0.0.1";

/// The URL of kubelet's health endpoint, wherever the operator has put it.
pub(crate) fn url(context: &mut Context<'_>, decisions: &Decisions) -> String {
    let (port, port_at) = setting(context, "healthz-port", "healthzPort", PORT);
    let (address, address_at) = setting(context, "healthz-bind-address", "healthzBindAddress", ADDRESS);
    let asked = decisions.agent != AgentSource::None;
    for (text, at) in [(&port, &port_at), (&address, &address_at)] {
        if asked && text.contains("@{") {
            let message = "the agent asks kubelet there whether it is well, and must know where before boot";
            context.error(codes::FIELD_VALUE, at, message, "write the value itself");
        }
    }
    if asked && port.parse() == Ok(0u16) {
        let message =
            "port 0 turns kubelet's health endpoint off, and the agent asks it whether kubelet is well";
        context.error(
            codes::FIELD_VALUE,
            &port_at,
            message,
            format!("remove it, or write a port such as {PORT}"),
        );
    }
    let host = match address.parse::<IpAddr>() {
        // Bound everywhere, it answers on the loopback too.
        Ok(IpAddr::V4(address)) if address.is_unspecified() => ADDRESS.to_owned(),
        Ok(IpAddr::V6(address)) if address.is_unspecified() => "[::1]".to_owned(),
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => address,
    };
    format!("http://{host}:{port}/healthz")
}

/// What is in force, and where it is written: flags win over fields.
fn setting(context: &Context<'_>, flag: &str, field: &str, default: &str) -> (String, Path) {
    let kubelet = &context.group.kubelet;
    if let Some(text) = kubelet.flags.get(flag) {
        return (text.to_string(), context.at(["kubelet", "flags", flag]));
    }
    let given = match kubelet.config.get(field) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    (given.unwrap_or_else(|| default.to_owned()), context.at(["kubelet", "config", field]))
}
