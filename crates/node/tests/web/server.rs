//! Small servers on loopback: HTTP, HTTPS and a proxy, with answers as a test wants them.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Whether the client has shown a certificate.
    pub(crate) certified: bool,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// After how many bytes of the body the connection is cut.
    pub(crate) cut: Option<usize>,
    /// How long nothing is said.
    pub(crate) silence: Duration,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), ..Self::default() }
    }

    /// Content as servers of files give it, from where it is asked for.
    pub(crate) fn file(asked: &Asked, content: &[u8]) -> Self {
        let range = asked.header("range").strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
        match range.and_then(|from| from.parse::<usize>().ok()) {
            None => Self::new(200, content),
            Some(from) if from >= content.len() => Self::new(416, ""),
            Some(from) => Self {
                headers: vec![(
                    "content-range",
                    format!("bytes {from}-{}/{}", content.len() - 1, content.len()),
                )],
                ..Self::new(206, &content[from..])
            },
        }
    }
}

/// A server; what it was asked can be looked at.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
}

type Handler = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

impl Server {
    pub(crate) fn http(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(answer))
    }

    pub(crate) fn https(
        authority: &Authority,
        names: &[&str],
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::listen(Some(authority.server(names)), Arc::new(answer))
    }

    fn listen(tls: Option<Arc<ServerConfig>>, answer: Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (seen, count) = (Arc::clone(&asked), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let (answer, seen, tls) = (Arc::clone(&answer), Arc::clone(&seen), tls.clone());
                std::thread::spawn(move || {
                    let _ = match tls {
                        None => serve(stream, &answer, &seen, |_| false),
                        Some(config) => {
                            let connection = ServerConnection::new(config).unwrap();
                            serve(StreamOwned::new(connection, stream), &answer, &seen, |stream| {
                                stream.conn.peer_certificates().is_some_and(|chain| !chain.is_empty())
                            })
                        }
                    };
                });
            }
        });
        Self { address, asked, connections }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve<S: Read + Write>(
    stream: S,
    answer: &Handler,
    seen: &Mutex<Vec<Asked>>,
    certified: impl Fn(&S) -> bool,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut asked = Asked {
            method: words.next().unwrap_or_default(),
            path: words.next().unwrap_or_default(),
            ..Asked::default()
        };
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            asked.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        asked.body = vec![0; asked.header("content-length").parse().unwrap_or(0)];
        stream.read_exact(&mut asked.body)?;
        asked.certified = certified(stream.get_ref());
        seen.lock().unwrap().push(asked.clone());
        let reply = answer(&asked);
        std::thread::sleep(reply.silence);
        let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            head.extend([*name, ": ", value.as_str(), "\r\n"]);
        }
        let out = stream.get_mut();
        out.write_all(head.as_bytes())?;
        out.write_all(b"\r\n")?;
        out.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())])?;
        out.flush()?;
        if reply.cut.is_some() {
            return Ok(());
        }
    }
}

/// A proxy that leads every `CONNECT` to one place, whatever name is asked for.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(crate) fn to(place: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), seen) = (stream, Arc::clone(&seen)) else { return };
                std::thread::spawn(move || tunnel(&stream, place, &seen));
            }
        });
        Self { address, asked }
    }

    /// The hosts and ports that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn tunnel(stream: &TcpStream, place: SocketAddr, seen: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    seen.lock().unwrap().push(first.split_whitespace().nth(1).unwrap_or_default().to_owned());
    let mut line = String::from("x");
    while !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let there = TcpStream::connect(place).unwrap();
    let (mut back, mut forth) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
    let _ = back.write_all(b"HTTP/1.1 200 ok\r\n\r\n");
    std::thread::spawn(move || {
        let _ = io::copy(&mut reader, &mut forth);
        let _ = forth.shutdown(std::net::Shutdown::Write);
    });
    let _ = io::copy(&mut { there }, &mut back);
}

/// An authority of a test's own.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "an authority of a test");
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { pem, issuer: rcgen::Issuer::new(parameters, key) }
    }

    /// A certificate for these names, and its key, PEM.
    pub(crate) fn issue(&self, names: &[&str]) -> (String, String) {
        let key = rcgen::KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let certificate =
            rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn server(&self, names: &[&str]) -> Arc<ServerConfig> {
        use rustls::pki_types::pem::PemObject as _;
        let (certificate, key) = self.issue(names);
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .unwrap();
        Arc::new(config)
    }
}
