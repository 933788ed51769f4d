//! The proxy, and certificate authorities that the node trusts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bringup_spec::{OsFamily, Phase, Text};

use crate::context::Context;
use crate::decisions::Decisions;
use crate::steps::{plain, write_file};
use crate::{Action, Content, Origin, Step, Unit, codes};

/// Where a family keeps authorities that the administrator adds, and the bundle that programs read.
fn store(os: OsFamily) -> (&'static str, &'static str, &'static str) {
    match os {
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 => {
            ("/etc/pki/ca-trust/source/anchors", "pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")
        }
        OsFamily::Flatcar => ("/etc/ssl/certs", "pem", "/etc/ssl/certs/ca-certificates.crt"),
        OsFamily::Ubuntu | OsFamily::Debian | OsFamily::Generic => {
            ("/usr/local/share/ca-certificates", "crt", "/etc/ssl/certs/ca-certificates.crt")
        }
    }
}

/// Steps for the beginning of the phase `fetch`.
pub(crate) fn steps(context: &mut Context<'_>) -> Vec<Step> {
    let authorities = &context.spec.certificate_authorities;
    if authorities.is_empty() {
        return Vec::new();
    }
    let (anchors, extension, bundle) = store(context.group.os.family);
    let mut steps = Vec::new();
    for (index, authority) in authorities.iter().enumerate() {
        let path = format!("{anchors}/{}.{extension}", authority.name);
        let origin = Origin::Document(Context::spec_path(["certificateAuthorities"]).index(index));
        context.origin(path.as_str(), authority.name.as_str(), origin);
        let body = Content::Text(Text::literal(authority.certificate.pem()));
        steps.push(write_file(format!("trust-{}", authority.name), Phase::Fetch, &path, "0644", body));
    }
    let action = Action::TrustAuthorities { bundle: bundle.to_owned() };
    let mut step = plain("trust", Phase::Fetch, action);
    // An update of the system's own bundle drops what was added to it.
    step.every_boot = true;
    steps.push(step);
    steps
}

/// Variables for every program that the agent starts, kubelet and the runtime.
pub(crate) fn proxy_environment(
    context: &mut Context<'_>,
    decisions: &Decisions,
) -> BTreeMap<String, String> {
    let Some(proxy) = &context.spec.proxy else { return BTreeMap::new() };
    let mut direct: BTreeSet<String> = proxy.no_proxy.iter().cloned().collect();
    direct.extend(["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()]);
    let network = &context.spec.network;
    direct.extend(network.service_ranges.iter().chain(&network.pod_ranges).map(ToString::to_string));
    direct.extend([format!(".{}", network.domain), ".svc".to_owned()]);
    if let Some(api) = &context.spec.api {
        direct.extend(host(&api.endpoint));
    }
    if context.learns_cluster() {
        let endpoint =
            "the node learns from EKS where the API server is, so that kubelet asks the proxy for it";
        let path = Context::spec_path(["proxy"]);
        let hint = "write `api`, or name its domain in `noProxy`, such as `.eks.amazonaws.com`";
        let named = direct.iter().any(|host| host.contains("eks."));
        if !named {
            context.warning(codes::PROXY, &path, endpoint, hint);
        }
    }
    if context.on_aws() {
        direct.insert("169.254.169.254".to_owned());
        if decisions.ipv6 {
            direct.insert("fd00:ec2::254".to_owned());
        }
    }
    let direct = direct.into_iter().collect::<Vec<String>>().join(",");
    context.origin(
        "proxy",
        direct.as_str(),
        Origin::Derived(
            Context::spec_path(["proxy"]),
            "what to reach directly, with the cluster's own addresses".to_owned(),
        ),
    );
    let mut environment = BTreeMap::new();
    // Programs disagree on the spelling.
    for (name, value) in
        [("http_proxy", proxy.http.clone()), ("https_proxy", proxy.https.clone()), ("no_proxy", Some(direct))]
    {
        if let Some(value) = value {
            environment.insert(name.to_ascii_uppercase(), value.clone());
            environment.insert(name.to_owned(), value);
        }
    }
    environment
}

/// The host of an endpoint, without its port.
fn host(endpoint: &str) -> Option<String> {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let host = rest.split('/').next()?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_owned())
}

/// Adds the proxy's drop-in to units.
pub(crate) fn proxy_drop_ins(environment: &BTreeMap<String, String>, units: [&mut Unit; 2]) {
    if environment.is_empty() {
        return;
    }
    let mut text = String::from("[Service]\n");
    for (name, value) in environment {
        let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
    }
    for unit in units {
        unit.drop_ins.insert("10-proxy.conf".to_owned(), text.clone());
    }
}

/// A word of a unit file: systemd's own signs escaped.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_lose_their_ports() {
        assert_eq!(host("https://api.example.com:6443/x").as_deref(), Some("api.example.com"));
        assert_eq!(host("https://[fd00::1]:6443").as_deref(), Some("fd00::1"));
    }

    #[test]
    fn words_are_escaped_for_systemd() {
        assert_eq!(quoted("a=http://u:p%40x@h\\\""), r#""a=http://u:p%%40x@h\\\"""#);
    }
}
