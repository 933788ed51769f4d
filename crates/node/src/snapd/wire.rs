//! HTTP to a socket of this machine: one request, one answer, and the connection ends.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bringup_plan::snap::SnapRequest;

/// No answer is longer.
const LONGEST: u64 = 1024 * 1024;

/// Sends a request and reads the status and the body of the answer; neither may take longer than `patience`.
pub(super) fn ask(socket: &Path, request: &SnapRequest, patience: Duration) -> io::Result<(u16, Vec<u8>)> {
    let mut stream = UnixStream::connect(socket)?;
    // A timeout of nothing would be none at all.
    let patience = Some(patience.max(Duration::from_millis(1)));
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(patience)?;
    let body = request.body.as_deref().unwrap_or_default();
    let mut text = format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json\r\n",
        request.method, request.path
    );
    if request.body.is_some() {
        let length = body.len();
        text.extend(["Content-Type: application/json\r\nContent-Length: ", &length.to_string(), "\r\n"]);
    }
    text.push_str("\r\n");
    text.push_str(body);
    stream.write_all(text.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST + 1).read_to_end(&mut answer)?;
    if answer.len() as u64 > LONGEST {
        return Err(broken("the answer is longer than any that is expected"));
    }
    read(&answer)
}

/// The status and the body of a whole answer.
fn read(answer: &[u8]) -> io::Result<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let Some((head, rest)) = end.and_then(|end| Some((answer.get(..end)?, answer.get(end + 4..)?))) else {
        return Err(broken("the answer ends before its head does"));
    };
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.starts_with("HTTP/1.").then(|| first.split(' ').nth(1)?.parse().ok()).flatten();
    let Some(status) = status else { return Err(broken("the answer is not HTTP")) };
    let header = |wanted: &str| {
        let named = |line: &str| {
            line.split_once(':')
                .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
                .map(|(_, value)| value.trim().to_owned())
        };
        head.split("\r\n").find_map(named)
    };
    let body = match (header("transfer-encoding"), header("content-length")) {
        (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => unchunked(rest)?,
        (Some(_), _) => return Err(broken("the answer is encoded in a way that is not known")),
        (None, Some(length)) => {
            let length: usize = length.parse().map_err(|_| broken("the answer's length is no number"))?;
            rest.get(..length).ok_or_else(|| broken("the answer is cut off"))?.to_vec()
        }
        (None, None) => rest.to_vec(),
    };
    Ok((status, body))
}

/// What is in chunks; the last one is empty, and without it something is missing.
fn unchunked(mut rest: &[u8]) -> io::Result<Vec<u8>> {
    let cut_off = || broken("the answer is cut off");
    let mut whole = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").ok_or_else(cut_off)?;
        let line = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| broken("a chunk's length is no number"))?;
        if size == 0 {
            return Ok(whole);
        }
        rest = rest.get(end + 2..).ok_or_else(cut_off)?;
        whole.extend_from_slice(rest.get(..size).ok_or_else(cut_off)?);
        rest = rest.get(size..).and_then(|rest| rest.strip_prefix(b"\r\n")).ok_or_else(cut_off)?;
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn bodies_by_length_in_chunks_and_to_the_end_are_read() {
        let body = |answer: &str| {
            read(answer.as_bytes())
                .map(|(status, body)| (status, String::from_utf8(body).unwrap()))
                .map_err(|fault| fault.to_string())
        };
        let ok = |status: u16, body: &str| Ok((status, body.to_owned()));
        assert_eq!(body("HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\n{}"), ok(200, "{}"));
        assert_eq!(body("HTTP/1.0 202 Accepted\r\n\r\n{} to the end"), ok(202, "{} to the end"));
        let chunks = "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\nA;x=y\r\n\":\"234567\"\r\n1\r\n}\r\n0\r\n\r\n";
        assert_eq!(body(chunks), ok(404, r#"{"a":"234567"}"#));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_none() {
        let why = |answer: &str| read(answer.as_bytes()).map(|_| ()).unwrap_err().to_string();
        assert_eq!(why("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"), "the answer is cut off");
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for rest in ["", "5\r\n{}", "2\r\n{}", "2\r\n{}\r\n"] {
            assert_eq!(why(&format!("{chunked}{rest}")), "the answer is cut off", "{rest:?}");
        }
        assert_eq!(why(&format!("{chunked}zz\r\n")), "a chunk's length is no number");
        assert_eq!(why("HTTP/1.1 200 OK\r\nContent-Le"), "the answer ends before its head does");
        assert_eq!(why("SSH-2.0-x\r\n\r\n"), "the answer is not HTTP");
        assert_eq!(
            why("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
            "the answer is encoded in a way that is not known"
        );
    }
}
