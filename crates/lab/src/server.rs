//! A small web server inside the container's network.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::LabFault;
use crate::metadata::Metadata;
use crate::network::{METADATA, Network};

/// Longer requests are none of ours.
const LONGEST: u64 = 1 << 20;

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
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
    pub(crate) agent: bool,
    pub(crate) what: String,
    pub(crate) status: u16,
}

/// What the server gives.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) metadata: Option<Metadata>,
    /// Files, by `http://HOST/PATH`.
    pub(crate) served: Vec<(String, PathBuf)>,
    pub(crate) started: Instant,
    pub(crate) seen: Mutex<Vec<Seen>>,
}

impl Site {
    fn answer(&self, request: &Request) -> Answer {
        let host = request.header("host").unwrap_or_default();
        let answer = if host.starts_with(METADATA) {
            match &self.metadata {
                Some(metadata) => metadata.answer(request, self.started.elapsed()),
                None => Answer::silence(),
            }
        } else {
            let url = format!("http://{host}{}", request.path);
            let file = self.served.iter().find(|(served, _)| *served == url).map(|(_, file)| file);
            match file.and_then(|file| std::fs::read(file).ok()) {
                Some(body) => Answer::of(body),
                None => Answer::status(404),
            }
        };
        if let Ok(mut seen) = self.seen.lock() {
            seen.push(Seen {
                agent: request.is_agent(),
                what: format!("{} http://{host}{}", request.method, request.path),
                status: if answer.silent { 0 } else { answer.status },
            });
        }
        answer
    }
}

/// Starts serving inside the network; the threads end with the process.
pub(crate) fn serve(network: &Network, site: &Arc<Site>) -> Result<(), LabFault> {
    let site = Arc::clone(site);
    let (ready, waiting) = std::sync::mpsc::channel();
    let name = network.name().to_owned();
    std::thread::spawn(move || {
        let listener = Network::enter_by_name(&name).and_then(|()| {
            TcpListener::bind("0.0.0.0:80").map_err(LabFault::system("serve in the container's network"))
        });
        match listener {
            Ok(listener) => {
                let _ = ready.send(Ok(()));
                for stream in listener.incoming().flatten() {
                    let site = Arc::clone(&site);
                    std::thread::spawn(move || converse(stream, &site));
                }
            }
            Err(fault) => {
                let _ = ready.send(Err(fault));
            }
        }
    });
    waiting.recv().unwrap_or(Ok(()))
}

fn converse(stream: TcpStream, site: &Site) {
    let Ok(copy) = stream.try_clone() else { return };
    let mut reader = BufReader::new(copy.take(LONGEST));
    let mut stream = stream;
    while let Some(request) = read(&mut reader) {
        let answer = site.answer(&request);
        std::thread::sleep(answer.after);
        if answer.silent {
            return;
        }
        let head = format!(
            "HTTP/1.1 {} Lab\r\nContent-Length: {}\r\nContent-Type: text/plain\r\n\r\n",
            answer.status,
            answer.body.len()
        );
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&answer.body)).is_err() {
            return;
        }
        reader.get_mut().set_limit(LONGEST);
    }
}

fn read(reader: &mut BufReader<std::io::Take<TcpStream>>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        headers: BTreeMap::new(),
    };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|count| *count > 0)?;
        match header.trim_end().split_once(':') {
            Some((name, value)) => request.headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let length: u64 = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    std::io::copy(&mut reader.by_ref().take(length.min(LONGEST)), &mut std::io::sink()).ok()?;
    Some(request)
}
