//! Addresses that are served inside the container.

/// The parts of an address that a server must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address<'a> {
    pub(crate) secure: bool,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

impl<'a> Address<'a> {
    /// Of a URL; nothing if it is none that can be served.
    pub(crate) fn of(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let secure = match scheme {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = rest.split(['/', '?']).next().filter(|authority| !authority.is_empty())?;
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, if secure { 443 } else { 80 }),
        };
        Some(Self { secure, host, port })
    }
}

/// A URL as it is asked for: clients leave out the port that goes with the scheme.
pub(crate) fn as_asked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return url.to_owned(),
    };
    format!("{scheme}://{}{path}", authority.strip_suffix(usual).unwrap_or(authority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_that_of_the_scheme_unless_it_is_given() {
        let of = |url| Address::of(url).map(|address| (address.secure, address.host, address.port));
        assert_eq!(of("https://mirror.example/a/b?c"), Some((true, "mirror.example", 443)));
        assert_eq!(of("http://mirror.example"), Some((false, "mirror.example", 80)));
        assert_eq!(of("http://mirror.example:8080/a"), Some((false, "mirror.example", 8080)));
        assert_eq!(of("s3://bucket/key"), None);
        assert_eq!(of("http:///a"), None);
    }

    #[test]
    fn a_port_that_goes_with_the_scheme_is_not_asked_for() {
        for (url, asked) in [
            ("https://10.5.0.2:443/version", "https://10.5.0.2/version"),
            ("http://mirror.example:80", "http://mirror.example"),
            ("http://mirror.example:443/a:80", "http://mirror.example:443/a:80"),
            ("https://mirror.example:6443/a", "https://mirror.example:6443/a"),
        ] {
            assert_eq!(as_asked(url), asked);
        }
    }
}
