//! Which proxy to go through, by the variables that programs agree on.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::WebFault;

/// The proxies, and whom to reach without one.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    http: Option<String>,
    https: Option<String>,
    direct: Vec<String>,
}

impl Proxies {
    /// As programs in this environment would do it.
    pub(super) fn from_environment(environment: &BTreeMap<String, String>) -> Self {
        let value = |name: &str| {
            let upper = name.to_ascii_uppercase();
            environment
                .get(name)
                .or_else(|| environment.get(&upper))
                .filter(|value| !value.is_empty())
                .cloned()
        };
        let direct = value("no_proxy").unwrap_or_default();
        Self {
            http: value("http_proxy"),
            https: value("https_proxy"),
            direct: direct.split(',').map(|entry| entry.trim().to_ascii_lowercase()).collect(),
        }
    }

    /// The proxy for a host, if it takes one. The machine itself and its own network never do.
    pub(super) fn for_host(&self, scheme: &str, host: &str) -> Option<&str> {
        let proxy = if scheme == "https" { self.https.as_deref() } else { self.http.as_deref() }?;
        let host = host.to_ascii_lowercase();
        let address: Option<IpAddr> = host.parse().ok();
        let near = match address {
            Some(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
            Some(IpAddr::V6(address)) => address.is_loopback() || address.is_unicast_link_local(),
            None => host == "localhost",
        };
        let direct = near || self.direct.iter().any(|entry| covers(entry, &host, address));
        (!direct).then_some(proxy)
    }
}

/// Whether an entry of `NO_PROXY` is for a host, by the rules of Go's programs, which the rest of a node is.
fn covers(entry: &str, host: &str, address: Option<IpAddr>) -> bool {
    if entry.is_empty() {
        return false;
    }
    if entry == "*" || entry == host {
        return true;
    }
    if let Some(address) = address {
        return entry.split_once('/').is_some_and(|(network, length)| within(address, network, length));
    }
    let (suffix, whole) = match entry.strip_prefix('*').unwrap_or(entry).strip_prefix('.') {
        Some(domain) => (domain, false),
        None => (entry, true),
    };
    match host.strip_suffix(suffix) {
        Some("") => whole,
        Some(before) => before.ends_with('.'),
        None => false,
    }
}

fn within(address: IpAddr, network: &str, length: &str) -> bool {
    let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
    let masked = |bits: u128, all: u32| bits.checked_shr(all.saturating_sub(length)).unwrap_or(0);
    match (address, network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            masked(u32::from(one).into(), 32) == masked(u32::from(other).into(), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => masked(one.into(), 128) == masked(other.into(), 128),
        _ => false,
    }
}

/// Where a proxy is, without the name and the password that it may want.
pub(super) fn place(proxy: &str) -> &str {
    let place = proxy.rsplit('@').next().unwrap_or_default();
    place.split_once("://").map_or(place, |(_, place)| place).trim_end_matches('/')
}

/// A proxy as the client takes it: `HOST:PORT` is one of HTTP.
pub(super) fn parsed(proxy: &str) -> Result<ureq::Proxy, WebFault> {
    let whole = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    if !(whole.starts_with("http://") || whole.starts_with("https://")) {
        return Err(WebFault::proxy());
    }
    ureq::Proxy::new(&whole).map_err(|_| WebFault::proxy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(direct: &str) -> Proxies {
        Proxies::from_environment(&BTreeMap::from(
            [("HTTP_PROXY", "http://h:1"), ("https_proxy", "http://s:2"), ("NO_PROXY", direct)]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        ))
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let proxies = proxies("");
        assert_eq!(proxies.for_host("http", "a.example"), Some("http://h:1"));
        assert_eq!(proxies.for_host("https", "a.example"), Some("http://s:2"));
        assert_eq!(Proxies::default().for_host("https", "a.example"), None);
    }

    /// What golang.org/x/net/http/httpproxy does.
    #[test]
    fn some_are_reached_directly() {
        let proxies = proxies("localhost,.svc, example.com,10.0.0.0/8,192.0.2.7,*.s3.amazonaws.com,fd00::/8");
        for host in [
            "localhost",
            "127.0.0.5",
            "::1",
            "169.254.169.254",
            "fe80::1",
            "a.svc",
            "example.com",
            "Api.Example.com",
            "10.255.0.1",
            "192.0.2.7",
            "b.s3.amazonaws.com",
            "fd12::1",
        ] {
            assert_eq!(proxies.for_host("https", host), None, "{host}");
        }
        for host in
            ["svc", "notexample.com", "11.0.0.1", "192.0.2.70", "s3.amazonaws.com", "fe00::1", "x10.0.0.0"]
        {
            assert!(proxies.for_host("https", host).is_some(), "{host}");
        }
        assert_eq!(self::proxies("*").for_host("https", "a.example"), None);
    }

    #[test]
    fn what_is_no_proxy_of_http_is_refused() {
        for proxy in ["proxy:3128", "http://proxy:3128", "https://me:hidden@proxy"] {
            assert!(parsed(proxy).is_ok(), "{proxy}");
        }
        for proxy in ["socks5://proxy:1080", "http://"] {
            assert_eq!(parsed(proxy).unwrap_err(), WebFault::proxy(), "{proxy}");
        }
    }
}
