//! Names and addresses of hosts, alone and with a port.

use std::net::{IpAddr, Ipv6Addr};

use super::{Fault, plain_number, quoted};

/// What is wrong with a host, if anything: it is an IP address or a name that DNS could know.
///
/// A name whose last label is a number is none (RFC 1123, section 2.1): it is an address that was mistyped.
pub fn host_fault(text: &str) -> Option<Fault> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some(bare) = bare.filter(|bare| bare.parse::<Ipv6Addr>().is_ok()) {
        return Some(Fault::new(format!("{} has brackets", quoted(text)), format!("write `{bare}`")));
    }
    // A link-local address names its interface behind a `%`.
    let address =
        text.split_once('%').filter(|(_, zone)| !zone.is_empty()).map_or(text, |(address, _)| address);
    let is_address = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => address == text,
        Ok(IpAddr::V6(_)) => true,
        Err(_) => false,
    };
    if is_address || is_host_name(text) {
        return None;
    }
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let (message, hint) = if is_number {
        ("is neither an IP address nor the name of a host", "write four numbers from 0 to 255, or a name")
    } else {
        ("is no name of a host", "write a name of letters, digits, `-` and `.`, or an IP address")
    };
    Some(Fault::new(format!("{} {message}", quoted(text)), hint))
}

/// What is wrong with `HOST` or `HOST:PORT` as an address of the web has them, if anything.
pub fn authority_fault(text: &str) -> Option<Fault> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => {
            if host.parse::<Ipv6Addr>().is_err() {
                let message = format!("{} is no IPv6 address", quoted(host));
                return Some(Fault::new(message, "write one such as `[fd00::a]`"));
            }
            (None, if rest.is_empty() { None } else { Some(rest.strip_prefix(':').unwrap_or_default()) })
        }
        None if text.parse::<Ipv6Addr>().is_ok() => {
            let message = format!("the IPv6 address {} stands without brackets", quoted(text));
            return Some(Fault::new(message, format!("write `[{text}]`")));
        }
        None => match text.split_once(':') {
            Some((host, port)) => (Some(host), Some(port)),
            None => (Some(text), None),
        },
    };
    if let Some(fault) = host.and_then(host_fault) {
        return Some(fault);
    }
    let port = port?;
    let known = plain_number::<u16>(port).is_some_and(|port| port > 0);
    (!known).then(|| Fault::new(format!("{} is no port", quoted(port)), "write a number from 1 to 65535"))
}

fn is_host_name(text: &str) -> bool {
    // A dot at the end is how DNS writes a name in full.
    let name = text.strip_suffix('.').unwrap_or(text);
    let fits = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let numeric = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= 253 && name.split('.').all(fits) && !name.rsplit('.').next().is_some_and(numeric)
}

#[cfg(test)]
mod tests {
    use super::{authority_fault, host_fault};

    #[test]
    fn a_host_is_an_address_or_a_name() {
        let right = [
            "10.0.0.1",
            "fd00::a",
            "fe80::1%eth0",
            "node-1",
            "node-1.example.com",
            "example.com.",
            "a_b.example",
            "1a",
        ];
        for host in right {
            assert_eq!(host_fault(host), None, "{host}");
        }
        let long = format!("{}.com", "a".repeat(64));
        let wrong = [
            "",
            "10.0.0.999",
            "1.2.3",
            "10.0.0.1:22",
            "10.0.0.1%eth0",
            "a..b",
            ".",
            "-a",
            "a-",
            "a b",
            "root@a",
            "ü.example",
            "[fd00::a]",
            "fe80::1%",
            &long,
        ];
        for host in wrong {
            assert!(host_fault(host).is_some(), "{host}");
        }
        assert_eq!(host_fault("[fd00::a]").unwrap().hint, "write `fd00::a`");
        assert_eq!(
            host_fault("10.0.0.999").unwrap().message,
            "`10.0.0.999` is neither an IP address nor the name of a host"
        );
    }

    #[test]
    fn an_authority_is_a_host_and_perhaps_a_port() {
        for right in ["api.example.com", "api:6443", "10.0.0.1:1", "[fd00::a]", "[fd00::a]:65535"] {
            assert_eq!(authority_fault(right), None, "{right}");
        }
        for wrong in [
            "",
            ":6443",
            "api:",
            "api:0",
            "api:65536",
            "api:x",
            "api:+1",
            "10.0.0.999:1",
            "fd00::a",
            "[fd00::a]6443",
            "[fd00::a]:",
            "[x]:1",
            "a:1:2",
        ] {
            assert!(authority_fault(wrong).is_some(), "{wrong}");
        }
        assert_eq!(authority_fault("fd00::a").unwrap().hint, "write `[fd00::a]`");
    }
}
