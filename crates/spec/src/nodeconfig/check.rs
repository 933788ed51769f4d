//! What nodeadm asks of the whole, once everything is merged.

use std::net::IpAddr;

use bringup_diag::{Finding, Findings, Place};

use super::NodeConfig;
use crate::codes;

/// What is missing or cannot be meant; `whole` is where to point when nothing else is written.
pub fn check(config: &NodeConfig, whole: &Place) -> Findings {
    let mut findings = Findings::new();
    let place = |path: &str| config.place(path).unwrap_or_else(|| whole.clone());
    let cluster = &config.cluster;
    let required = [
        ("name", cluster.name.is_empty(), "name: my-cluster"),
        ("apiServerEndpoint", cluster.api_server_endpoint.is_empty(), "apiServerEndpoint: https://…"),
        ("certificateAuthority", cluster.certificate_authority.is_none(), "certificateAuthority: LS0t…"),
        ("cidr", cluster.cidr.is_empty(), "cidr: 10.100.0.0/16"),
    ];
    for (key, missing, example) in required {
        if missing {
            let message = format!("nodeadm needs `spec.cluster.{key}`");
            let finding = Finding::error(codes::NODECONFIG_MISSING, message).at(place("spec.cluster"));
            findings.push(finding.hint(format!("write `{example}` under `spec.cluster`")));
        }
    }
    if config.is_on_outpost() && cluster.id.is_empty() {
        let message = "nodeadm needs `spec.cluster.id` on an Outpost";
        let finding =
            Finding::error(codes::NODECONFIG_MISSING, message).at(place("spec.cluster.enableOutpost"));
        findings.push(finding.hint("write the id that DescribeCluster gives"));
    }
    if !cluster.cidr.is_empty() && !is_range(&cluster.cidr) {
        let message = format!("`{}` is no range of addresses", cluster.cidr);
        let finding = Finding::error(codes::NODECONFIG_VALUE, message).at(place("spec.cluster.cidr"));
        findings.push(finding.hint("write one such as `10.100.0.0/16` or `fd00:ec2::/108`"));
    }
    // Their names are names of files.
    for service in config.instance.environment.keys().filter(|name| name.contains('/') || name.is_empty()) {
        let message = format!("`{service}` is no name of a service");
        let finding = Finding::error(codes::NODECONFIG_VALUE, message).at(place("spec.instance.environment"));
        findings.push(
            finding.hint("write the name of a unit without `.service`, such as `kubelet`, or `default`"),
        );
    }
    findings
}

fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.bytes().all(|byte| byte.is_ascii_digit())
        && length.parse::<u8>().is_ok_and(|length| length <= most)
}
