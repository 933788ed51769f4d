//! Addresses that the whole cluster uses: the API server's and the proxy's.

use bringup_diag::{Code, Finding, Findings};
use bringup_spec::{Document, Fault, authority_fault};

use crate::codes;
use crate::context::Context;

/// Checks the address of the API server.
pub(crate) fn api(document: &Document, findings: &mut Findings) {
    let Some(api) = &document.cluster.spec.api else { return };
    let endpoint = &api.endpoint;
    let fault = match endpoint.strip_prefix("https://") {
        None => {
            let bare = endpoint.split_once("://").map_or(endpoint.as_str(), |(_, rest)| rest);
            let hint = format!("write `https://{bare}`");
            Some(Fault::new(format!("`{endpoint}` does not begin with `https://`"), hint))
        }
        Some(rest) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            if authority.is_empty() || rest.contains(['@', '?', '#']) || path.contains(char::is_whitespace) {
                let hint = "write `https://HOST` or `https://HOST:PORT`";
                Some(Fault::new(format!("`{endpoint}` names no host"), hint))
            } else {
                authority_fault(authority)
            }
        }
    };
    if let Some(fault) = fault {
        let place = document.place(&Context::spec_path(["api", "endpoint"]));
        findings.push(
            own_fault(document.cluster.spec.takes_as_given(), codes::ENDPOINT, fault.message)
                .at(place)
                .hint(fault.hint),
        );
    }
}

/// What is wrong with an address in a document of ours; where it was another program's input, it is taken as it is.
pub(crate) fn own_fault(as_given: bool, code: Code, message: String) -> Finding {
    if as_given {
        Finding::note(code, format!("{message}; it is taken as it is"))
    } else {
        Finding::error(code, message)
    }
}

/// Checks the addresses of the proxy, and what is to be reached without it.
pub(crate) fn proxy(document: &Document, findings: &mut Findings) {
    let Some(proxy) = &document.cluster.spec.proxy else { return };
    let path = Context::spec_path(["proxy"]);
    for (key, address) in [("http", &proxy.http), ("https", &proxy.https)] {
        let Some(address) = address else { continue };
        let place = || document.place(&path.key(key));
        let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
        let usual = "write one such as `http://proxy.example.com:3128`";
        // What stands before an `@` is a secret: it is in no message.
        let host = rest.map(|rest| rest.trim_end_matches('/').rsplit('@').next().unwrap_or_default());
        let fault = match host {
            None => Some(Fault::new("this is no address of a proxy", usual)),
            Some(host) => authority_fault(host)
                .map(|fault| Fault::new(format!("in this address of a proxy, {}", fault.message), usual)),
        };
        if let Some(fault) = fault {
            findings.push(Finding::error(codes::PROXY, fault.message).at(place()).hint(fault.hint));
        }
        if rest.is_some_and(|rest| rest.contains('@')) {
            let message = "the proxy's password would be readable in user-data and unit files";
            let hint = "let the proxy know the nodes by their addresses instead";
            findings.push(Finding::warning(codes::PROXY_SECRET, message).at(place()).hint(hint));
        }
    }
    for (index, host) in proxy.no_proxy.iter().enumerate() {
        if host.contains(|letter: char| letter.is_whitespace() || letter == ',') || host.contains("://") {
            let message = format!("`{host}` is no single host, domain or range");
            let place = document.place(&path.key("noProxy").index(index));
            let hint = "write each as an item of its own, such as `.example.com` or `10.0.0.0/8`";
            findings.push(Finding::error(codes::PROXY, message).at(place).hint(hint));
        }
    }
    if proxy.http.is_none() && proxy.https.is_none() {
        let place = document.key_place(&path);
        let message = "`proxy` has no effect: it names no proxy";
        findings.push(Finding::warning(codes::WITHOUT_EFFECT, message).at(place).hint("remove it"));
    }
}
