//! A small web server inside the container's network.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::address::{Address, as_asked};
use crate::authority::Authority;
use crate::metadata::Metadata;
use crate::network::{METADATA, Network};
use crate::{Given, Hindrance, LabFault, proxy};

/// Where a request to the metadata service has its token.
pub(crate) const TOKEN_HEADER: &str = "x-aws-ec2-metadata-token";

/// Longer requests are none of ours.
const LONGEST: u64 = 1 << 20;

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Whether it is what version 2 of the metadata service wants: with a token, or for one.
    fn is_of_version_2(&self) -> bool {
        self.header(TOKEN_HEADER).is_some() || (self.method == "PUT" && self.path.ends_with("/api/token"))
    }

    /// As it is written down for whoever keeps the machine.
    fn record(&self, url: &str) -> Value {
        let body = String::from_utf8_lossy(&self.body);
        json!({"method": self.method, "url": url, "authorization": self.header("authorization"), "body": body})
    }

    /// Whether it is our agent that asks, and not cloud-init.
    pub(crate) fn is_agent(&self) -> bool {
        self.header("user-agent").is_some_and(|agent| agent.starts_with("bringup-node"))
    }
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) after: Duration,
    /// The connection is closed without a word.
    pub(crate) silent: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self { status: 200, body: Vec::new(), after: Duration::ZERO, silent: false }
    }
}

impl Answer {
    pub(crate) fn of(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn silence() -> Self {
        Self { silent: true, ..Self::default() }
    }
}

/// One request, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at_ms: u64,
    pub(crate) agent: bool,
    pub(crate) metadata: bool,
    /// Whether it came with a token, or asked for one: version 2 of the service.
    pub(crate) token: bool,
}

/// What the server gives.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) metadata: Option<Metadata>,
    /// What it gives, by URL.
    pub(crate) served: Vec<(String, Given)>,
    /// Proxies that the machine goes through, by URL.
    pub(crate) proxies: Vec<String>,
    /// Who vouches for addresses with `https`.
    pub(crate) authority: Option<Arc<Authority>>,
    /// What is left of hindrances, by URL; the metadata service has its address for one.
    pub(crate) hindrances: Mutex<BTreeMap<String, Hindrance>>,
    /// When the agent asked the metadata service first.
    pub(crate) first: OnceLock<Instant>,
    /// Addresses that were asked for and hindered.
    pub(crate) hindered: Mutex<BTreeSet<String>>,
    pub(crate) seen: Mutex<Vec<Seen>>,
    /// What was asked of addresses that are served.
    pub(crate) heard: Mutex<Vec<Value>>,
}

impl Site {
    fn answer(&self, request: &Request, scheme: &str) -> Answer {
        let host = request.header("host").unwrap_or_default();
        let metadata = host.starts_with(METADATA);
        let url = as_asked(&format!("{scheme}://{host}{}", request.path));
        if let Ok(mut seen) = self.seen.lock() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
            seen.push(Seen { at_ms, agent: request.is_agent(), metadata, token: request.is_of_version_2() });
        }
        let hindered = if metadata { METADATA } else { url.as_str() };
        let hindrance = if metadata && !request.is_agent() { None } else { self.hindered(hindered) };
        if let Some(Hindrance { failures: 1.., wait }) = hindrance {
            return Answer { after: wait, ..Answer::status(503) };
        }
        let mut answer = match &self.metadata {
            Some(service) if metadata => {
                let first =
                    if request.is_agent() { *self.first.get_or_init(Instant::now) } else { Instant::now() };
                service.answer(request, first.elapsed())
            }
            None if metadata => Answer::silence(),
            _ => {
                if let Ok(mut heard) = self.heard.lock() {
                    heard.push(request.record(&url));
                }
                match self.given(&url).and_then(|given| given.bytes().ok()) {
                    Some(body) => Answer::of(body),
                    None => Answer::status(404),
                }
            }
        };
        answer.after += hindrance.map(|hindrance| hindrance.wait).unwrap_or_default();
        answer
    }

    /// What an address gives; one that is served without a query, whatever the query is.
    fn given(&self, url: &str) -> Option<&Given> {
        let plain = url.split('?').next();
        let of = |url: &str| {
            self.served.iter().find(|(served, _)| as_asked(served) == url).map(|(_, given)| given)
        };
        of(url).or_else(|| plain.and_then(of))
    }

    /// The hindrance of an address as it is now; one failure is used up.
    fn hindered(&self, what: &str) -> Option<Hindrance> {
        let mut hindrances = self.hindrances.lock().ok()?;
        let hindrance = hindrances.get_mut(what)?;
        let now = *hindrance;
        if let Ok(mut hindered) = self.hindered.lock() {
            hindered.insert(what.to_owned());
        }
        hindrance.failures = hindrance.failures.saturating_sub(1);
        Some(now)
    }

    /// Addresses of hosts that have no name.
    fn unnamed(&self) -> BTreeSet<Ipv4Addr> {
        self.served.iter().filter_map(|(url, _)| Address::of(url)?.host.parse().ok()).collect()
    }

    /// Ports to listen at, and how to speak there.
    fn ports(&self) -> Result<BTreeMap<u16, Option<Arc<ServerConfig>>>, LabFault> {
        let mut ports = BTreeMap::from([(80, None)]);
        ports.extend(self.proxies.iter().filter_map(|url| Some((Address::of(url)?.port, None))));
        let mut hosts = BTreeSet::new();
        let mut secure = BTreeSet::new();
        for address in self.served.iter().filter_map(|(url, _)| Address::of(url)) {
            if address.secure {
                hosts.insert(address.host.to_owned());
                secure.insert(address.port);
            } else {
                ports.insert(address.port, None);
            }
        }
        if let Some(authority) = self.authority.as_ref().filter(|_| !secure.is_empty()) {
            let settings = authority.server(&hosts)?;
            ports.extend(secure.into_iter().map(|port| (port, Some(Arc::clone(&settings)))));
        }
        Ok(ports)
    }
}

/// Starts serving inside the network; the threads end with the process. `taken` is an address that somebody else sees to.
pub(crate) fn serve(network: &Network, site: &Arc<Site>, taken: Option<IpAddr>) -> Result<(), LabFault> {
    let is_there = |address: &Ipv4Addr| {
        let is_own = address.is_loopback() || address.is_link_local() || *address == network.address();
        is_own || taken == Some(IpAddr::V4(*address))
    };
    for address in site.unnamed().iter().filter(|address| !is_there(address)) {
        network.add_address(&format!("{address}/32"))?;
    }
    for (port, settings) in site.ports()? {
        listen(network.file(), port, settings, site)?;
    }
    Ok(())
}

fn listen(
    network: PathBuf,
    port: u16,
    settings: Option<Arc<ServerConfig>>,
    site: &Arc<Site>,
) -> Result<(), LabFault> {
    let site = Arc::clone(site);
    let (ready, waiting) = std::sync::mpsc::channel();
    std::thread::spawn(move || match listener(&network, port) {
        Ok(listener) => {
            let _ = ready.send(Ok(()));
            for stream in listener.incoming().flatten() {
                let (site, settings) = (Arc::clone(&site), settings.clone());
                std::thread::spawn(move || match settings {
                    None => {
                        let mut stream = BufReader::new(stream);
                        if let Some(target) = converse(&mut stream, "http", &site) {
                            proxy::lead(stream.into_inner(), &target);
                        }
                    }
                    Some(settings) => {
                        if let Ok(connection) = ServerConnection::new(settings) {
                            let mut stream = BufReader::new(StreamOwned::new(connection, stream));
                            converse(&mut stream, "https", &site);
                        }
                    }
                });
            }
        }
        Err(fault) => {
            let _ = ready.send(Err(fault));
        }
    });
    waiting.recv().unwrap_or(Ok(()))
}

fn listener(network: &Path, port: u16) -> Result<TcpListener, LabFault> {
    Network::enter(network)?;
    TcpListener::bind(("0.0.0.0", port)).map_err(LabFault::system("serve in the container's network"))
}

/// Answers until the connection ends, or until somebody wants to be led elsewhere: there.
fn converse(stream: &mut BufReader<impl Read + Write>, scheme: &str, site: &Site) -> Option<String> {
    while let Some(request) = read(stream) {
        if request.method == "CONNECT" {
            return Some(request.path);
        }
        let answer = site.answer(&request, scheme);
        std::thread::sleep(answer.after);
        if answer.silent {
            return None;
        }
        let head = format!(
            "HTTP/1.1 {} Lab\r\nContent-Length: {}\r\nContent-Type: text/plain\r\n\r\n",
            answer.status,
            answer.body.len()
        );
        let out = stream.get_mut();
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(&answer.body)).is_err() {
            return None;
        }
        let _ = out.flush();
    }
    None
}

fn read(reader: &mut BufReader<impl Read>) -> Option<Request> {
    let line = line(reader)?;
    let mut words = line.split_whitespace();
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: proxy::path(words.next()?).to_owned(),
        headers: BTreeMap::new(),
        body: Vec::new(),
    };
    while let Some((name, value)) = self::line(reader)?.trim_end().split_once(':') {
        request.headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length: u64 = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    reader.take(length.min(LONGEST)).read_to_end(&mut request.body).ok()?;
    Some(request)
}

/// One line; nothing at the end of the connection.
fn line(reader: &mut BufReader<impl Read>) -> Option<String> {
    let mut line = String::new();
    reader.take(LONGEST).read_line(&mut line).ok().filter(|count| *count > 0)?;
    Some(line)
}
