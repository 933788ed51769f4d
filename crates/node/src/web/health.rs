//! Health endpoints of this machine.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// How long a health endpoint may take to answer.
const HEALTH: Duration = Duration::from_secs(2);

/// Mostly it is no longer than this, and read at once.
const USUAL: usize = 1024;

/// No answer of a health endpoint is longer.
const LONGEST: u64 = 64 * 1024;

/// Asks a health endpoint of this machine: well, or what is wrong.
pub(crate) fn health(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("http://").ok_or("its health endpoint is not HTTP")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(HEALTH))?;
        stream.set_write_timeout(Some(HEALTH))?;
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        // All of it is read: a server that is cut off in the middle of its answer complains in its log.
        let mut answer = Vec::with_capacity(USUAL);
        stream.take(LONGEST).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = asked().map_err(|fault| format!("its health endpoint does not answer: {fault}"))?;
    match answer.split_whitespace().nth(1) {
        Some("200") => Ok(()),
        Some(status) => Err(format!("its health endpoint says {status}")),
        None => Err("its health endpoint does not speak HTTP".to_owned()),
    }
}
