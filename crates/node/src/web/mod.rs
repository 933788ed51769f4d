//! HTTP: whom to trust, which way to go, how long to wait.
//!
//! No request follows a redirect by itself: a signed one must not, and for a fetch each hop finds its own way.

mod fault;
mod health;
mod proxy;
mod trust;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::Duration;

use bringup_aws::Request;
use ureq::http::{Response, Uri};
use ureq::tls::{ClientCert, RootCerts, TlsConfig};
use ureq::{Agent, Body, BodyReader};

pub(crate) use fault::WebFault;
pub(crate) use health::health;
pub(crate) use trust::{Credential, Trust};

use proxy::Proxies;

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// No answer that is read into memory is longer.
const LONGEST: u64 = 1024 * 1024;
/// As many redirects as browsers follow at least.
const HOPS: u32 = 10;

/// The web as this machine reaches it.
pub(crate) struct Web {
    proxies: Proxies,
    trust: Trust,
    client: Option<ClientCert>,
    /// By the proxy that they go through. Made when they are needed: reading the authorities takes a while.
    agents: RefCell<BTreeMap<Option<String>, Agent>>,
}

impl std::fmt::Debug for Web {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Web").finish_non_exhaustive()
    }
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// As the services' answers are judged.
    pub(crate) fn response(&self) -> bringup_aws::Response<'_> {
        bringup_aws::Response { status: self.status, body: &self.body }
    }
}

/// An answer of which the body is still to be read.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    /// The first byte of what comes, where the answer is a part.
    pub(crate) from: Option<u64>,
    pub(crate) body: BodyReader<'static>,
}

impl Incoming {
    /// What is said of an error.
    pub(crate) fn into_answer(self) -> Answer {
        let mut body = Vec::new();
        // An explanation that is cut off explains less; the status says enough.
        let _ = self.body.take(LONGEST).read_to_end(&mut body);
        Answer { status: self.status, body }
    }
}

impl Web {
    /// With the proxy that these variables name, trusting these authorities.
    pub(crate) fn new(environment: &BTreeMap<String, String>, trust: Trust) -> Self {
        Self {
            proxies: Proxies::from_environment(environment),
            trust,
            client: None,
            agents: RefCell::default(),
        }
    }

    /// The same way, with other authorities and showing this certificate.
    pub(crate) fn again(&self, trust: Trust, client: Option<Credential>) -> Self {
        Self {
            proxies: self.proxies.clone(),
            trust,
            client: client.map(Credential::into_inner),
            agents: RefCell::default(),
        }
    }

    /// Sends a request as it is and reads the answer.
    pub(crate) fn send(&self, request: &Request) -> Result<Answer, WebFault> {
        let response = self.start(request)?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_reader().take(LONGEST + 1);
        reader.read_to_end(&mut body).map_err(|fault| WebFault::of_io(&fault))?;
        if body.len() as u64 > LONGEST {
            return Err(WebFault::permanent("the answer is longer than any that is expected"));
        }
        Ok(Answer { status, body })
    }

    /// Sends a request as it is; the answer comes piece by piece.
    pub(crate) fn open(&self, request: &Request) -> Result<Incoming, WebFault> {
        self.start(request).map(incoming)
    }

    /// Fetches from a byte on, wherever that leads.
    pub(crate) fn fetch(&self, url: &str, from: u64) -> Result<Incoming, WebFault> {
        let mut place = url.to_owned();
        for _ in 0..=HOPS {
            let headers = if from > 0 { vec![("range", format!("bytes={from}-"))] } else { Vec::new() };
            let request =
                Request { method: bringup_aws::Method::Get, url: place.clone(), headers, body: Vec::new() };
            let response = self.start(&request)?;
            let next = match response.status().as_u16() {
                301 | 302 | 303 | 307 | 308 => header(&response, "location").map(str::to_owned),
                _ => None,
            };
            match next {
                Some(next) => place = joined(&place, &next),
                None => return Ok(incoming(response)),
            }
        }
        Err(WebFault::permanent("it is redirected in circles"))
    }

    fn start(&self, request: &Request) -> Result<Response<Body>, WebFault> {
        let uri: Uri =
            request.url.parse().map_err(|_| WebFault::permanent("the address cannot be understood"))?;
        let mut parts = ureq::http::Request::builder().method(request.method.as_str()).uri(uri.clone());
        for (name, value) in &request.headers {
            parts = parts.header(*name, value);
        }
        let odd = |_| WebFault::permanent("a header of the request cannot be sent");
        let agent = self.agent(&uri)?;
        let answer = if request.body.is_empty() && request.method == bringup_aws::Method::Get {
            agent.run(parts.body(()).map_err(odd)?)
        } else {
            agent.run(parts.body(request.body.as_slice()).map_err(odd)?)
        };
        answer.map_err(|fault| {
            let fault = WebFault::of(&fault);
            // It may be the proxy that cannot be reached, and not who is asked.
            self.proxy(&uri).map_or(fault.clone(), |proxy| fault.through(proxy::place(proxy)))
        })
    }

    fn proxy(&self, uri: &Uri) -> Option<&str> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        self.proxies.for_host(uri.scheme_str().unwrap_or_default(), host)
    }

    fn agent(&self, uri: &Uri) -> Result<Agent, WebFault> {
        let proxy = self.proxy(uri).map(str::to_owned);
        let mut agents = self.agents.borrow_mut();
        if let Some(agent) = agents.get(&proxy) {
            return Ok(agent.clone());
        }
        let way = proxy.as_deref().map(proxy::parsed).transpose()?;
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(std::sync::Arc::new(self.trust.certificates())))
            .client_cert(self.client.clone())
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(way)
            .tls_config(tls)
            .user_agent(USER_AGENT)
            .timeout_connect(Some(CONNECT))
            .timeout_send_request(Some(SILENCE))
            .timeout_send_body(Some(SILENCE))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .input_buffer_size(64 * 1024)
            .output_buffer_size(16 * 1024)
            .build();
        let agent = Agent::new_with_config(config);
        agents.insert(proxy, agent.clone());
        Ok(agent)
    }
}

/// Who asks.
pub(crate) const USER_AGENT: &str = concat!("bringup-node/", env!("CARGO_PKG_VERSION"));

fn incoming(response: Response<Body>) -> Incoming {
    let from = header(&response, "content-range")
        .and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
    Incoming { status: response.status().as_u16(), from, body: response.into_body().into_reader() }
}

fn header<'r>(response: &'r Response<Body>, name: &str) -> Option<&'r str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// Where a redirect leads, which may be said in short.
fn joined(base: &str, next: &str) -> String {
    if next.starts_with("http://") || next.starts_with("https://") {
        return next.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    if let Some(place) = next.strip_prefix("//") {
        return format!("{scheme}://{place}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if next.starts_with('/') {
        return format!("{scheme}://{host}{next}");
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{scheme}://{host}{folder}/{next}")
}

/// An address as it may be shown: without what is often a secret in it.
pub(crate) fn shown(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at(end);
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_may_be_said_in_short() {
        for (base, next, whole) in [
            ("https://a.example/x/y?q", "https://b.example/z", "https://b.example/z"),
            ("https://a.example/x/y?q", "//b.example/z", "https://b.example/z"),
            ("https://a.example/x/y?q", "/z", "https://a.example/z"),
            ("https://a.example:1/x/y?q=/r/", "z", "https://a.example:1/x/z"),
            ("http://a.example", "z", "http://a.example/z"),
        ] {
            assert_eq!(joined(base, next), whole, "{base} {next}");
        }
    }

    #[test]
    fn addresses_are_shown_without_secrets() {
        assert_eq!(shown("https://me:hidden@a.example/x?sig=hidden#hidden"), "https://a.example/x");
        assert_eq!(shown("https://a.example?sig=hidden"), "https://a.example");
        assert_eq!(shown("s3://bucket/key@v1"), "s3://bucket/key@v1");
    }
}
