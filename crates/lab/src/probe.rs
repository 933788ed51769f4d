//! Asks for kubelet's health where nobody else does.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::network::Network;

/// Where kubelet answers unless it is told otherwise.
const HEALTH: ([u8; 4], u16) = ([127, 0, 0, 1], 10248);
const EVERY: Duration = Duration::from_millis(500);

/// Looks at kubelet's health until it is dropped.
#[derive(Debug)]
pub(crate) struct Probe {
    since: Arc<Mutex<Option<Instant>>>,
}

impl Probe {
    /// Inside the network of this file.
    pub(crate) fn start(network: PathBuf) -> Self {
        let since = Arc::new(Mutex::new(None));
        let seen = Arc::downgrade(&since);
        std::thread::spawn(move || {
            if Network::enter(&network).is_err() {
                return;
            }
            while let Some(seen) = seen.upgrade() {
                let healthy = ask().is_some();
                if let Ok(mut since) = seen.lock() {
                    *since = if healthy { since.or_else(|| Some(Instant::now())) } else { None };
                }
                drop(seen);
                std::thread::sleep(EVERY);
            }
        });
        Self { since }
    }

    /// How long it has been healthy.
    pub(crate) fn healthy(&self) -> Option<Duration> {
        self.since.lock().ok()?.map(|since| since.elapsed())
    }
}

fn ask() -> Option<()> {
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from(HEALTH), EVERY).ok()?;
    stream.set_read_timeout(Some(EVERY)).ok()?;
    stream.write_all(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    head.ends_with(b" 200").then_some(())
}
